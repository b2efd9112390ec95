package lifecycle_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// The receipt tells which backups went and which may still hold what was
// forgotten, and the daemon makes a new one, without it.
func TestForgettingTellsOfBackups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		folder := filepath.Join(t.TempDir(), "backups")
		w.opts.Backups = lifecycle.Backups{Dir: folder, Keep: 3, Every: 24 * time.Hour}
		w.opts.Now = func() (time.Time, bool) { return time.Now(), true }
		c := w.live(t)
		byHand := func(name string) string {
			r, err := c.Backup(t.Context(), filepath.Join(folder, name), nil)
			if err != nil {
				t.Fatal(err)
			}
			return r.Path
		}
		w.write(t, c, "A morning by the river.")
		if _, err := c.Backup(t.Context(), "", nil); err != nil {
			t.Fatal(err)
		}
		byHand("before.db") // it never had the words
		w.write(t, c, "Her new address is Zanzibarine lane nine.")
		time.Sleep(time.Second)
		if _, err := c.Backup(t.Context(), "", nil); err != nil {
			t.Fatal(err)
		}
		with := byHand("mine.db")
		w.write(t, c, "Rain, and tea.")
		another := newWorld(t)
		other := another.live(t)
		another.write(t, other, "Her new address is Zanzibarine lane nine.")
		if _, err := other.Backup(t.Context(), filepath.Join(folder, "other.db"), nil); err != nil {
			t.Fatal(err)
		}
		torn := filepath.Join(folder, "torn.db")
		if err := os.WriteFile(torn, []byte("not a store"), 0o600); err != nil {
			t.Fatal(err)
		}

		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- c.Run(ctx) }()
		synctest.Wait()
		r, err := c.Forget(t.Context(), lifecycle.ForgetQuery{Match: "zanzibarine"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{with, torn}; r.Backups != 1 || !slices.Equal(r.BackupsLeft, want) || !r.BackupSoon || !slices.Equal(r.Left.Files, []string{with}) {
			t.Errorf("%+v; left should be %v", r, want)
		}
		synctest.Wait()
		s, err := c.Status(t.Context())
		if err != nil || s.Backups.Count != 2 || s.Backups.Records != s.LastRecord || s.Events >= s.LastRecord {
			t.Errorf("no new backup was made: %+v %v", s.Backups, err)
		}
		if found := traces(t, folder, "zanzibarine"); !slices.Equal(found, []string{with, filepath.Join(folder, "other.db")}) {
			t.Errorf("the words are in %v", found)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// Where nobody makes backups by themselves none is promised.
func TestForgettingPromisesNoBackupThatNobodyMakes(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	w.write(t, c, "A morning by the river.")
	w.write(t, c, "Her new address is Zanzibarine lane nine.")
	if _, err := c.Backup(t.Context(), "", nil); err != nil {
		t.Fatal(err)
	}
	r, err := c.Forget(t.Context(), lifecycle.ForgetQuery{Match: "zanzibarine"}, nil)
	if err != nil || r.Backups != 1 || len(r.BackupsLeft) > 0 || r.BackupSoon {
		t.Errorf("%+v %v", r, err)
	}
	if found := traces(t, w.dir, "zanzibarine"); len(found) > 0 {
		t.Errorf("the words are in %v", found)
	}
}
