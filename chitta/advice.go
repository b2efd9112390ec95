package chitta

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// restoreCommand is what puts a backup in the store's place.
func (o Options) restoreCommand(file string) string {
	if o.RestoreCommand != nil {
		return o.RestoreCommand(file)
	}
	return "jivad --data " + quoted(o.Dir) + " restore " + quoted(file)
}

func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

const leftAsItIs = "The file was left as it is. "

// advice says what to do about damage: it names the newest backup that is whole,
// which it finds by reading it, and the command that puts it in place. id, if not
// empty, names the store.
func (o Options) advice(ctx context.Context, id string) string {
	id = cmp.Or(id, o.Identity)
	if names := o.companions(); id == "" && len(names) > 1 {
		return leftAsItIs + fmt.Sprintf("The backups in %s are of %d companions, and which of them this one is cannot be told. Put one in place with: %s",
			o.BackupFolder(), len(names), o.restoreCommand("FILE"))
	}
	newest, bad, err := NewestBackup(ctx, o.BackupFolder(), id)
	tried := ""
	if bad > 0 {
		tried = fmt.Sprintf(" (%d newer ones are damaged too)", bad)
	}
	switch {
	case err == nil:
		return leftAsItIs + fmt.Sprintf("The newest good backup%s is %s, with %d records, the last of %s. Put it in place with: %s",
			tried, newest.Path, newest.Last, newest.Written.Format("2006-01-02 15:04 UTC"), o.restoreCommand(newest.Path))
	case errors.Is(err, ErrNotFound):
		if bad > 0 {
			tried = fmt.Sprintf(" (%d are there and are damaged too)", bad)
		}
		return leftAsItIs + fmt.Sprintf("There is no good backup in %s%s. Put a copy of the file aside before you try anything; a backup that lies elsewhere is put in place with: %s",
			o.BackupFolder(), tried, o.restoreCommand("FILE"))
	}
	return leftAsItIs + fmt.Sprintf("Backups in %s could not be looked at (%v).", o.BackupFolder(), err)
}

// lostAdvice is for a file that still holds everything, but where bbolt would not
// find what was written last.
func (o Options) lostAdvice(ctx context.Context, path, id string) string {
	return leftAsItIs + "It seems to hold everything that was written. To mend it in a copy, prove that and put it in place: " + o.restoreCommand(path) +
		" Or else: " + strings.TrimPrefix(o.advice(ctx, id), leftAsItIs)
}

// unwritable says what to do where a file cannot be opened for writing: because the
// file system takes no writing, or because this user may not; otherwise is for any
// other error.
func unwritable(err error, otherwise string) string {
	const elsewhere = "or copy the data folder to where it can be written, and name that with --data."
	switch {
	case errors.Is(err, syscall.EROFS):
		return leftAsItIs + "The file system is mounted read-only: mount it to be written (mount -o remount,rw), after a look at the disk where it became so by itself; " + elsewhere
	case errors.Is(err, fs.ErrPermission):
		return leftAsItIs + "Run as the user that owns the folder; " + elsewhere
	}
	return otherwise
}

// told is what was found out of damage while a store is open.
type told struct {
	mu     sync.Mutex
	advice string
	fault  atomic.Pointer[error]
}

// explained says of damage what to do about it, once. Stores that are only looked
// at have nobody to tell.
func (s *Store) explained(op string, err error) error {
	var already *Error
	if err == nil || s.told == nil || !errors.Is(err, ErrDamaged) || errors.As(err, &already) {
		return err
	}
	err = &Error{Op: op, Path: s.file, Err: err, Hint: s.advised()}
	s.told.fault.CompareAndSwap(nil, &err)
	return err
}

// advised is the advice for this store. It is kept, since finding it out reads
// backups, and many may ask for it at once.
func (s *Store) advised() string {
	s.told.mu.Lock()
	defer s.told.mu.Unlock()
	if s.told.advice == "" {
		s.told.advice = s.opts.advice(context.Background(), s.Meta().ID)
	}
	return s.told.advice
}

// Explain adds to an error of damage what to do about it; other errors stay as
// they are.
func (s *Store) Explain(err error) error { return s.explained("read", damaged(err)) }

// Fault is the first damage that was met since the store was opened, or what
// stopped it; nil while all is well.
func (s *Store) Fault() error {
	if err := s.told.fault.Load(); err != nil {
		return *err
	}
	return nil
}

// halt has the store take no more, and keeps why.
func (s *Store) halt(why error) error {
	s.broken = why
	s.told.fault.Store(&why)
	return why
}
