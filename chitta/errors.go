package chitta

import (
	"errors"
	"fmt"

	"github.com/jivad/jivad/internal/ledger"
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
	// ErrBuried: the text of an entry was deleted because it is buried. It is an
	// ErrNotFound.
	ErrBuried = fmt.Errorf("buried: %w", ErrNotFound)
	// ErrBroken: an acknowledged event could not be folded; the store takes no
	// more until it was verified.
	ErrBroken = errors.New("store stopped")
)

// OtherEmbedder is ErrEmbedder for vectors of one embedder where another is configured.
// A dimension that is 0 is not known, and not told.
func OtherEmbedder(what, embedder string, dim int, configured string, configuredDim int) error {
	named := func(id string, dim int) string {
		if dim == 0 {
			return id
		}
		return fmt.Sprintf("%s (%d dimensions)", id, dim)
	}
	return fmt.Errorf("%w: %s are by %s, the configured embedder is %s", ErrEmbedder, what, named(embedder, dim), named(configured, configuredDim))
}

// damaged makes every kind of damage ErrDamaged.
func damaged(err error) error {
	if err == nil || errors.Is(err, ErrDamaged) {
		return err
	}
	var record *ledger.RecordError // one that is there and cannot be read or folded
	if errors.Is(err, ledger.ErrPages) || errors.As(err, &record) && !errors.Is(err, ledger.ErrNoRecord) {
		return asDamage(err)
	}
	return err
}

// asDamage is for errors that only damage can have.
func asDamage(err error) error {
	if errors.Is(err, ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// asWritten says of a record that could not be read that it is damaged: only
// whole ones are written.
func asWritten(err error, what string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s: %w", ErrDamaged, fmt.Sprintf(what, args...), err)
}

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
