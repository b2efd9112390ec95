package consent

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jivad/jivad/soul/lineage"
)

// What this package refuses.
var (
	// ErrForm: a record or a grid is not of the right form.
	ErrForm = errors.New("not of the right form")
	// ErrChain: records do not follow from each other; see [BrokenError].
	ErrChain = errors.New("the chain of consent is broken")
	// ErrFollow: a new record does not follow from the last; the chain is whole. It is
	// to be made anew by [Chain.Next].
	ErrFollow = errors.New("the record of consent does not follow")
	// ErrAbsent: the chain has no record of that name.
	ErrAbsent = errors.New("no such record of consent")
	// ErrName: what was typed names no category, use or answer; see [NameError].
	ErrName = errors.New("not known to consent")
	// ErrConflict: two settings say different things of one place of the grid.
	ErrConflict = errors.New("two settings contradict each other")
)

// BrokenError says where a chain of records is broken. It is an [ErrChain].
type BrokenError struct {
	// Position counts the records from 1.
	Position int
	// ID is that of the record there, zero where there is none or it cannot be read.
	ID lineage.ID
	// Reason is what is wrong there; it may be an [ErrForm].
	Reason error
}

// Error says where, what is wrong, and what to do.
func (e *BrokenError) Error() string {
	where := fmt.Sprintf("record %d", e.Position)
	if e.ID != (lineage.ID{}) {
		where += fmt.Sprintf(" (%s)", e.ID)
	}
	return fmt.Sprintf("%v at %s: %v; nothing is allowed until a backup from before is restored", ErrChain, where, e.Reason)
}

// Unwrap gives ErrChain and the reason.
func (e *BrokenError) Unwrap() []error { return []error{ErrChain, e.Reason} }

// NameError says what of a setting is not known. It is an [ErrName].
type NameError struct {
	// Part is what it should have been: "category", "use", "answer" or "setting".
	Part string
	// Text is what was typed there, shortened; Near the known names that it may be
	// meant for, the nearest first, at most three.
	Text string
	Near []string
	// Whole is all that was typed, mended with the nearest name; empty where there is none.
	Whole string
	// Known are all names that would do.
	Known []string
}

// Error says what is not known and what may have been meant.
func (e *NameError) Error() string {
	out := fmt.Sprintf("%q is no %s of consent", e.Text, e.Part)
	switch {
	case e.Whole != "":
		out += fmt.Sprintf("; did you mean %s?", e.Whole)
	case len(e.Near) > 0:
		out += fmt.Sprintf("; did you mean %s?", strings.Join(e.Near, " or "))
	}
	if len(e.Known) > 0 {
		if e.Whole == "" && len(e.Near) == 0 {
			out += "."
		}
		out += " Known: " + strings.Join(e.Known, ", ")
	}
	return out
}

// Unwrap gives ErrName.
func (e *NameError) Unwrap() error { return ErrName }

// ConflictError says of which place two settings say different things. It is an
// [ErrConflict].
type ConflictError struct {
	Category  Category
	Dimension Dimension
	// First and Second are the settings, as they are written.
	First, Second Setting
}

// Error says which two, of what, and what to do.
func (e *ConflictError) Error() string {
	cell := Cell{e.Category, e.Dimension}
	return fmt.Sprintf("%s and %s say different things of %s; add the one that is meant: %s=%s or %s=%s",
		e.First, e.Second, cell, cell, e.First.Answer, cell, e.Second.Answer)
}

// Unwrap gives ErrConflict.
func (e *ConflictError) Unwrap() error { return ErrConflict }
