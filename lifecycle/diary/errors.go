package diary

import (
	"errors"
	"fmt"
	"slices"
)

var (
	// ErrKind says that a file is of a kind this package does not read.
	ErrKind = errors.New("this kind of file is not read")
	// ErrNoFile says that a path names a pipe, a socket or a device.
	ErrNoFile = errors.New("it is a pipe, a socket or a device; only files and folders are read")
	// ErrTooLarge says that a file is larger than [MaxBytes].
	ErrTooLarge = errors.New("the file is larger than 64 MB")
	// ErrBinary says that a file holds something else than text.
	ErrBinary = errors.New("the file is not text")
	// ErrLine says that a JSON line cannot be read.
	ErrLine       = errors.New("the line cannot be read")
	errNotMapping = errors.New("not a mapping")
	// ErrNoFolder says that the folder to watch is not there.
	ErrNoFolder = errors.New("the folder is not there")
)

// Error tells what could not be done to which file, and what helps. It never
// holds what the person wrote.
type Error struct {
	Op   string // "read", "watch"
	Name string
	Line int // from 1; 0 means the whole file
	Err  error
	Hint string // may be empty
}

func (e *Error) Error() string {
	s := e.Op + " " + e.Name
	if e.Line > 0 {
		s += fmt.Sprintf(", line %d", e.Line)
	}
	s += ": " + e.Err.Error()
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func sortedKinds(m map[NoteKind]int) []NoteKind {
	kinds := make([]NoteKind, 0, len(m))
	for k := range m {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	return kinds
}
