package chitta

import (
	"errors"
	"fmt"
)

// What a store can refuse or report.
var (
	// ErrLocked: another process owns the store.
	ErrLocked = errors.New("store in use")
	// ErrDamaged: bytes of the store are not those that were written.
	ErrDamaged = errors.New("store damaged")
	// ErrSchema: the store was written by a newer program.
	ErrSchema = errors.New("store of a newer program")
	// ErrEmbedder: the store holds vectors of another embedder.
	ErrEmbedder = errors.New("store of another embedder")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("store closed")
	// ErrNotFound: nothing is stored under that name.
	ErrNotFound = errors.New("not found")
	// ErrBroken: an acknowledged event could not be folded; the store takes no
	// more until it was verified.
	ErrBroken = errors.New("store stopped")
)

// Error says what happened to which store, and what to do.
type Error struct {
	Op   string
	Path string
	Err  error
	// Hint is a sentence that says what to do.
	Hint string
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s %s: %v", e.Op, e.Path, e.Err)
	if e.Hint != "" {
		s += ". " + e.Hint
	}
	return s
}
func (e *Error) Unwrap() error { return e.Err }
