package chitta

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// ErrMissing: a store is not there, and something is that only a store leaves. It
// is an ErrDamaged.
var ErrMissing = fmt.Errorf("%w: the file is missing", ErrDamaged)

// Traces are what tells of a store besides its own files: what was written from it.
type Traces struct {
	// ID names the store; empty where that is not known.
	ID string
	// Paths are of files and folders.
	Paths []string
}

// Missing is an ErrMissing where the store of a folder is not there, and backups of
// it, a file that a restore replaced or Options.Traces tell that there was one: a
// new one would take its place. It says how the old one comes back. It is nil where
// the store is there, and where nothing tells of one. A folder of backups outside of
// the data folder may hold those of other stores, too: only those count of the store
// that is missing, where it is known which that is. Other errors are of folders of backups
// that cannot be read, and of ctx.
func (o Options) Missing(ctx context.Context) error {
	path := filepath.Join(o.Dir, FileName)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil //nolint:nilerr // it is there, or opening it tells why it cannot be seen
	}
	replaced, err := o.replacedFiles(ctx)
	if err != nil {
		return err
	}
	id := o.Traces.ID
	if id == "" && replaced.whole != nil {
		id = replaced.whole.ID
	}
	why, away, backup := "", slices.Clone(o.Traces.Paths), (*FileReport)(nil)
	own := filepath.Join(o.Dir, backupsName)
	for _, folder := range slices.Compact([]string{o.BackupFolder(), own}) {
		list, err := ListBackups(folder)
		if errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err != nil {
			return err
		}
		of := id
		switch {
		case folder == own:
			of = ""
		case id == "":
			continue // those of others, for all that is known
		}
		newest, _, err := NewestBackup(ctx, folder, of)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && backup == nil:
			backup = &newest
		case err != nil && (folder != own || !slices.ContainsFunc(list, func(b Backup) bool { return b.Automatic })):
			continue
		}
		why, away = "there are backups of it", append(away, folder)
	}
	if len(replaced.paths) > 0 && why == "" {
		why = "a file is there that a restore replaced"
	}
	if away = append(away, replaced.paths...); len(away) == 0 {
		return nil
	}
	if why == "" {
		why = "what was written from it is there"
	}
	return &Error{Op: "open", Path: path, Err: fmt.Errorf("%w, and %s", ErrMissing, why),
		Hint: fmt.Sprintf("To begin a new companion, move away what is of this one: %s. %s", strings.Join(away, ", "), o.bringBack(backup, replaced.whole))}
}

// bringBack says how a store that is missing comes back.
func (o Options) bringBack(backup, replaced *FileReport) string {
	if backup != nil {
		return o.newestIs("good backup", *backup)
	}
	if replaced != nil {
		return o.newestIs("file that a restore replaced", *replaced)
	}
	return fmt.Sprintf("There is no good backup in %s; one that lies elsewhere is put in place with: %s", o.BackupFolder(), o.restoreCommand("FILE"))
}

func (o Options) newestIs(what string, r FileReport) string {
	last := ""
	if !r.Written.IsZero() {
		last = ", the last of " + r.Written.Format("2006-01-02 15:04 UTC")
	}
	return fmt.Sprintf("The newest %s is %s, with %d records%s. Put it in place with: %s", what, r.Path, r.Last, last, o.restoreCommand(r.Path))
}

// Replaced lists the files of a data folder that restores replaced, the oldest first.
func Replaced(dir string) ([]string, error) {
	return filepath.Glob(filepath.Join(quoteGlob(dir), replacedPrefix+"*")) // sorted, and the time is in the names
}

// replacedFiles are what restores replaced, and the newest of them that is whole.
func (o Options) replacedFiles(ctx context.Context) (out struct {
	paths []string
	whole *FileReport
}, err error) {
	out.paths, err = Replaced(o.Dir)
	for _, path := range slices.Backward(out.paths) {
		report, e := CheckFile(ctx, path, CheckOptions{})
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		if e == nil {
			out.whole = &report
			break
		}
	}
	return out, err
}
