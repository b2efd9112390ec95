package chitta

import (
	"context"
	"math"
	"slices"
	"sort"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/internal/ledger"
)

const (
	// spareCandidates are kept of an event's neighbours beyond those that the gate
	// reads: so many of them may be gone before the rows are scanned again.
	spareCandidates = 32
	// listBytes bounds the memory of all lists of neighbours. With 256 candidates
	// it is enough for 116,000 events; those after them are scanned for again. At
	// 100,000 impressions of 512 dimensions the lists take 231 MB, the live vectors
	// 205 MB, those of the fold that is under way at most as much again, and the
	// rest some 70 MB: less than 1 GiB together.
	listBytes = 256 << 20
	// markCount is how many states on the way are kept to start from.
	markCount = 8
)

// Retracing is the log folded once more, with what each experience found and
// woke kept in memory: folding it again without some experiences then needs no
// scan of all rows. It only reads, and holds nothing that others wait for. It is
// used by one goroutine at a time.
type Retracing struct {
	of, look   *Store
	amendments fold.Amendments
	// state is what the log comes to; earlier is the state at the end of the
	// session before the last, nil where there is none.
	state, earlier *fold.State
	told           []lived
	// marks are states on the way, the first before the first event.
	marks []*fold.State
	// spare and room are spareCandidates and what is left of listBytes.
	spare, room int
}

// lived is what one experience found and did.
type lived struct {
	sequence uint64
	id       fold.ID
	session  uint32
	// near are its nearest impressions, nil where they are not kept; whole says
	// that there were no others.
	near  []likeness
	whole bool
	// passed are the rows that the gate let through, rising: woken or held down.
	passed []uint32
}

// likeness is a candidate in eight bytes; similarities are float32 by origin.
type likeness struct {
	row        uint32
	similarity float32
}

// Retrace folds the log from the beginning. Progress, if not nil, is told how
// many records of how many are folded.
func (s *Store) Retrace(ctx context.Context, progress func(done, total uint64)) (*Retracing, error) {
	return s.retrace(ctx, spareCandidates, listBytes, progress)
}

func (s *Store) retrace(ctx context.Context, spare, room int, progress func(done, total uint64)) (*Retracing, error) {
	select {
	case <-s.closing:
		return nil, ErrClosed
	default:
	}
	look, live, amendments := s.look()
	look.state = live
	r := &Retracing{of: s, look: look, amendments: amendments, spare: spare, room: room}
	if err := r.first(ctx, live, progress); err != nil {
		return nil, damaged(err)
	}
	return r, nil
}

// Stale tells that events were taken out of the store since: what this says must
// then not be shown to anybody.
func (r *Retracing) Stale() bool { return r.of.Meta().Generation != r.look.meta.Generation }

// Records is how many records of the log a fold reads at most.
func (r *Retracing) Records() uint64 { return r.look.state.Sequence }

// State is what the log comes to, Earlier the state at the end of the session
// before the last, nil where there is none. They must not be changed.
func (r *Retracing) State() *fold.State { return r.state }

// Earlier stands beside State.
func (r *Retracing) Earlier() *fold.State { return r.earlier }

// first is the fold of everything.
func (r *Retracing) first(ctx context.Context, live *fold.State, progress func(done, total uint64)) error {
	p, err := r.look.planExcision(ctx, nil, ToForget{})
	if err != nil {
		return err
	}
	last := live.Sequence
	state := fold.NewState()
	r.marks = []*fold.State{state.Clone()}
	err = ledger.Replay(ctx, events.In(r.look.db), 0, last, ledger.Rules[fold.Event]{
		Decode:  fold.Decode,
		Resolve: func(e fold.Event) (fold.Event, bool) { return r.amendments.Resolve(e), true },
		Step: func(e fold.Event) error {
			if state.Sequence >= last/markCount*uint64(len(r.marks)) && len(r.marks) < markCount {
				r.marks = append(r.marks, state.Clone())
			}
			e, err := r.look.attach(state, e, &r.amendments)
			if err != nil {
				return err
			}
			wide := nearest(state, e, state.Params.Gate.Candidates+r.spare, r.look.opts.Workers)
			out, err := fold.Step(state, e, wide[:min(len(wide), state.Params.Gate.Candidates)])
			if err != nil {
				return err
			}
			if b, ok := e.Body.(fold.Experienced); ok {
				r.tell(e.Sequence, b.ID, state, wide, out)
			}
			if e.Sequence == p.earlier {
				r.earlier = state.Clone()
			}
			return nil
		},
		Progress: toldOf(progress, last),
	})
	if err != nil {
		return err
	}
	r.state = state
	r.share(live.Vectors)
	return nil
}

func toldOf(progress func(done, total uint64), total uint64) func(uint64) {
	if progress == nil {
		return nil
	}
	return func(seq uint64) { progress(seq, total) }
}

// tell notes what an experience found and did.
func (r *Retracing) tell(seq uint64, id fold.ID, state *fold.State, wide []fold.Candidate, out fold.Outcome) {
	t := lived{sequence: seq, id: id, session: state.Session.Number, passed: passedOf(out)}
	if r.room -= 8 * len(wide); r.room >= 0 {
		t.whole = len(wide) < state.Params.Gate.Candidates+r.spare
		t.near = make([]likeness, len(wide))
		for i, c := range wide {
			t.near[i] = likeness{uint32(c.Index), float32(c.Similarity)}
			if float64(t.near[i].similarity) != c.Similarity {
				t.near = nil // it would not come back with the same bits
				break
			}
		}
	}
	r.told = append(r.told, t)
}

func passedOf(out fold.Outcome) []uint32 {
	passed := slices.Concat(out.Fired, out.Suppressed)
	slices.Sort(passed)
	return passed
}

// share lets the states that are kept use the live vectors where they are the
// same, so that they need no memory of their own.
func (r *Retracing) share(live *fold.Matrix) {
	for _, s := range append(r.marks[:len(r.marks):len(r.marks)], r.state, r.earlier) {
		if s != nil && startsWith(live, s.Vectors) {
			s.Vectors = live.Prefix(s.Vectors.Len())
		}
	}
}

func startsWith(long, short *fold.Matrix) bool {
	if short.Len() > long.Len() || short.Dim() != long.Dim() {
		return false
	}
	same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
	for i := range short.Len() {
		if !slices.EqualFunc(long.Row(i), short.Row(i), same) {
			return false
		}
	}
	return true
}

// Without is the store as it would be without some experiences.
type Without struct {
	// Gone is what would not be there.
	Gone Excised
	// State is what the log comes to, Earlier the state at the end of the session
	// before the last, nil where there is none: at its last end that would have
	// been, where it was taken up again. They must not be changed.
	State, Earlier *fold.State
	// Experiences are those that are left; Differently counts those at which the
	// gate let others through than it did, what is gone left aside.
	Experiences, Differently int
	// Woken is how often the gate let through what is gone.
	Woken int
	// Scanned counts the experiences for which all rows had to be read.
	Scanned int
	plan    *plan
}

// NumberBefore is the number that a session of this store has in the real one.
func (w *Without) NumberBefore(n uint32) uint32 { return w.plan.old(n) }

// WithoutOptions say what a fold tells on its way.
type WithoutOptions struct {
	// Ended, if not nil, is called with the state after the end of each session
	// and with its number in the real store; the fold then takes the whole way.
	Ended func(number uint32, state *fold.State) error
	// Progress, if not nil, is told how many records of how many are folded.
	Progress func(done, total uint64)
}

// Without folds the log again as if the given experiences, by their places in
// it, had never been. The state is, bit for bit, the one that Excise would leave;
// without any experience it is the one that is there.
func (r *Retracing) Without(ctx context.Context, sequences []uint64, o WithoutOptions) (*Without, error) {
	p, err := r.look.planExcision(ctx, sequences, ToForget{})
	if err != nil {
		return nil, damaged(err)
	}
	f := r.begin(p, o.Ended != nil)
	last := r.look.state.Sequence
	err = ledger.Replay(ctx, events.In(r.look.db), f.state.Sequence, last, ledger.Rules[fold.Event]{
		Decode: fold.Decode,
		Resolve: func(e fold.Event) (fold.Event, bool) {
			e, keep := p.apply(e)
			return r.amendments.Resolve(e), keep
		},
		Step: func(e fold.Event) error {
			e, err := r.look.attach(f.state, e, &r.amendments)
			if err != nil {
				return err
			}
			return f.step(e, o.Ended)
		},
		Progress: toldOf(o.Progress, last),
	})
	if err != nil {
		return nil, damaged(err)
	}
	f.out.State, f.out.Gone = f.state, p.Excised
	f.out.Experiences = len(r.told) - len(p.Events)
	return f.out, nil
}

// refold is one fold without some experiences.
type refold struct {
	r     *Retracing
	plan  *plan
	state *fold.State
	out   *Without
	// rowOf gives the row here of a row of the real store, -1 where it is not;
	// realRow is the other way round.
	rowOf, realRow []int32
	// own are the rows that the real store does not have.
	own []uint32
	// absent marks the real rows that are gone because they were taken out.
	absent map[uint32]bool
}

// begin starts from the last state on the way at which nothing differs yet, or
// from the beginning.
func (r *Retracing) begin(p *plan, whole bool) *refold {
	f := &refold{r: r, plan: p, out: &Without{plan: p}, rowOf: make([]int32, len(r.state.Impressions)), absent: map[uint32]bool{}}
	limit := p.first
	if limit == 0 {
		limit = math.MaxUint64
	}
	if p.earlier > 0 {
		limit = min(limit, p.earlier) // the state at that end is wanted
	}
	if whole {
		limit = 1
	}
	for _, m := range r.marks {
		if m.Sequence < limit {
			f.state = m
		}
	}
	f.state = f.state.Clone()
	for i := range f.rowOf {
		f.rowOf[i] = -1
	}
	for _, e := range p.Events {
		if row, ok := rowAtSequence(r.state, e.Sequence); ok {
			f.absent[uint32(row)] = true
		}
	}
	for i := range f.state.Impressions {
		f.rowOf[i] = int32(i)
		f.realRow = append(f.realRow, int32(i))
	}
	return f
}

func (f *refold) step(e fold.Event, ended func(uint32, *fold.State) error) error {
	near := f.candidates(e)
	out, err := fold.Step(f.state, e, near)
	if err != nil {
		return err
	}
	switch b := e.Body.(type) {
	case fold.Experienced:
		if out.Created {
			f.created(e.Sequence, out.Index)
		}
		f.compare(e.Sequence, out)
	case fold.SessionClosed:
		if e.Sequence == f.plan.earlier {
			f.out.Earlier = f.state.Clone()
		}
		if ended != nil {
			return ended(f.plan.old(b.Number), f.state)
		}
	}
	return nil
}

// candidates are the neighbours that Step wants: those of the first fold without
// what is not here, and with what only is here.
func (f *refold) candidates(e fold.Event) []fold.Candidate {
	x, ok := e.Body.(fold.Experienced)
	if !ok {
		return nil
	}
	want := f.state.Params.Gate.Candidates
	t := f.r.find(e.Sequence)
	if t == nil || t.near == nil {
		return f.scan(e)
	}
	list := make([]fold.Candidate, 0, want+len(f.own))
	for _, l := range t.near {
		if row := f.rowOf[l.row]; row >= 0 {
			list = append(list, fold.Candidate{Index: int(row), Similarity: float64(l.similarity)})
		}
	}
	if len(list) < want && !t.whole {
		return f.scan(e)
	}
	if len(f.own) > 0 {
		unplaced := func(i int) bool { return f.state.Impressions[i].Unplaced }
		list = append(list, f.state.Vectors.NearestAmong(x.Embedding, want, unplaced, f.own)...)
		slices.SortFunc(list, nearerFirst)
	}
	return list[:min(len(list), want)]
}

// nearerFirst is the order of candidates.
func nearerFirst(a, b fold.Candidate) int {
	switch {
	case a.Similarity > b.Similarity:
		return -1
	case a.Similarity < b.Similarity:
		return 1
	}
	return a.Index - b.Index
}

func (f *refold) scan(e fold.Event) []fold.Candidate {
	f.out.Scanned++
	return candidates(f.state, e, f.r.look.opts.Workers)
}

// created notes a new row.
func (f *refold) created(seq uint64, row int) {
	real, ok := rowAtSequence(f.r.state, seq)
	if !ok {
		f.own = append(f.own, uint32(row))
		f.realRow = append(f.realRow, -1)
		return
	}
	f.rowOf[real] = int32(row)
	f.realRow = append(f.realRow, int32(real))
}

// compare holds what the gate let through against what it let through in the
// real store.
func (f *refold) compare(seq uint64, out fold.Outcome) {
	t := f.r.find(seq)
	if t == nil {
		return
	}
	var really, here []int32
	for _, row := range t.passed {
		if f.absent[row] {
			f.out.Woken++
			continue
		}
		really = append(really, int32(row))
	}
	for _, row := range passedOf(out) {
		here = append(here, f.realRow[row]) // rising too, but for rows of its own
	}
	slices.Sort(here)
	if !slices.Equal(really, here) {
		f.out.Differently++
	}
}

// find is what is told of the experience at seq, nil where there is none.
func (r *Retracing) find(seq uint64) *lived {
	i := sort.Search(len(r.told), func(i int) bool { return r.told[i].sequence >= seq })
	if i == len(r.told) || r.told[i].sequence != seq {
		return nil
	}
	return &r.told[i]
}

// rowAtSequence is the row of the impression that the event at seq made.
func rowAtSequence(s *fold.State, seq uint64) (int, bool) {
	i := sort.Search(len(s.Impressions), func(i int) bool { return s.Impressions[i].Sequence >= seq })
	return i, i < len(s.Impressions) && s.Impressions[i].Sequence == seq
}
