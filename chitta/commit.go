package chitta

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/chitta/fold"
)

// Entry is one event to append, with the text that stands beside it.
type Entry struct {
	Body fold.Body
	// Text is kept beside an Experienced event, nil for none. For a Superseded or
	// Reassessed one it replaces the text of the target; nil leaves that, or takes it
	// away where NoText says so.
	Text   *Text
	NoText bool
	// Beside, if not nil, gives a record that is kept beside the log, for the place
	// that the entry has.
	Beside func(seq uint64) Value
}

// Value is a record kept under a name beside the log; nil Data removes it.
type Value struct {
	Name string
	Data []byte
}

// Batch is what becomes durable together or not at all.
type Batch struct {
	Entries []Entry
	Values  []Value
	Sources []Source
	// Ahead, if not nil, was folded with the batch's judgements.
	Ahead *Ahead
}

// Result tells what became of one entry.
type Result struct {
	// Sequence is the event's place in the log; of the earlier one for a duplicate.
	Sequence uint64
	// Duplicate is true when an entry of the same key was there: nothing was added.
	Duplicate bool
	// Outcome is what an Experienced event did.
	Outcome fold.Outcome
}

// request is a batch on its way through the committer.
type request struct {
	batch   Batch
	results []Result
	err     error
	done    chan struct{}
	// written are the events that the batch appended, in order, and gone the
	// entries whose texts went with them.
	written []fold.Event
	gone    []uint64
}

// maxGroup bounds how many batches share one transaction.
const maxGroup = 64

// Append makes a batch durable, folds it and returns one result per entry. When
// it returns without an error everything in the batch is on disk. A batch that
// could not be folded is refused whole, before anything is written.
func (s *Store) Append(ctx context.Context, b Batch) ([]Result, error) {
	r := &request{batch: b, results: make([]Result, len(b.Entries)), done: make(chan struct{})}
	select {
	case s.queue <- r:
	case <-s.closing:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	// Once accepted it will be committed, so the answer is waited for: to leave
	// early would be to say "not done" of something that is.
	<-r.done
	return r.results, r.err
}

// commit is the one writer: it gathers the batches that are waiting, writes
// them in one transaction, folds them in order and answers.
func (s *Store) commit() {
	defer close(s.finished)
	for {
		select {
		case first := <-s.queue:
			s.commitGroup(s.gather(first))
		case f := <-s.alone:
			f()
		case <-s.closing:
			return
		}
	}
}

func (s *Store) gather(first *request) []*request {
	group := []*request{first}
	for len(group) < maxGroup {
		select {
		case r := <-s.queue:
			group = append(group, r)
		default:
			return group
		}
	}
	return group
}

func (s *Store) commitGroup(group []*request) {
	defer func() {
		for _, r := range group {
			close(r.done)
		}
	}()
	if s.broken != nil {
		fail(group, s.broken)
		return
	}
	admitted, err := s.write(group)
	if err != nil {
		// All of the group: none was written, those that were not looked at neither.
		fail(group, s.notWritten(err))
		return
	}
	if err := s.foldGroup(admitted); err != nil {
		_ = s.halt(fmt.Errorf("%w: %w", ErrBroken, err))
		s.log.Error("an event that is on disk could not be folded", "error", err)
		fail(admitted, s.broken)
		return
	}
	if s.settle() {
		s.snapshotIfDue()
	}
}

// notWritten is what is answered when a transaction failed. Where it cannot be
// told what is on disk, the store takes no more until it is opened again.
func (s *Store) notWritten(err error) error {
	if errors.Is(err, ErrDamaged) {
		return s.halt(&Error{Op: "write", Path: s.file, Err: fmt.Errorf("%w: %w", ErrBroken, err), Hint: s.advised()})
	}
	var last uint64
	reading := s.view(func(tx *bolt.Tx) error { last = events.Last(tx); return nil })
	if reading == nil && last == s.state.Sequence {
		return &Error{Op: "write", Path: s.file, Err: err, Hint: "Nothing of it was kept. Check that the disk has room and can be written."}
	}
	return s.halt(&Error{Op: "write", Path: s.file, Err: errors.Join(fmt.Errorf("%w: %w", ErrBroken, err), reading),
		Hint: "It is not known whether the last entry was kept. Start the daemon again: it goes on with what is on disk."})
}

func fail(group []*request, err error) {
	for _, r := range group {
		if r.err == nil {
			r.err = err
		}
	}
}

// write checks every batch against the state as the ones before it will leave
// it, and writes those that pass in one transaction.
func (s *Store) write(group []*request) (admitted []*request, err error) {
	p := s.probe()
	now, trusted := s.now()
	err = s.update(func(tx *bolt.Tx) error {
		admitted = admitted[:0]
		for _, r := range group {
			if r.err = p.admit(tx, r); r.err != nil {
				continue
			}
			admitted = append(admitted, r)
			if err := s.writeBatch(tx, r, p, fold.Header{Wall: now, ClockTrusted: trusted}); err != nil {
				return err
			}
		}
		if len(admitted) == 0 {
			return errNothing // a transaction that writes nothing still syncs
		}
		return nil
	})
	if errors.Is(err, errNothing) {
		return nil, nil
	}
	s.commits.Add(1)
	return admitted, err
}

var errNothing = errors.New("nothing to write")

func (s *Store) writeBatch(tx *bolt.Tx, r *request, p *probe, h fold.Header) error {
	r.written, r.gone = r.written[:0], nil
	for i, e := range r.batch.Entries {
		if r.results[i].Duplicate {
			if x, ok := e.Body.(fold.Experienced); ok && r.results[i].Sequence == 0 {
				r.results[i].Sequence = p.fresh[x.Key].Sequence
			}
			continue
		}
		if _, ends := e.Body.(fold.SessionClosed); ends && !p.wrote {
			// Nothing is written that is not folded: what the end buries is known.
			r.gone = ending(s.state)
			if err := s.bury(tx, r.gone); err != nil {
				return err
			}
		}
		p.wrote = true
		event := fold.Event{Header: h, Body: e.Body}
		data, err := fold.Encode(event)
		if err != nil {
			return err
		}
		seq, err := s.record(tx, data)
		if err != nil {
			return err
		}
		event.Sequence, r.results[i].Sequence = seq, seq
		r.written = append(r.written, event)
		if target := targetOf(e.Body); target != 0 {
			if err := s.put(tx, bucketAmendments, sequenceKey(seq), sequenceKey(target)); err != nil {
				return err
			}
		}
		if err := s.putText(tx, seq, e); err != nil {
			return err
		}
		if e.Beside != nil {
			if v := e.Beside(seq); v.Name != "" {
				if err := s.put(tx, bucketValues, []byte(v.Name), v.Data); err != nil {
					return err
				}
			}
		}
	}
	for _, v := range r.batch.Values {
		if v.Data == nil {
			if err := s.remove(tx, bucketValues, []byte(v.Name)); err != nil {
				return err
			}
			continue
		}
		if err := s.put(tx, bucketValues, []byte(v.Name), v.Data); err != nil {
			return err
		}
	}
	for _, src := range r.batch.Sources {
		for i := range src.Entries {
			if at := src.Entries[i].FromBatch; at > 0 && at <= len(r.results) {
				src.Entries[i].Sequence = r.results[at-1].Sequence
			}
		}
		data, err := json.Marshal(unlinked(tx, src))
		if err != nil {
			return err
		}
		if err := s.put(tx, bucketSources, []byte(src.Path), data); err != nil {
			return err
		}
	}
	return nil
}

// foldGroup brings the state up to what was just written.
func (s *Store) foldGroup(group []*request) error {
	first := uint64(0) // the earliest event that an amendment of the group changes
	for _, r := range group {
		for _, e := range r.written {
			if t := targetOf(e.Body); t != 0 && (first == 0 || t < first) {
				first = t
			}
		}
	}
	if first != 0 {
		return s.refoldGroup(group, first)
	}
	for _, r := range group {
		at := 0
		for i := range r.results {
			if r.results[i].Duplicate {
				continue
			}
			e := r.written[at]
			at++
			out, err := s.step(e)
			if err != nil {
				return err
			}
			r.results[i].Outcome = out
			s.owe(s.state.BuriedBy(out.Buried), r.gone)
		}
	}
	return nil
}

// step folds one event into the live state.
func (s *Store) step(e fold.Event) (fold.Outcome, error) {
	near := candidates(s.state, e, s.opts.Workers)
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.state.Session.Number
	out, err := fold.Step(s.state, e, near)
	if err != nil {
		return out, err
	}
	if x, ok := e.Body.(fold.Experienced); ok {
		s.keys[x.Key] = e.Sequence
	}
	if s.state.Session.Number != before {
		s.checkpoint = s.state.Clone()
	}
	s.arithmetic = with(s.arithmetic, s.machine)
	return out, nil
}

// candidates are the neighbours that Step wants for an event.
func candidates(st *fold.State, e fold.Event, workers int) []fold.Candidate {
	return nearest(st, e, st.Params.Gate.Candidates, workers)
}

// nearest are the n nearest neighbours of an experience, of other events none.
func nearest(st *fold.State, e fold.Event, n, workers int) []fold.Candidate {
	x, ok := e.Body.(fold.Experienced)
	if !ok {
		return nil
	}
	return st.Vectors.Nearest(x.Embedding, n, workers, nil)
}

// probe is as much of the state as admission depends on; it runs ahead of the
// fold over the batches of a group.
type probe struct {
	state fold.State
	keys  map[fold.Key]uint64
	// fresh are the keys that the group itself brings.
	fresh map[fold.Key]*Result
	live  *Store
	// wrote says that the group has written an event that is not folded yet.
	wrote bool
}

func (s *Store) probe() *probe {
	p := &probe{state: *s.state, keys: s.keys, fresh: map[fold.Key]*Result{}, live: s}
	return p
}

// admit checks a whole batch; what it changed of the probe is undone when the
// batch is refused.
func (p *probe) admit(tx *bolt.Tx, r *request) error {
	before := p.state
	var brought []fold.Key
	err := func() error {
		for i, e := range r.batch.Entries {
			if x, ok := e.Body.(fold.Experienced); ok {
				if seq, ok := p.keys[x.Key]; ok {
					r.results[i] = Result{Sequence: seq, Duplicate: true}
					continue
				}
				if _, ok := p.fresh[x.Key]; ok {
					// Its sequence is known when the first one was written.
					r.results[i] = Result{Duplicate: true}
					continue
				}
			}
			if err := fold.Check(&p.state, e.Body); err != nil {
				return err
			}
			if b, ok := e.Body.(fold.EmbedderChanged); ok && (b.Rows != nil || b.Digest != [32]byte{}) {
				return fmt.Errorf("%w: vectors come with Reembed only", fold.ErrEvent)
			}
			if err := p.live.checkTarget(tx, e.Body); err != nil {
				return err
			}
			p.advance(e.Body)
			if x, ok := e.Body.(fold.Experienced); ok {
				p.fresh[x.Key] = &r.results[i]
				brought = append(brought, x.Key)
			}
		}
		for _, v := range r.batch.Values {
			if v.Name == "" || len(v.Name) > maxName {
				return fmt.Errorf("value name of %d bytes, must be 1 to %d", len(v.Name), maxName)
			}
		}
		for _, src := range r.batch.Sources {
			if src.Path == "" || len(src.Path) > maxPath {
				return fmt.Errorf("path of a diary file of %d bytes, must be 1 to %d", len(src.Path), maxPath)
			}
		}
		return nil
	}()
	if err != nil {
		p.state = before
		for _, k := range brought {
			delete(p.fresh, k)
		}
	}
	return err
}

// advance does to the probe what the event will do to the state, as far as
// admission depends on it.
func (p *probe) advance(body fold.Body) {
	switch b := body.(type) {
	case fold.EmbedderChanged:
		p.state.Embedder, p.state.Dim = b.Embedder, b.Dim
	case fold.SessionOpened:
		if b.Number != p.state.Session.Number {
			p.state.Session = fold.Session{Number: b.Number, Date: b.Date}
		}
		p.state.Session.Open = true
	case fold.SessionClosed:
		p.state.Session.Open = false
	}
}

// checkTarget refuses an amendment of something that is not an experience.
func (s *Store) checkTarget(tx *bolt.Tx, body fold.Body) error {
	target := targetOf(body)
	if target == 0 {
		return nil
	}
	data, err := events.Get(tx, target)
	if err != nil {
		return err
	}
	e, err := fold.Decode(target, data)
	if err != nil {
		return err
	}
	if _, ok := e.Body.(fold.Experienced); !ok {
		return fmt.Errorf("%w: event %d is no experience, so it cannot be amended", fold.ErrEvent, target)
	}
	return nil
}

func targetOf(body fold.Body) uint64 {
	switch b := body.(type) {
	case fold.Superseded:
		return b.Target
	case fold.Reassessed:
		return b.Target
	}
	return 0
}

// snapshotIfDue takes a snapshot when enough events came since the last one.
// The distance grows with the store, so that the bytes written per event do not.
func (s *Store) snapshotIfDue() {
	due := max(uint64(s.opts.SnapshotEvery), uint64(len(s.state.Impressions)/16))
	if s.state.Sequence < s.snapshotAt+due {
		return
	}
	if err := s.snapshot(); err != nil {
		s.log.Warn("no snapshot; it is tried again later", "error", err)
		s.snapshotAt = s.state.Sequence
	}
}

// with notes that a state went through a machine's arithmetic.
func with(arithmetics []string, name string) []string {
	if slices.Contains(arithmetics, name) {
		return arithmetics
	}
	return append(slices.Clone(arithmetics), name)
}

// now is the wall time to record, and whether it can be trusted: the clock says
// it is synchronised and has not fallen behind what was recorded before. The
// maths never reads it; order is the sequence's business.
func (s *Store) now() (milliseconds int64, trusted bool) {
	t, synchronised := s.opts.Clock()
	milliseconds = t.UnixMilli()
	trusted = synchronised && milliseconds >= s.lastWall
	s.lastWall = max(s.lastWall, milliseconds)
	return milliseconds, trusted
}
