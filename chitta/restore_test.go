package chitta_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

func restoreOptions(d *damagedStore) chitta.RestoreOptions {
	o := d.options()
	o.Clock = func() (time.Time, bool) { return time.Date(2026, 3, 10, 8, 0, 0, 0, time.UTC), true }
	return chitta.RestoreOptions{Options: o, FoldWithin: time.Minute}
}

// A restore brings back what the backup holds, whatever is in its place: a store
// that has lived on, one that is damaged, or none.
func TestRestoreBringsBack(t *testing.T) {
	one := newDamagedStore(t)
	want := contents(t, opened(t, one.backup))
	for what, harm := range map[string]func(*damagedStore) error{
		"a store": func(*damagedStore) error { return nil },
		"damage": func(d *damagedStore) error {
			return os.WriteFile(d.path, bytes.Repeat([]byte{7}, 5000), 0o600)
		},
		"an empty file": func(d *damagedStore) error { return os.Truncate(d.path, 0) },
		"nothing":       func(d *damagedStore) error { return os.Remove(d.path) },
	} {
		for _, latest := range []bool{true, false} {
			d := one.again(t)
			if err := harm(d); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(d.path)
			o := restoreOptions(d)
			if !latest {
				o.File = d.backup
			}
			r, err := chitta.Restore(t.Context(), o)
			if err != nil {
				t.Fatalf("in place of %s: %v", what, err)
			}
			if r.From != d.backup || r.Folded == 0 || r.Records == 0 {
				t.Errorf("in place of %s: %+v", what, r)
			}
			if (r.Replaced == "") != (what == "nothing") {
				t.Errorf("in place of %s, kept as %q", what, r.Replaced)
			}
			if r.Replaced != "" {
				if kept, err := os.ReadFile(r.Replaced); err != nil || !bytes.Equal(kept, before) || filepath.Base(r.Replaced) != "chitta.db.replaced-20260310T080000Z" {
					t.Errorf("in place of %s, kept as %q: %v", what, r.Replaced, err)
				}
			}
			if what == "a store" && r.ReplacedLast <= r.Last {
				t.Errorf("it replaced %d records by %d", r.ReplacedLast, r.Last)
			}
			got := contents(t, open(t, d.dir, nil))
			if len(got) != len(want) || got["digest"] != want["digest"] {
				t.Errorf("in place of %s: another store", what)
			}
		}
	}
}

func TestRestoreRefuses(t *testing.T) {
	d := newDamagedStore(t)
	refused := func(o chitta.RestoreOptions, kind error, words string) {
		t.Helper()
		r, err := chitta.Restore(t.Context(), o)
		if err == nil || kind != nil && !errors.Is(err, kind) || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v, %v; want %v, %q", r, err, kind, words)
		}
		d.untouched(t, d.whole, words)
		if left, _ := filepath.Glob(filepath.Join(d.dir, "*replaced*")); len(left) > 0 {
			t.Errorf("%s: left behind: %v", words, left)
		}
		if left, _ := filepath.Glob(filepath.Join(d.dir, ".*tmp")); len(left) > 0 {
			t.Errorf("%s: left behind: %v", words, left)
		}
	}
	o := restoreOptions(d)

	// While a process holds the store.
	s, err := chitta.Open(t.Context(), d.options())
	if err != nil {
		t.Fatal(err)
	}
	o.File = d.backup
	if _, err := chitta.Restore(t.Context(), o); !errors.Is(err, chitta.ErrLocked) || !strings.Contains(err.Error(), "process ") {
		t.Errorf("while it is open: %v", err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.write(t, d.whole)

	// What is no store, or not a whole one.
	bad := filepath.Join(t.TempDir(), "bad.db")
	write := func(data []byte) {
		t.Helper()
		if err := os.WriteFile(bad, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good, err := os.ReadFile(d.backup)
	if err != nil {
		t.Fatal(err)
	}
	o.File = bad
	refused(o, fs.ErrNotExist, bad)
	write(nil)
	refused(o, chitta.ErrDamaged, "empty")
	write(bytes.Repeat([]byte("my diary\n"), 3000))
	refused(o, chitta.ErrDamaged, bad)
	write(good[:len(good)-4096])
	refused(o, chitta.ErrDamaged, "cut off")
	at := bytes.Index(good, []byte("entry 3"))
	flipped := bytes.Clone(good)
	flipped[at] ^= 1
	write(flipped)
	refused(o, chitta.ErrDamaged, "text of event")
	o.File = filepath.Dir(bad)
	refused(o, nil, "not a file")

	// The store itself, which is whole.
	o.File = d.path
	refused(o, nil, "that is the store itself")

	// Another companion's, unless it is wanted, or this one has hardly begun.
	other := newDamagedStore(t)
	o.File = other.backup
	refused(o, chitta.ErrOther, "--another")
	o.Another = true
	if _, err := chitta.Restore(t.Context(), o); err != nil {
		t.Error(err)
	}
	fresh := t.TempDir()
	if s, err := chitta.Open(t.Context(), chitta.Options{Dir: fresh, Embedder: "test/1", Dim: dim}); err != nil || s.Close(t.Context()) != nil {
		t.Fatal(err)
	}
	o = restoreOptions(&damagedStore{dir: fresh})
	o.File = other.backup
	if _, err := chitta.Restore(t.Context(), o); err != nil {
		t.Error(err)
	}

	// No backup at all.
	o = restoreOptions(&damagedStore{dir: t.TempDir()})
	if _, err := chitta.Restore(t.Context(), o); !errors.Is(err, chitta.ErrNotFound) {
		t.Errorf("without any backup: %v", err)
	}
}

// A disk without room changes nothing.
func TestRestoreWithoutRoom(t *testing.T) {
	if !alone(t) {
		return
	}
	d := newDamagedStore(t)
	full(t, 50<<10, func() {
		o := restoreOptions(d)
		if _, err := chitta.Restore(t.Context(), o); err == nil || !strings.Contains(err.Error(), "as it was") {
			t.Errorf("got %v", err)
		}
	})
	d.untouched(t, d.whole, "without room")
	if left, _ := filepath.Glob(filepath.Join(d.dir, ".*tmp")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// After an older state was put back by hand, with the caches of the newer one left
// in place, and life went on differently, the next start finds what was lived.
func TestCachesOfAnotherCourseAreLeftOut(t *testing.T) {
	d := newDamagedStore(t)
	older, err := os.ReadFile(d.backup)
	if err != nil {
		t.Fatal(err)
	}
	d.write(t, older)
	rarely := func(o *chitta.Options) { o.SnapshotEvery = 500 }
	s := open(t, d.dir, rarely)
	for n := range uint32(2) {
		mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 13 + n}}, chitta.Entry{Body: fold.SessionClosed{Number: 13 + n}})
	}
	killed := t.TempDir() // as a kill would leave it, with no snapshot of the stop
	if err := os.CopyFS(killed, os.DirFS(d.dir)); err != nil {
		t.Fatal(err)
	}
	again := open(t, killed, rarely)
	if last := again.Start().Snapshot + again.Start().Folded; again.Start().Snapshot == last {
		t.Errorf("the start took the snapshot of another course, at %d", last)
	}
	if digest(again) != digest(s) {
		t.Error("another state")
	}
}
