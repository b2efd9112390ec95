package chitta

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	Records func(f func(fold.Event, *Text) error) error
	// Values is called with the state that the log amounts to, before anything
	// is replaced; an error gives all up. It returns the records kept under names.
	Values func(*fold.State) ([]Value, error)
	// Progress, if not nil, is told how many events are folded.
	Progress func(done uint64)
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
		if s.state.Session.Number > 0 || len(s.state.Impressions) > 0 || len(s.state.Links) > 0 || len(s.excised) > 0 {
			return ErrNotFresh
		}
		return s.fill(ctx, f)
	})
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
	for _, v := range values {
		if v.Name == "" || len(v.Name) > maxName {
			return fmt.Errorf("value name of %d bytes, must be 1 to %d", len(v.Name), maxName)
		}
		if err := n.file.put(bucketValues, []byte(v.Name), n.store.sealed(bucketValues, []byte(v.Name), v.Data)); err != nil {
			return err
		}
	}
	return n.file.commit()
}

// add folds an event and writes it.
func (n *filled) add(e fold.Event, t *Text) error {
	seq := n.state.Sequence + 1
	if e.Sequence != seq {
		return fmt.Errorf("event %d: %w: event %d was expected", e.Sequence, fold.ErrOrder, seq)
	}
	if targetOf(e.Body) != 0 {
		return fmt.Errorf("event %d: %w: it amends another", seq, fold.ErrEvent)
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
	if x, ok := e.Body.(fold.Excised); ok {
		for _, k := range x.Keys {
			n.excised[k] = seq
		}
		if err := n.file.put(bucketAmendments, sequenceKey(seq), sequenceKey(seq)); err != nil {
			return err
		}
	}
	if _, ok := e.Body.(fold.Experienced); ok || t != nil {
		data := noText
		if t != nil {
			if data, err = json.Marshal(t); err != nil {
				return err
			}
		}
		if err := n.file.put(bucketTexts, sequenceKey(seq), n.store.sealed(bucketTexts, sequenceKey(seq), data)); err != nil {
			return err
		}
	}
	if n.progress != nil {
		n.progress(seq)
	}
	return nil
}

// Machine names this machine's arithmetic, as [Moment.Arithmetic] does.
func (s *Store) Machine() string { return s.machine }
