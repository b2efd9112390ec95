package chitta

import (
	"context"
	"slices"

	"github.com/jivad/jivad/chitta/fold"
)

// Vectors calls f for the vectors that a change of embedder put in force, in
// order of the experiences that they are for: that of the newest wording where an
// entry was edited since, else the one that was stored with the change. An
// experience without a place has none. v is used again for the next. It returns
// false, and calls nothing, for an event that brought no vectors.
func (m *Moment) Vectors(ctx context.Context, e fold.Event, f func(seq uint64, v []float32) error) (brought bool, err error) {
	b, ok := e.Body.(fold.EmbedderChanged)
	if !ok || b.Digest == ([32]byte{}) {
		return false, nil
	}
	waiting := entriesBefore(m.State, e.Sequence)
	put := func(seq uint64, stored []float32) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		v := m.amendments.VectorSince(seq, e.Sequence, b)
		if v == nil {
			v = stored
		}
		if v == nil {
			return nil
		}
		return f(seq, v)
	}
	// upTo tells of the entries before seq, which have no row.
	upTo := func(seq uint64) error {
		for len(waiting) > 0 && waiting[0] < seq {
			if err := put(waiting[0], nil); err != nil {
				return err
			}
			waiting = waiting[1:]
		}
		return nil
	}
	sum := newRowSum()
	err = eachRow(m.store.db, e.Sequence, func(seq uint64, v []float32) error {
		sum.add(seq, v)
		if err := upTo(seq); err != nil {
			return err
		}
		if len(waiting) > 0 && waiting[0] == seq {
			waiting = waiting[1:]
			return put(seq, v)
		}
		return nil // of no entry: the fold passes it over, too
	})
	if err == nil {
		err = upTo(e.Sequence)
	}
	if err == nil {
		err = sum.check(e.Sequence, b)
	}
	return true, err
}

// entriesBefore lists the experiences of a state that come before an event, ascending.
func entriesBefore(s *fold.State, event uint64) []uint64 {
	out := make([]uint64, 0, len(s.Impressions)+len(s.Links))
	for i := range s.Impressions {
		out = append(out, s.Impressions[i].Sequence)
	}
	for i := range s.Links {
		out = append(out, s.Links[i].Sequence)
	}
	slices.Sort(out)
	n, _ := slices.BinarySearch(out, event)
	return out[:n]
}
