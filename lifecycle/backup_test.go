package lifecycle_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/lifecycle"
)

func backupsOf(t *testing.T, c *lifecycle.Companion) []lifecycle.BackupFile {
	t.Helper()
	list, err := c.Backups(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// The daemon makes a backup at its start, and after a session when the last one is
// old enough and something has happened.
func TestBackupsAreMadeByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.opts.Backups = lifecycle.Backups{Keep: 3, Every: 24 * time.Hour}
		w.opts.Now = func() (time.Time, bool) { return time.Now(), true }
		w.opts.Idle = 10 * time.Minute
		c := w.live(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- c.Run(ctx) }()
		after := func(d time.Duration, want int, when string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if list := backupsOf(t, c); len(list) != want {
				t.Errorf("%s there are %d backups, want %d: %+v", when, len(list), want, list)
			}
		}
		after(time.Minute, 0, "in a store that has lived nothing")
		w.write(t, c, "One.")
		after(20*time.Minute, 1, "after the first session")
		w.write(t, c, "Two.")
		after(time.Hour, 1, "an hour later")
		after(24*time.Hour, 2, "a day later, though no session ended then")
		after(72*time.Hour, 2, "when nothing happens")
		for i := range 4 {
			w.write(t, c, fmt.Sprint("Day ", i))
			time.Sleep(25 * time.Hour)
		}
		after(time.Minute, 3, "after many days")
		s, err := c.Status(t.Context())
		if err != nil || s.Backups.Count != 3 || !s.Backups.Automatic || s.Backups.Records != s.Events || len(s.Problems) > 0 {
			t.Errorf("%+v %v %v", s.Backups, s.Problems, err)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestWhenABackupIsDue(t *testing.T) {
	w := newWorld(t)
	w.opts.Backups = lifecycle.Backups{Keep: 7, Every: 24 * time.Hour}
	c := w.live(t)
	n := 0
	due := func(now string, write bool, want bool) {
		t.Helper()
		w.clock.set(at(now))
		if write {
			w.write(t, c, "At "+now)
		}
		if err := c.BackupIfDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want {
			n++
		}
		if list := backupsOf(t, c); len(list) != n {
			t.Errorf("at %s: %d backups, want %d", now, len(list), n)
		}
	}
	due("2026-03-10 08:00", true, true)
	due("2026-03-11 07:59", true, false)
	due("2026-03-11 08:01", false, true)
	due("2026-03-13 08:00", false, false) // nothing has happened
	// A clock that starts a little behind waits, one that is far off does not keep
	// a store without backups.
	due("2026-03-11 07:00", true, false)
	due("1970-01-01 00:10", true, true)
	due("2026-03-11 09:00", true, false)
	due("2026-03-14 09:00", true, true)
	list := backupsOf(t, c)
	for i := 1; i < len(list); i++ {
		if list[i-1].Records < list[i].Records || !list[i-1].OK {
			t.Errorf("not the newest first, or damaged: %+v", list)
		}
	}
}

func TestNoBackupsUnlessWanted(t *testing.T) {
	for _, b := range []lifecycle.Backups{{Keep: 0, Every: time.Hour}, {Keep: 3}} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.opts.Backups = b
			c := w.live(t)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- c.Run(ctx) }()
			w.write(t, c, "One.")
			if _, err := c.EndSession(t.Context()); err != nil {
				t.Error(err)
			}
			time.Sleep(48 * time.Hour)
			if list := backupsOf(t, c); len(list) > 0 {
				t.Errorf("%+v: %+v", b, list)
			}
			// Asked for, it is made and stays.
			for range 2 {
				if _, err := c.Backup(t.Context(), "", nil); err != nil {
					t.Error(err)
				}
			}
			if list := backupsOf(t, c); len(list) != 2 {
				t.Errorf("%+v: %+v", b, list)
			}
			cancel()
			<-done
		})
	}
}

// That no backup could be made is told, until one is.
func TestAFailedBackupIsTold(t *testing.T) {
	w := newWorld(t)
	w.opts.Backups = lifecycle.Backups{Keep: 3, Every: time.Hour}
	folder := filepath.Join(w.dir, "backups")
	if err := os.WriteFile(folder, []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := w.live(t)
	w.write(t, c, "One.")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	defer func() { cancel(); <-done }()
	problem := func(want bool) {
		t.Helper()
		deadline := time.After(20 * time.Second)
		for {
			s, err := c.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(strings.Join(s.Problems, "\n"), "backup") == want {
				return
			}
			select {
			case <-deadline:
				t.Fatalf("problems: %v", s.Problems)
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	problem(true)
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	problem(false)
}

// After an older backup was put in place SOUL.md says what the store then said,
// what it had said is kept, and the same days lived again give the same.
func TestARestoreBringsSoulBack(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	days := notes(8)
	remember := func(c *lifecycle.Companion, days []lifecycle.Note) {
		t.Helper()
		if _, err := c.Import(t.Context(), days, nil); err != nil {
			t.Fatal(err)
		}
	}
	remember(c, days[:6])
	then := soulText(t, c)
	b, err := c.Backup(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	remember(c, days[6:])
	later, digest := soulText(t, c), digestOf(t, c)
	w.end(t, c)
	path := filepath.Join(w.dir, "SOUL.md")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	r, err := lifecycle.Restore(t.Context(), lifecycle.RestoreOptions{Dir: w.dir}, nil)
	if err != nil || r.From != b.Path || r.ReplacedRecords <= r.Records || r.Impressions == 0 || r.Written == nil {
		t.Fatalf("%+v %v", r, err)
	}
	c = w.live(t)
	if got := soulText(t, c); got != then {
		t.Errorf("SOUL.md is\n%s\nwant\n%s", got, then)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("its mode: %v %v", info, err)
	}
	kept := false
	archive, err := filepath.Glob(filepath.Join(w.dir, "soul", "archive", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range archive {
		data, err := os.ReadFile(name)
		kept = kept || err == nil && string(data) == later
	}
	if !kept {
		t.Error("what it had said is not kept")
	}
	s, err := c.Status(t.Context())
	if err != nil || !strings.Contains(strings.Join(s.Problems, "\n"), "it was put back") {
		t.Errorf("%v %v", s.Problems, err)
	}
	remember(c, days[6:])
	if digestOf(t, c) != digest {
		t.Error("the same days give another state")
	}
}

// Damage that comes while the companion lives is in status and doctor, with what
// to do, and ends nothing.
func TestDamageIsInTheStatus(t *testing.T) {
	w := newWorld(t)
	w.opts.RestoreCommand = func(file string) string { return "RESTORE " + file }
	c, err := lifecycle.Open(t.Context(), w.opts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Import(t.Context(), notes(30), nil); err != nil {
		t.Fatal(err)
	}
	b, err := c.Backup(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(w.dir, chitta.FileName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // as it is
	if _, err := file.WriteAt(make([]byte, len(whole)-2*4096), 2*4096); err != nil {
		t.Fatal(err)
	}
	_, err = c.Recall(t.Context(), lifecycle.RecallQuery{Text: "river"})
	if !errors.Is(err, lifecycle.ErrDamaged) || !strings.Contains(err.Error(), "RESTORE "+b.Path) {
		t.Errorf("recall: %v", err)
	}
	if _, err := c.Write(t.Context(), lifecycle.Note{Text: "Something new."}); !errors.Is(err, lifecycle.ErrDamaged) || !strings.Contains(err.Error(), "RESTORE "+b.Path) {
		t.Errorf("write: %v", err)
	}
	if _, err := c.Backup(t.Context(), "", nil); !errors.Is(err, lifecycle.ErrDamaged) {
		t.Errorf("backup: %v", err)
	}
	checks, err := c.Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	told := false
	for _, k := range checks {
		told = told || k.Name == "damage" && !k.OK && strings.Contains(k.Detail, "RESTORE "+b.Path)
	}
	if !told {
		t.Errorf("doctor: %+v", checks)
	}
	_ = c.Close(t.Context())
	if now, err := os.ReadFile(path); err != nil || bytes.Equal(now[2*4096:], whole[2*4096:]) {
		t.Errorf("the damage went away: %v", err)
	}
	if _, err := lifecycle.Open(t.Context(), w.opts); !errors.Is(err, lifecycle.ErrDamaged) || strings.Count(err.Error(), "RESTORE "+b.Path) != 1 {
		t.Errorf("the next start: %v", err)
	}
}

// An archived SOUL.md that was cut off is told, and not shown as if it were whole.
func TestAHalfWrittenArchiveIsTold(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	if _, err := c.Import(t.Context(), notes(5), nil); err != nil {
		t.Fatal(err)
	}
	archive, err := filepath.Glob(filepath.Join(w.dir, "soul", "archive", "000002-*.md"))
	if err != nil || len(archive) != 1 {
		t.Fatal(archive, err)
	}
	if _, err := c.Soul(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(archive[0], 300); err != nil {
		t.Fatal(err)
	}
	if doc, err := c.Soul(t.Context(), 2); !errors.Is(err, lifecycle.ErrDamaged) {
		t.Errorf("%+v %v", doc, err)
	}
}
