package export

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"

	"github.com/jivad/jivad/internal/atomicfile"
)

// Writer makes the folder of an export: beside its place, under a name that ends
// in .partial, and renamed when it is whole. Only its owner can read it.
type Writer struct {
	target, temp string
	files        map[string]*file
	now          *file
	done         bool
}

// file is one that is being written.
type file struct {
	name  string
	f     *os.File
	w     *bufio.Writer
	sum   hash.Hash
	bytes int64
}

// nameOf are the names that a file of an export may have.
var nameOf = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,60}\.(md|json|jsonl|txt)$`)

// Create begins an export in a folder that is new, or there and empty; ErrFolder
// where it is neither.
func Create(path string) (*Writer, error) {
	target, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(target); err == nil {
		target = real
	}
	entries, err := os.ReadDir(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, syscall.ENOTDIR):
		return nil, &Error{File: path, Err: fmt.Errorf("%w, and is a file", ErrFolder)}
	case err != nil:
		return nil, &Error{File: path, Err: bare(err)}
	case len(entries) > 0:
		return nil, &Error{File: path, Err: fmt.Errorf("%w, and there is something in it", ErrFolder)}
	}
	temp, err := os.MkdirTemp(filepath.Dir(target), filepath.Base(target)+".*.partial")
	if err != nil {
		return nil, &Error{File: path, Err: fmt.Errorf("a folder cannot be made there: %w", bare(err))}
	}
	return &Writer{target: target, temp: temp, files: map[string]*file{}}, nil
}

// Put writes a part of a file.
func (w *Writer) Put(p Part) error {
	if !nameOf.MatchString(p.File) {
		return fmt.Errorf("%q is not the name of a file of an export", p.File)
	}
	if p.New {
		if err := w.begin(p.File); err != nil {
			return err
		}
	}
	if w.now == nil || w.now.name != p.File {
		return fmt.Errorf("a part of %s came before its beginning", p.File)
	}
	w.now.sum.Write(p.Data)
	w.now.bytes += int64(len(p.Data))
	_, err := w.now.w.Write(p.Data)
	return w.failed(err)
}

// begin ends the file before and begins one, or begins it again.
func (w *Writer) begin(name string) error {
	if err := w.end(); err != nil {
		return err
	}
	if name == FileReadme { // the first of every attempt: all before it is void
		for _, old := range w.files {
			if err := os.Remove(filepath.Join(w.temp, old.name)); err != nil {
				return w.failed(err)
			}
		}
		clear(w.files)
	}
	f, err := os.OpenFile(filepath.Join(w.temp, name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return w.failed(err)
	}
	w.now = &file{name: name, f: f, w: bufio.NewWriterSize(f, 64<<10), sum: sha256.New()}
	w.files[name] = w.now
	return nil
}

// end puts the file that is being written on disk.
func (w *Writer) end() error {
	if w.now == nil {
		return nil
	}
	now := w.now
	w.now = nil
	err := now.w.Flush()
	if err == nil {
		err = now.f.Sync()
	}
	return w.failed(errors.Join(err, now.f.Close()))
}

// failed words what the file system says.
func (w *Writer) failed(err error) error {
	if err == nil {
		return nil
	}
	return &Error{File: w.target, Err: fmt.Errorf("the export cannot be written: %w", bare(err)), Hint: "Nothing of it was kept."}
}

// Commit sees that all came as the manifest says, and gives the folder its name.
func (w *Writer) Commit() (Manifest, error) {
	var m Manifest
	if err := w.end(); err != nil {
		return m, err
	}
	data, err := os.ReadFile(filepath.Join(w.temp, FileManifest))
	if err != nil {
		return m, fmt.Errorf("the export came without its manifest: %w", bare(err))
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("the manifest of the export: %w", err)
	}
	for name, want := range m.Files {
		f := w.files[name]
		if f == nil || f.bytes != want.Bytes || hex.EncodeToString(f.sum.Sum(nil)) != want.SHA256 {
			return m, &Error{File: name, Err: errors.New("it did not arrive as it was sent")}
		}
	}
	if len(w.files) != len(m.Files)+1 {
		return m, errors.New("the export has files that its manifest does not name")
	}
	if err := atomicfile.SyncDir(w.temp); err != nil {
		return m, w.failed(err)
	}
	if err := syscall.Rename(w.temp, w.target); err != nil { // os.Rename refuses an empty folder, too
		return m, w.failed(err)
	}
	w.done = true
	if err := atomicfile.SyncDir(filepath.Dir(w.target)); err != nil {
		return m, &Error{File: w.target, Err: fmt.Errorf("it is written, but a power cut now might undo it: %w", bare(err))}
	}
	return m, nil
}

// Path is where the folder is, or will be.
func (w *Writer) Path() string { return w.target }

// Close removes what was written, unless it was committed.
func (w *Writer) Close() error {
	if w.done {
		return nil
	}
	w.done = true
	if w.now != nil {
		_ = w.now.f.Close() // its content is thrown away
	}
	return os.RemoveAll(w.temp)
}

// bare takes the path off an error, which names it again.
func bare(err error) error {
	var at *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &at):
		return at.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
