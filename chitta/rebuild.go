package chitta

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/internal/ledger"
)

// readAmendments collects what later events say of earlier ones. Their places
// are kept in a bucket of their own, so that a start need not read the log.
func (s *Store) readAmendments(tx *bolt.Tx) error {
	s.amendments, s.excised = fold.Amendments{}, map[fold.Key]uint64{}
	return tx.Bucket(bucketAmendments).ForEach(func(k, _ []byte) error {
		if len(k) != 8 {
			return fmt.Errorf("%w: amendment key of %d bytes", ErrDamaged, len(k))
		}
		seq := binary.BigEndian.Uint64(k)
		data, err := events.Get(tx, seq)
		if err != nil {
			return asWritten(err, "an amendment")
		}
		e, err := fold.Decode(seq, data)
		if err != nil {
			return fmt.Errorf("%w: event %d: %w", ErrDamaged, seq, err)
		}
		s.amendments.Add(e)
		if x, ok := e.Body.(fold.Excised); ok {
			for _, k := range x.Keys {
				s.excised[k] = seq
			}
		}
		return nil
	})
}

// readLastWall takes the clock's last reading from the newest event.
func (s *Store) readLastWall(tx *bolt.Tx, last uint64) error {
	if last == 0 {
		return nil
	}
	data, err := events.Get(tx, last)
	if err != nil {
		return asDamage(err) // its key is there
	}
	e, err := fold.Decode(last, data)
	if err != nil {
		return fmt.Errorf("%w: event %d: %w", ErrDamaged, last, err)
	}
	s.lastWall = e.Wall
	return nil
}

// rebuild makes the live state: newest good snapshot, then the tail.
func (s *Store) rebuild(ctx context.Context, last uint64) error {
	state, arithmetics := s.best(ctx, last)
	s.started = Start{Snapshot: state.Sequence}
	s.snapshotAt = state.Sequence
	before := state.Sequence
	s.checkpoint = nil
	err := s.replay(ctx, state, last, &s.amendments, hooks{
		folded: func(fold.Event, fold.Outcome) { s.started.Folded++ },
		opened: func() { s.checkpoint = state.Clone() },
	})
	if err != nil {
		return err
	}
	if last > before {
		arithmetics = with(arithmetics, s.machine)
	}
	s.adopt(state, s.amendments, arithmetics)
	return s.owedAtStart()
}

// adopt makes a state the live one, with the amendments and the machines'
// arithmetic that it came of.
func (s *Store) adopt(state *fold.State, amendments fold.Amendments, arithmetics []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.adoptLocked(state, amendments, arithmetics)
}

func (s *Store) adoptLocked(state *fold.State, amendments fold.Amendments, arithmetics []string) {
	keys := make(map[fold.Key]uint64, len(state.Impressions)+len(state.Links))
	for i := range state.Impressions {
		keys[state.Impressions[i].Key] = state.Impressions[i].Sequence
	}
	for i := range state.Links {
		keys[state.Links[i].Key] = state.Links[i].Sequence
	}
	s.state, s.keys, s.amendments, s.arithmetic = state, keys, amendments, arithmetics
}

// best is the newest state, not after last, that can be had without folding.
func (s *Store) best(ctx context.Context, last uint64) (*fold.State, []string) {
	sequences, err := s.snapshots.Sequences()
	if err != nil {
		s.log.Warn("snapshots cannot be listed; folding from the beginning", "error", err)
	}
	for _, seq := range sequences {
		if seq > last || ctx.Err() != nil {
			continue
		}
		state, m, err := s.loadSnapshot(seq)
		if err == nil {
			return state, m.Arithmetic
		}
		s.log.Warn("snapshot left out", "sequence", seq, "error", err)
	}
	s.rows.trust(0)
	return fold.NewState(), nil
}

// loadSnapshot reads one snapshot and the vectors that belong to it.
func (s *Store) loadSnapshot(seq uint64) (*fold.State, ledger.Mark, error) {
	m, payload, err := s.snapshots.Load(seq)
	if err != nil {
		return nil, m, err
	}
	if m.Store != s.meta.ID || m.Generation != s.meta.Generation {
		return nil, m, fmt.Errorf("%w: it belongs to another store or an earlier generation of this one", ledger.ErrSnapshot)
	}
	if same, err := s.standsAt(m); err != nil || !same {
		return nil, m, errors.Join(err, fmt.Errorf("%w: the log went another way since", ledger.ErrSnapshot))
	}
	if by, err := s.amendedSince(seq); err != nil || by != 0 {
		return nil, m, errors.Join(err, fmt.Errorf("%w: event %d amends what it holds", ledger.ErrSnapshot, by))
	}
	n, dim, err := fold.VectorCount(payload)
	if err != nil {
		return nil, m, fmt.Errorf("%w: %w", ledger.ErrSnapshot, err)
	}
	vectors, err := s.rows.read(n, dim)
	if err != nil {
		return nil, m, err
	}
	state, err := fold.DecodeState(payload, vectors)
	if err != nil {
		return nil, m, fmt.Errorf("%w: %w", ledger.ErrSnapshot, err)
	}
	s.rows.trust(n)
	return state, m, nil
}

// standsAt tells whether the record that a snapshot was taken at is still there.
// Snapshots of before have the checksum of the record as it stood then.
func (s *Store) standsAt(m ledger.Mark) (bool, error) {
	if m.Record == 0 {
		return true, nil
	}
	sum, err := s.recordSum(m.Sequence)
	if err != nil || m.Record == sum {
		return err == nil, err
	}
	var stored uint32
	err = s.view(func(tx *bolt.Tx) error { stored = events.Checksum(tx, m.Sequence); return nil })
	return err == nil && m.Record == stored, err
}

// recordSum is the checksum of the record at seq as it stands there, or will once
// its entry is buried; 0 where nothing stands.
func (s *Store) recordSum(seq uint64) (sum uint32, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		if sum = events.Checksum(tx, seq); sum == 0 {
			return nil
		}
		data, err := events.Get(tx, seq)
		if err != nil {
			return err
		}
		e, err := fold.Decode(seq, data)
		if err != nil {
			return &ledger.RecordError{Log: string(events.Bucket()), Sequence: seq, Err: err}
		}
		if bare, had := withoutSource(e); had {
			if data, err = fold.Encode(bare); err != nil {
				return err
			}
			sum = binary.LittleEndian.Uint32(ledger.Record(seq, data))
		}
		return nil
	})
	return sum, err
}

// amendedSince finds an event after seq that amends one not after it.
func (s *Store) amendedSince(seq uint64) (by uint64, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		c := tx.Bucket(bucketAmendments).Cursor()
		for k, v := c.Seek(sequenceKey(seq + 1)); k != nil; k, v = c.Next() {
			if len(k) == 8 && len(v) == 8 && binary.BigEndian.Uint64(v) <= seq {
				by = binary.BigEndian.Uint64(k)
				return nil
			}
		}
		return nil
	})
	return by, err
}

// hooks are what a replay tells its caller.
type hooks struct {
	// folded is called after each event.
	folded func(fold.Event, fold.Outcome)
	// opened is called after a session was opened.
	opened func()
	// progress is told the sequence reached.
	progress func(uint64)
}

// replay folds the log up to last onto state, with every event as the given
// amendments left it.
func (s *Store) replay(ctx context.Context, state *fold.State, last uint64, amendments *fold.Amendments, h hooks) error {
	return ledger.Replay(ctx, events.In(s.db), state.Sequence, last, ledger.Rules[fold.Event]{
		Decode:  fold.Decode,
		Resolve: func(e fold.Event) (fold.Event, bool) { return amendments.Resolve(e), true },
		Step: func(e fold.Event) error {
			number := state.Session.Number
			e, err := s.attach(state, e, amendments)
			if err != nil {
				return err
			}
			out, err := fold.Step(state, e, candidates(state, e, s.opts.Workers))
			if err != nil {
				return err
			}
			if h.opened != nil && state.Session.Number != number {
				h.opened()
			}
			if h.folded != nil {
				h.folded(e, out)
			}
			return nil
		},
		Progress: h.progress,
	})
}

// refoldGroup folds again from before the earliest event that the group's
// amendments change, and takes the group's own events in on the way.
func (s *Store) refoldGroup(group []*request, first uint64) error {
	last := uint64(0)
	results := map[uint64]*Result{}
	// What readers see changes at once, when the fold is done: until then the
	// state goes with the amendments of before.
	amendments, arithmetics := s.amendments.Clone(), s.arithmetic
	before := s.state.BuriedEntries()
	for _, r := range group {
		for i := range r.results {
			if !r.results[i].Duplicate {
				results[r.results[i].Sequence] = &r.results[i]
			}
		}
		for _, e := range r.written {
			amendments.Add(e)
			last = e.Sequence
		}
	}
	if err := s.snapshots.Drop(first); err != nil {
		s.log.Warn("void snapshots could not be removed; they are left out by their amendments", "error", err)
	}
	// The committer is not interrupted: the events are on disk already.
	ctx := context.Background()
	var state *fold.State
	if a := s.aheadOf(group); a != nil {
		state, arithmetics = a.state, a.arithmetic
		s.aheads.Add(1)
		s.rows.trust(min(s.rows.trusted, a.rows))
		s.checkpoint, s.snapshotAt = a.checkpoint, min(s.snapshotAt, a.base)
	} else if s.checkpoint != nil && s.checkpoint.Sequence < first {
		state = s.checkpoint.Clone()
		s.rows.trust(min(s.rows.trusted, state.Vectors.Len()))
	} else {
		state, arithmetics = s.best(ctx, first-1)
		s.checkpoint = nil
	}
	s.snapshotAt = min(s.snapshotAt, state.Sequence)
	err := s.replay(ctx, state, last, &amendments, hooks{
		folded: func(e fold.Event, out fold.Outcome) {
			if r := results[e.Sequence]; r != nil {
				r.Outcome = out
			}
		},
		opened: func() { s.checkpoint = state.Clone() },
	})
	if err != nil {
		return err
	}
	s.adopt(state, amendments, with(arithmetics, s.machine))
	s.mu.Lock()
	s.amended = last
	s.mu.Unlock()
	s.refolded(before, state, group)
	return nil
}

// snapshot writes the live state and the vectors that the row file lacks.
func (s *Store) snapshot() error {
	if err := s.rows.extend(s.state.Vectors); err != nil {
		return err
	}
	sum, err := s.recordSum(s.state.Sequence)
	if err != nil {
		return err
	}
	m := ledger.Mark{Sequence: s.state.Sequence, Record: sum, Store: s.meta.ID, Generation: s.meta.Generation, Arithmetic: s.arithmetic}
	if err := s.snapshots.Save(m, s.state.Encode()); err != nil {
		return err
	}
	s.snapshotAt = s.state.Sequence
	return nil
}
