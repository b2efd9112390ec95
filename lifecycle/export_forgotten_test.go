package lifecycle_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/diary"
	"github.com/jivad/jivad/lifecycle/export"
)

// What was taken out of a store is not in its export, but that it was is: the
// companion that is made of it knows the entry for a forgotten one.
func TestWhatWasForgottenStaysForgotten(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	const canary = "A canary sang in the mine."
	notes := []lifecycle.Note{{Text: "Sat by the river.", Date: "1911-05-01"}, {Text: canary, Date: "1911-05-01"}, {Text: "Rain.", Date: "1911-05-02"}}
	if _, err := c.Import(t.Context(), notes, nil); err != nil {
		t.Fatal(err)
	}
	w.end(t, c)
	key := fold.Key(diary.Key("1911-05-01", canary))
	s, err := chitta.Open(t.Context(), chitta.Options{Dir: w.dir})
	if err != nil {
		t.Fatal(err)
	}
	seq, ok := s.Has(key)
	if !ok {
		t.Fatal("the canary is not there")
	}
	if _, err := s.Excise(t.Context(), chitta.Excision{Sequences: []uint64{seq}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	c = w.live(t)
	folder, r := exported(t, c)
	if r.Entries != 2 {
		t.Errorf("%+v", r)
	}
	for _, name := range []string{export.FileImpressions, "diary.md", export.FileForgotten} {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || bytes.Contains(data, []byte("canary")) {
			t.Errorf("%s: %s %v", name, data, err)
		}
	}
	other, again := rebuilt(t, w, folder)
	if again.StateDigest != r.StateDigest {
		t.Errorf("%+v, %+v", again, r)
	}
	if s, err = chitta.Open(t.Context(), chitta.Options{Dir: other.dir}); err != nil {
		t.Fatal(err)
	}
	if !s.ExcisedKey(key) {
		t.Error("it is not known that the canary was forgotten")
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	second, _ := exported(t, other.live(t))
	sameFiles(t, folder, second)
}
