package chitta

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
	"golang.org/x/sys/unix"

	"github.com/jivad/jivad/internal/atomicfile"
)

// ErrCopying: a backup is being made already.
var ErrCopying = errors.New("a backup is being made already")

// BackupOptions say where a backup goes.
type BackupOptions struct {
	// File is where it is written: a file that is not there yet, or a folder that
	// is, which gets one with a name of its own. Empty means an automatic backup
	// in the folder of backups.
	File string
	// Keep is how many automatic backups stay when an automatic one was made, the
	// newest; 0 means all.
	Keep int
	// Progress, if not nil, is told what is done now and how many records of how
	// many.
	Progress func(stage string, done, total uint64)
}

// BackupResult tells of a backup that was made.
type BackupResult struct {
	FileReport
	Taken     time.Time
	Automatic bool
	// Removed are older automatic backups that went.
	Removed []string
}

// Backup writes a copy of the store as it is at one moment, while others read and
// write, and reads the copy to prove it. It has its name only when it is whole
// and on disk; nothing is ever written over. What the store holds is read in
// short transactions, so that writers do not wait and the file does not grow;
// see copyTo. It fails with ErrCopying while another is being made, and with
// ErrDamaged, naming an older one, when the store is damaged.
func (s *Store) Backup(ctx context.Context, o BackupOptions) (BackupResult, error) {
	if o.Progress == nil {
		o.Progress = func(string, uint64, uint64) {}
	}
	write := func(ctx context.Context, path string) error { return s.copyTo(ctx, path, o.Progress) }
	for {
		r, err := s.makeBackup(ctx, o, write, func(f func() error) error { return s.exclusively(ctx, f) })
		if errors.Is(err, errReplaced) {
			continue // it holds what was taken out while it was proved
		}
		if err == nil && r.Automatic {
			r.Removed, err = rotate(s.opts.BackupFolder(), r.ID, o.Keep)
		}
		return r, err
	}
}

// makeBackup has write fill a file under a hidden name, reads it again, and gives
// it its own name, while alone keeps everybody else off.
func (s *Store) makeBackup(ctx context.Context, o BackupOptions, write func(ctx context.Context, path string) error, alone func(func() error) error) (r BackupResult, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if !s.touched.begin(stop) {
		return r, ErrCopying
	}
	defer s.touched.end()
	folder, name := s.opts.BackupFolder(), ""
	if r.Automatic = o.File == ""; r.Automatic {
		if err := atomicfile.MkdirAll(folder, 0o700); err != nil {
			return r, err
		}
	} else if folder, name, err = target(o.File); err != nil {
		return r, err
	}
	id := s.Meta().ID
	if err := removeTemps(folder, backupTemp(id)); err != nil {
		return r, err
	}
	temp := filepath.Join(folder, fmt.Sprintf("%s%d%s", backupTemp(id), os.Getpid(), tempSuffix))
	defer func() {
		if err != nil {
			if errors.Is(context.Cause(ctx), errReplaced) {
				err = errReplaced
			}
			err = errors.Join(s.notBackedUp(folder, err), removeIfThere(temp))
		}
	}()
	if err := write(ctx, temp); err != nil {
		return r, s.explained("back up", err)
	}
	dropCached(temp) // so that what is read comes from the disk
	report, err := CheckFile(ctx, temp, CheckOptions{Progress: func(done, total uint64) {
		if o.Progress != nil {
			o.Progress("check", done, total)
		}
	}})
	if err != nil {
		return r, err
	}
	if report.ID != id {
		return r, fmt.Errorf("the copy is of store %s, not of %s", report.ID, id)
	}
	r.FileReport = report
	err = alone(func() error {
		if s.meta.Generation != report.Generation {
			return errReplaced
		}
		r.Taken, r.Path, err = s.name(temp, folder, name, report.Last)
		return err
	})
	return r, err
}

// target says in which folder a backup goes, and under which name; the empty one
// asks for one like that of an automatic backup.
func target(file string) (folder, name string, err error) {
	info, err := os.Stat(file)
	if err == nil && info.IsDir() {
		return file, "", nil
	}
	if err == nil {
		return "", "", &Error{Op: "back up to", Path: file, Err: fs.ErrExist, Hint: "Nothing is written over: name another file, or move this one away."}
	}
	folder = filepath.Dir(file)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "", "", &Error{Op: "back up to", Path: file, Err: fmt.Errorf("there is no folder %s", folder), Hint: "Make it first."}
	}
	return folder, filepath.Base(file), nil
}

// name gives a finished copy its name, unless something has it, and makes that
// durable. The names of automatic backups tell their order, also where the clock
// was put back.
func (s *Store) name(temp, folder, name string, last uint64) (taken time.Time, path string, err error) {
	now, _ := s.opts.Clock()
	taken = now.UTC().Truncate(time.Second)
	if name == "" {
		list, err := ListBackups(folder)
		if err != nil {
			return taken, "", err
		}
		if len(list) > 0 && list[0].Automatic && !list[0].Taken.Before(taken) {
			taken = list[0].Taken.Add(time.Second)
		}
		name = backupName(taken, last)
	}
	path = filepath.Join(folder, name)
	if err := moveInto(temp, path); err != nil {
		return taken, "", err
	}
	return taken, path, atomicfile.SyncDir(folder)
}

// moveInto renames a file to a name that nothing has.
func moveInto(temp, path string) error {
	err := os.Link(temp, path) // which, unlike a rename, fails when something is there
	if err == nil || errors.Is(err, fs.ErrExist) {
		return errors.Join(bareLink(err), removeIfThere(temp))
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) { // no links on this file system
		return errors.Join(fs.ErrExist, removeIfThere(temp))
	}
	return os.Rename(temp, path)
}

func bareLink(err error) error {
	var at *os.LinkError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// notBackedUp says what it means that there is no backup.
func (s *Store) notBackedUp(folder string, err error) error {
	var already *Error
	if errors.As(err, &already) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errReplaced) {
		return err
	}
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		return ErrClosed
	}
	out := &Error{Op: "back up to", Path: folder, Err: err, Hint: "Nothing was left there, and the backups of before are as they were."}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		out.Hint += fmt.Sprintf(" It needs some %d MB of room.", s.Size()>>20+1)
	}
	return out
}

const tempSuffix = ".tmp"

// backupTemp begins the hidden names of the backups of a store that are being
// made; a folder may have those of several.
func backupTemp(id string) string {
	const tail = 12
	return ".jivad-" + id[max(0, len(id)-tail):] + "-"
}

// removeTemps removes what a process that was killed left in a folder.
func removeTemps(dir, prefix string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && strings.HasSuffix(e.Name(), tempSuffix) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// dropCached asks the system to forget what it holds of a file in memory, which
// must be on disk.
func dropCached(path string) {
	file, err := os.Open(path)
	if err != nil {
		return
	}
	defer file.Close() //nolint:errcheck // opened for reading
	_ = unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// copyRaw writes the file as it is, page by page. It is for a store that nobody
// writes to meanwhile.
func (s *Store) copyRaw(path string) error {
	return s.view(func(tx *bolt.Tx) (err error) {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		if _, err := tx.WriteTo(file); err != nil {
			return err
		}
		return file.Sync()
	})
}
