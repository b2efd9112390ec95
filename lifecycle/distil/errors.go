package distil

import "errors"

// What a life, a journal or a judgement can be refused for. That nobody judged the life
// is lineage.ErrNoSignal.
var (
	// ErrForm: an act, or a line of a journal, is none.
	ErrForm = errors.New("not of the right form")
	// ErrFull: the journal of a life has no room for an act; the life must end.
	ErrFull = errors.New("the journal of the life is full: end the life")
	// ErrLeft: something of a trace is still there after it was destroyed.
	ErrLeft = errors.New("something of the trace is left")
	// ErrSecret: the life has no secret that evidence can be digested under.
	ErrSecret = errors.New("the secret of the life is missing: give at least 16 random bytes")
	// ErrModel: a satisfaction model, or the chain of its versions, is not one.
	ErrModel = errors.New("no satisfaction model")
	// ErrSignal: a signal is out of its range.
	ErrSignal = errors.New("a signal out of its range")
	// ErrLate: a rating came after the judgement window.
	ErrLate = errors.New("too late: the judgement window is over")
)
