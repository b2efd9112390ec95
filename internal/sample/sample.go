// Package sample holds an invented diary of four months, for a first look at the daemon and for
// tests that need text of a natural kind. ABOUT.md beside it says what is in it.
package sample

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed diary
var embedded embed.FS

// Files returns the diary as a file system whose root is the diary folder itself.
func Files() fs.FS {
	sub, err := fs.Sub(embedded, "diary")
	if err != nil {
		panic("sample: the name of the embedded folder is not valid: " + err.Error()) // a mistake in this file
	}
	return sub
}

// Write copies the diary into dir and makes dir (0700) where it is missing. A file that is already
// there is never overwritten: it is left as it is, whatever it holds, and the others are written.
func Write(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("sample diary: folder %s cannot be made: %w", dir, err)
	}
	return fs.WalkDir(Files(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(Files(), name)
		if err != nil {
			return err
		}
		return writeNew(filepath.Join(dir, filepath.FromSlash(name)), text)
	})
}

// writeNew writes a file (0600) that must not exist yet; one that does is kept without an error.
func writeNew(path string, text []byte) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sample diary: %s cannot be written: %w", path, err)
	}
	defer func() {
		if closeErr := f.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("sample diary: %s cannot be written: %w", path, closeErr)
		}
	}()
	if _, err := f.Write(text); err != nil {
		return fmt.Errorf("sample diary: %s cannot be written: %w", path, err)
	}
	return nil
}
