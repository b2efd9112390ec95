package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// journal remembers what a program wrote and did not sync, so that a power cut
// can take it back: of every file the sectors as they were at its last sync, of
// every folder what was done in it since. It is stricter than most file systems,
// which put renames in order and sync more than is asked for.
type journal struct {
	// spare is a folder of the same file system for what was renamed over or
	// removed.
	spare string
	files map[inode]*unsynced
	ops   []operation
	kept  int
}

type inode struct{ dev, ino uint64 }

// unsynced is a file as it was at its last sync, where it was written since.
type unsynced struct {
	file    *os.File
	size    int64
	sectors map[int64][]byte
}

// operation is a change of a folder.
type operation struct {
	what, folder, path, to string
	// saved is what had the name before, or "".
	saved string
}

const sector = 512

func newJournal(spare string) *journal {
	return &journal{spare: spare, files: map[inode]*unsynced{}}
}

// before remembers what the call is about to change.
func (j *journal) before(n *notice, c call, dir string) error {
	switch c.Name {
	case "write", "pwrite64", "ftruncate":
		return j.writes(n, c)
	case "fsync", "fdatasync":
		return j.syncs(n, filepath.Join(dir, c.File))
	}
	path := filepath.Join(dir, c.File)
	op := operation{what: c.Name, path: path, folder: filepath.Dir(path)}
	switch c.Name {
	case "create":
		if _, err := os.Lstat(path); err == nil {
			return j.empties(path, n.args[2])
		}
	case "mkdir":
		if _, err := os.Lstat(path); err == nil {
			return nil
		}
	case "unlink":
		info, err := os.Lstat(path)
		if err != nil || info.IsDir() {
			return nil // an empty folder less is no loss
		}
		op.saved, err = j.save(path)
		if err != nil {
			return err
		}
	case "rename", "link":
		op.to = filepath.Join(dir, c.To)
		op.folder = filepath.Dir(op.to)
		var err error
		if op.saved, err = j.save(op.to); err != nil {
			return err
		}
		if _, err := os.Lstat(path); err != nil || c.Name == "link" && op.saved != "" {
			return nil // it will fail
		}
	default:
		return fmt.Errorf("journal: %s is not known", c.Name)
	}
	j.ops = append(j.ops, op)
	return nil
}

// save keeps what has a name under another one.
func (j *journal) save(path string) (string, error) {
	j.kept++
	saved := filepath.Join(j.spare, fmt.Sprint(j.kept))
	err := os.Link(path, saved)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return saved, err
}

// of finds or makes the record of an open file.
func (j *journal) of(f *os.File) (*unsynced, bool, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, false, errors.New("journal: no inode")
	}
	id := inode{uint64(st.Dev), st.Ino} //nolint:unconvert // its width differs by machine
	if u := j.files[id]; u != nil {
		return u, false, nil
	}
	u := &unsynced{file: f, size: info.Size(), sectors: map[int64][]byte{}}
	j.files[id] = u
	return u, true, nil
}

func (j *journal) writes(n *notice, c call) error {
	f, err := os.OpenFile(procFD(n.pid, n.args[0]), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	u, fresh, err := j.of(f)
	if err != nil || !fresh {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return err
	}
	if c.Name == "ftruncate" {
		return u.remember(int64(n.args[1]), u.size)
	}
	at, err := offset(n, c)
	if err != nil {
		return err
	}
	return u.remember(at, at+int64(c.Size))
}

// empties remembers a file that opening empties.
func (j *journal) empties(path string, flags uint64) error {
	if flags&unix.O_TRUNC == 0 {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	u, fresh, err := j.of(f)
	if err != nil || !fresh {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return err
	}
	return u.remember(0, u.size)
}

// remember keeps the sectors between two places as they are, unless they were
// changed before.
func (u *unsynced) remember(from, to int64) error {
	for s := from / sector; s*sector < min(to, u.size); s++ {
		if _, known := u.sectors[s]; known {
			continue
		}
		data := make([]byte, sector)
		n, err := u.file.ReadAt(data, s*sector)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		u.sectors[s] = data[:min(int64(n), u.size-s*sector)]
	}
	// Sectors behind the old end had nothing: they read as zeros when lost.
	for s := max(from, u.size) / sector; s*sector < to; s++ {
		if _, known := u.sectors[s]; !known {
			u.sectors[s] = nil
		}
	}
	return nil
}

// syncs forgets what is on disk now.
func (j *journal) syncs(n *notice, path string) error {
	info, err := os.Stat(procFD(n.pid, n.args[0]))
	if err != nil {
		return err
	}
	if info.IsDir() {
		left := j.ops[:0]
		for _, op := range j.ops {
			if op.folder != path {
				left = append(left, op)
			}
		}
		j.ops = left
		return nil
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.New("journal: no inode")
	}
	id := inode{uint64(st.Dev), st.Ino} //nolint:unconvert // its width differs by machine
	if u := j.files[id]; u != nil {
		delete(j.files, id)
		return u.file.Close()
	}
	return nil
}

// cut takes back what the power cut kept from the disk: of every file nothing, all
// or some sectors, of every folder the last changes. It tells what.
func (j *journal) cut(rng *rand.Rand) (what string, err error) {
	lost, undone := 0, 0
	for _, id := range slices.SortedFunc(maps.Keys(j.files), func(a, b inode) int { return cmp.Or(cmp.Compare(a.dev, b.dev), cmp.Compare(a.ino, b.ino)) }) {
		u := j.files[id]
		n, err := u.lose(rng)
		if err := errors.Join(err, u.file.Close()); err != nil {
			return "", err
		}
		lost += n
	}
	from := map[string]int{}
	for i, op := range j.ops { // where in the folder's changes the cut is
		if _, known := from[op.folder]; !known {
			from[op.folder] = i + rng.IntN(len(j.ops)-i+1)
		}
	}
	for i := len(j.ops) - 1; i >= 0; i-- {
		if op := j.ops[i]; i >= from[op.folder] {
			undone++
			if err := op.undo(); err != nil {
				return "", fmt.Errorf("undo %s %s: %w", op.what, op.path, err)
			}
		}
	}
	return fmt.Sprintf("%d sectors and %d changes of folders lost", lost, undone), nil
}

// lose takes back sectors of one file, and perhaps its length.
func (u *unsynced) lose(rng *rand.Rand) (lost int, err error) {
	share := [...]float64{0, 1, rng.Float64()}[rng.IntN(3)]
	info, err := u.file.Stat()
	if err != nil {
		return 0, err
	}
	now, size := info.Size(), info.Size()
	if share == 1 || share > 0 && rng.IntN(2) == 0 {
		size = u.size
	}
	if err := u.file.Truncate(size); err != nil {
		return 0, err
	}
	for _, s := range slices.Sorted(maps.Keys(u.sectors)) {
		at := s * sector
		cutOff := at+sector > now && at < u.size // it went with the length, and comes back with it
		if at >= size || rng.Float64() >= share && !cutOff {
			continue
		}
		lost++
		old := make([]byte, min(sector, size-at))
		copy(old, u.sectors[s]) // where nothing was, zeros come
		if _, err := u.file.WriteAt(old, at); err != nil {
			return lost, err
		}
	}
	return lost, nil
}

// undo takes one change of a folder back.
func (o operation) undo() error {
	var err error
	switch o.what {
	case "create":
		err = os.Remove(o.path)
	case "mkdir":
		err = os.RemoveAll(o.path)
	case "link":
		err = os.Remove(o.to)
	case "rename":
		err = os.Rename(o.to, o.path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if o.saved == "" {
		return nil
	}
	name := o.path
	if o.to != "" {
		name = o.to
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	err = os.Link(o.saved, name)
	if errors.Is(err, fs.ErrExist) {
		return nil // what came later stays
	}
	return err
}
