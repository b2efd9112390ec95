package chitta

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/internal/ledger"
)

// Excision takes experiences out of the store as if they had never been.
type Excision struct {
	// Sequences are the experiences that go, by their place in the log.
	Sequences []uint64
	// Again goes besides: of its entries those that are here, and all is noted as
	// taken out. The note of what to forget is done with.
	Again ToForget
	// Ended, if not nil, is called with the state after the end of each session
	// that is still there and lost an experience, and of the last two sessions,
	// in order. Session is the number that it has from now on, before the number
	// that it had.
	Ended func(ctx context.Context, e EndedSession) error
	// Values, if not nil, is called last, before anything is replaced, with every
	// record kept under a name. It returns the records of the new store.
	Values func(ctx context.Context, x Excised, old []Value) ([]Value, error)
	// Progress, if not nil, is told what is done now and how far it is.
	Progress func(stage string, done, total uint64)
}

// EndedSession is a session at its end, folded without what was taken out.
type EndedSession struct {
	Number, Before uint32
	// Lost is how many of its experiences went.
	Lost int
	// Last is true for the last two sessions that ended.
	Last bool
	// State must not be kept or changed.
	State *fold.State
}

// Excised tells what an excision takes out, or took out.
type Excised struct {
	Events []ExcisedEvent
	// Sessions are the numbers that sessions had which nothing is left of.
	Sessions []uint32
	// Renumbered gives the new number of every session that has another now.
	Renumbered map[uint32]uint32
	// Records counts what goes from the log: the experiences, what amended them
	// and the bounds of empty sessions.
	Records int
	// From is the record that the fold started after.
	From uint64
	// Keys are those of all wordings of the experiences that go.
	Keys []fold.Key
	// Before and After are the digests of the state.
	Before, After [32]byte
	// Copies are the automatic backups, and files that a restore replaced, which
	// held what went and are gone with it; Left are those that could not be
	// removed.
	Copies, Left []string
}

// ExcisedEvent is one experience that goes.
type ExcisedEvent struct {
	Sequence uint64
	ID       fold.ID
	Session  uint32
}

// plan is what an excision does to the log.
type plan struct {
	Excised
	drop map[uint64]bool
	// moved are records that change their places.
	moved map[uint64]fold.Body
	// first is the earliest record that goes or changes.
	first uint64
	// lost counts by the session's old number; lastTwo are the sessions, by
	// their old numbers, that are the last ones then.
	lost    map[uint32]int
	lastTwo [2]uint32
	// lastEnded are the last two of them that ended; firstEnd are the records of
	// their first ends that are left.
	lastEnded [2]uint32
	firstEnd  [2]uint64
	// earlier is the record of the last end that is left of the session before the
	// last, 0 where there is none: one that was taken up again has several.
	earlier uint64
	// left are the vectors that stay of each change of embedder; change writes
	// those of a new one, and said is what the last record says then.
	left   map[uint64]*rowSum
	change func(*filler) error
	said   fold.Body
	// again are entries that go also where they are not here.
	again map[fold.ID]bool
	// buried are the entries that are buried then.
	buried map[uint64]bool
	// wordless are entries that stay and lose their texts.
	wordless map[uint64]bool
	// answersSince is the first entry the answer to which may speak of a record that goes;
	// 0 where none may.
	answersSince uint64
}

// number is what session n is called from now on.
func (p *plan) number(n uint32) uint32 {
	if to, ok := p.Renumbered[n]; ok {
		return to
	}
	return n
}

// apply returns e as the new log has it, or false where it goes.
func (p *plan) apply(e fold.Event) (fold.Event, bool) {
	if p.drop[e.Sequence] {
		return e, false
	}
	if b, ok := p.moved[e.Sequence]; ok {
		e.Body = b
	}
	switch b := e.Body.(type) {
	case fold.SessionOpened:
		b.Number = p.number(b.Number)
		e.Body = b
	case fold.SessionClosed:
		b.Number = p.number(b.Number)
		e.Body = b
	case fold.EmbedderChanged:
		if left := p.left[e.Sequence]; left != nil {
			e.Body = left.on(b)
		}
	case fold.Experienced:
		if p.buried[e.Sequence] || p.wordless[e.Sequence] {
			b.Source = ""
			e.Body = b
		}
	}
	return e, true
}

// planExcision reads the log once and works out what goes with the experiences:
// what amended them, and the bounds of sessions that nothing else is left of.
// Such a session would not have been, so those after it count one less.
func (s *Store) planExcision(ctx context.Context, wanted []uint64, again ToForget) (*plan, error) {
	p := &plan{drop: map[uint64]bool{}, moved: map[uint64]fold.Body{}, lost: map[uint32]int{}}
	p.Renumbered = map[uint32]uint32{}
	chosen := map[uint64]bool{}
	for _, seq := range wanted {
		chosen[seq] = true
	}
	p.Keys, p.again = slices.Clone(again.Wordings), map[fold.ID]bool{}
	for _, id := range again.Entries {
		p.again[id] = true
	}
	type span struct {
		number uint32
		bounds []uint64
		ends   []uint64
		left   int
		// settings are changes of parameters that came before the first
		// experience that is left, opened how the session began then, and stale
		// its bounds of before, where something that was lost stood between.
		settings []fold.Event
		opened   fold.Event
		stale    []uint64
		early    bool // something was lost before the first that is left
		// run is what was lost and left since the session was opened last, and the
		// bounds of that.
		run struct {
			bounds     []uint64
			lost, left int
		}
	}
	// ended has an opening go of which nothing is left, where something was lost.
	ended := func(sp *span) {
		if sp.left > 0 && sp.run.lost > 0 && sp.run.left == 0 {
			sp.stale = append(sp.stale, sp.run.bounds...)
		}
		sp.run.bounds, sp.run.lost, sp.run.left = nil, 0, 0
	}
	var spans []*span
	byNumber := map[uint32]*span{}
	var now *span
	err := events.Each(s.db, 0, s.state.Sequence, func(seq uint64, payload []byte, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		e, err := fold.Decode(seq, payload)
		if err != nil {
			return err
		}
		switch b := e.Body.(type) {
		case fold.SessionOpened:
			if now = byNumber[b.Number]; now == nil {
				now = &span{number: b.Number, opened: e}
				byNumber[b.Number] = now
				spans = append(spans, now)
			} else if now.left == 0 && now.early { // taken up again after all of it is gone
				now.stale = append(now.stale, now.bounds...)
				now.bounds, now.settings, now.opened = nil, nil, e
			}
			ended(now)
			now.bounds, now.run.bounds = append(now.bounds, seq), append(now.run.bounds, seq)
		case fold.SessionClosed:
			if now != nil {
				now.bounds, now.run.bounds = append(now.bounds, seq), append(now.run.bounds, seq)
				now.ends = append(now.ends, seq)
			}
		case fold.ParamsChanged:
			if now != nil && now.left == 0 {
				now.settings = append(now.settings, e)
			}
		case fold.Experienced:
			if now == nil {
				return fmt.Errorf("event %d: %w: an experience outside of any session", seq, ErrDamaged)
			}
			if !chosen[seq] && !p.again[b.ID] {
				now.left++
				now.run.left++
				return nil
			}
			delete(chosen, seq)
			now.run.lost++
			now.early = now.early || now.left == 0
			p.drop[seq] = true
			p.lost[now.number]++
			p.Keys = append(p.Keys, b.Key)
			p.Events = append(p.Events, ExcisedEvent{Sequence: seq, ID: b.ID, Session: now.number})
		case fold.Superseded:
			if p.drop[b.Target] {
				p.drop[seq] = true
				p.Keys = append(p.Keys, b.Key)
			}
		case fold.Reassessed:
			if p.drop[b.Target] {
				p.drop[seq] = true
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for seq := range chosen {
		return nil, fmt.Errorf("event %d: %w among the experiences", seq, ErrNotFound)
	}
	slices.SortFunc(p.Keys, func(a, b fold.Key) int { return slices.Compare(a[:], b[:]) })
	p.Keys = slices.Compact(p.Keys)
	gone := uint32(0)
	var ends [2][]uint64 // of lastTwo
	for _, sp := range spans {
		ended(sp)
		switch {
		case sp.left == 0 && p.lost[sp.number] > 0:
			gone++
			p.Sessions = append(p.Sessions, sp.number)
			delete(p.lost, sp.number)
			for _, seq := range slices.Concat(sp.stale, sp.bounds) {
				p.drop[seq] = true
			}
		default:
			for _, seq := range sp.stale {
				p.drop[seq] = true
			}
			if sp.early {
				p.openLater(sp.opened, sp.settings)
			}
			if gone > 0 {
				p.Renumbered[sp.number] = sp.number - gone
			}
			p.lastTwo = [2]uint32{p.lastTwo[1], sp.number}
			sp.ends = slices.DeleteFunc(sp.ends, func(seq uint64) bool { return p.drop[seq] })
			ends = [2][]uint64{ends[1], sp.ends}
			if len(sp.ends) > 0 {
				p.lastEnded = [2]uint32{p.lastEnded[1], sp.number}
				p.firstEnd = [2]uint64{p.firstEnd[1], sp.ends[0]}
			}
		}
	}
	if n := len(ends[0]); n > 0 {
		p.earlier = ends[0][n-1]
	}
	for _, list := range []iter.Seq[uint64]{maps.Keys(p.drop), maps.Keys(p.moved)} {
		for seq := range list {
			if p.first == 0 || seq < p.first {
				p.first = seq
			}
		}
	}
	p.Records = len(p.drop)
	return p, nil
}

// openLater has a session begin after changes of parameters that came before its
// first experience: a session opens with that, and it is a later one now.
func (p *plan) openLater(opened fold.Event, settings []fold.Event) {
	at := opened.Sequence
	for _, e := range settings {
		if e.Sequence > at {
			p.moved[at], p.moved[e.Sequence] = e.Body, opened.Body
			at = e.Sequence
		}
	}
}

// Excise takes experiences out: the log is folded again from before the first
// of them, and a new database without them takes the place of the old one in a
// single rename. Until then nothing has changed, and ctx may end it; afterwards
// no file that this package keeps holds anything of them but the digests of
// their words. Writers wait, readers go on with the old state.
//
// The state afterwards is, bit for bit, that of a store that never had them.
func (s *Store) Excise(ctx context.Context, x Excision) (Excised, error) {
	var out Excised
	err := s.anew(ctx, func() error {
		if s.broken != nil {
			return s.broken
		}
		if len(x.Sequences) == 0 && x.Again.Nothing() {
			return nil
		}
		p, err := s.planExcision(ctx, x.Sequences, x.Again)
		if err != nil {
			return err
		}
		if x.Progress == nil {
			x.Progress = func(string, uint64, uint64) {}
		}
		if err := s.excise(ctx, p, x); err != nil {
			return err
		}
		out = p.Excised
		return nil
	})
	return out, err
}

// excise runs on the committer.
func (s *Store) excise(ctx context.Context, p *plan, x Excision) error {
	amendments := s.amendments.Without(p.drop)
	last := s.state.Sequence
	if p.first == 0 { // nothing goes but what is noted
		p.first = last + 1
	}
	from := p.first - 1
	for _, end := range p.firstEnd { // the first of them is 0 where only one has ended
		if end > 0 {
			from = min(from, end-1) // what sessions leave is told of the last two
		}
	}
	state, arithmetics := s.best(ctx, from)
	p.From = state.Sequence
	p.Before = s.state.Digest()
	var checkpoint *fold.State
	err := s.replayWithout(ctx, p, state, last, amendments, x, func() { checkpoint = state.Clone() })
	if err != nil {
		return err
	}
	p.After = state.Digest()
	p.bury(state)
	r, err := s.rewrite(ctx, p, last, x)
	if err != nil {
		return err
	}
	state.Sequence = r.last
	if last > p.From {
		arithmetics = with(arithmetics, s.machine)
	}
	excised := maps.Clone(s.excised)
	for _, k := range p.Keys {
		excised[k] = r.last
	}
	err = s.replace(r, func() {
		s.excised = excised
		s.adoptLocked(state, amendments, arithmetics)
	})
	if s.meta.Generation != r.meta.Generation {
		return err // it was not replaced
	}
	s.checkpoint, s.owed = checkpoint, nil
	s.freshCaches()
	p.Copies, p.Left = s.dropCopies(p.Keys, x.Again.Nothing())
	return err
}

// replayWithout folds the log as the plan leaves it onto state.
func (s *Store) replayWithout(ctx context.Context, p *plan, state *fold.State, last uint64, amendments fold.Amendments, x Excision, opened func()) error {
	from := state.Sequence
	return ledger.Replay(ctx, events.In(s.db), from, last, ledger.Rules[fold.Event]{
		Decode: fold.Decode,
		Resolve: func(e fold.Event) (fold.Event, bool) {
			e, keep := p.apply(e)
			return amendments.Resolve(e), keep
		},
		Step: func(e fold.Event) error {
			number := state.Session.Number
			e, err := s.attach(state, e, &amendments)
			if err != nil {
				return err
			}
			if _, err := fold.Step(state, e, candidates(state, e, s.opts.Workers)); err != nil {
				return err
			}
			if state.Session.Number != number {
				opened()
			}
			b, ended := e.Body.(fold.SessionClosed)
			if !ended || x.Ended == nil {
				return nil
			}
			before := p.old(b.Number)
			last := before == p.lastEnded[0] || before == p.lastEnded[1]
			if p.lost[before] == 0 && !last {
				return nil
			}
			return x.Ended(ctx, EndedSession{Number: b.Number, Before: before, Lost: p.lost[before], Last: last, State: state})
		},
		Progress: func(seq uint64) { x.Progress("fold", seq-from, last-from) },
	})
}

// old is the number that a session had.
func (p *plan) old(number uint32) uint32 {
	n := number
	for _, gone := range p.Sessions { // rising
		if gone <= n {
			n++
		}
	}
	return n
}

// ExcisedKey tells of an entry that was taken out, by the digest of its date
// and words.
func (s *Store) ExcisedKey(k fold.Key) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, ok := s.excised[k]
	return ok
}

// record is the event that says what went, or what else was done.
func (p *plan) record() fold.Body {
	if p.said != nil {
		return p.said
	}
	b := fold.Excised{Keys: p.Keys, Before: p.Before, After: p.After}
	for _, e := range p.Events {
		b.IDs = append(b.IDs, e.ID)
		delete(p.again, e.ID)
	}
	b.IDs = append(b.IDs, sorted(p.again, func(a, b fold.ID) int { return slices.Compare(a[:], b[:]) })...)
	return b
}

// exclusively runs f on the committer, between two groups.
func (s *Store) exclusively(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	select {
	case s.alone <- func() { done <- f() }:
		return <-done
	case <-s.closing:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// anew is exclusively for what writes the store anew: a copy that is being made meanwhile,
// which holds what goes, is gone when it returns, and is made again.
func (s *Store) anew(ctx context.Context, f func() error) error {
	err := s.exclusively(ctx, f)
	if err == nil {
		s.touched.abandon(ctx)
	}
	return err
}

// Experience is one experience as its last amendment left it.
type Experience struct {
	Sequence uint64
	Session  uint32
	fold.Experienced
}

// Experiences calls f for every experience of the log, in order, until f returns
// an error.
func (s *Store) Experiences(ctx context.Context, f func(Experience) error) error {
	look, state, amendments := s.look()
	session := uint32(0)
	return events.Each(look.db, 0, state.Sequence, func(seq uint64, payload []byte, err error) error {
		if err != nil {
			return damaged(err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		e, err := fold.Decode(seq, payload)
		if err != nil {
			return asDamage(err)
		}
		switch b := amendments.Resolve(e).Body.(type) {
		case fold.SessionOpened:
			session = b.Number
		case fold.Experienced:
			return f(Experience{seq, session, b})
		}
		return nil
	})
}

// PlanExcision tells what Excise would take out, and changes nothing. Digests
// and the start of the fold are not known yet.
func (s *Store) PlanExcision(ctx context.Context, sequences []uint64, again ToForget) (Excised, error) {
	look, state, _ := s.look()
	look.state = state
	p, err := look.planExcision(ctx, sequences, again)
	if err != nil {
		return Excised{}, err
	}
	return p.Excised, nil
}
