package chitta_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// again is a store that things are forgotten in and copies are put in the place of.
type again struct {
	t   *testing.T
	dir string
	s   *chitta.Store
	o   func(*chitta.Options)
}

func newAgain(t *testing.T, change func(*chitta.Options)) *again {
	a := &again{t: t, dir: t.TempDir(), o: change}
	a.s = open(t, a.dir, change)
	mustAppend(t, a.s, chitta.Entry{Body: fold.SessionOpened{Number: 1}}, chitta.Entry{Body: experience(1), Text: canary(1)})
	return a
}

func (a *again) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *again) write(x fold.Experienced, seed uint64) uint64 {
	a.t.Helper()
	return mustAppend(a.t, a.s, chitta.Entry{Body: x, Text: canary(seed)})[0].Sequence
}

func (a *again) forget(seq uint64) {
	a.t.Helper()
	_, err := a.s.Excise(a.t.Context(), chitta.Excision{Sequences: []uint64{seq}})
	a.must(err)
}

func (a *again) backup(file string) string {
	return backup(a.t, a.s, chitta.BackupOptions{File: file}).Path
}

func (a *again) elsewhere() string { return a.backup(filepath.Join(a.t.TempDir(), "elsewhere.db")) }

func (a *again) close() { a.must(a.s.Close(context.Background())) }

// restore puts a file in place and starts, which forgets again.
func (a *again) restore(file string, change func(*chitta.RestoreOptions)) chitta.Restored {
	a.t.Helper()
	o := chitta.RestoreOptions{Options: chitta.Options{Dir: a.dir}, File: file}
	if change != nil {
		change(&o)
	}
	r, err := chitta.Restore(a.t.Context(), o)
	a.must(err)
	a.s = open(a.t, a.dir, a.o)
	owed, err := a.s.ToForget()
	a.must(err)
	if !owed.Nothing() {
		_, err = a.s.Excise(a.t.Context(), chitta.Excision{Again: owed})
		a.must(err)
	}
	return r
}

func (a *again) has(k fold.Key) (there bool) {
	a.must(a.s.Experiences(a.t.Context(), func(x chitta.Experience) error { there = there || x.Key == k; return nil }))
	return there
}

func (a *again) kept(path string) {
	a.t.Helper()
	if _, err := os.Stat(path); err != nil {
		a.t.Errorf("%s is gone: %v", filepath.Base(path), err)
	}
}

func wanted(o *chitta.RestoreOptions)    { o.WithForgotten = true }
func ofAnother(o *chitta.RestoreOptions) { o.Another = true }

// Undoing a restore brings back what was written anew since the forgetting, and
// keeps the file that it is brought back from.
func TestARestoreCanBeUndone(t *testing.T) {
	a, x := newAgain(t, nil), experience(3)
	a.forget(a.write(x, 3))
	older := a.backup("")
	a.write(x, 3)
	a.close()
	one := a.restore(older, nil)
	a.close()
	if two := a.restore(one.Replaced, nil); two.ToForget != 0 || !a.has(x.Key) {
		t.Errorf("%d forgotten again; there: %v", two.ToForget, a.has(x.Key))
	}
	a.kept(one.Replaced)
}

// What came back because somebody wanted it stays when a later backup is put in
// place of a damaged store, whatever older copies say of it.
func TestWhatIsWantedBackStays(t *testing.T) {
	a, x := newAgain(t, nil), experience(3)
	seq := a.write(x, 3)
	old := a.elsewhere()
	a.forget(seq)
	a.close()
	a.restore(old, wanted)
	a.write(experience(77), 77)
	later := a.backup("")
	a.close()
	a.must(damageFirstPages(a.dir, ""))
	r := a.restore("", nil)
	if r.From != later || r.ToForget != 0 || !a.has(x.Key) {
		t.Errorf("from %s: %d forgotten again, there: %v", r.From, r.ToForget, a.has(x.Key))
	}
	a.kept(later)
	// Forgotten once more, it goes from there too.
	a.forget(seqOf(a, x.Key))
	a.close()
	if r := a.restore(old, nil); r.ToForget != 1 || a.has(x.Key) {
		t.Errorf("forgotten a second time: %d, there: %v", r.ToForget, a.has(x.Key))
	}
}

func seqOf(a *again, k fold.Key) (seq uint64) {
	a.must(a.s.Experiences(a.t.Context(), func(x chitta.Experience) error {
		if x.Key == k {
			seq = x.Sequence
		}
		return nil
	}))
	return seq
}

// A file that knows of the forgetting is right about what it holds, also where the
// store is missing and only an older copy is beside it, or the clock was put back.
func TestAFileThatKnowsIsRight(t *testing.T) {
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	a, x := newAgain(t, func(o *chitta.Options) { o.Clock = func() (time.Time, bool) { return now, true } }), experience(3)
	a.forget(a.write(x, 3))
	a.backup("")
	now = now.AddDate(-1, 0, 0)
	a.write(x, 3)
	file := a.elsewhere()
	a.close()
	a.must(os.Remove(filepath.Join(a.dir, chitta.FileName)))
	if r := a.restore(file, nil); r.ToForget != 0 || !a.has(x.Key) || !r.ForgottenUnknown {
		t.Errorf("%+v", r)
	}
}

// An entry that once had the words of another, which was forgotten, stays.
func TestWhatOnlyHadTheWordsStays(t *testing.T) {
	a := newAgain(t, nil)
	x, edited, twin := experience(3), experience(4), experience(5)
	twin.Key = x.Key
	seq := a.write(x, 3)
	mustAppend(t, a.s, chitta.Entry{Body: fold.Superseded{Target: seq, Key: edited.Key, Embedding: edited.Embedding, Embedder: edited.Embedder, Judgement: edited.Judgement}, Text: canary(4)})
	old := a.elsewhere()
	a.forget(a.write(twin, 5))
	a.close()
	if r := a.restore(old, nil); r.ToForget != 0 || !a.has(edited.Key) {
		t.Errorf("%+v", r)
	}
}

// Where a record of the store cannot be read, though its pages can, that is said.
func TestAStoreThatCannotTellWhatItForgot(t *testing.T) {
	dir, old, _, _ := forgetful(t)
	if err := os.RemoveAll(filepath.Join(dir, "backups")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, chitta.FileName)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	id := experience(1).ID
	at := bytes.Index(data, id[:])
	data[at] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := chitta.Restore(t.Context(), chitta.RestoreOptions{Options: chitta.Options{Dir: dir}, File: old})
	if err != nil || !r.ForgottenUnknown {
		t.Errorf("%+v, %v", r, err)
	}
}

// A backup that holds what was written anew stays, at a later forgetting and at the
// start after it.
func TestBackupsOfWhatWasWrittenAnewStay(t *testing.T) {
	a, x := newAgain(t, nil), experience(3)
	a.forget(a.write(x, 3))
	a.write(x, 3)
	kept := a.backup("")
	a.forget(a.write(experience(9), 9))
	a.close()
	a.kept(kept)
	a.s = open(t, a.dir, nil)
	a.kept(kept)
}

// Another companion's store between the two does not hide what was forgotten: the
// file that it replaced knows.
func TestAnotherCompanionBetweenHidesNothing(t *testing.T) {
	a, x := newAgain(t, nil), experience(3)
	seq := a.write(x, 3)
	old := a.elsewhere()
	a.forget(seq)
	a.close()
	other := newDamagedStore(t)
	a.restore(other.backup, ofAnother)
	a.close()
	if r := a.restore(old, ofAnother); r.ToForget != 1 || a.has(x.Key) {
		t.Errorf("%+v", r)
	}
}

// A damaged store that a restore replaced stays, also where the start after it
// forgets again: much of it may be found again.
func TestADamagedStoreIsKept(t *testing.T) {
	a, x := newAgain(t, nil), experience(3)
	seq := a.write(x, 3)
	old := a.elsewhere()
	a.forget(seq)
	a.backup("")
	a.close()
	a.must(damageFirstPages(a.dir, ""))
	r := a.restore(old, nil)
	if r.ToForget != 1 || a.has(x.Key) {
		t.Errorf("%+v", r)
	}
	a.kept(r.Replaced)
}

// A note that a file carries is done with where all is wanted back.
func TestANoteIsNotWanted(t *testing.T) {
	dir, old, _, _ := forgetful(t)
	o := chitta.RestoreOptions{Options: chitta.Options{Dir: dir}, File: old}
	if r, err := chitta.Restore(t.Context(), o); err != nil || r.ToForget != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	data, err := os.ReadFile(filepath.Join(dir, chitta.FileName))
	if err != nil {
		t.Fatal(err)
	}
	o.File, o.WithForgotten = filepath.Join(t.TempDir(), "noted.db"), true
	if err := os.WriteFile(o.File, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := chitta.Restore(t.Context(), o); err != nil || r.ToForget != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if owed, err := open(t, dir, nil).ToForget(); err != nil || !owed.Nothing() {
		t.Errorf("%+v, %v", owed, err)
	}
}

// What is forgotten while the file is being read is seen.
func TestWhatIsForgottenMeanwhileIsSeen(t *testing.T) {
	a := newAgain(t, nil)
	seq := a.write(experience(3), 3)
	old := a.elsewhere()
	a.close()
	done := false
	r, err := chitta.Restore(t.Context(), chitta.RestoreOptions{Options: chitta.Options{Dir: a.dir}, File: old, Progress: func(stage string, _, _ uint64) {
		if done || stage != "check" {
			return
		}
		done = true
		a.s = open(t, a.dir, nil)
		a.forget(seq)
		a.close()
	}})
	if err != nil || r.ToForget != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Automatic backups in the usual folder are found also after another was named.
func TestBackupsOfBeforeInTheUsualFolder(t *testing.T) {
	a, x := newAgain(t, nil), experience(3)
	seq := a.write(x, 3)
	made := a.backup("")
	a.close()
	elsewhere := t.TempDir()
	a.s = open(t, a.dir, func(o *chitta.Options) { o.Backups = elsewhere })
	own, others, err := a.s.CopiesWith(t.Context(), []fold.Key{x.Key})
	if err != nil || len(own) != 1 || own[0] != made || len(others) > 0 {
		t.Errorf("%v, %v, %v", own, others, err)
	}
	a.forget(seq)
	if _, err := os.Stat(made); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the backup is there still: %v", err)
	}
}

// A damaged or missing store does not take a backup of another companion for its
// own, where a folder has those of several.
func TestTheNewestBackupOfAnother(t *testing.T) {
	shared := t.TempDir()
	at := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	in := func(o *chitta.Options) {
		o.Backups = shared
		o.Clock = func() (time.Time, bool) { return at, true }
	}
	mine, other := newAgain(t, in), newAgain(t, in)
	own := mine.backup("")
	id := mine.s.Meta().ID
	mine.close()
	at = at.Add(time.Hour)
	other.backup("")
	other.close()
	a := mine
	a.must(os.Remove(filepath.Join(a.dir, chitta.FileName)))
	o := chitta.RestoreOptions{Options: chitta.Options{Dir: a.dir, Backups: shared}}
	if _, err := chitta.Restore(t.Context(), o); err == nil || !strings.Contains(err.Error(), "of 2 companions") {
		t.Errorf("%v", err)
	}
	o.Identity = id
	if r, err := chitta.Restore(t.Context(), o); err != nil || r.From != own {
		t.Errorf("%+v, %v", r, err)
	}
	a.must(os.Remove(filepath.Join(a.dir, chitta.FileName)))
	o.File = other.elsewhereOf(shared, own)
	if _, err := chitta.Restore(t.Context(), o); !errors.Is(err, chitta.ErrOther) {
		t.Errorf("another's by name: %v", err)
	}
}

// elsewhereOf is the backup in a folder that is not the given one.
func (a *again) elsewhereOf(folder, not string) string {
	list, err := chitta.ListBackups(folder)
	a.must(err)
	for _, b := range list {
		if b.Path != not {
			return b.Path
		}
	}
	a.t.Fatal("there is no other")
	return ""
}

// The database may not be a link: forgetting would leave what it leads to.
func TestAStoreThatIsALink(t *testing.T) {
	a := newAgain(t, nil)
	a.close()
	path, moved := filepath.Join(a.dir, chitta.FileName), filepath.Join(t.TempDir(), "moved.db")
	a.must(os.Rename(path, moved))
	a.must(os.Symlink(moved, path))
	if _, err := chitta.Open(t.Context(), chitta.Options{Dir: a.dir}); err == nil || !strings.Contains(err.Error(), "a link to "+moved) {
		t.Errorf("%v", err)
	}
	if _, err := chitta.Restore(t.Context(), chitta.RestoreOptions{Options: chitta.Options{Dir: a.dir}, File: moved}); err == nil || !strings.Contains(err.Error(), "a link to "+moved) {
		t.Errorf("restore: %v", err)
	}
}
