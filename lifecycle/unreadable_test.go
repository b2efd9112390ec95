package lifecycle_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/chitta"
)

// An entry that cannot be read is a failed try, and the judgements of the others are kept.
func TestAnEntryThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &wise{away: "starting", digest: "abc"}
		w, c := thoughtful(t, m)
		for _, text := range []string{"Zanzibarine.", "The second.", "The third."} {
			w.write(t, c, text)
		}
		synctest.Wait()
		path, whole, broken := filepath.Join(w.dir, chitta.FileName), `{"body":"Zanzibarine.`, `{"body":"Xanzibarine.`
		overwrite(t, path, whole, broken)
		defer overwrite(t, path, broken, whole) // before all is verified
		m.is("", "abc")
		time.Sleep(time.Minute)
		synctest.Wait()
		if s := modelOf(t, c); s.Reassessed != 2 || s.Owed != 1 {
			t.Errorf("after a minute: %+v", s)
		}
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		if s := modelOf(t, c); s.Reassessed != 2 || s.Owed != 0 || s.GivenUp != 1 {
			t.Errorf("after hours: %+v", s)
		}
	})
}

// overwrite puts some bytes of a file in the place of others, of the same length.
func overwrite(t *testing.T, path, old, with string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // as it is
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for at := 0; ; at++ {
		i := bytes.Index(whole[at:], []byte(old))
		if i < 0 {
			break
		}
		at += i
		found = true
		if _, err := file.WriteAt([]byte(with), int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	if !found {
		t.Fatal("it is not in the file")
	}
}
