package diary

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Read reads a file (.md, .markdown, .txt, .org or .jsonl) or all [Readable]
// files of a folder and the folders in it, sorted by name; symbolic links in a
// folder are not followed. A file of a folder that cannot be read does not
// hide the others: they are returned with the error that names it.
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
	f, err := os.Open(path)
	if err != nil {
		return nil, &Error{Op: "read", Name: path, Err: bare(err)}
	}
	defer f.Close()
	var file File
	if strings.EqualFold(filepath.Ext(path), ".jsonl") {
		file, err = ReadJSONL(name, f)
	} else {
		file, err = Parse(name, f, o)
	}
	if err != nil {
		return nil, err
	}
	file.Name = filepath.Base(path)
	return []File{file}, nil
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

func readFolder(folder string, o Options) ([]File, error) {
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return nil, &Error{Op: "read", Name: folder, Err: bare(err)}
	}
	var files []File
	var errs []error
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(folder, path)
		if relErr != nil {
			return relErr
		}
		name = filepath.ToSlash(name)
		if err != nil {
			errs = append(errs, &Error{Op: "read", Name: name, Err: bare(err)})
			return nil
		}
		switch {
		case d.IsDir() && Ignored(name):
			return fs.SkipDir
		case !d.Type().IsRegular() || !Readable(name):
			return nil
		}
		file, err := ReadIn(folder, name, o)
		if err != nil {
			errs = append(errs, err)
			return nil
		}
		files = append(files, file)
		return nil
	})
	return files, errors.Join(append(errs, err)...)
}

// bare takes the path off an error, which names it again.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
