package chitta

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jivad/jivad/internal/atomicfile"
)

var (
	// ErrOther: a file is of another store than the one that it would replace.
	ErrOther = errors.New("it is of another companion")

	errTorn = errors.New("the copy is not what was read")
)

// restoreTemp begins the hidden name of a file that is about to be put in place.
const restoreTemp = "." + FileName + ".restore-"

// RestoreOptions say what is put in the place of a store.
type RestoreOptions struct {
	// Options name the data folder and the folder of backups.
	Options
	// File is put in place; empty means the newest backup that is whole. The
	// store's own file may be named where its first pages are damaged: what
	// they led to is found again in a copy.
	File string
	// Another allows a file of another store than the one that is there.
	Another bool
	// WithForgotten has also what was taken out of the store that is there come
	// back, as far as the file has it.
	WithForgotten bool
	// FoldWithin bounds how long folding the file's log may take; where it would
	// take longer that is left to verify.
	FoldWithin time.Duration
	// Carry, if not nil, is asked what the copy is to know of the store that it takes the
	// place of, before it has its name: own is what the copy holds, others what the store
	// that is there holds, or, where present is false, what its copies hold.
	Carry func(ctx context.Context, own Held, others []Held, present bool) (Carried, error)
	// Progress, if not nil, is told what is done now and how far it is: records
	// when they are checked, megabytes when they are copied.
	Progress func(stage string, done, total uint64)
}

// Restored tells what was put in place of what.
type Restored struct {
	FileReport
	// From is the file that was copied.
	From string
	// Mended says that the file's first pages had to be found again.
	Mended bool
	// Replaced is where the store of before is now, empty where there was none;
	// ReplacedLast is its last record, 0 when it could not be read, and Damage
	// what is wrong with it.
	Replaced     string
	ReplacedLast uint64
	Damage       error
	// ToForget is how many entries of the file were taken out of the store that it
	// replaced: Open leaves it to [Store.ToForget] and Excise to take them out again.
	// ForgottenUnknown says that the store could not tell, so that only its other
	// copies did.
	ToForget         int
	ForgottenUnknown bool
}

// restoring is a restore on its way.
type restoring struct {
	ctx  context.Context
	o    RestoreOptions
	path string
	// held keeps every other process off the store that is there; nil for none.
	held *os.File
	temp string
	// present is the store that is there, as far as it can be read.
	present FileReport
	looked  os.FileInfo
	// memory is what it has forgotten, where that was read.
	memory memory
	read   bool
	// holds is what it holds, where that was asked for and read.
	holds   Held
	holding bool
	out     Restored
}

// Restore puts a copy of a file in the place of a store that no process has open.
// The file is read first, all of it. What is there stays beside it under another
// name, and caches go. A crash at any point leaves either store, whole. It fails
// with ErrLocked, naming the process, while one holds the store, with ErrDamaged
// when the file is not whole, with ErrSchema when a newer program wrote it, and
// with ErrOther.
func Restore(ctx context.Context, o RestoreOptions) (Restored, error) {
	r := &restoring{ctx: ctx, o: o, path: filepath.Join(o.Dir, FileName)}
	if r.o.Progress == nil {
		r.o.Progress = func(string, uint64, uint64) {}
	}
	if r.o.Clock == nil {
		r.o.Clock = func() (time.Time, bool) { return time.Now(), true }
	}
	for _, step := range r.steps() {
		if err := step(); err != nil {
			return r.out, errors.Join(r.notRestored(err), r.giveUp())
		}
	}
	return r.out, r.release()
}

// steps are what a restore does, in order. Whichever is the last one that a crash
// lets it do, the next start finds a store.
func (r *restoring) steps() []func() error {
	return []func() error{r.look, r.choose, r.prove, r.hold, r.copy, r.mend, r.compare, r.forgetAgain, r.carry, r.clearCaches, r.keep, r.put, r.settle}
}

// look reads what is there now.
func (r *restoring) look() error {
	if err := privateDir(r.o.Dir); err != nil {
		return err
	}
	if err := notALink(r.path); err != nil {
		return err
	}
	var err error
	if r.looked, err = os.Stat(r.path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	r.present, err = CheckFile(r.ctx, r.path, CheckOptions{Quick: true})
	if errors.Is(err, ErrLocked) {
		return r.locked()
	}
	r.out.ReplacedLast = r.present.Last
	var why *Error
	if r.out.Damage = err; errors.As(err, &why) {
		r.out.Damage = why.Err
	}
	m, _, err := memoryIn(r.ctx, r.path)
	if r.memory, r.read = m, err == nil; errors.Is(err, ErrLocked) {
		return r.locked()
	}
	if r.holding = false; r.o.Carry != nil && r.read {
		if r.holds, _, err = heldIn(r.ctx, r.path); errors.Is(err, ErrLocked) {
			return r.locked()
		}
		r.holding = err == nil
	}
	return r.ctx.Err()
}

func (r *restoring) locked() error {
	return &Error{Op: "restore to", Path: r.path, Err: fmt.Errorf("%w by %s", ErrLocked, readOwner(r.o.Dir)),
		Hint: "Stop that daemon first, then restore again."}
}

// choose takes the newest good backup where none was named.
func (r *restoring) choose() error {
	if r.out.From = r.o.File; r.out.From != "" {
		return nil
	}
	id := cmp.Or(r.present.ID, r.o.Identity)
	if names := r.o.companions(); id == "" && len(names) > 1 {
		return &Error{Op: "restore", Path: r.path, Err: fmt.Errorf("the backups in %s are of %d companions, and which of them this one is cannot be told", r.o.BackupFolder(), len(names)),
			Hint: "Name the file."}
	}
	newest, bad, err := NewestBackup(r.ctx, r.o.BackupFolder(), id)
	if errors.Is(err, ErrNotFound) {
		if bad > 0 {
			err = fmt.Errorf("%w; %d are damaged", err, bad)
		}
		return &Error{Op: "restore", Path: r.path, Err: err, Hint: "Name a file that lies elsewhere."}
	}
	r.out.From = newest.Path
	return err
}

// itself tells whether the store is asked to be made good from its own file.
func (r *restoring) itself() bool {
	return sameFileAt(r.out.From, r.path)
}

// prove reads the file, all of it.
func (r *restoring) prove() error {
	if r.itself() {
		if r.out.Damage == nil {
			return &Error{Op: "restore", Path: r.out.From, Err: errors.New("that is the store itself, and it can be read"), Hint: "Name a backup of it. jivad verify looks for damage."}
		}
		return nil // only a copy of it can be made good
	}
	return r.check(r.out.From)
}

// check reads a file and keeps what it holds.
func (r *restoring) check(path string) (err error) {
	r.out.FileReport, err = CheckFile(r.ctx, path, CheckOptions{FoldWithin: r.o.FoldWithin, Progress: func(done, total uint64) { r.o.Progress("check", done, total) }})
	return err
}

// hold keeps others off the store that is there. What was written since it was
// looked at is looked at too.
func (r *restoring) hold() error {
	const tries = 5
	for range tries {
		if err := r.lock(); err != nil || r.held == nil {
			return err
		}
		info, err := r.held.Stat()
		if err != nil {
			return err
		}
		if r.looked != nil && os.SameFile(info, r.looked) && info.ModTime().Equal(r.looked.ModTime()) && info.Size() == r.looked.Size() {
			return nil
		}
		if err := r.release(); err != nil {
			return err
		}
		r.held = nil
		if err := r.look(); err != nil {
			return err
		}
	}
	return r.locked()
}

func (r *restoring) lock() error {
	file, err := os.OpenFile(r.path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &Error{Op: "restore to", Path: r.path, Err: bare(err), Hint: "Run as the user that owns the folder."}
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil || !sameFile(file, r.path) {
		return errors.Join(r.locked(), file.Close())
	}
	r.held = file
	return nil
}

// copy writes the file beside the store, onto the disk.
func (r *restoring) copy() (err error) {
	if err := removeTemps(r.o.Dir, restoreTemp); err != nil {
		return err
	}
	r.temp = filepath.Join(r.o.Dir, fmt.Sprintf("%s%d%s", restoreTemp, os.Getpid(), tempSuffix))
	from, err := os.Open(r.out.From)
	if err != nil {
		return &Error{Op: "read", Path: r.out.From, Err: bare(err)}
	}
	defer from.Close() //nolint:errcheck // opened for reading
	info, err := from.Stat()
	if err != nil {
		return err
	}
	to, err := os.OpenFile(r.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	written := sha256.New()
	in := &paced{r: from, done: func(n int64) error {
		r.o.Progress("copy", uint64(n)>>20, uint64(info.Size())>>20)
		return r.ctx.Err()
	}}
	if _, err := io.Copy(to, io.TeeReader(in, written)); err != nil {
		return errors.Join(err, to.Close())
	}
	if err := errors.Join(to.Sync(), to.Close()); err != nil {
		return err
	}
	dropCached(r.temp)
	read, err := digestOf(r.temp)
	if err == nil && !bytes.Equal(read, written.Sum(nil)) {
		err = fmt.Errorf("%w: the disk gives back other bytes than were written", errTorn)
	}
	return err
}

func digestOf(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // opened for reading
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return sum.Sum(nil), err
}

// paced tells how far reading is.
type paced struct {
	r    io.Reader
	n    int64
	done func(int64) error
}

func (p *paced) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.n += int64(n)
	if stop := p.done(p.n); stop != nil {
		return n, stop
	}
	return n, err
}

// mend makes the copy of a store good whose first pages are damaged.
func (r *restoring) mend() error {
	if !r.itself() {
		return nil
	}
	m, err := newMender(r.temp)
	if err != nil {
		return err
	}
	const candidates = 3 // the last write may not have come to its end
	why := r.out.Damage
	for _, root := range m.roots[:min(candidates, len(m.roots))] {
		if err := m.lead(root); err != nil {
			return err
		}
		if why = r.check(r.temp); why == nil {
			r.out.Mended = true
			return nil
		}
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
	}
	var told *Error
	if errors.As(why, &told) {
		why = told.Err // which is of the copy, and the store's own
	}
	return &Error{Op: "mend", Path: r.path, Err: why, Hint: r.o.advice(r.ctx, r.present.ID)}
}

// compare sees that one companion does not take another's place by mistake. One
// that has remembered nothing yet may be replaced by any.
func (r *restoring) compare() error {
	id := cmp.Or(r.present.ID, r.o.Identity)
	if id == "" || id == r.out.ID || r.o.Another || r.read && !r.memory.lived && r.present.Last <= little {
		return nil
	}
	return &Error{Op: "restore", Path: r.out.From, Err: fmt.Errorf("%w (%s) than the one in %s (%s)", ErrOther, r.out.ID, r.o.Dir, id),
		Hint: "Restore it into a data folder of its own, or give --another to have it take this one's place."}
}

// clearCaches removes what was made from the store that goes. What comes can do
// without, and so can what is there, if it must stay.
func (r *restoring) clearCaches() error { return clearExcept(filepath.Join(r.o.Dir, "cache"), "") }

// keep gives the store that is there a second name.
func (r *restoring) keep() error {
	if r.held == nil {
		return nil
	}
	now, _ := r.o.Clock()
	name := replacedPrefix + now.UTC().Format(backupTime)
	for n := 1; ; n++ {
		r.out.Replaced = filepath.Join(r.o.Dir, name)
		if n > 1 {
			r.out.Replaced += fmt.Sprintf("-%d", n)
		}
		err := os.Link(r.path, r.out.Replaced)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil { // no links on this file system
			err = copyFile(r.path, r.out.Replaced)
		}
		if err != nil {
			return fmt.Errorf("keep the present file as %s: %w", r.out.Replaced, err)
		}
		return atomicfile.SyncDir(r.o.Dir)
	}
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // opened for reading
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		err = errors.Join(err, os.Remove(to))
	}
	return err
}

// put gives the copy the store's name, in one step.
func (r *restoring) put() error {
	if r.held == nil { // whoever has begun a store here meanwhile keeps it
		return moveInto(r.temp, r.path)
	}
	return os.Rename(r.temp, r.path)
}

// settle makes it durable.
func (r *restoring) settle() error {
	r.out.Path = r.path
	err := errors.Join(atomicfile.SyncDir(r.o.Dir), removeIfThere(filepath.Join(r.o.Dir, rewriteName)))
	if err != nil {
		err = &Error{Op: "restore to", Path: r.path, Err: err, Hint: "It is in place, but a power cut now might undo it. Check the disk and do it again."}
	}
	return err
}

func (r *restoring) release() error {
	if r.held == nil {
		return nil
	}
	return r.held.Close()
}

// giveUp leaves everything as it was.
func (r *restoring) giveUp() error {
	var err error
	if r.temp != "" {
		err = removeIfThere(r.temp)
	}
	if r.out.Replaced != "" && sameFileAt(r.out.Replaced, r.path) {
		err = errors.Join(err, os.Remove(r.out.Replaced))
		r.out.Replaced = ""
	}
	return errors.Join(err, r.release())
}

// sameFileAt tells whether two names are of one file.
func sameFileAt(one, other string) bool {
	a, err1 := os.Stat(one)
	b, err2 := os.Stat(other)
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}

func (r *restoring) notRestored(err error) error {
	var told *Error
	if errors.As(err, &told) || r.ctx.Err() != nil {
		return err
	}
	return &Error{Op: "restore to", Path: r.path, Err: err, Hint: "The store that was there is as it was. Check that the folder can be written and that the disk has as much free room as the file is long."}
}
