package chitta_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// What was forgotten after a backup was made does not come back with it, whatever
// was lived before: what is left is, bit for bit, what a store has that never had
// it. Copies that know of it stay.
func TestARestoreForgetsAgain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dirs := [3]string{mkdir(rt), mkdir(rt), mkdir(rt)}
		for _, dir := range dirs {
			defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
		}
		deeds := drawDeeds(rt)
		gone := map[int]bool{}
		for i, d := range deeds {
			if d.kind == "entry" && rapid.IntRange(0, 3).Draw(rt, "goes") == 0 {
				gone[i] = true
			}
		}
		a, at := live(rt, dirs[0], 50, deeds, nil)
		defer func() { _ = a.Close(context.Background()) }()
		b, _ := live(rt, dirs[1], 1000, deeds, gone)
		defer b.Close(context.Background()) //nolint:errcheck // only looked at
		must := func(err error) {
			if err != nil {
				rt.Fatal(err)
			}
		}
		old, err := a.Backup(context.Background(), chitta.BackupOptions{File: filepath.Join(dirs[2], "old.db")})
		must(err)
		var wanted []uint64
		for i := range gone {
			wanted = append(wanted, at[i])
		}
		// One more, that the backup never had, goes too.
		by := 0
		for _, d := range deeds {
			if d.kind == "reembed" {
				by = int(d.seed) % len(embedders)
			}
		}
		later := experienceBy(900, by)
		var session fold.Session
		must(a.View(func(s *fold.State) error { session = s.Session; return nil }))
		entries := []chitta.Entry{{Body: later, Text: canary(900)}}
		if !session.Open {
			entries = append([]chitta.Entry{{Body: fold.SessionOpened{Number: session.Number + 1}}}, entries...)
		}
		written, err := a.Append(context.Background(), chitta.Batch{Entries: entries})
		must(err)
		_, err = a.Excise(context.Background(), chitta.Excision{Sequences: append(wanted, written[len(written)-1].Sequence)})
		must(err)
		clean, err := a.Backup(context.Background(), chitta.BackupOptions{})
		must(err)
		must(a.Close(context.Background()))

		r, err := chitta.Restore(context.Background(), chitta.RestoreOptions{Options: chitta.Options{Dir: dirs[0]}, File: old.Path})
		must(err)
		if r.ToForget != len(gone) || r.ForgottenUnknown {
			rt.Fatalf("%d are to be forgotten again, want %d", r.ToForget, len(gone))
		}
		reopen := func() {
			a, err = chitta.Open(context.Background(), chitta.Options{Dir: dirs[0], Embedder: embedders[by].id, Dim: embedders[by].dim, Workers: 2})
			must(err)
		}
		reopen()
		if rapid.Bool().Draw(rt, "a start that did not come to it") {
			must(a.Close(context.Background()))
			reopen()
		}
		keys, err := a.ToForget()
		must(err)
		if !slices.Contains(keys.Wordings, later.Key) {
			rt.Fatal("what the backup never had is not noted")
		}
		x, err := a.Excise(context.Background(), chitta.Excision{Again: keys})
		must(err)
		if len(x.Events) != len(gone) || x.After != digest(a) {
			rt.Fatalf("%d went, want %d", len(x.Events), len(gone))
		}
		if digest(a) != digest(b) {
			var diff []string
			_ = a.View(func(x *fold.State) error {
				return b.View(func(y *fold.State) error { diff, _ = fold.Difference(x, y, 0, 10); return nil })
			})
			rt.Fatalf("%v", diff)
		}
		v, err := a.Verify(context.Background(), chitta.VerifyOptions{Full: true})
		if err != nil || !v.OK() {
			rt.Fatalf("%v %+v", err, v.Findings)
		}
		if left, err := a.ToForget(); err != nil || !left.Nothing() {
			rt.Fatalf("still to forget: %v, %v", left, err)
		}
		must(a.Close(context.Background()))
		for i := range deeds {
			if gone[i] || deeds[i].kind == "edit" && gone[deeds[i].target] {
				if found := holding(rt, dirs[0], []byte(canary(deeds[i].seed).Body)); len(found) > 0 {
					rt.Fatalf("the words are in %v", found)
				}
			}
		}
		reopen()
		for _, k := range append(keys.Wordings, later.Key) {
			if !a.ExcisedKey(k) {
				rt.Fatal("what went is not known to have gone")
			}
		}
		for _, path := range []string{r.Replaced, clean.Path} {
			if _, err := os.Stat(path); err != nil {
				rt.Fatalf("a copy that never held it since, or held it no more: %v", err)
			}
		}
	})
}

// forgetful is a store with a backup from before two of its entries were
// forgotten, of which one was written anew since.
func forgetful(t *testing.T) (dir, old string, forgotten, anew fold.Experienced) {
	dir, old = t.TempDir(), filepath.Join(t.TempDir(), "old.db")
	s := open(t, dir, nil)
	forgotten, anew = experience(2), experience(3)
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}}, chitta.Entry{Body: experience(1), Text: canary(1)})
	r := mustAppend(t, s, chitta.Entry{Body: forgotten, Text: canary(2)}, chitta.Entry{Body: anew, Text: canary(3)})
	backup(t, s, chitta.BackupOptions{File: old})
	if _, err := s.Excise(t.Context(), chitta.Excision{Sequences: []uint64{r[0].Sequence, r[1].Sequence}}); err != nil {
		t.Fatal(err)
	}
	backup(t, s, chitta.BackupOptions{})
	mustAppend(t, s, chitta.Entry{Body: anew, Text: canary(3)})
	backup(t, s, chitta.BackupOptions{})
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dir, old, forgotten, anew
}

func TestWhatARestoreForgets(t *testing.T) {
	for what, c := range map[string]struct {
		harm    func(dir, old string) error
		change  func(*chitta.RestoreOptions)
		want    int
		unknown bool
	}{
		"what was written anew stays":      {want: 1},
		"all comes back where wanted":      {change: func(o *chitta.RestoreOptions) { o.WithForgotten = true }},
		"the store is damaged":             {harm: damageFirstPages, want: 1, unknown: true},
		"the store is missing":             {harm: func(dir, _ string) error { return os.Remove(filepath.Join(dir, chitta.FileName)) }, want: 1, unknown: true},
		"damaged, with no other copy":      {harm: alsoWithoutBackups(damageFirstPages), unknown: true},
		"another companion is replaced":    {harm: inPlaceOfAnother(t), change: func(o *chitta.RestoreOptions) { o.Another = true }, want: 1},
		"the forgetting is under way":      {harm: restoredOnce(false), want: 1},
		"it was brought back and is there": {harm: restoredOnce(true)},
	} {
		t.Run(what, func(t *testing.T) {
			dir, old, forgotten, anew := forgetful(t)
			if c.harm != nil {
				if err := c.harm(dir, old); err != nil {
					t.Fatal(err)
				}
			}
			o := chitta.RestoreOptions{Options: chitta.Options{Dir: dir}, File: old}
			if c.change != nil {
				c.change(&o)
			}
			r, err := chitta.Restore(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if r.ToForget != c.want || r.ForgottenUnknown != c.unknown {
				t.Errorf("%d to forget, want %d; unknown %v, want %v", r.ToForget, c.want, r.ForgottenUnknown, c.unknown)
			}
			s := open(t, dir, nil)
			keys, err := s.ToForget()
			if err != nil || len(keys.Wordings) != c.want || slices.Contains(keys.Wordings, anew.Key) || c.want > 0 && keys.Wordings[0] != forgotten.Key {
				t.Errorf("noted: %v, %v", keys, err)
			}
		})
	}
}

func damageFirstPages(dir, _ string) error {
	path := filepath.Join(dir, chitta.FileName)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	clear(data[:len(data)/2])
	return os.WriteFile(path, data, 0o600)
}

func alsoWithoutBackups(harm func(dir, old string) error) func(dir, old string) error {
	return func(dir, old string) error {
		return errors.Join(harm(dir, old), os.RemoveAll(filepath.Join(dir, "backups")))
	}
}

func inPlaceOfAnother(t *testing.T) func(dir, old string) error {
	return func(dir, _ string) error {
		other := newDamagedStore(t)
		return os.WriteFile(filepath.Join(dir, chitta.FileName), other.whole, 0o600)
	}
}

func restoredOnce(with bool) func(dir, old string) error {
	return func(dir, old string) error {
		r, err := chitta.Restore(context.Background(), chitta.RestoreOptions{Options: chitta.Options{Dir: dir}, File: old, WithForgotten: with})
		if err == nil && (r.ToForget == 1) == with {
			err = fmt.Errorf("%d to forget", r.ToForget)
		}
		return err
	}
}
