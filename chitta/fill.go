package chitta

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/internal/ledger"
)

// ErrNotFresh: the store holds something already.
var ErrNotFresh = errors.New("the store is not empty")

// Filling is what a fresh store is filled with, all at once.
type Filling struct {
	// ID and Created are those of the store that all of it was in.
	ID      string
	Created time.Time
	// Records gives the log to f: its sequences run from 1 without gaps, and none
	// of its events amends another. Its error, which may be that of f, ends it.
	Records func(f func(Filled) error) error
	// Values is called with the state that the log amounts to, before anything
	// is replaced; an error gives all up. It returns the records kept under names.
	Values func(*fold.State) ([]Value, error)
	// Progress, if not nil, is told how many events are folded.
	Progress func(done uint64)
}

// Filled is one record of the log, with what stands beside it.
type Filled struct {
	Event fold.Event
	// Text is what is kept of an entry, nil for nothing.
	Text *Text
	// Gone says that the entry had a text, which went when it was buried: there is
	// none, nor a source, also where the fold would spare it today.
	Gone bool
	// Vectors, for a change of embedder that brought some, gives them to f, by the
	// sequences of the experiences that they are for, ascending; else it is nil.
	// Impressions that are not named have no place from there on.
	Vectors func(f func(seq uint64, v []float32) error) error
}

// Fill rebuilds a store from its records: a new database is made, folded on the
// way, and takes the place of the present one in a single rename. Until then
// nothing has changed. It fails with ErrNotFresh where anything was experienced
// or forgotten before.
func (s *Store) Fill(ctx context.Context, f Filling) error {
	return s.exclusively(ctx, func() error {
		if s.broken != nil {
			return s.broken
		}
		if err := s.fresh(); err != nil {
			return err
		}
		return s.fill(ctx, f)
	})
}

// Fresh fails with ErrNotFresh where Fill would.
func (s *Store) Fresh() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.fresh()
}

func (s *Store) fresh() error {
	if s.state.Session.Number > 0 || len(s.state.Impressions) > 0 || len(s.state.Links) > 0 || len(s.excised) > 0 {
		return ErrNotFresh
	}
	return nil
}

// fill runs on the committer.
func (s *Store) fill(ctx context.Context, f Filling) (err error) {
	file, err := newFiller(ctx, filepath.Join(s.opts.Dir, rewriteName))
	if err != nil {
		return s.notRewritten(err)
	}
	n := &filled{store: s, file: file, state: fold.NewState(), excised: map[fold.Key]uint64{}, progress: f.Progress}
	r := &rewritten{meta: Meta{Schema: schemaVersion, ID: f.ID, Created: f.Created, Generation: s.meta.Generation + 1}}
	if err := n.write(f, r); err != nil {
		return errors.Join(err, file.abandon())
	}
	if err := s.finish(file, r); err != nil {
		return errors.Join(s.notRewritten(err), file.abandon())
	}
	replaced := false
	err = s.replace(r, func() {
		replaced = true
		s.excised = n.excised
		s.adoptLocked(n.state, fold.Amendments{}, []string{s.machine})
	})
	if replaced {
		s.checkpoint, s.lastWall = n.checkpoint, n.wall
		s.freshCaches()
	}
	return err
}

// filled is a new database with the state that its log amounts to so far.
type filled struct {
	store      *Store
	file       *filler
	state      *fold.State
	checkpoint *fold.State
	excised    map[fold.Key]uint64
	wall       int64
	progress   func(uint64)
}

func (n *filled) write(f Filling, r *rewritten) error {
	if err := fillMeta(n.file, r.meta); err != nil {
		return err
	}
	if _, err := n.file.bucket(events.Bucket()); err != nil {
		return err
	}
	if err := f.Records(n.add); err != nil {
		return err
	}
	r.last = n.state.Sequence
	for _, seq := range n.state.BuriedEntries() {
		if err := n.file.remove(bucketTexts, sequenceKey(seq)); err != nil {
			return err
		}
	}
	log, err := n.file.bucket(events.Bucket())
	if err != nil {
		return err
	}
	if err := log.SetSequence(r.last); err != nil {
		return err
	}
	values, err := f.Values(n.state)
	if err != nil {
		return err
	}
	slices.SortFunc(values, func(a, b Value) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) })
	for i, v := range values {
		if v.Name == "" || len(v.Name) > maxName {
			return fmt.Errorf("value name of %d bytes, must be 1 to %d", len(v.Name), maxName)
		}
		if i > 0 && values[i-1].Name == v.Name {
			return fmt.Errorf("two values of the name %s", v.Name)
		}
		if err := n.file.put(bucketValues, []byte(v.Name), n.store.sealed(bucketValues, []byte(v.Name), v.Data)); err != nil {
			return err
		}
	}
	return n.file.commit()
}

// add folds an event and writes it.
func (n *filled) add(r Filled) error {
	e := r.Event
	seq := n.state.Sequence + 1
	if e.Sequence != seq {
		return fmt.Errorf("event %d: %w: event %d was expected", e.Sequence, fold.ErrOrder, seq)
	}
	if targetOf(e.Body) != 0 {
		return fmt.Errorf("event %d: %w: it amends another", seq, fold.ErrEvent)
	}
	_, changes := e.Body.(fold.EmbedderChanged)
	if r.Vectors != nil && !changes {
		return fmt.Errorf("event %d: %w: it brings vectors, and changes no embedder", seq, fold.ErrEvent)
	}
	switch b := e.Body.(type) {
	case fold.EmbedderChanged:
		body, err := n.vectors(seq, b, r.Vectors)
		if err != nil {
			return err
		}
		e.Body = body
	case fold.Experienced:
		if r.Gone {
			b.Source = ""
			e.Body = b
		}
	}
	number := n.state.Session.Number
	if _, err := fold.Step(n.state, e, candidates(n.state, e, n.store.opts.Workers)); err != nil {
		return err
	}
	if n.state.Session.Number != number {
		n.checkpoint = n.state.Clone()
	}
	n.wall = e.Wall
	data, err := fold.Encode(e)
	if err != nil {
		return err
	}
	if err := n.file.put(events.Bucket(), sequenceKey(seq), ledger.Record(seq, data)); err != nil {
		return err
	}
	if err := n.beside(e, r); err != nil {
		return err
	}
	if n.progress != nil {
		n.progress(seq)
	}
	return nil
}

// beside writes what stands beside an event.
func (n *filled) beside(e fold.Event, r Filled) error {
	seq := e.Sequence
	switch b := e.Body.(type) {
	case fold.Excised:
		for _, k := range b.Keys {
			n.excised[k] = seq
		}
		return n.file.put(bucketAmendments, sequenceKey(seq), sequenceKey(seq))
	case fold.EmbedderChanged:
		if b.Digest != ([32]byte{}) {
			return n.file.put(bucketAmendments, sequenceKey(seq), sequenceKey(seq))
		}
	case fold.Experienced:
		data := noText
		switch {
		case r.Gone:
			return nil
		case r.Text != nil:
			var err error
			if data, err = json.Marshal(r.Text); err != nil {
				return err
			}
		}
		return n.file.put(bucketTexts, sequenceKey(seq), n.store.sealed(bucketTexts, sequenceKey(seq), data))
	}
	return nil
}

// vectors writes those that a change of embedder brings, and returns it with the
// rows for the impressions that are there.
func (n *filled) vectors(event uint64, b fold.EmbedderChanged, each func(func(uint64, []float32) error) error) (fold.EmbedderChanged, error) {
	b = fold.EmbedderChanged{Embedder: b.Embedder, Dim: b.Dim}
	if each == nil {
		return b, nil
	}
	bare := *n.state // what can be told before the work
	bare.Impressions = nil
	if err := fold.Check(&bare, b); err != nil {
		return b, err
	}
	impressions := n.state.Impressions
	rows, w, last := fold.NewMatrix(b.Dim), newRowWriter(n.file, event), uint64(0)
	waits := func(seq uint64) bool { return rows.Len() < len(impressions) && impressions[rows.Len()].Sequence <= seq }
	err := each(func(seq uint64, v []float32) error {
		if seq <= last {
			return fmt.Errorf("vector for event %d: %w: it comes after that of event %d", seq, fold.ErrOrder, last)
		}
		if last = seq; !isEntryOf(n.state, seq) {
			return fmt.Errorf("vector for event %d: %w: no experience stands there", seq, fold.ErrEvent)
		}
		if err := fold.CheckVector(v, b.Dim); err != nil {
			return fmt.Errorf("vector for event %d by %s: %w", seq, b.Embedder, err)
		}
		if err := w.add(seq, v); err != nil {
			return err
		}
		for waits(seq - 1) {
			rows.AppendUnplaced()
		}
		if waits(seq) {
			return rows.Append(v)
		}
		return nil
	})
	if err != nil {
		return b, err
	}
	if err := w.flush(); err != nil {
		return b, err
	}
	for waits(math.MaxUint64) {
		rows.AppendUnplaced()
	}
	b = w.sum.on(b)
	b.Rows = rows
	return b, nil
}

// isEntryOf tells whether an experience stands at seq.
func isEntryOf(s *fold.State, seq uint64) bool {
	_, impression := slices.BinarySearchFunc(s.Impressions, seq, func(m fold.Samskara, seq uint64) int { return cmp.Compare(m.Sequence, seq) })
	_, link := slices.BinarySearchFunc(s.Links, seq, func(l fold.Link, seq uint64) int { return cmp.Compare(l.Sequence, seq) })
	return impression || link
}

// Machine names this machine's arithmetic, as [Moment.Arithmetic] does.
func (s *Store) Machine() string { return s.machine }
