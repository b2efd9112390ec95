package chitta

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/chitta/fold"
)

// Held is what a store holds beside the numbers of its log, as a restore finds it.
type Held struct {
	// Values are all records kept under names, in their order.
	Values []Value
	// Entries are the experiences, in the order of the log.
	Entries []HeldEntry
}

// HeldEntry is an experience: the category of consent that its event has, and whether a
// text of it is kept, with the category that this was found to be of.
type HeldEntry struct {
	ID       fold.ID
	Category string
	Found    string
	Text     bool
	seq      uint64
}

// Carried is what a copy gets before it takes the place of a store.
type Carried struct {
	// Values are put; nil data removes.
	Values []Value
	// Found are categories that texts were found to be of, by entry; a text that has one
	// keeps its own.
	Found map[fold.ID]string
}

// held reads what the store of a file holds, up to record last.
func (s *Store) held(ctx context.Context, last uint64) (h Held, err error) {
	err = s.Values("", func(name string, data []byte) error {
		h.Values = append(h.Values, Value{Name: name, Data: data})
		return nil
	})
	if err != nil {
		return h, err
	}
	err = events.Each(s.db, 0, last, func(seq uint64, payload []byte, err error) error {
		var e fold.Event
		if err == nil {
			e, err = fold.Decode(seq, payload)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if x, ok := e.Body.(fold.Experienced); ok {
			h.Entries = append(h.Entries, HeldEntry{ID: x.ID, Category: x.Category, seq: seq})
		}
		return nil
	})
	for i := range h.Entries {
		if err != nil {
			return h, err
		}
		e := &h.Entries[i]
		var t Text
		if t, err = s.TextOf(e.seq); err == nil {
			e.Text, e.Found = true, t.Found
		} else if errors.Is(err, ErrNotFound) || errors.Is(err, ErrBuried) {
			err = nil
		}
	}
	return h, err
}

// heldIn is what the store of a file holds, and what it says of itself.
func heldIn(ctx context.Context, path string) (h Held, report FileReport, err error) {
	s, report, err := openFile(path)
	if err != nil {
		return h, report, err
	}
	h, err = s.held(ctx, report.Last)
	return h, report, errors.Join(err, s.db.close())
}

// carry puts into the copy what the caller makes of it and of the store that it is to
// replace, or of that one's copies where it cannot be read.
func (r *restoring) carry() (err error) {
	if r.o.Carry == nil || r.itself() {
		return nil
	}
	s, report, err := openFileTo(r.temp, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.db.close()) }()
	own, err := s.held(r.ctx, report.Last)
	if err != nil {
		return err
	}
	others, present, err := r.othersHeld()
	if err != nil {
		return err
	}
	c, err := r.o.Carry(r.ctx, own, others, present)
	if err != nil {
		return err
	}
	return s.update(func(tx *bolt.Tx) error {
		for _, v := range c.Values {
			if v.Data == nil {
				err = s.remove(tx, bucketValues, []byte(v.Name))
			} else {
				err = s.put(tx, bucketValues, []byte(v.Name), v.Data)
			}
			if err != nil {
				return fmt.Errorf("record %s: %w", v.Name, err)
			}
		}
		for _, e := range own.Entries {
			if found := c.Found[e.ID]; found != "" && e.Text && e.Found == "" {
				if err := s.putFound(tx, e.seq, found); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// putFound notes with the text of the entry at seq what it was found to be of.
func (s *Store) putFound(tx *bolt.Tx, seq uint64, found string) error {
	var t Text
	kept, err := s.readText(seq, tx.Bucket(bucketTexts).Get(sequenceKey(seq)), &t)
	if err != nil || !kept {
		return err
	}
	t.Found = found
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return s.put(tx, bucketTexts, sequenceKey(seq), data)
}

// othersHeld are what the store that is there holds, or its copies; present tells which.
func (r *restoring) othersHeld() (all []Held, present bool, err error) {
	if r.holding && r.present.ID == r.out.ID {
		return []Held{r.holds}, true, nil
	}
	paths, _ := r.o.copies()
	for _, path := range paths {
		if err := r.ctx.Err(); err != nil {
			return nil, false, err
		}
		if sameFileAt(path, r.out.From) {
			continue
		}
		h, report, err := heldIn(r.ctx, path)
		if err == nil && report.ID == r.out.ID {
			all = append(all, h)
		}
	}
	return all, false, nil
}
