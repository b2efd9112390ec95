package lifecycle

import (
	"context"
	"fmt"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle/export"
)

// placed is an experience with its places in the log and in the order of an export.
type placed struct {
	seq, order uint64
	id         fold.ID
}

// changed is a change of embedder that brought vectors.
type changed struct {
	event fold.Event
	order uint64
}

// embedderChanged notes a change of embedder; its vectors are written when the
// file of the experiences is.
func (x *exporting) embedderChanged(e fold.Event, b fold.EmbedderChanged) {
	line := export.EmbedderChange{Order: x.order, Recorded: export.NewRecorded(e.Header), Embedder: export.Embedder{ID: b.Embedder, Dim: b.Dim}}
	if b.Digest != ([32]byte{}) {
		line.Vectors = export.VectorsFile(x.order)
		x.changes = append(x.changes, changed{e, x.order})
	}
	x.settings.Embedders = append(x.settings.Embedders, line)
}

// writeVectors writes a file for each change of embedder that brought vectors.
func (x *exporting) writeVectors(ctx context.Context) error {
	for _, c := range x.changes {
		x.out.File(export.VectorsFile(c.order))
		at := 0
		_, err := x.moment.Vectors(ctx, c.event, func(seq uint64, v []float32) error {
			for at < len(x.places) && x.places[at].seq < seq { // these have none
				at++
			}
			if at == len(x.places) || x.places[at].seq != seq {
				return fmt.Errorf("%w: a vector is for event %d, which is no entry", chitta.ErrDamaged, seq)
			}
			return x.out.Line(export.NewVector{Order: x.places[at].order, ID: export.ID(x.places[at].id), Embedding: export.Floats(v)})
		})
		if err != nil {
			return err
		}
	}
	x.changes, x.places = nil, nil
	return nil
}

// exportSeen is a tendency that is found no more in open form.
func exportSeen(id string, s seenTendency) export.Vanished {
	out := export.Vanished{ID: id, Members: []string{}, Peak: export.Peak(s.Peak), FirstSession: s.FirstSession, FoundIn: s.FoundIn}
	for _, k := range s.keys() {
		out.Members = append(out.Members, export.ID(k))
	}
	return out
}

// importSeen is what [exportSeen] took out.
func importSeen(x export.Vanished) (s seenTendency, err error) {
	s = seenTendency{Peak: peak(x.Peak), FirstSession: x.FirstSession, FoundIn: x.FoundIn}
	members := map[fold.ID]bool{}
	for _, m := range x.Members {
		id, err := export.ParseID(m)
		if err != nil {
			return s, fmt.Errorf("members of a vanished tendency: %w", err)
		}
		if members[id] {
			return s, fmt.Errorf("%w: a vanished tendency has a member twice", export.ErrDamaged)
		}
		members[id] = true
		s.Members = append(s.Members, id[:]...)
	}
	return s, nil
}
