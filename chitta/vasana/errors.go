package vasana

import "errors"

// What can be wrong with the values handed in; match with errors.Is.
var (
	// ErrParams: a parameter is outside its range.
	ErrParams = errors.New("parameter out of range")
	// ErrNotFinite: a value is NaN or infinite.
	ErrNotFinite = errors.New("value is not finite")
	// ErrZero: a vector has no direction.
	ErrZero = errors.New("vector is zero")
	// ErrNotUnit: a vector is not of length 1.
	ErrNotUnit = errors.New("vector is not of unit length")
	// ErrDimension: a vector has another length than the store's.
	ErrDimension = errors.New("wrong dimension")
	// ErrPoint: a point holds a value outside its range, or an ID occurs twice.
	ErrPoint = errors.New("invalid point")
	// ErrBehind: graph, rows and points do not cover the same impressions.
	ErrBehind = errors.New("graph is not up to date")
	// ErrDamaged: a stored graph does not pass its checks.
	ErrDamaged = errors.New("stored graph is damaged")
	// ErrOther: a stored graph was made with other parameters or another format.
	ErrOther = errors.New("stored graph is of another kind")
)

// Error says what happened, to what, and what to do about it.
type Error struct {
	// Op is what was being done, e.g. "update graph".
	Op string
	// What names the value at fault, never a person's text.
	What string
	// Hint says what to do, or is empty.
	Hint string
	// Err is one of the errors of this package.
	Err error
}

func (e *Error) Error() string {
	s := "vasana: " + e.Op + ": " + e.Err.Error()
	if e.What != "" {
		s += ": " + e.What
	}
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Unwrap returns the cause, so that errors.Is finds it.
func (e *Error) Unwrap() error { return e.Err }
