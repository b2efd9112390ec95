package lifecycle

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

const (
	mostRemovals = 1000
	// listedDepths bounds the list of changed impressions, followed those whose
	// curves are drawn.
	listedDepths = 12
	followed     = 6
	// noticeable is the change of depth from which an impression counts as changed.
	noticeable = 0.0005
	// portraitUpTo is the number of impressions up to which SOUL.md is compared,
	// chancePortraitUpTo that up to which it is compared for every random removal
	// too: each finds all tendencies anew, which takes the square of the number.
	portraitUpTo       = 20_000
	chancePortraitUpTo = 5_000
)

// GhostsOf tells what would differ today had an entry, a session or a tendency
// never been: the log is folded with and without it, and the same is measured for
// random removals of equal size. It only reads; entries may come in meanwhile and
// are not looked at.
func (c *Companion) GhostsOf(ctx context.Context, q GhostQuery, progress func(Progress)) (Counterfactual, error) {
	if q.Baseline < 0 || q.Baseline > mostRemovals {
		return Counterfactual{}, fmt.Errorf("%w: %d random removals are not from 0 to %d", ErrQuery, q.Baseline, mostRemovals)
	}
	for {
		generation := c.store.Meta().Generation
		out, err := c.ghostsOf(ctx, q, progress)
		if ctx.Err() != nil || c.store.Meta().Generation == generation {
			return out, err
		}
		// Entries were forgotten meanwhile: nothing of them may be shown.
	}
}

func (c *Companion) ghostsOf(ctx context.Context, q GhostQuery, progress func(Progress)) (Counterfactual, error) {
	began := time.Now()
	e, err := c.experiment(ctx, q, progress)
	if err != nil {
		return Counterfactual{}, err
	}
	for _, do := range []func(context.Context) error{e.without, e.describe, e.portray, e.follow, e.byChance} {
		if err := do(ctx); err != nil {
			return e.out, err
		}
	}
	e.out.Seconds = time.Since(began).Seconds()
	return e.out, nil
}

// experiment prepares an answer: it finds what is asked about, and folds the log
// with it.
func (c *Companion) experiment(ctx context.Context, q GhostQuery, progress func(Progress)) (*experiment, error) {
	state := c.store.Snapshot()
	what, err := c.examine(state, q.Of)
	if err != nil {
		return nil, err
	}
	e := &experiment{c: c, q: q, steps: newSteps(state, q, progress)}
	e.out = Counterfactual{Kind: what.kind, ID: what.id, Name: what.name, Entries: []Impression{}, Depths: []GhostChange{}}
	if e.retraced, err = c.store.Retrace(ctx, e.steps.fold); err != nil {
		return nil, err
	}
	e.steps.next()
	if e.sequences = what.sequences; what.kind == kindSession {
		e.sequences = e.retraced.ExperiencesOf(what.session)
	}
	if len(e.sequences) == 0 {
		return nil, fmt.Errorf("entries of %s %s: %w", what.kind, what.id, ErrNotFound)
	}
	return e, nil
}

// experiment is one such question while it is worked at.
type experiment struct {
	c         *Companion
	q         GhostQuery
	steps     *steps
	sequences []uint64
	retraced  *chitta.Retracing
	imagined  *chitta.Without
	contrast  chitta.Contrast
	// painter and real, the portrait of what is, are nil where SOUL.md is not
	// compared.
	painter *painter
	real    *portrait
	out     Counterfactual
}

// without folds without what is examined.
func (e *experiment) without(ctx context.Context) (err error) {
	e.imagined, err = e.retraced.Without(ctx, e.sequences, chitta.WithoutOptions{Progress: e.steps.fold})
	if err != nil {
		return err
	}
	e.steps.next()
	e.contrast, err = e.retraced.Contrast(e.imagined)
	return err
}

// describe says what the two folds differ in.
func (e *experiment) describe(context.Context) error {
	state, gone := e.retraced.State(), e.imagined.Gone
	for _, x := range gone.Events {
		m, err := e.show(state, x.Sequence)
		if err != nil {
			return err
		}
		e.out.Entries = append(e.out.Entries, m)
	}
	for _, n := range gone.Sessions {
		e.out.Sessions = append(e.out.Sessions, int(n))
	}
	e.out.Impressions, e.out.Events, e.out.Woken = len(e.imagined.State.Impressions), e.imagined.Experiences, e.imagined.Woken
	for i, d := range e.contrast.Depths {
		if math.Abs(d.Delta()) >= noticeable {
			e.out.Changed++
		}
		if i >= listedDepths {
			continue
		}
		m, err := e.show(state, d.Sequence)
		if err != nil {
			return err
		}
		change := GhostChange{ID: m.ID, Date: m.Date, Excerpt: m.Excerpt, With: d.With, Without: d.Without}
		switch {
		case d.OnlyWith:
			change.Only = "with"
		case d.OnlyIn:
			change.Only = "without"
		}
		e.out.Depths = append(e.out.Depths, change)
	}
	return nil
}

func (e *experiment) show(state *fold.State, seq uint64) (Impression, error) {
	m, err := e.c.show(state, seq)
	m.Excerpt, m.Text = excerpt(m.Text, ""), ""
	return m, err
}

// portray compares what SOUL.md would say.
func (e *experiment) portray(ctx context.Context) error {
	defer e.steps.next()
	if n := len(e.retraced.State().Impressions); n > portraitUpTo {
		e.note("SOUL.md was not compared: that is done up to %d impressions, and there are %d", portraitUpTo, n)
		return nil
	}
	var err error
	if e.painter, err = e.c.newPainter(ctx, e.retraced.State()); err != nil {
		return err
	}
	if e.real, err = e.painter.paint(ctx, e.retraced.State(), e.retraced.Earlier(), chitta.Excised{}); err != nil {
		return err
	}
	e.out.Soul, err = e.soulOf(ctx, e.imagined)
	return err
}

// soulOf is what SOUL.md would say.
func (e *experiment) soulOf(ctx context.Context, w *chitta.Without) (*GhostSoul, error) {
	here, err := e.painter.paint(ctx, w.State, w.Earlier, w.Gone)
	if err != nil {
		return nil, err
	}
	return &GhostSoul{
		Cosine: cosine(e.real.identity, here.identity), Lines: len(e.real.lines),
		Said: missing(e.real.lines, here.lines), Instead: missing(here.lines, e.real.lines),
	}, nil
}

func (e *experiment) note(format string, args ...any) {
	e.out.Notes = append(e.out.Notes, fmt.Sprintf(format, args...))
}

// cosine is that of two vectors of length 1; of equal ones it is exactly 1.
func cosine(a, b []float32) float64 {
	if slices.Equal(a, b) {
		return 1
	}
	return min(1, max(-1, dot(a, b)))
}

// follow takes the depths of the most changed impressions at each session's end.
func (e *experiment) follow(ctx context.Context) error {
	watched := e.contrast.Depths[:min(len(e.contrast.Depths), followed)]
	if len(watched) == 0 {
		e.steps.next()
		e.steps.next()
		return nil
	}
	var sides [2]map[int][]*float64
	for side, sequences := range [][]uint64{nil, e.sequences} {
		ends := map[int][]*float64{}
		take := func(number uint32, s *fold.State) error {
			depths, err := depthsAt(s, watched)
			ends[int(number)] = depths
			return err
		}
		w, err := e.retraced.Without(ctx, sequences, chitta.WithoutOptions{Ended: take, Progress: e.steps.fold})
		if err != nil {
			return err
		}
		if n := w.State.Session.Number; n > 0 { // a session may be open
			if err := take(w.NumberBefore(n), w.State); err != nil {
				return err
			}
		}
		sides[side] = ends
		e.steps.next()
	}
	numbers := []int{}
	for n := range sides[0] {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for i := range watched {
		curve := GhostCurve{ID: e.out.Depths[i].ID, Date: e.out.Depths[i].Date, Excerpt: e.out.Depths[i].Excerpt, Session: numbers}
		for at, n := range numbers {
			curve.With = append(curve.With, pick(sides[0][n], i))
			without := pick(sides[1][n], i)
			if _, was := sides[1][n]; !was && at > 0 { // no time would have passed
				without = curve.Without[at-1]
			}
			curve.Without = append(curve.Without, without)
		}
		e.out.Curves = append(e.out.Curves, curve)
	}
	return nil
}

func pick(depths []*float64, i int) *float64 {
	if i < len(depths) {
		return depths[i]
	}
	return nil
}

// depthsAt are the depths of impressions in a state, nil of those that it lacks.
func depthsAt(s *fold.State, of []chitta.DepthChange) ([]*float64, error) {
	out := make([]*float64, len(of))
	for i, d := range of {
		row, ok := rowOf(s, d.Sequence)
		if !ok {
			continue
		}
		depth, err := s.Depth(row)
		if err != nil {
			return nil, err
		}
		out[i] = &depth
	}
	return out, nil
}

// measures are the figures of one removal, by name.
func measures(w *chitta.Without, c chitta.Contrast, s *GhostSoul) map[string]float64 {
	out := map[string]float64{MeasureDepths: c.Sum, MeasureEvents: float64(w.Differently)}
	if c.Angle != nil {
		out[MeasureAngle] = *c.Angle
	}
	if s != nil {
		out[MeasureSoul] = 1 - s.Cosine
		out[MeasureLines] = float64(max(len(s.Said), len(s.Instead)))
	}
	return out
}

// byChance measures random removals of the same size, and gives every measure
// with what it is by chance.
func (e *experiment) byChance(ctx context.Context) error {
	drawn := e.retraced.Draws(e.sequences, e.q.Baseline)
	draws := drawn.Sets
	e.steps.total = stepsBefore + 2*len(draws)
	if e.q.Baseline > 0 && len(draws) == 0 {
		e.note("nothing was compared with chance: fewer than %d other entries are there", len(e.sequences))
	}
	n := len(e.retraced.State().Impressions)
	painted := e.real != nil && n <= chancePortraitUpTo
	if e.real != nil && !painted && len(draws) > 0 {
		e.note("SOUL.md was not compared with chance: that is done up to %d impressions, and there are %d", chancePortraitUpTo, n)
	}
	chance := map[string][]float64{}
	emptied := 0
	for _, sequences := range draws {
		w, err := e.retraced.Without(ctx, sequences, chitta.WithoutOptions{Progress: e.steps.fold})
		if err != nil {
			return err
		}
		e.steps.next()
		contrast, err := e.retraced.Contrast(w)
		if err != nil {
			return err
		}
		var said *GhostSoul
		if painted {
			if said, err = e.soulOf(ctx, w); err != nil {
				return err
			}
		}
		e.steps.next()
		for name, value := range measures(w, contrast, said) {
			chance[name] = append(chance[name], value)
		}
		emptied += len(w.Gone.Sessions)
	}
	if n := len(draws); n > 0 {
		e.out.Baseline = &GhostBaseline{Removals: n, Entries: len(e.sequences), All: drawn.All, Sessions: float64(emptied) / float64(n)}
	}
	mine := measures(e.imagined, e.contrast, e.out.Soul)
	for _, name := range []string{MeasureDepths, MeasureEvents, MeasureAngle, MeasureSoul, MeasureLines} {
		if value, ok := mine[name]; ok {
			e.out.Measures = append(e.out.Measures, GhostMeasure{Name: name, Value: value, Chance: chanceOf(value, chance[name])})
		}
	}
	e.steps.end()
	return nil
}

// steps tells progress: each fold and each comparison of SOUL.md is one step, as
// long as the log.
type steps struct {
	progress    func(Progress)
	began       time.Time
	records     int
	done, total int
}

// stepsBefore are those before the random removals: with, without, SOUL.md, and
// both once more for the curves.
const stepsBefore = 5

func newSteps(state *fold.State, q GhostQuery, progress func(Progress)) *steps {
	return &steps{progress: progress, began: time.Now(), records: int(state.Sequence), total: stepsBefore + 2*q.Baseline}
}

func (s *steps) fold(done, total uint64) {
	if s.progress != nil {
		within := int(done * uint64(s.records) / max(total, 1))
		s.progress(Progress{Done: s.done*s.records + within, Total: s.total * s.records, Stage: "fold", Elapsed: time.Since(s.began)})
	}
}

func (s *steps) next() {
	s.done++
	s.fold(0, 1)
}

// end says that all is done, also where there were fewer steps than expected.
func (s *steps) end() {
	s.done = s.total
	s.fold(0, 1)
}
