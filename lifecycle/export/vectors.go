package export

import (
	"context"
	"fmt"
	"regexp"

	"github.com/jivad/jivad/chitta/fold"
)

// vectorsOf are the names of files of vectors.
var vectorsOf = regexp.MustCompile(`^vectors-[0-9]+\.jsonl$`)

// vectors reads those that changes of embedder brought, beside the records.
type vectors struct {
	ctx  context.Context
	from *Folder
	// ids are those of the experiences so far, by their places in the order; nil
	// where no vectors come.
	ids map[uint64]fold.ID
}

func newVectors(ctx context.Context, x *Folder) *vectors {
	v := &vectors{ctx: ctx, from: x}
	for _, c := range x.settings.Embedders {
		if c.Vectors != "" {
			v.ids = map[uint64]fold.ID{}
		}
	}
	return v
}

func (v *vectors) note(order uint64, id fold.ID) {
	if v.ids != nil {
		v.ids[order] = id
	}
}

// with calls f for a change of embedder, with its vectors where it has some.
func (v *vectors) with(r *Record, dim int, f func(Record) error) error {
	name := r.vectors
	if name == "" {
		return f(*r)
	}
	read := false
	r.Vectors = func(f func(uint64, []float32) error) error {
		read = true
		return v.each(name, dim, f)
	}
	if err := f(*r); err != nil || read {
		return err
	}
	return v.each(name, dim, func(uint64, []float32) error { return nil })
}

// each calls f for the vectors of a file. What is wrong is told with its line.
func (v *vectors) each(name string, dim int, f func(order uint64, vector []float32) error) error {
	last := uint64(0)
	return v.from.lines(name, func(n int, line []byte) error {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		var l NewVector
		if err := decodeLine(name, n, line, &l); err != nil {
			return err
		}
		if l.Order <= last {
			return at(name, n, fmt.Errorf("%w: its order is %d, after %d", ErrDamaged, l.Order, last))
		}
		last = l.Order
		if id, ok := v.ids[l.Order]; !ok || ID(id) != l.ID {
			return at(name, n, fmt.Errorf("%w: no entry of this order and id comes before the change of embedder", ErrDamaged))
		}
		x, err := ParseFloats(l.Embedding)
		if err == nil {
			err = fold.CheckVector(x, dim)
		}
		if err != nil {
			return at(name, n, err)
		}
		return at(name, n, f(l.Order, x))
	})
}

// check says what is wrong with tendencies.
func (h Heritages) check() error {
	last := 0
	for _, s := range h.Sessions {
		if s.Session <= last {
			return fmt.Errorf("%w: session %d, after session %d", ErrDamaged, s.Session, last)
		}
		last = s.Session
		for _, t := range s.Tendencies {
			if err := t.Peak.Check(); err != nil {
				return err
			}
		}
	}
	id := ""
	for i, t := range h.Vanished {
		if t.ID <= id || len(t.ID) > 128 {
			return fmt.Errorf("%w: vanished tendency %d: its id is none, or not in its place", ErrDamaged, i+1)
		}
		if id = t.ID; t.FirstSession < 0 || t.FoundIn < 0 {
			return fmt.Errorf("%w: vanished tendency %d: a session that cannot be", ErrLine, i+1)
		}
		if err := t.Peak.Check(); err != nil {
			return err
		}
	}
	return h.checkSaid()
}

// checkSaid says what is wrong with what a model said.
func (h Heritages) checkSaid() error {
	const longest, longestBy = 4096, 128 // bytes
	id := ""
	for i, n := range h.Called {
		if n.ID <= id || len(n.ID) > 128 {
			return fmt.Errorf("%w: name %d of a model: the id of its tendency is none, or not in its place", ErrDamaged, i+1)
		}
		if id = n.ID; n.Name == "" || len(n.Name) > longest || len(n.By) > longestBy || n.Count < len(n.Members) {
			return fmt.Errorf("%w: name %d of a model cannot be", ErrLine, i+1)
		}
	}
	if v := h.Voice; v != nil && (v.Session < 1 || v.Text == "" || len(v.Text) > longest || len(v.By) > longestBy) {
		return fmt.Errorf("%w: what a model said of a session cannot be", ErrLine)
	}
	return nil
}
