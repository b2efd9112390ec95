// Package atomicfile replaces files as a whole: after a crash or a power cut
// there is either the old content or the new one, never a half.
//
// [Write] is enough for content in memory. [Create] gives a [Writer] for
// content that is too large for that. Both put a hidden temporary file beside
// the target, sync it, rename it over the target and sync the folder. A target
// that is a symbolic link stays a link: what it points to is replaced.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

const (
	tempSuffix = ".tmp"
	// maxLinks bounds a chain of symbolic links, as the kernel does.
	maxLinks = 40
	// maxStem keeps the temporary name below the 255 bytes most file systems allow.
	maxStem = 200
)

// Write replaces the content of path by data with the permissions perm (not
// lessened by the umask). The folder must exist. The error is an *[Error].
func Write(path string, data []byte, perm os.FileMode) error {
	w, err := Create(path, perm)
	if err != nil {
		return err
	}
	defer w.Close()
	if _, err := w.Write(data); err != nil {
		return err
	}
	return w.Commit()
}

// Writer collects the new content of a file beside it. Nothing is seen under
// the target's name until [Writer.Commit]; [Writer.Close] without it leaves
// the old content. A Writer is not for concurrent use.
type Writer struct {
	temp   *os.File
	path   string // as the caller named it, for messages
	target string // after following links
	done   bool
}

// Create begins to replace path.
func Create(path string, perm os.FileMode) (*Writer, error) {
	target, err := followLinks(path)
	if err != nil {
		return nil, wrap("follow the link", path, err)
	}
	if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() {
		return nil, wrap("replace", path, errNotRegular)
	}
	temp, err := os.CreateTemp(filepath.Dir(target), tempPrefix(target)+"*"+tempSuffix)
	if err != nil {
		return nil, wrap("create a temporary file beside", path, err)
	}
	w := &Writer{temp: temp, path: path, target: target}
	if err := temp.Chmod(perm.Perm()); err != nil {
		w.Close()
		return nil, wrap("set the permissions of", path, err)
	}
	return w, nil
}

// Write appends to the new content.
func (w *Writer) Write(p []byte) (int, error) {
	n, err := w.temp.Write(p)
	if err != nil {
		return n, wrap("write", w.path, err)
	}
	return n, nil
}

// Commit makes the new content durable under the target's name. After an error
// the temporary file is gone; only with [ErrNotDurable] is the new content
// already in place.
func (w *Writer) Commit() error {
	if w.done {
		return wrap("commit", w.path, fs.ErrClosed)
	}
	if err := w.temp.Sync(); err != nil {
		w.Close()
		return wrap("sync", w.path, err)
	}
	if err := w.temp.Close(); err != nil {
		w.Close()
		return wrap("close", w.path, err)
	}
	if err := os.Rename(w.temp.Name(), w.target); err != nil {
		w.Close()
		return wrap("replace", w.path, err)
	}
	w.done = true
	if err := SyncDir(filepath.Dir(w.target)); err != nil {
		return wrap("make durable", w.path, errors.Join(ErrNotDurable, err))
	}
	return nil
}

// Close gives the new content up unless it was committed. It may be called
// more than once.
func (w *Writer) Close() error {
	if w.done {
		return nil
	}
	w.done = true
	w.temp.Close() // closing twice is harmless here; the content is thrown away
	if err := os.Remove(w.temp.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return wrap("remove the temporary file of", w.path, err)
	}
	return nil
}

// RemoveLeftovers removes the temporary files that a crash left beside path.
// It is for start-up, before anything writes: a Writer that is open at that
// moment would lose its file.
func RemoveLeftovers(path string) error {
	target, err := followLinks(path)
	if err != nil {
		return wrap("follow the link", path, err)
	}
	dir := filepath.Dir(target)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return wrap("look for left-over files beside", path, err)
	}
	var first error
	for _, e := range entries {
		if !e.Type().IsRegular() || !isTempOf(e.Name(), target) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && first == nil {
			first = wrap("remove a left-over file beside", path, err)
		}
	}
	return first
}

// MkdirAll creates path and its missing parents with the permissions perm and
// syncs every folder that got a new entry.
func MkdirAll(path string, perm os.FileMode) error {
	if info, err := os.Stat(path); err == nil {
		if !info.IsDir() {
			return wrap("create the folder", path, errNotFolder)
		}
		return nil
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := MkdirAll(parent, perm); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return wrap("create the folder", path, err)
	}
	if err := SyncDir(parent); err != nil {
		return wrap("make durable the folder", path, errors.Join(ErrNotDurable, err))
	}
	return nil
}

// followLinks returns where writing to path lands. A link to nothing is
// followed too, so that the file it names comes into being.
func followLinks(path string) (string, error) {
	for range maxLinks {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		next, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(path), next)
		}
		path = next
	}
	return "", errLinkLoop
}

// tempPrefix is how the temporary files of target begin.
func tempPrefix(target string) string {
	stem := filepath.Base(target)
	if len(stem) > maxStem {
		cut := maxStem
		for cut > 0 && !utf8.RuneStart(stem[cut]) {
			cut--
		}
		stem = stem[:cut]
	}
	return "." + stem + "."
}

func isTempOf(name, target string) bool {
	middle, ok := strings.CutPrefix(name, tempPrefix(target))
	if !ok {
		return false
	}
	middle, ok = strings.CutSuffix(middle, tempSuffix)
	if !ok || middle == "" {
		return false
	}
	// os.CreateTemp fills in digits only, so a person's own ".SOUL.md.old.tmp"
	// is not taken for ours.
	return strings.Trim(middle, "0123456789") == ""
}
