package export

import (
	"errors"
	"fmt"
)

// What an export can be refused for.
var (
	// ErrDamaged: a file is not as it was exported.
	ErrDamaged = errors.New("not as it was exported")
	// ErrLine: something in a file cannot be understood.
	ErrLine = errors.New("not understood")
	// ErrNewer: the export was made by a newer program.
	ErrNewer = errors.New("an export of a newer program")
	// ErrFolder: the export cannot be written there.
	ErrFolder = errors.New("it must be a new or an empty folder")
)

// Error says what is wrong with which file, and what helps. It never holds what
// the person wrote.
type Error struct {
	File string
	// Line is where, from 1; 0 means the whole file.
	Line int
	Err  error
	// Hint is a sentence, or empty.
	Hint string
}

func (e *Error) Error() string {
	s := e.File
	if e.Line > 0 {
		s += fmt.Sprintf(", line %d", e.Line)
	}
	s += ": " + e.Err.Error()
	if e.Hint != "" {
		s += ". " + e.Hint
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }
