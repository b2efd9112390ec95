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

// Source is where records come from: a [Log] in its database, or whatever else keeps
// payloads under rising sequences.
type Source interface {
	// Name is for errors.
	Name() string
	// Each calls f for the records in (after, to], in order; for what is damaged with an
	// error and a nil payload.
	Each(after, to uint64, f func(seq uint64, payload []byte, err error) error) error
}

// In is the log in a database.
func (l Log) In(db Viewer) Source { return logIn{l, db} }

type logIn struct {
	log Log
	db  Viewer
}

func (s logIn) Name() string { return s.log.bucket }
func (s logIn) Each(after, to uint64, f func(seq uint64, payload []byte, err error) error) error {
	return s.log.Each(s.db, after, to, f)
}

// Replay folds the records in (after, to] in order. It stops at the first
// damaged record, undecodable event or failed step, and when ctx ends.
func Replay[E any](ctx context.Context, from Source, after, to uint64, r Rules[E]) error {
	return from.Each(after, to, func(seq uint64, payload []byte, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		e, err := r.Decode(seq, payload)
		if err != nil {
			return &RecordError{from.Name(), seq, err}
		}
		keep := true
		if r.Resolve != nil {
			e, keep = r.Resolve(e)
		}
		if keep {
			if err := r.Step(e); err != nil {
				return &RecordError{from.Name(), seq, err}
			}
		}
		if r.Progress != nil {
			r.Progress(seq)
		}
		return nil
	})
}
