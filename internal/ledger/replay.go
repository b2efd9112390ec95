package ledger

import "context"

// Rules say how the records of a log become a state.
type Rules[E any] struct {
	// Decode reads one record.
	Decode func(seq uint64, payload []byte) (E, error)
	// Resolve returns the event as later ones left it, or false to leave it out:
	// a fold without some events is a replay whose Resolve drops them. Nil keeps all.
	Resolve func(E) (E, bool)
	// Step folds one event into the state that the caller holds.
	Step func(E) error
	// Progress, if not nil, is told the sequence reached.
	Progress func(seq uint64)
}

// Replay folds the records in (after, to] in order. It stops at the first
// damaged record, undecodable event or failed step, and when ctx ends.
func Replay[E any](ctx context.Context, db Viewer, l Log, after, to uint64, r Rules[E]) error {
	return l.Each(db, after, to, func(seq uint64, payload []byte, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		e, err := r.Decode(seq, payload)
		if err != nil {
			return &RecordError{l.bucket, seq, err}
		}
		keep := true
		if r.Resolve != nil {
			e, keep = r.Resolve(e)
		}
		if keep {
			if err := r.Step(e); err != nil {
				return &RecordError{l.bucket, seq, err}
			}
		}
		if r.Progress != nil {
			r.Progress(seq)
		}
		return nil
	})
}
