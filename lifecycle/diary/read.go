package diary

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Read reads a file (.md, .markdown, .txt, .org or .jsonl) or all such files of
// a folder and the folders in it, sorted by name, but those that are [Ignored].
// A file of a folder that cannot be read does not hide the others: they are
// returned with an [Unread] that names it. Pipes, sockets and devices are not
// read: ErrNoFile for a path that names one.
//
// Symbolic links in a folder are not followed. Where any were passed over, the
// last File has the name of the folder, no entries, and a note that says so.
func Read(path string, o Options) ([]File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, &Error{Op: "read", Name: path, Err: bare(err)}
	}
	if info.IsDir() {
		return readFolder(path, o)
	}
	// The folders of the path may hold the date: journal/2026/03/01.md.
	name := filepath.ToSlash(path)
	f, err := openRegular(path)
	if err != nil {
		return nil, &Error{Op: "read", Name: path, Err: bare(err)}
	}
	defer f.Close()
	file, err := parseAny(name, f, o)
	if err != nil {
		return nil, err
	}
	file.Name = filepath.Base(path)
	return []File{file}, nil
}

// openRegular opens a file, and nothing that has no end or has to be waited for.
func openRegular(path string) (*os.File, error) {
	// Without O_NONBLOCK the opening of a pipe waits for whoever writes to it.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) { // a socket
		return nil, ErrNoFile
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNoFile
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// ReadIn reads one file of a diary folder; name is relative to it, with
// slashes, as [Change] tells it. A link that leads out of the folder is refused.
func ReadIn(folder, name string, o Options) (File, error) {
	f, err := os.OpenInRoot(folder, filepath.FromSlash(name))
	if err != nil {
		return File{}, &Error{Op: "read", Name: name, Err: bare(err)}
	}
	defer f.Close()
	return Parse(name, f, o)
}

// Unread are the files and folders in a folder that could not be read, each an
// [*Error].
type Unread []error

func (u Unread) Error() string { return errors.Join(u...).Error() }

// Unwrap gives all of them.
func (u Unread) Unwrap() []error { return u }

// parseAny reads a file of any kind that can be imported.
func parseAny(name string, r io.Reader, o Options) (File, error) {
	if isJSONL(name) {
		return ReadJSONL(name, r)
	}
	return Parse(name, r, o)
}

func isJSONL(name string) bool { return strings.EqualFold(filepath.Ext(name), ".jsonl") }

// importable says whether a file of a folder is read by [Read].
func importable(name string) bool { return Readable(name) || isJSONL(name) && !Ignored(name) }

func readFolder(typed string, o Options) ([]File, error) {
	folder, err := filepath.EvalSymlinks(typed)
	if err != nil {
		return nil, &Error{Op: "read", Name: typed, Err: bare(err)}
	}
	var files []File
	var unread Unread
	links := 0
	// In errors a file is named by the path that the person can type.
	fail := func(name string, err error) {
		var at *Error
		if !errors.As(err, &at) {
			at = &Error{Op: "read", Err: bare(err)}
		}
		at.Name = filepath.ToSlash(filepath.Join(typed, filepath.FromSlash(name)))
		unread = append(unread, at)
	}
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(folder, path)
		if relErr != nil {
			return relErr
		}
		name = filepath.ToSlash(name)
		if err != nil {
			fail(name, err)
			return nil
		}
		switch {
		case d.IsDir() && Ignored(name):
			return fs.SkipDir
		case d.Type()&fs.ModeSymlink != 0 && leadsToWriting(path, name):
			links++
			return nil
		case !d.Type().IsRegular() || !importable(name):
			return nil
		}
		f, err := os.OpenInRoot(folder, filepath.FromSlash(name))
		if err != nil {
			fail(name, err)
			return nil
		}
		defer f.Close()
		file, err := parseAny(name, f, o)
		if err != nil {
			fail(name, err)
			return nil
		}
		files = append(files, file)
		return nil
	})
	if err != nil {
		fail(".", err)
	}
	if links > 0 {
		text := "1 link was not followed; name what it leads to, to read that too"
		if links > 1 {
			text = plural(links, "link", "links") + " were not followed; name what they lead to, to read that too"
		}
		files = append(files, File{Name: filepath.ToSlash(typed), Notes: []Note{{Kind: NoteLink, Text: text}}})
	}
	if len(unread) > 0 {
		return files, unread
	}
	return files, nil
}

// leadsToWriting tells whether something would be read if a link were followed.
func leadsToWriting(path, name string) bool {
	if Ignored(name) {
		return false
	}
	info, err := os.Stat(path)
	return importable(name) || err == nil && info.IsDir()
}

// bare takes the path off an error, which names it again.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
