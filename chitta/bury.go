package chitta

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/internal/ledger"
)

// What is beside the log of an entry that is buried: nothing. Its text goes, its
// event names no source any more, and no record of a diary file leads to it; such
// a record keeps the entry's key, so that the file brings nothing back. All of it
// goes in one transaction: with the end of the session that buries, or, where an
// amendment made the fold bury something else, right after it. What once went does
// not come back when a later amendment makes the fold spare it.

// noText stands in the place of a text that was not to be kept. Nothing at all
// stands there of one that is buried.
var noText = []byte("null")

// ending lists the entries that are buried when the session of st ends now.
func ending(st *fold.State) []uint64 {
	now := st.Session.Number
	due := func(m fold.Samskara) bool { return !m.Buried && m.BuryAt != 0 && m.BuryAt <= now }
	if !slices.ContainsFunc(st.Impressions, due) {
		return nil
	}
	after := *st
	after.Impressions = slices.Clone(st.Impressions)
	return after.BuriedBy(after.End())
}

// bury takes away what is beside the log of entries.
func (s *Store) bury(tx *bolt.Tx, entries []uint64) error {
	if len(entries) == 0 {
		return nil
	}
	gone := make(map[uint64]bool, len(entries))
	for _, seq := range entries {
		gone[seq] = true
		if err := s.remove(tx, bucketTexts, sequenceKey(seq)); err != nil {
			return err
		}
		if err := s.forgetSource(tx, seq); err != nil {
			return err
		}
	}
	return s.unlink(tx, gone)
}

// forgetSource writes the event at seq again without its source.
func (s *Store) forgetSource(tx *bolt.Tx, seq uint64) error {
	data, err := events.Get(tx, seq)
	if err != nil {
		return err
	}
	e, err := fold.Decode(seq, data)
	if err != nil {
		return &ledger.RecordError{Log: string(events.Bucket()), Sequence: seq, Err: err}
	}
	e, had := withoutSource(e)
	if !had {
		return nil
	}
	if data, err = fold.Encode(e); err != nil {
		return err
	}
	return s.replaceRecord(tx, seq, data)
}

// withoutSource is an event as it is once its entry is buried; false says that it
// names no source.
func withoutSource(e fold.Event) (fold.Event, bool) {
	x, ok := e.Body.(fold.Experienced)
	if !ok || x.Source == "" {
		return e, false
	}
	x.Source = ""
	e.Body = x
	return e, true
}

// unlink has no record of a diary file lead to what is gone. There may be ten
// thousand entries in one, so it is not read, only looked through.
func (s *Store) unlink(tx *bolt.Tx, gone map[uint64]bool) error {
	type record struct{ key, data []byte }
	var changed []record
	err := tx.Bucket(bucketSources).ForEach(func(k, v []byte) error {
		data, err := s.opened(bucketSources, k, v)
		if err != nil {
			return asWritten(err, "record of a diary file")
		}
		if found := links(data, gone); len(found) > 0 {
			data = slices.Clone(data)
			for _, at := range found {
				data[at[0]] = '0'
				for i := at[0] + 1; i < at[1]; i++ {
					data[i] = ' ' // as JSON allows behind a number
				}
			}
			changed = append(changed, record{slices.Clone(k), data})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, r := range changed {
		if err := s.put(tx, bucketSources, r.key, r.data); err != nil {
			return err
		}
	}
	return nil
}

// links finds, in the record of a diary file as it is written, the numbers that
// lead to entries.
func links(record []byte, entries map[uint64]bool) (found [][2]int) {
	name := []byte(`"sequence":`)
	for at := 0; ; {
		i := bytes.Index(record[at:], name)
		if i < 0 {
			return found
		}
		at += i + len(name)
		end := at
		for end < len(record) && record[end] >= '0' && record[end] <= '9' {
			end++
		}
		if seq, err := strconv.ParseUint(string(record[at:end]), 10, 64); err == nil && entries[seq] {
			found = append(found, [2]int{at, end})
		}
	}
}

// unlinked is a record that is about to be written, without what leads to an entry
// that is buried: whoever made it may have looked before that was so.
func unlinked(tx *bolt.Tx, src Source) Source {
	for i := range src.Entries {
		if e := &src.Entries[i]; e.Sequence != 0 && tx.Bucket(bucketTexts).Get(sequenceKey(e.Sequence)) == nil {
			e.Sequence = 0
		}
	}
	return src
}

// owe notes entries that the fold has buried and whose texts are still there.
// It runs on the committer, as all that follows.
func (s *Store) owe(entries []uint64, gone []uint64) {
	for _, seq := range entries {
		if !slices.Contains(gone, seq) {
			s.owed = append(s.owed, seq)
		}
	}
}

// settle takes away what is owed. Until that is done no snapshot is taken: a start
// that folds a tail looks for what is owed, one that does not has no reason to.
func (s *Store) settle() bool {
	if len(s.owed) == 0 {
		return true
	}
	if err := s.update(func(tx *bolt.Tx) error { return s.bury(tx, s.owed) }); err != nil {
		if errors.Is(err, ErrDamaged) {
			err = s.notWritten(err)
		}
		s.log.Warn("texts of buried entries are still there; it is tried again later", "entries", len(s.owed), "error", err)
		return false
	}
	s.commits.Add(1)
	s.owed = nil
	return true
}

// owedAtStart finds what a process owed that did not live to settle it.
func (s *Store) owedAtStart() error {
	if s.started.Folded == 0 {
		return nil
	}
	buried := s.state.BuriedEntries()
	return s.view(func(tx *bolt.Tx) error {
		for _, seq := range buried {
			if tx.Bucket(bucketTexts).Get(sequenceKey(seq)) != nil {
				s.owed = append(s.owed, seq)
			}
		}
		return nil
	})
}

// refolded notes what is owed after a fold of the past came out differently.
func (s *Store) refolded(before []uint64, after *fold.State, group []*request) {
	for _, seq := range after.BuriedEntries() {
		if _, was := slices.BinarySearch(before, seq); !was {
			s.owe([]uint64{seq}, goneIn(group))
		}
	}
	for _, r := range group {
		for _, e := range r.written {
			if t := targetOf(e.Body); t != 0 && after.EntryBuried(t) && !slices.Contains(s.owed, t) {
				s.owed = append(s.owed, t) // it was given a text, and is buried all the same
			}
		}
	}
}

// bury notes what is beside the log no more after an excision: what the fold
// without the experiences has buried. What was buried before and is not any more
// has lost its text all the same.
func (p *plan) bury(after *fold.State) {
	p.buried = map[uint64]bool{}
	for _, seq := range after.BuriedEntries() {
		p.buried[seq] = true
	}
}

// goneIn are the entries that a group's own transaction took away.
func goneIn(group []*request) (out []uint64) {
	for _, r := range group {
		out = append(out, r.gone...)
	}
	return out
}

// checkTexts sees that every text is as it was written and stands beside an event,
// and that every entry has its text unless it is buried or was to have none.
// sourced are the entries that name a source, ascending.
func (s *Store) checkTexts(ctx context.Context, sourced []uint64, live *fold.State, how string) Finding {
	var have []uint64
	none := 0
	all, lost := s.checkBucket(ctx, bucketTexts, func(k, data []byte) error {
		have = append(have, sequenceOf(k))
		if bytes.Equal(data, noText) {
			none++
		}
		return s.view(func(tx *bolt.Tx) error { _, err := events.Get(tx, sequenceOf(k)); return err })
	})
	f := Finding{Name: "texts", OK: true, Detail: fmt.Sprintf("%d texts, each beside its event, %s", all-none, how)}
	if n := len(live.BuriedEntries()); n > 0 {
		f.Detail += fmt.Sprintf("; %d buried", n)
	}
	if none > 0 {
		f.Detail += fmt.Sprintf("; %d kept without one", none)
	}
	if lost.count > 0 {
		f.OK, f.Detail = false, lost.of(all, "texts")
	}
	if s.plain {
		return f // nothing stands there of an entry that was to have no text, either
	}
	missing, err := s.missingTexts(sourced, have, live)
	if missing > 0 || err != nil {
		said := fmt.Sprintf("%d entries that are not buried have lost theirs", missing)
		if err != nil {
			said += ": " + err.Error()
		}
		if f.OK {
			f.OK, f.Detail = false, said
		} else {
			f.Detail += "; " + said
		}
	}
	return f
}

// missingTexts counts the entries that name a source, are not buried and have
// nothing where their text should be. have are those that had something.
func (s *Store) missingTexts(sourced, have []uint64, live *fold.State) (n int, err error) {
	for _, seq := range sourced {
		if _, ok := slices.BinarySearch(have, seq); ok || live.EntryBuried(seq) {
			continue
		}
		missing, err := s.textMissing(seq)
		if err != nil {
			return n, err
		}
		if missing {
			n++
		}
	}
	return n, nil
}

// textMissing tells, at one moment, of an entry that names its source and has
// nothing where its text should be.
func (s *Store) textMissing(seq uint64) (missing bool, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		if tx.Bucket(bucketTexts).Get(sequenceKey(seq)) != nil {
			return nil
		}
		data, err := events.Get(tx, seq)
		if err != nil {
			return err
		}
		e, err := fold.Decode(seq, data)
		x, ok := e.Body.(fold.Experienced)
		missing = ok && x.Source != ""
		return err
	})
	return missing, err
}
