package lifecycle_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// How much of a text is enough to look for depends on its script.
func TestAbsentTakesTwoLettersWhereTheyAreAWord(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("他用了一个成语。 すし한국가ไป ab é"), 0o600); err != nil {
		t.Fatal(err)
	}
	for phrase, enough := range map[string]bool{
		"成语": true, "すし": true, "한국": true, "ไป": true, "用a": true, "abc": true, "éab": true,
		"成": false, "が": false, "각": false, "ไ": false, "ab": false, "éé": false, "é": false, " a ": false, "": false, "* 成 *": false,
	} {
		_, err := lifecycle.Absent(t.Context(), lifecycle.Places{Dir: dir}, phrase, nil)
		if enough && err != nil || !enough && !errors.Is(err, lifecycle.ErrQuery) {
			t.Errorf("%q: %v", phrase, err)
		}
	}
	r, err := lifecycle.Absent(t.Context(), lifecycle.Places{Dir: dir}, "成语", nil)
	if err != nil || len(r.Found) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}
