package lives

import (
	"errors"
	"fmt"
)

// Invariant names one of the thirteen invariants of the layer, or its gate M-1.
// docs/invariants.md says of each where it is held and what it does not promise.
type Invariant string

// The invariants.
const (
	// J1: complete at birth. All that is declared is there before a life is ready.
	J1 Invariant = "J-1"
	// J2: scoped. Every act passes one checkpoint; grants only shrink.
	J2 Invariant = "J-2"
	// J3: bounded. The first of the bounds that is reached ends the life.
	J3 Invariant = "J-3"
	// J4: exactly one obligation to distil per life.
	J4 Invariant = "J-4"
	// S1: only dispositions persist; the trace is destroyed.
	S1 Invariant = "S-1"
	// S2: weights are the principal's judgement.
	S2 Invariant = "S-2"
	// S3: the lineage is appended to and never changed.
	S3 Invariant = "S-3"
	// S4: the lineage replays to the same versions and can be attested.
	S4 Invariant = "S-4"
	// S5: an excised life is as if it had never been distilled.
	S5 Invariant = "S-5"
	// AD1: one identity for all projections of a lineage.
	AD1 Invariant = "AD-1"
	// AD2: a projection holds nothing between lives but its pin, nonce and keys.
	AD2 Invariant = "AD-2"
	// AD3: merging converges, whatever the order.
	AD3 Invariant = "AD-3"
	// AD4: every act and distillate is signed by the device that made it.
	AD4 Invariant = "AD-4"
	// M1: what may become part of a model.
	M1 Invariant = "M-1"
)

// Invariants are all of them, in the order of the source.
func Invariants() []Invariant {
	return []Invariant{J1, J2, J3, J4, S1, S2, S3, S4, S5, AD1, AD2, AD3, AD4, M1}
}

var (
	// ErrIllegal: there is no edge from the one state to the other.
	ErrIllegal = errors.New("no such step in a life")
	// ErrBroken: an invariant would not hold any more.
	ErrBroken = errors.New("this would break an invariant")
)

// IllegalError says between which states there is no edge. It is an ErrIllegal.
type IllegalError struct {
	Life     int64
	From, To State
}

// Error names both states.
func (e *IllegalError) Error() string {
	return fmt.Sprintf("life %d is %s and cannot become %s: %v", e.Life, e.From, e.To, ErrIllegal)
}

// Unwrap gives ErrIllegal.
func (e *IllegalError) Unwrap() error { return ErrIllegal }

// BrokenError says which invariant a step would break, and what to do. It is an
// ErrBroken.
type BrokenError struct {
	Invariant Invariant
	Life      int64
	What, Do  string
}

// Error says it in a sentence or two.
func (e *BrokenError) Error() string {
	s := fmt.Sprintf("life %d, %s: %s", e.Life, e.Invariant, e.What)
	if e.Do != "" {
		s += "; " + e.Do
	}
	return s
}

// Unwrap gives ErrBroken.
func (e *BrokenError) Unwrap() error { return ErrBroken }
