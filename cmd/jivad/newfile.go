package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// thereError says that a file that was to be made is there already.
type thereError struct{ path string }

func (e thereError) Error() string {
	return e.path + " is there already, and nothing is written over; name another file"
}

// free refuses a path for a new file before the long work for it begins: one that
// is there already, a link that leads nowhere too, or whose folder is not. Empty
// and - (standard output) name no file.
func free(path string) error {
	if path == "" || path == "-" {
		return nil
	}
	if _, err := os.Lstat(path); err == nil {
		return thereError{path}
	}
	folder := filepath.Dir(path)
	switch info, err := os.Stat(folder); {
	case err != nil:
		return fmt.Errorf("%s cannot be made: %s: %w", path, folder, bare(err))
	case !info.IsDir():
		return fmt.Errorf("%s cannot be made: %s is not a folder", path, folder)
	}
	return nil
}

// writeFile makes a new file, for its owner only; one that is there stays as it is,
// and what could not be written whole goes again.
func writeFile(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return thereError{path}
	}
	if err != nil {
		return fmt.Errorf("%s cannot be made: %w", path, bare(err))
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(fmt.Errorf("%s cannot be written: %w", path, bare(err)), os.Remove(path))
	}
	return nil
}
