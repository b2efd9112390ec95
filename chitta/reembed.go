package chitta

import (
	"context"
	"errors"
	"fmt"

	"github.com/jivad/jivad/chitta/fold"
)

// Reembedding puts another embedder in force in a store that has impressions.
type Reembedding struct {
	// Embedder and Dim name the model that made the vectors.
	Embedder string
	Dim      int
	// Vector returns the new vector of the experience at seq, a unit vector of
	// Dim components, or nil where it has none. It is asked once for every
	// experience that is an impression or acted on one, in order. It may read the
	// store, and must not write to it.
	Vector func(ctx context.Context, seq uint64) ([]float32, error)
	// Values, if not nil, are records that take the place of those of the same
	// names, in the same moment; nil Data removes one.
	Values []Value
	// Progress, if not nil, is told what is done now and how far it is.
	Progress func(stage string, done, total uint64)
}

// Reembedded tells what a change of embedder did.
type Reembedded struct {
	// Sequence is the event's place in the log.
	Sequence uint64
	// Stored is how many vectors were given, Unplaced how many impressions have none.
	Stored, Unplaced int
	// Before and After are the digests of the state.
	Before, After [32]byte
}

// Reembed gives all impressions their vectors under another embedder. What they
// are, their depths and characters, stays as the old vectors made it: the change
// is an event at the end of the log, and from there on the new vectors count. No
// session may be open.
//
// A new database takes the place of the old one in a single rename. Until then
// nothing has changed and ctx may end it; a crash at any moment leaves the store
// with the old vectors or with the new ones. Errors: a *fold.VectorError for a
// vector that is none, with the event that it was for; fold.ErrSession.
func (s *Store) Reembed(ctx context.Context, x Reembedding) (out Reembedded, err error) {
	if x.Progress == nil {
		x.Progress = func(string, uint64, uint64) {}
	}
	err = s.exclusively(ctx, func() error {
		if s.broken != nil {
			return s.broken
		}
		out, err = s.reembed(ctx, x)
		return err
	})
	return out, err
}

// reembed runs on the committer.
func (s *Store) reembed(ctx context.Context, x Reembedding) (out Reembedded, err error) {
	last := s.state.Sequence
	e := fold.Event{Header: fold.Header{Sequence: last + 1}}
	body := fold.EmbedderChanged{Embedder: x.Embedder, Dim: x.Dim, Rows: fold.NewMatrix(x.Dim)}
	p := &plan{first: last + 1}
	var fault error // of what was given, not of the writing
	x.Vector = checkedVector(x, &fault)
	p.change = func(f *filler) error {
		w := newRowWriter(f, e.Sequence)
		if err := s.newRows(ctx, x, w, body.Rows); err != nil {
			return err
		}
		body = w.sum.on(body)
		out.Stored = int(body.Stored)
		p.said = body
		return w.flush()
	}
	// A session that is open, or a dimension that cannot be, is told before the work.
	bare := *s.state
	bare.Impressions = nil
	if err := fold.Check(&bare, fold.EmbedderChanged{Embedder: x.Embedder, Dim: x.Dim}); err != nil {
		return out, err
	}
	r, err := s.rewrite(ctx, p, last, Excision{Progress: x.Progress, Values: func(_ context.Context, _ Excised, old []Value) ([]Value, error) {
		return replaced(old, x.Values), nil
	}})
	if fault != nil {
		return out, fault
	}
	if err != nil {
		return out, err
	}
	state := s.state.Clone()
	e.Body = body
	if _, err := fold.Step(state, e, nil); err != nil {
		return out, errors.Join(s.notRewritten(err), r.db.Close(), removeIfThere(r.db.Path()))
	}
	out.Sequence, out.Unplaced = e.Sequence, state.Vectors.Len()-state.Vectors.Placed()
	out.Before, out.After = s.state.Digest(), state.Digest()
	err = s.replace(r, func() { s.adoptLocked(state, s.amendments, s.arithmetic) })
	if s.state == state {
		s.freshCaches()
	}
	return out, err
}

// checkedVector asks for vectors and refuses what is none.
func checkedVector(x Reembedding, fault *error) func(context.Context, uint64) ([]float32, error) {
	return func(ctx context.Context, seq uint64) ([]float32, error) {
		v, err := x.Vector(ctx, seq)
		if err == nil && v != nil {
			if err = fold.CheckVector(v, x.Dim); err != nil {
				err = fmt.Errorf("vector for event %d by %s: %w", seq, x.Embedder, err)
			}
		}
		*fault = err
		return v, err
	}
}

// newRows asks for the vectors of all experiences, writes them and keeps those of
// impressions.
func (s *Store) newRows(ctx context.Context, x Reembedding, w *rowWriter, rows *fold.Matrix) error {
	impressions, links := s.state.Impressions, s.state.Links
	total := uint64(len(impressions) + len(links))
	for done := uint64(0); done < total; done++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		impression := len(links) == 0 || len(impressions) > 0 && impressions[0].Sequence < links[0].Sequence
		var seq uint64
		if impression {
			seq, impressions = impressions[0].Sequence, impressions[1:]
		} else {
			seq, links = links[0].Sequence, links[1:]
		}
		v, err := x.Vector(ctx, seq)
		if err != nil {
			return err
		}
		if v != nil {
			if err := w.add(seq, v); err != nil {
				return err
			}
		}
		switch {
		case impression && v == nil:
			rows.AppendUnplaced()
		case impression:
			if err := rows.Append(v); err != nil {
				return err
			}
		}
		x.Progress("vectors", done+1, total)
	}
	return nil
}

// replaced puts records in the place of those of the same names.
func replaced(old, with []Value) []Value {
	byName := map[string][]byte{}
	for _, v := range with {
		byName[v.Name] = v.Data
	}
	var out []Value
	for _, v := range old {
		if _, ok := byName[v.Name]; !ok {
			out = append(out, v)
		}
	}
	for _, v := range with {
		if v.Data != nil {
			out = append(out, v)
		}
	}
	return out
}
