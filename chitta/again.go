package chitta

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/chitta/fold"
)

// What was taken out of a store stays out where a copy of before is put in its
// place. Each forgetting is a record of the log, and a copy that has the record
// knows of it: what it holds was written anew, or came back because somebody wanted
// that. Of what it does not know it gets a note, before it has the store's name;
// Excise takes that out and the note with it.

const (
	// valueToForget names the note.
	valueToForget = "chitta/to-forget"
	// valueRemovals names the list of forgettings that a store knows of and has no
	// record of its own.
	valueRemovals = "chitta/removals"
)

// removal is one forgetting: the place of its record in the log that it was first
// written to, and the checksum of that. It is the same in every copy.
type removal struct {
	Sequence uint64 `json:"sequence"`
	Sum      uint32 `json:"sum"`
}

// ToForget is what was taken out of the store in whose place this one was put, and
// is to be taken out of this one too.
type ToForget struct {
	// Entries are the ids of entries, whether they are here or not, Wordings the
	// keys under which they would come again.
	Entries  []fold.ID
	Wordings []fold.Key
}

// Nothing tells whether there is nothing to forget.
func (f ToForget) Nothing() bool { return len(f.Entries)+len(f.Wordings) == 0 }

// note is how that is kept.
type note struct {
	Entries, Wordings []byte
	// Removals are the forgettings that it is of.
	Removals []removal
}

// ToForget is the note of what is to be taken out: mostly there is nothing.
func (s *Store) ToForget() (ToForget, error) {
	n, err := s.note()
	var out ToForget
	for id := range slices.Chunk(n.Entries, len(fold.ID{})) {
		out.Entries = append(out.Entries, fold.ID(id))
	}
	for key := range slices.Chunk(n.Wordings, len(fold.Key{})) {
		out.Wordings = append(out.Wordings, fold.Key(key))
	}
	return out, err
}

func (s *Store) note() (n note, err error) {
	err = s.valueInto(valueToForget, &n)
	if err == nil && (len(n.Entries)%len(fold.ID{}) != 0 || len(n.Wordings)%len(fold.Key{}) != 0) {
		return note{}, fmt.Errorf("%w: the note of what to forget", ErrDamaged)
	}
	return n, err
}

// valueInto reads a value of this package; one that is not there leaves out as it is.
func (s *Store) valueInto(name string, out any) error {
	data, err := s.Value(name)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	return asWritten(err, "value %s", name)
}

// forgetting is a removal with what it took out.
type forgetting struct {
	removal
	fold.Excised
}

// memory is what a store knows of what was taken out of it.
type memory struct {
	forgettings []forgetting
	// known are all forgettings that it knows of.
	known map[removal]bool
	// anew are the wordings that were taken out and are in the log again.
	anew map[fold.Key]bool
	// noted is what it is still to forget.
	noted ToForget
	of    []removal
	// lived says that it has experiences; it is only looked for where little is in it.
	lived bool
}

// little is how many records a store may have that was only made.
const little = 64

// memoryOf reads what a store knows of what was taken out of it.
func (s *Store) memoryOf(ctx context.Context, last uint64) (m memory, err error) {
	if err := s.readForgettings(&m); err != nil {
		return m, err
	}
	n, err := s.note()
	if err != nil {
		return m, err
	}
	if m.noted, err = s.ToForget(); err != nil {
		return m, err
	}
	m.of = n.Removals
	taken := map[fold.Key]uint64{} // the last time
	for _, f := range m.forgettings {
		for _, k := range f.Keys {
			taken[k] = max(taken[k], f.Sequence)
		}
	}
	m.anew = map[fold.Key]bool{}
	if len(taken) == 0 && last > little {
		return m, nil
	}
	return m, s.wordings(ctx, last, func(seq uint64, k fold.Key) error {
		m.lived = true
		if at, ok := taken[k]; ok && seq > at {
			m.anew[k] = true
		}
		return nil
	})
}

// readForgettings reads the records of what was taken out, and the list of others
// that the store knows of.
func (s *Store) readForgettings(m *memory) error {
	var others []removal
	if err := s.valueInto(valueRemovals, &others); err != nil {
		return err
	}
	m.known = map[removal]bool{}
	for _, r := range others {
		m.known[r] = true
	}
	return s.view(func(tx *bolt.Tx) error {
		return tx.Bucket(bucketAmendments).ForEach(func(k, _ []byte) error {
			seq := sequenceOf(k)
			data, err := events.Get(tx, seq)
			if err != nil {
				return asWritten(err, "an amendment")
			}
			e, err := fold.Decode(seq, data)
			if err != nil {
				return asWritten(err, "event %d", seq)
			}
			if x, ok := e.Body.(fold.Excised); ok {
				f := forgetting{removal{seq, events.Checksum(tx, seq)}, x}
				m.forgettings = append(m.forgettings, f)
				m.known[f.removal] = true
			}
			return nil
		})
	})
}

// wordings calls f for each wording that the log has of an entry, with the record
// that brings it.
func (s *Store) wordings(ctx context.Context, last uint64, f func(seq uint64, k fold.Key) error) error {
	return events.Each(s.db, 0, last, func(seq uint64, payload []byte, err error) error {
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
		switch b := e.Body.(type) {
		case fold.Experienced:
			return f(seq, b.Key)
		case fold.Superseded:
			return f(seq, b.Key)
		}
		return nil
	})
}

// unknownTo is what the witnesses have forgotten and a copy does not know of: the
// entries that go from the copy and the wordings that must not come again. What was
// written anew since stays.
func unknownTo(known map[removal]bool, witnesses []memory) (entries map[fold.ID]bool, wordings, anew map[fold.Key]bool, of map[removal]bool) {
	entries, wordings, anew, of = map[fold.ID]bool{}, map[fold.Key]bool{}, map[fold.Key]bool{}, map[removal]bool{}
	take := func(ids []fold.ID, keys []fold.Key) {
		for _, id := range ids {
			entries[id] = true
		}
		for _, k := range keys {
			wordings[k] = true
		}
	}
	later := map[fold.Key][]removal{} // who took a wording out
	for _, w := range witnesses {
		for _, f := range w.forgettings {
			for _, k := range f.Keys {
				later[k] = append(later[k], f.removal)
			}
			if !known[f.removal] {
				take(f.IDs, f.Keys)
			}
		}
		if slices.ContainsFunc(w.of, func(r removal) bool { return !known[r] }) {
			take(w.noted.Entries, w.noted.Wordings)
		}
		for r := range w.known {
			of[r] = true
		}
	}
	for _, w := range witnesses {
		for k := range w.anew {
			// It is there again, for all that this one knows.
			if !slices.ContainsFunc(later[k], func(r removal) bool { return !w.known[r] }) {
				anew[k] = true
				delete(wordings, k)
			}
		}
	}
	return entries, wordings, anew, of
}

// forgetAgain notes in the copy what was taken out of the store that it is to
// replace and the copy does not know of, or, where that is wanted back, that it
// knows of it.
func (r *restoring) forgetAgain() (err error) {
	if r.itself() {
		return nil
	}
	witnesses, err := r.witnesses()
	if err != nil {
		return err
	}
	s, report, err := openFileTo(r.temp, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.db.close()) }()
	own, err := s.memoryOf(r.ctx, report.Last)
	if err != nil {
		return err
	}
	entries, wordings, anew, of := unknownTo(own.known, witnesses)
	n, err := s.note()
	if err != nil {
		return err
	}
	if r.o.WithForgotten {
		entries, wordings, n = nil, nil, note{}
	}
	here, err := s.entriesAmong(r.ctx, entries, anew)
	if err != nil {
		return err
	}
	r.out.ToForget = here + len(n.Entries)/len(fold.ID{})
	for _, id := range sorted(entries, func(a, b fold.ID) int { return slices.Compare(a[:], b[:]) }) {
		n.Entries = append(n.Entries, id[:]...)
	}
	for _, k := range sorted(wordings, func(a, b fold.Key) int { return slices.Compare(a[:], b[:]) }) {
		n.Wordings = append(n.Wordings, k[:]...)
	}
	maps.Copy(of, own.known)
	return s.noteDown(n, of)
}

func sorted[K comparable](set map[K]bool, compare func(a, b K) int) []K {
	return slices.SortedFunc(maps.Keys(set), compare)
}

// noteDown writes what is to be forgotten, and the forgettings that are known now.
func (s *Store) noteDown(n note, known map[removal]bool) error {
	n.Removals = sorted(known, func(a, b removal) int {
		return slices.Compare([]uint64{a.Sequence, uint64(a.Sum)}, []uint64{b.Sequence, uint64(b.Sum)})
	})
	list, err := json.Marshal(n.Removals)
	if err != nil {
		return err
	}
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return s.update(func(tx *bolt.Tx) error {
		if len(known) > 0 {
			if err := s.put(tx, bucketValues, []byte(valueRemovals), list); err != nil {
				return err
			}
		}
		if len(n.Entries)+len(n.Wordings) == 0 {
			return s.remove(tx, bucketValues, []byte(valueToForget))
		}
		return s.put(tx, bucketValues, []byte(valueToForget), data)
	})
}

// entriesAmong counts the entries of the log that are among the given ones, and
// takes those off whose words were written anew since.
func (s *Store) entriesAmong(ctx context.Context, ids map[fold.ID]bool, anew map[fold.Key]bool) (n int, err error) {
	if len(ids) == 0 {
		return 0, nil
	}
	err = events.Each(s.db, 0, ^uint64(0), func(seq uint64, payload []byte, err error) error {
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
		x, ok := s.amendments.Resolve(e).Body.(fold.Experienced)
		switch {
		case !ok || !ids[x.ID]:
		case anew[x.Key]:
			delete(ids, x.ID)
		default:
			n++
		}
		return nil
	})
	return n, err
}

// witnesses tell what was forgotten of the store that the file is of: the one that
// is there, or, where that cannot be read or is another's, its copies, those that a
// restore replaced too.
func (r *restoring) witnesses() (all []memory, err error) {
	if r.read && r.present.ID == r.out.ID {
		return []memory{r.memory}, nil
	}
	r.out.ForgottenUnknown = !r.read && (r.looked != nil || r.o.lost())
	paths, _ := r.o.copies()
	for _, path := range paths {
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		m, report, err := memoryIn(r.ctx, path)
		if err == nil && report.ID == r.out.ID {
			all = append(all, m)
		}
	}
	return all, nil
}

// memoryIn is what the store of a file knows of what it has forgotten.
func memoryIn(ctx context.Context, path string) (m memory, report FileReport, err error) {
	s, report, err := openFile(path)
	if err != nil {
		return m, report, err
	}
	m, err = s.memoryOf(ctx, report.Last)
	return m, report, errors.Join(err, s.db.close())
}

// newTo are the wordings that this store has taken out by records that a copy does
// not know of.
func (s *Store) newTo(copied *Store) ([]fold.Key, error) {
	var own, theirs memory
	if err := errors.Join(s.readForgettings(&own), copied.readForgettings(&theirs)); err != nil {
		return nil, err
	}
	var out []fold.Key
	for _, f := range own.forgettings {
		if !theirs.known[f.removal] {
			out = append(out, f.Keys...)
		}
	}
	return out, nil
}
