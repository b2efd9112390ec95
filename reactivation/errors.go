package reactivation

import (
	"errors"
	"fmt"
	"math"
)

// What an error of this package is about. One error may be several of these:
// a Guna with a NaN in it is both ErrGuna and ErrNotFinite.
var (
	// ErrNotFinite: a value is NaN or infinite.
	ErrNotFinite = errors.New("value is not a finite number")
	// ErrRange: a finite value lies outside its range.
	ErrRange = errors.New("value is out of range")
	// ErrGuna: a triple is no guna (negative, zero, or not of length 1).
	ErrGuna = errors.New("not a guna")
	// ErrParams: a parameter cannot be used.
	ErrParams = errors.New("unusable parameter")
)

// ValueError says which value was refused, and what would have been accepted.
type ValueError struct {
	// Field names the value in plain words, e.g. "intensity".
	Field string
	// Value is what was given.
	Value float64
	// Want says what is accepted, e.g. "from 0 to 1".
	Want string

	kinds []error
}

// Error implements error.
func (e *ValueError) Error() string {
	return fmt.Sprintf("reactivation: %s is %v; it must be %s", e.Field, e.Value, e.Want)
}

// Unwrap gives the sentinels that the error is.
func (e *ValueError) Unwrap() []error { return e.kinds }

func refuse(field string, value float64, want string, about ...error) error {
	kind := ErrRange
	if !finite(value) {
		kind = ErrNotFinite
	}
	return &ValueError{Field: field, Value: value, Want: want, kinds: append(about, kind)}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// unit refuses what is not in [0,1].
func unit(field string, x float64) error {
	if x >= 0 && x <= 1 {
		return nil
	}
	return refuse(field, x, "a number from 0 to 1")
}

// positive refuses what is negative or not finite.
func positive(field string, x float64) error {
	if x >= 0 && x <= math.MaxFloat64 {
		return nil
	}
	return refuse(field, x, "a finite number, 0 or more")
}

func clamp01(x float64) float64 { return min(max(x, 0), 1) }
