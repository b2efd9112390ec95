package chitta

import (
	"context"
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/chitta/fold"
)

// Moment is the store as it was at one moment, for one who reads all of it while
// it goes on. State and Values must not be changed.
type Moment struct {
	Meta  Meta
	State *fold.State
	// Arithmetic names the machines that the state went through.
	Arithmetic []string
	// Values are the records kept under names, in order of name.
	Values []Value

	store      *Store
	amendments fold.Amendments
}

// Moment looks at the store between two groups of writes.
func (s *Store) Moment(ctx context.Context) (*Moment, error) {
	m := &Moment{store: s}
	err := s.exclusively(ctx, func() error {
		look, state, amendments := s.look()
		m.Meta, m.State, m.Arithmetic, m.amendments = look.meta, state, look.arithmetic, amendments
		return s.Values("", func(name string, data []byte) error {
			m.Values = append(m.Values, Value{name, data})
			return nil
		})
	})
	return m, err
}

// Events calls f for every record of the log that says something of its own, in
// order, as its last amendment left it: those that amend others are left out.
func (m *Moment) Events(ctx context.Context, f func(fold.Event) error) error {
	return damaged(events.Each(m.store.db, 0, m.State.Sequence, func(seq uint64, payload []byte, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		e, err := fold.Decode(seq, payload)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if targetOf(e.Body) != 0 {
			return nil
		}
		return f(m.amendments.Resolve(e))
	}))
}

// TextOf returns what is kept of the entry at seq, or ErrNotFound.
func (m *Moment) TextOf(seq uint64) (Text, error) { return m.store.TextOf(seq) }

// Over tells whether an entry of the moment was edited or taken out since: then
// what was read may be of two moments.
func (m *Moment) Over() (bool, error) {
	if m.store.Meta() != m.Meta {
		return true, nil
	}
	over := false
	err := m.store.view(func(tx *bolt.Tx) error {
		c := tx.Bucket(bucketAmendments).Cursor()
		for k, v := c.Seek(sequenceKey(m.State.Sequence + 1)); k != nil && !over; k, v = c.Next() {
			if len(k) != 8 || len(v) != 8 || binary.BigEndian.Uint64(v) > m.State.Sequence {
				continue
			}
			data, err := events.Get(tx, binary.BigEndian.Uint64(k))
			if err != nil {
				return err
			}
			e, err := fold.Decode(binary.BigEndian.Uint64(k), data)
			if err != nil {
				return err
			}
			_, over = e.Body.(fold.Superseded) // a judgement alone leaves the text
		}
		return nil
	})
	return over, err
}
