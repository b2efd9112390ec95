package gate

import (
	"errors"
	"fmt"
	"math"
)

// What an error of this package is about; one error may be several of these.
var (
	// ErrNotFinite: a value is NaN or infinite.
	ErrNotFinite = errors.New("value is not a finite number")
	// ErrRange: a finite value lies outside its range.
	ErrRange = errors.New("value is out of range")
	// ErrParams: a parameter cannot be used.
	ErrParams = errors.New("unusable parameter")
)

// ValueError says which value was refused, and what would have been accepted.
type ValueError struct {
	// Field names the value in plain words, e.g. "cosine".
	Field string
	// Value is what was given.
	Value float64
	// Want says what is accepted, e.g. "from -1 to 1".
	Want string

	kinds []error
}

// Error implements error.
func (e *ValueError) Error() string {
	return fmt.Sprintf("gate: %s is %v; it must be %s", e.Field, e.Value, e.Want)
}

// Unwrap gives the sentinels that the error is.
func (e *ValueError) Unwrap() []error { return e.kinds }

func refuse(field string, value float64, want string, about ...error) error {
	kind := ErrRange
	if math.IsNaN(value) || math.IsInf(value, 0) {
		kind = ErrNotFinite
	}
	return &ValueError{Field: field, Value: value, Want: want, kinds: append(about, kind)}
}

// unit refuses what is not in [0,1].
func unit(field string, x float64) error {
	if x >= 0 && x <= 1 {
		return nil
	}
	return refuse(field, x, "a number from 0 to 1")
}
