package chitta

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/internal/atomicfile"
)

const (
	// backupsName is the folder of backups inside the data folder.
	backupsName = "backups"
	backupTime  = "20060102T150405Z"
	// replacedPrefix begins the names of the files that a restore replaced.
	replacedPrefix = FileName + ".replaced-"
)

var backupPattern = regexp.MustCompile(`^jivad-(\d{8}T\d{6}Z)-(\d+)\.db$`)

// Backup is one file of the folder of backups.
type Backup struct {
	Path string
	// Taken and Sequence are what the name says: when, and the last record then.
	Taken    time.Time
	Sequence uint64
	Bytes    int64
	// Automatic backups go when enough newer ones are there.
	Automatic bool
}

// backupName is the name of an automatic backup.
func backupName(taken time.Time, last uint64) string {
	return fmt.Sprintf("jivad-%s-%09d.db", taken.UTC().Format(backupTime), last)
}

// BackupFolder is where the automatic backups of a data folder are.
func (o Options) BackupFolder() string {
	if o.Backups != "" {
		return o.Backups
	}
	return filepath.Join(o.Dir, backupsName)
}

// ListBackups lists the backups in a folder by their names, newest first, and
// behind them other files that end in .db. A folder that is not there has none.
func ListBackups(folder string) ([]Backup, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &Error{Op: "list backups", Path: folder, Err: bare(err), Hint: "The user that runs jivad must be able to read it."}
	}
	var out []Backup
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(e.Name(), ".") || filepath.Ext(e.Name()) != ".db" {
			continue
		}
		b := Backup{Path: filepath.Join(folder, e.Name()), Bytes: info.Size(), Taken: info.ModTime().UTC()}
		if m := backupPattern.FindStringSubmatch(e.Name()); m != nil {
			taken, err := time.Parse(backupTime, m[1])
			last, err2 := strconv.ParseUint(m[2], 10, 64)
			if b.Automatic = err == nil && err2 == nil; b.Automatic {
				b.Taken, b.Sequence = taken, last
			}
		}
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b Backup) int {
		switch {
		case a.Automatic != b.Automatic:
			if a.Automatic {
				return -1
			}
			return 1
		case !a.Taken.Equal(b.Taken):
			return b.Taken.Compare(a.Taken)
		}
		return cmp.Or(cmp.Compare(b.Sequence, a.Sequence), cmp.Compare(a.Path, b.Path))
	})
	return out, nil
}

// NewestBackup reads the backups in a folder, the newest first, until one is
// whole. id, if not empty, names the store that it must be of. bad counts those
// of that store that were tried and are not whole. It fails with ErrNotFound
// when there is none.
func NewestBackup(ctx context.Context, folder, id string) (newest FileReport, bad int, err error) {
	list, err := ListBackups(folder)
	if err != nil {
		return newest, 0, err
	}
	for _, b := range list {
		if err := ctx.Err(); err != nil {
			return newest, bad, err
		}
		report, err := CheckFile(ctx, b.Path, CheckOptions{})
		switch {
		case err == nil && (id == "" || report.ID == id):
			return report, bad, nil
		case err != nil && (id == "" || report.ID == "" || report.ID == id):
			bad++
		}
	}
	return newest, bad, fmt.Errorf("%w: no backup that is whole in %s", ErrNotFound, folder)
}

// rotate removes the oldest automatic backups of the store until keep are left,
// and returns what it removed. What is not this store's stays, and what cannot be
// read too.
func rotate(folder, id string, keep int) (removed []string, err error) {
	if keep <= 0 {
		return nil, nil
	}
	list, err := ListBackups(folder)
	if err != nil {
		return nil, err
	}
	for _, b := range list {
		if !b.Automatic || !isOf(b.Path, id) {
			continue
		}
		if keep--; keep >= 0 {
			continue
		}
		if e := os.Remove(b.Path); e != nil {
			err = errors.Join(err, &Error{Op: "remove the old backup", Path: b.Path, Err: bare(e)})
			continue
		}
		removed = append(removed, b.Path)
	}
	if len(removed) > 0 {
		err = errors.Join(err, atomicfile.SyncDir(folder))
	}
	return removed, err
}

func isOf(path, id string) bool {
	report, err := CheckFile(context.Background(), path, CheckOptions{Quick: true})
	return err == nil && report.ID == id
}

// dropCopies removes the copies of the store that hold an entry with one of the
// wordings, which were taken out of it: automatic backups, and what restores
// replaced. left are those that could not be removed, or that may be another
// store's, and, unless unread, those that cannot be read: a restore keeps what it
// replaced, however damaged.
func (s *Store) dropCopies(wordings []fold.Key, unread bool) (removed, left []string) {
	for _, path := range s.copies() {
		copied, report, err := openFile(path)
		holds := err != nil
		if err == nil {
			holds = report.ID == s.meta.ID && copied.holds(context.Background(), wordings, report.Last)
			_ = copied.db.close()
		}
		switch {
		case !holds:
		case err != nil && (!unread || !s.ownFolder(path)) || os.Remove(path) != nil:
			left = append(left, path)
		default:
			removed = append(removed, path)
		}
	}
	s.syncFoldersOf(removed)
	return removed, left
}

// ownFolder tells whether a file lies where no other store's do.
func (s *Store) ownFolder(path string) bool {
	return filepath.Dir(path) == filepath.Join(s.opts.Dir, backupsName) || filepath.Dir(path) == filepath.Clean(s.opts.Dir)
}

// dropVoidCopies removes those that hold what was taken out: a crash came before
// dropCopies was done, or they could not be reached then. Those that know of all that
// was taken out hold what was written anew since.
func (s *Store) dropVoidCopies() {
	if len(s.excised) == 0 {
		return
	}
	var removed []string
	for _, path := range s.copies() {
		copied, report, err := openFile(path)
		if err != nil {
			continue
		}
		void := false
		if report.ID == s.meta.ID {
			wordings, err := s.newTo(copied)
			void = err == nil && len(wordings) > 0 && copied.holds(context.Background(), wordings, report.Last)
		}
		_ = copied.db.close()
		if !void {
			continue
		}
		if err := os.Remove(path); err != nil {
			s.log.Warn("a copy that holds what was forgotten could not be removed", "path", path, "error", err)
			continue
		}
		removed = append(removed, path)
	}
	s.syncFoldersOf(removed)
}

func (s *Store) syncFoldersOf(paths []string) {
	folders := map[string]bool{}
	for _, p := range paths {
		folders[filepath.Dir(p)] = true
	}
	for dir := range folders {
		if err := atomicfile.SyncDir(dir); err != nil {
			s.log.Warn("the removal of copies may not be on disk", "folder", dir, "error", err)
		}
	}
}

// CopiesWith lists the files of the folder of backups, and those that restores
// replaced, that are copies of this store and hold an entry with one of these
// wordings; and files there that cannot be read to the end, of which it is not
// known. own are those that Excise removes, others those that it leaves. It reads
// the log of each.
func (s *Store) CopiesWith(ctx context.Context, wordings []fold.Key) (own, others []string, err error) {
	id := s.Meta().ID
	files := s.copies()
	made := len(files)
	for _, folder := range s.opts.backupFolders() {
		list, err := ListBackups(folder)
		if err != nil {
			return nil, nil, err
		}
		for _, b := range list {
			if !b.Automatic {
				files = append(files, b.Path)
			}
		}
	}
	for i, path := range files {
		copied, report, err := openFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it went meanwhile
		}
		holds := err != nil
		if err == nil {
			if report.ID == id {
				holds = copied.holds(ctx, wordings, report.Last)
			}
			_ = copied.db.close()
		}
		if err := ctx.Err(); err != nil {
			return own, others, err
		}
		switch {
		case !holds:
		case i < made && (err == nil || s.ownFolder(path)):
			own = append(own, path)
		default:
			others = append(others, path)
		}
	}
	return own, others, nil
}

// holds tells whether an entry with one of the wordings is in the log, or may be,
// because a record cannot be read.
func (s *Store) holds(ctx context.Context, wordings []fold.Key, last uint64) bool {
	wanted := make(map[fold.Key]bool, len(wordings))
	for _, k := range wordings {
		wanted[k] = true
	}
	err := s.wordings(ctx, last, func(_ uint64, k fold.Key) error {
		if wanted[k] {
			return errNothing // enough was seen
		}
		return nil
	})
	return err != nil
}

// copies are the automatic backups and what restores replaced.
func (s *Store) copies() []string {
	paths, err := s.opts.copies()
	if err != nil {
		s.log.Warn("not all copies of the store can be listed", "error", err)
	}
	return paths
}

// backupFolders are the folder of backups, and the usual one, where they were
// perhaps before.
func (o Options) backupFolders() []string {
	folders := []string{o.BackupFolder()}
	if usual := filepath.Join(o.Dir, backupsName); !sameFileAt(usual, folders[0]) && usual != filepath.Clean(folders[0]) {
		folders = append(folders, usual)
	}
	return folders
}

// copies are the automatic backups of a data folder, and what restores replaced.
func (o Options) copies() (paths []string, err error) {
	for _, folder := range o.backupFolders() {
		list, e := ListBackups(folder)
		err = errors.Join(err, e)
		for _, b := range list {
			if b.Automatic {
				paths = append(paths, b.Path)
			}
		}
	}
	entries, e := os.ReadDir(o.Dir)
	for _, x := range entries {
		if strings.HasPrefix(x.Name(), replacedPrefix) {
			paths = append(paths, filepath.Join(o.Dir, x.Name()))
		}
	}
	return paths, errors.Join(err, e)
}

// companions are the stores that the backups are of.
func (o Options) companions() []string {
	list, _ := ListBackups(o.BackupFolder())
	var out []string
	for _, b := range list {
		if report, err := CheckFile(context.Background(), b.Path, CheckOptions{Quick: true}); err == nil && !slices.Contains(out, report.ID) {
			out = append(out, report.ID)
		}
	}
	return out
}

// lost tells whether a store was in the data folder, by what stands beside it.
func (o Options) lost() bool {
	paths, _ := o.copies()
	if len(paths) > 0 {
		return true
	}
	for _, name := range []string{"soul", "SOUL.md"} {
		if _, err := os.Stat(filepath.Join(o.Dir, name)); err == nil {
			return true
		}
	}
	return false
}

// BackupFolder is where the automatic backups are.
func (s *Store) BackupFolder() string { return s.opts.BackupFolder() }

// Backups lists the automatic backups of this store, newest first. In the data
// folder they are known by their names; a folder elsewhere may hold those of
// others too, so there each is looked at.
func (s *Store) Backups() ([]Backup, error) {
	folder := s.opts.BackupFolder()
	list, err := ListBackups(folder)
	if err != nil {
		return nil, err
	}
	shared := folder != filepath.Join(s.opts.Dir, backupsName)
	id := s.Meta().ID
	return slices.DeleteFunc(list, func(b Backup) bool { return !b.Automatic || shared && !isOf(b.Path, id) }), nil
}
