package fold

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// What an event can be refused for.
var (
	// ErrOrder: the event comes out of sequence.
	ErrOrder = errors.New("event out of order")
	// ErrSession: the session of the event is not the one that is open.
	ErrSession = errors.New("wrong session")
	// ErrEmbedder: the vector was made by another embedder than the store's.
	ErrEmbedder = errors.New("another embedder")
	// ErrEvent: a field of the event is out of its range.
	ErrEvent = errors.New("event not valid")
	// ErrCandidates: the candidates do not belong to this state.
	ErrCandidates = errors.New("candidates not valid")
)

// EventError says which event could not be folded, and why.
type EventError struct {
	Sequence uint64
	Err      error
}

func (e *EventError) Error() string { return fmt.Sprintf("event %d: %v", e.Sequence, e.Err) }
func (e *EventError) Unwrap() error { return e.Err }

// Check says whether body could be the next event of s. An event that passes
// folds without error, so it is checked before it is written.
func Check(s *State, body Body) error {
	switch b := body.(type) {
	case EmbedderChanged:
		return checkEmbedderChanged(s, b)
	case ParamsChanged:
		return b.Params.Validate()
	case SessionOpened:
		return checkSessionOpened(s, b)
	case SessionClosed:
		if !s.Session.Open || b.Number != s.Session.Number {
			return fmt.Errorf("%w: session %d is not open, so it cannot be closed", ErrSession, b.Number)
		}
		return checkLength("reason", b.Reason, 0, 64)
	case Experienced:
		if !s.Session.Open {
			return fmt.Errorf("%w: no session is open; open one first", ErrSession)
		}
		return errors.Join(
			checkExperienced(b),
			checkEmbedding(s, b.Embedder, b.Embedding),
			CheckJudgement(b.Judgement))
	case Superseded:
		return errors.Join(checkTarget(s, b.Target), checkEmbedding(s, b.Embedder, b.Embedding), CheckJudgement(b.Judgement))
	case Reassessed:
		return errors.Join(checkTarget(s, b.Target), CheckJudgement(b.Judgement))
	case Excised:
		return nil
	case ModelChanged:
		return errors.Join(checkLength("model", b.Model, 1, 128), checkLength("digest", b.Digest, 0, 128))
	}
	return fmt.Errorf("%w: unknown kind %T", ErrEvent, body)
}

func checkSessionOpened(s *State, b SessionOpened) error {
	if s.Embedder == "" {
		return fmt.Errorf("%w: no embedder is in force yet", ErrEmbedder)
	}
	if s.Session.Open {
		return fmt.Errorf("%w: session %d is still open", ErrSession, s.Session.Number)
	}
	if b.Number != s.Session.Number+1 && (b.Number != s.Session.Number || b.Number == 0 || b.Date != s.Session.Date) {
		return fmt.Errorf("%w: session %d cannot follow session %d", ErrSession, b.Number, s.Session.Number)
	}
	return checkDate(b.Date)
}

func checkExperienced(b Experienced) error {
	var id error
	if b.ID == (ID{}) {
		id = fmt.Errorf("%w: the event has no id", ErrEvent)
	}
	return errors.Join(id, checkDate(b.Date), checkLength("source", b.Source, 0, 512), checkLength("category", b.Category, 0, 64))
}

func checkTarget(s *State, target uint64) error {
	if target == 0 || target > s.Sequence {
		return fmt.Errorf("%w: event %d, which it amends, is not there", ErrEvent, target)
	}
	return nil
}

func checkEmbedding(s *State, embedder string, v []float32) error {
	if embedder != s.Embedder {
		return fmt.Errorf("%w: the vector is by %s (%d dimensions), the store by %s (%d dimensions)", ErrEmbedder, embedder, len(v), s.Embedder, s.Dim)
	}
	return CheckVector(v, s.Dim)
}

// CheckJudgement refuses a judgement with a value that is out of its range or
// not a number; see Judgement for the ranges.
func CheckJudgement(j Judgement) error {
	unit := func(name string, x float64) error {
		if math.IsNaN(x) || x < 0 || x > 1 {
			return fmt.Errorf("%w: %s is %v, must be in [0,1]", ErrEvent, name, x)
		}
		return nil
	}
	optional := func(name string, x *float64) error {
		if x == nil {
			return nil
		}
		return unit(name, *x)
	}
	var valence error
	if math.IsNaN(j.Valence) || j.Valence < -1 || j.Valence > 1 {
		valence = fmt.Errorf("%w: valence is %v, must be in [-1,1]", ErrEvent, j.Valence)
	}
	return errors.Join(
		checkLength("assessor", j.Assessor, 1, 128),
		unit("intensity", j.Intensity), unit("emotion", j.Emotion),
		optional("novelty", j.Novelty), optional("match", j.Match),
		j.Guna.Check(), valence)
}

func checkDate(d string) error {
	if d == "" {
		return nil
	}
	var year, month, day int
	if n, err := fmt.Sscanf(d, "%4d-%2d-%2d", &year, &month, &day); n != 3 || err != nil || len(d) != 10 ||
		month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return fmt.Errorf("%w: date %q is not YYYY-MM-DD", ErrEvent, d)
	}
	return nil
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

func checkLength(name, s string, low, high int) error {
	if len(s) < low || len(s) > high {
		return fmt.Errorf("%w: %s has %d bytes, must be %d to %d", ErrEvent, name, len(s), low, high)
	}
	if !utf8.ValidString(s) {
		return fmt.Errorf("%w: %s is not valid UTF-8", ErrEvent, name)
	}
	return nil
}

func checkCandidates(near []Candidate, rows *Matrix, asked int) error {
	if want := min(rows.Placed(), asked); len(near) != want {
		return fmt.Errorf("%w: %d given, %d expected", ErrCandidates, len(near), want)
	}
	for i, c := range near {
		if c.Index < 0 || c.Index >= rows.Len() {
			return fmt.Errorf("%w: index %d of %d impressions", ErrCandidates, c.Index, rows.Len())
		}
		if rows.Unplaced(c.Index) {
			return fmt.Errorf("%w: impression %d has no place among the vectors", ErrCandidates, c.Index)
		}
		if math.IsNaN(c.Similarity) || math.Abs(c.Similarity) > 1 {
			return fmt.Errorf("%w: similarity %v", ErrCandidates, c.Similarity)
		}
		if i > 0 && near[i-1].Similarity < c.Similarity {
			return fmt.Errorf("%w: not in order of similarity", ErrCandidates)
		}
	}
	return nil
}
