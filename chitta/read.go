package chitta

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/internal/ledger"
)

// Bounds of the names that records stand under.
const (
	maxName = 256
	maxPath = 16 << 10
)

// Text is what is kept of an entry beside its event.
type Text struct {
	// Body is the text as the person wrote it.
	Body string `json:"body"`
	// Label is a heading that is not a date.
	Label string `json:"label,omitempty"`
	// Gist says that Body is the gist of what was written, not all of it.
	Gist bool `json:"gist,omitempty"`
	// Summary is what a model said of it in a sentence or two, Reason why it judged
	// it so; empty where none did.
	Summary string `json:"summary,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// Answer is what was answered to it in a conversation, By who did.
	Answer string `json:"answer,omitempty"`
	By     string `json:"by,omitempty"`
	// Own is the share of its words that the companion had said before, in [0,1].
	Own float64 `json:"own,omitempty"`
	// Found is a category of consent that it was found to be of beside the one that its
	// event has; empty for none.
	Found string `json:"found,omitempty"`
}

// Source is what was last seen of one diary file.
type Source struct {
	// Path is relative to the diary folder, with slashes.
	Path    string        `json:"path"`
	Entries []SourceEntry `json:"entries"`
}

// SourceEntry is one entry of a file and the event that it became.
type SourceEntry struct {
	Key  fold.Key `json:"key"`
	Date string   `json:"date,omitempty"`
	// Sequence is 0 where there is no such event, and where it is buried.
	Sequence uint64 `json:"sequence"`
	// FromBatch, if not 0, asks Append to fill Sequence from the entry at that
	// place, counted from 1, of the same batch.
	FromBatch int `json:"-"`
}

// putText writes what is kept beside an entry that was appended at seq.
func (s *Store) putText(tx *bolt.Tx, seq uint64, e Entry) error {
	key, data := sequenceKey(seq), noText
	switch b := e.Body.(type) {
	case fold.Experienced:
	case fold.Superseded:
		if e.Text == nil && !e.NoText {
			return nil
		}
		key = sequenceKey(b.Target)
	case fold.Reassessed:
		if e.Text == nil && !e.NoText { // what is kept stays
			return nil
		}
		key = sequenceKey(b.Target)
	default:
		return nil
	}
	if e.Text != nil && !e.NoText {
		var err error
		if data, err = json.Marshal(e.Text); err != nil {
			return err
		}
	}
	return s.put(tx, bucketTexts, key, data)
}

// TextOf returns what is kept of the entry at seq, or ErrNotFound where none was
// to be kept, ErrBuried where it was and is gone.
func (s *Store) TextOf(seq uint64) (Text, error) {
	var t Text
	err := s.view(func(tx *bolt.Tx) error {
		value := tx.Bucket(bucketTexts).Get(sequenceKey(seq))
		if value == nil && !s.plain && isEntry(tx, seq) {
			return fmt.Errorf("text of event %d: %w", seq, ErrBuried)
		}
		kept := false
		if value != nil {
			var err error
			if kept, err = s.readText(seq, value, &t); err != nil {
				return err
			}
		}
		if !kept {
			return fmt.Errorf("text of event %d: %w", seq, ErrNotFound)
		}
		return nil
	})
	return t, err
}

// readText reads a text as it stands in its bucket; false says that none was to
// be kept.
func (s *Store) readText(seq uint64, value []byte, t *Text) (bool, error) {
	data, err := s.opened(bucketTexts, sequenceKey(seq), value)
	if err == nil && bytes.Equal(data, noText) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, t)
	}
	return err == nil, asWritten(err, "text of event %d", seq)
}

// isEntry tells whether an experience stands at seq.
func isEntry(tx *bolt.Tx, seq uint64) bool {
	data, err := events.Get(tx, seq)
	if err != nil {
		return false
	}
	e, err := fold.Decode(seq, data)
	_, ok := e.Body.(fold.Experienced)
	return ok && err == nil
}

// Texts calls f for every text from sequence after on, in order, in short read
// transactions, until f returns an error.
func (s *Store) Texts(after uint64, f func(seq uint64, t Text) error) error {
	const page = 64
	type item struct {
		seq uint64
		t   Text
	}
	for {
		seen := 0
		items := make([]item, 0, page)
		err := s.view(func(tx *bolt.Tx) error {
			c := tx.Bucket(bucketTexts).Cursor()
			for k, v := c.Seek(sequenceKey(after + 1)); k != nil && seen < page; k, v = c.Next() {
				seen++
				if sequenceOf(k) <= after {
					return fmt.Errorf("%w: a text stands out of its place", ErrDamaged)
				}
				after = sequenceOf(k)
				it := item{seq: after}
				kept, err := s.readText(it.seq, v, &it.t)
				if err != nil {
					return err
				}
				if kept {
					items = append(items, it)
				}
			}
			return nil
		})
		if err != nil || seen == 0 {
			return err
		}
		for _, it := range items {
			if err := f(it.seq, it.t); err != nil {
				return err
			}
		}
	}
}

// EventAt returns the event at seq as its last amendment left it.
func (s *Store) EventAt(seq uint64) (fold.Event, error) {
	var e fold.Event
	err := s.view(func(tx *bolt.Tx) error {
		data, err := events.Get(tx, seq)
		if err != nil {
			return err
		}
		e, err = fold.Decode(seq, data)
		return err
	})
	if errors.Is(err, ledger.ErrNoRecord) {
		return e, fmt.Errorf("event %d: %w", seq, ErrNotFound)
	}
	if err != nil {
		return e, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.amendments.Resolve(e), nil
}

// Value returns the record kept under a name, or ErrNotFound.
func (s *Store) Value(name string) ([]byte, error) {
	var data []byte
	err := s.view(func(tx *bolt.Tx) error {
		if v := tx.Bucket(bucketValues).Get([]byte(name)); v != nil {
			var err error
			data, err = s.opened(bucketValues, []byte(name), v)
			return asWritten(err, "record %s", name)
		}
		return fmt.Errorf("%s: %w", name, ErrNotFound)
	})
	return data, err
}

// Values calls f for the records whose names start with prefix, in order of
// name. The data is a copy.
func (s *Store) Values(prefix string, f func(name string, data []byte) error) error {
	var list []Value
	var last []byte
	err := s.view(func(tx *bolt.Tx) error {
		c := tx.Bucket(bucketValues).Cursor()
		for k, v := c.Seek([]byte(prefix)); k != nil && len(k) >= len(prefix) && string(k[:len(prefix)]) == prefix; k, v = c.Next() {
			if err := follows(k, last); err != nil {
				return asWritten(err, "a record of %s", bucketValues)
			}
			last = slices.Clone(k)
			data, err := s.opened(bucketValues, k, v)
			if err != nil {
				return asWritten(err, "record %s", k)
			}
			list = append(list, Value{string(k), data})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, v := range list {
		if err := f(v.Name, v.Data); err != nil {
			return err
		}
	}
	return nil
}

// Names are those of the records whose names begin so, in order. What they hold is not read.
func (s *Store) Names(prefix string) (out []string, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		var last []byte
		c := tx.Bucket(bucketValues).Cursor()
		for k, _ := c.Seek([]byte(prefix)); k != nil && bytes.HasPrefix(k, []byte(prefix)); k, _ = c.Next() {
			if err := follows(k, last); err != nil {
				return asWritten(err, "a record of %s", bucketValues)
			}
			last = slices.Clone(k)
			out = append(out, string(k))
		}
		return nil
	})
	return out, err
}

// longestValue bounds what is copied on the word of a page that may be damaged.
const longestValue = 64 << 20

// follows says whether a key can stand behind last in a bucket whose pages may be
// damaged: in what is not in order, a walk need have no end.
func follows(k, last []byte) error {
	switch {
	case len(k) > bolt.MaxKeySize:
		return fmt.Errorf("a key of %d bytes", len(k))
	case last != nil && bytes.Compare(k, last) <= 0:
		return errors.New("a key stands out of its place")
	}
	return nil
}

// copyOf copies a value, unless its length cannot be true.
func copyOf(v []byte) ([]byte, error) {
	if len(v) > longestValue {
		return nil, fmt.Errorf("a length of %d bytes", len(v))
	}
	return append([]byte(nil), v...), nil
}

// SourceAt returns what was last seen of a diary file, or ErrNotFound.
func (s *Store) SourceAt(path string) (Source, error) {
	var src Source
	err := s.view(func(tx *bolt.Tx) error {
		value := tx.Bucket(bucketSources).Get([]byte(path))
		if value == nil {
			return fmt.Errorf("source: %w", ErrNotFound)
		}
		data, err := s.opened(bucketSources, []byte(path), value)
		if err == nil {
			err = json.Unmarshal(data, &src)
		}
		return asWritten(err, "record of a diary file")
	})
	return src, err
}

// Health are figures of the database file.
type Health struct {
	Bytes            int64
	Pages, FreePages int
	// LongestRead is the longest read transaction since the store was opened.
	LongestRead time.Duration
}

// Health looks at the database file.
func (s *Store) Health() Health {
	h := Health{Bytes: s.Size(), LongestRead: time.Duration(s.longestRead.Load()), FreePages: s.db.stats().FreePageN + s.db.stats().PendingPageN}
	_ = s.view(func(tx *bolt.Tx) error { // where it holds, the file is not mapped anew
		h.Pages = int(h.Bytes) / tx.DB().Info().PageSize
		return nil
	})
	return h
}

// removals are how many records were taken out of the log, as of a generation.
type removals struct{ generation, records uint64 }

// Removed is how many records were taken out of the log: there are so many fewer than the
// number of the last says. It is counted once, and again after each removal.
func (s *Store) Removed() uint64 {
	generation := s.Meta().Generation
	if r := s.removed.Load(); r != nil && r.generation == generation {
		return r.records
	}
	var n uint64
	if generation > 0 {
		err := s.view(func(tx *bolt.Tx) error {
			last, count := events.Last(tx), uint64(events.Count(tx)) //nolint:gosec // it counts keys
			n = last - min(last, count)
			return nil
		})
		if err != nil || s.Meta().Generation != generation {
			return n // not to be relied on
		}
	}
	s.removed.Store(&removals{generation, n})
	return n
}
