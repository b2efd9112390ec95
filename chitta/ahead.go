package chitta

import (
	"context"
	"reflect"

	"github.com/jivad/jivad/chitta/fold"
)

// A judgement of an old experience has the log folded again from there, which takes
// seconds in a large store. It is done beside the committer, on a state of its own;
// the committer then folds what came meanwhile onto that, and nobody waits.

// Ahead is a state that was folded with judgements that are not written yet.
type Ahead struct {
	judgements []fold.Reassessed
	state      *fold.State
	checkpoint *fold.State
	arithmetic []string
	// base is where folding began, rows how many impressions there were.
	base uint64
	rows int
	// generation and amended are the store's when it began.
	generation uint64
	amended    uint64
}

// FoldAhead folds the log with the judgements in the place of those that are there.
// They are then appended in one batch that has the Ahead, and in this order; where an
// earlier experience was amended or taken out meanwhile, appending folds again.
func (s *Store) FoldAhead(ctx context.Context, judgements []fold.Reassessed) (*Ahead, error) {
	look, live, amendments, amended := s.lookAmended()
	a := &Ahead{judgements: judgements, generation: look.meta.Generation, amended: amended}
	first := live.Sequence + 1
	for i, j := range judgements {
		amendments.Add(fold.Event{Header: fold.Header{Sequence: live.Sequence + 1 + uint64(i)}, Body: j})
		first = min(first, j.Target)
	}
	if first == 0 {
		return nil, fold.ErrEvent
	}
	a.state, a.arithmetic = look.best(ctx, first-1)
	a.base, a.rows = a.state.Sequence, a.state.Vectors.Len()
	err := look.replay(ctx, a.state, live.Sequence, &amendments, hooks{opened: func() { a.checkpoint = a.state.Clone() }})
	return a, damaged(err)
}

// lookAmended is look, with the record of the last amendment.
func (s *Store) lookAmended() (*Store, *fold.State, fold.Amendments, uint64) {
	s.mu.RLock()
	amended := s.amended
	s.mu.RUnlock()
	look, live, amendments := s.look()
	return look, live, amendments, amended
}

// aheadOf is the state that was folded ahead for a group, nil where there is none or
// it is of another course: then all is folded here.
func (s *Store) aheadOf(group []*request) *Ahead {
	var found *Ahead
	for _, r := range group {
		a := r.batch.Ahead
		var written []fold.Reassessed
		for _, e := range r.written {
			switch b := e.Body.(type) {
			case fold.Reassessed:
				written = append(written, b)
			case fold.Superseded:
				return nil
			}
		}
		switch {
		case len(written) == 0:
		case a == nil || found != nil || a.generation != s.meta.Generation || a.amended != s.amended || !reflect.DeepEqual(written, a.judgements):
			return nil
		default:
			found = a
		}
	}
	return found
}
