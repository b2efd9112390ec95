package fold_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/reactivation"
)

// quick are parameters under which much is buried soon, and much is lifted.
func quick(t *rapid.T) fold.Params {
	p := fold.DefaultParams()
	p.Reactivation.R0 = rapid.Float64Range(1, 20).Draw(t, "R0")
	p.Reactivation.Lambda = rapid.Float64Range(0.2, 4).Draw(t, "lambda")
	p.Reactivation.SoftGain = rapid.SampledFrom([]float64{0.05, 0.5, 1}).Draw(t, "soft gain")
	p.Reactivation.Suppression = rapid.Float64Range(0, 0.95).Draw(t, "suppression")
	p.Reactivation.Protection = rapid.Float64Range(0, 0.6).Draw(t, "protection")
	fresh, err := p.Reactivation.Depth(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	p.Reactivation.BuryBelow = min(1, fresh*rapid.SampledFrom([]float64{0.5, 0.7, 0.9, 0.98, 1.1}).Draw(t, "bury below"))
	p.Reactivation.BuryAfter = rapid.IntRange(1, 6).Draw(t, "bury after")
	p.Gate.MinSimilarity, p.Gate.NoiseFloor, p.Gate.InertiaGain = 0.3, 0.05, 0
	p.Gate.KBase = rapid.SampledFrom([]float64{0, 0.5, 1, 1.5}).Draw(t, "k")
	return p
}

// lives draws a long log with few experiences: sessions, empty ones among them,
// some of which are taken up again, and no change of parameters after the first.
func lives(t *rapid.T, p fold.Params) []fold.Event {
	log := []fold.Event{
		{Header: fold.Header{Sequence: 1}, Body: fold.EmbedderChanged{Embedder: "test/1", Dim: dim}},
		{Header: fold.Header{Sequence: 2}, Body: fold.ParamsChanged{Params: p}},
	}
	add := func(b fold.Body) {
		log = append(log, fold.Event{Header: fold.Header{Sequence: uint64(len(log) + 1)}, Body: b})
	}
	places := [][]float32{unit(t, "place"), unit(t, "place"), unit(t, "place")}
	number := uint32(0)
	for n := range rapid.IntRange(1, 25).Draw(t, "sessions") {
		number++
		for part := range rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "parts") {
			add(fold.SessionOpened{Number: number})
			for k := range rapid.SampledFrom([]int{0, 0, 1, 1, 3}).Draw(t, "entries") {
				x := experience(t, 100*n+10*part+k)
				if rapid.IntRange(0, 3).Draw(t, "near") > 0 { // like others
					x.Embedding = between(rapid.SampledFrom(places).Draw(t, "at"), x.Embedding)
				}
				if rapid.Bool().Draw(t, "strong") {
					x.Judgement.Intensity, x.Judgement.Emotion = 1, 1
				}
				add(x)
			}
			add(fold.SessionClosed{Number: number})
		}
	}
	return log
}

// between is a unit vector near a, towards b.
func between(a, b []float32) []float32 {
	out := make([]float32, len(a))
	var n float64
	for i := range a {
		out[i] = a[i] + b[i]/2
		n += float64(out[i]) * float64(out[i])
	}
	for i := range out {
		out[i] /= float32(math.Sqrt(n))
	}
	return out
}

// oracle finds out what is buried by looking at every depth after every event
// and at the end of every session, and counting.
type oracle struct {
	p       reactivation.Params
	counted []int
	settled []bool
	buried  []bool
	// lifted counts how often a touch ended a count that had begun.
	lifted int
}

func (o *oracle) grow(n int) {
	for len(o.counted) < n {
		o.counted, o.settled, o.buried = append(o.counted, 0), append(o.settled, false), append(o.buried, false)
	}
}

func (o *oracle) before(s *fold.State, e fold.Event) error {
	b, ok := e.Body.(fold.SessionOpened)
	if !ok || b.Number == s.Session.Number {
		return nil
	}
	for i := range s.Impressions { // the session before is over for good
		depth, err := s.Depth(i)
		if err != nil {
			return err
		}
		if depth < o.p.BuryBelow {
			o.counted[i]++
		} else {
			o.counted[i] = 0
		}
		o.settled[i] = o.settled[i] || o.counted[i] >= o.p.BuryAfter
	}
	return nil
}

func (o *oracle) after(s *fold.State, e fold.Event) error {
	o.grow(len(s.Impressions))
	for i := range s.Impressions {
		depth, err := s.Depth(i)
		if err != nil {
			return err
		}
		if depth >= o.p.BuryBelow {
			if o.counted[i] > 0 && !o.settled[i] {
				o.lifted++
			}
			o.counted[i] = 0
		}
		if _, ended := e.Body.(fold.SessionClosed); ended && o.settled[i] {
			o.buried[i] = true
		}
	}
	return nil
}

// What is worked out ahead from the closed form is what counting finds.
func TestBurialIsWhatCountingFinds(t *testing.T) {
	buried, lifted, touched := 0, 0, 0
	check := func(t *rapid.T) {
		p := quick(t)
		s, o := fold.NewState(), &oracle{p: p.Reactivation}
		for _, e := range lives(t, p) {
			if err := o.before(s, e); err != nil {
				t.Fatal(err)
			}
			was := make([]bool, len(s.Impressions))
			for i := range was {
				was[i] = s.Impressions[i].Buried
			}
			out, err := fold.Step(s, e, near(s, e))
			if err != nil {
				t.Fatal(err)
			}
			if err := o.after(s, e); err != nil {
				t.Fatal(err)
			}
			var fresh []uint32
			for i, m := range s.Impressions {
				if m.Buried != o.buried[i] {
					t.Fatalf("after event %d (%T) of session %d impression %d is buried: %v, by counting: %v; %+v", e.Sequence, e.Body, s.Session.Number, i, m.Buried, o.buried[i], m)
				}
				if m.Buried && !was[i] {
					fresh = append(fresh, uint32(i))
				}
			}
			if !slices.Equal(fresh, out.Buried) {
				t.Fatalf("buried by event %d: %v, told: %v", e.Sequence, fresh, out.Buried)
			}
			for _, i := range slices.Concat(out.Fired, out.Softened, out.Suppressed) {
				if was[i] {
					touched++
				}
			}
		}
		for _, m := range s.Impressions {
			if m.Buried {
				buried++
			}
		}
		lifted += o.lifted
	}
	for range 4 {
		rapid.Check(t, check)
	}
	if buried < 50 || lifted < 5 || touched < 50 {
		t.Errorf("only %d were buried, %d lifted and %d touched when buried: the test shows little", buried, lifted, touched)
	}
}

// A soft touch leaves the clock as it is. Where it lifts the depth to the
// threshold the count starts again; where it does not the count goes on.
func TestASoftTouchMayStartTheCountAgain(t *testing.T) {
	at := func(cosine float64, axis int) []float32 { // so alike to the first axis
		v := make([]float32, dim)
		v[0], v[axis] = float32(cosine), float32(math.Sqrt(1-cosine*cosine))
		return v
	}
	lifted, left := 0, 0
	for _, gain := range []float64{0.01, 1} {
		for cosine := 0.5; cosine < 0.95; cosine += 0.01 {
			p := fold.DefaultParams()
			p.Reactivation.Lambda, p.Reactivation.BuryAfter, p.Reactivation.SoftGain = 0.1, 5, gain
			p.Gate.MinSimilarity, p.Gate.NoiseFloor, p.Gate.KBase, p.Gate.InertiaGain = 0.3, 0.05, 1, 0
			s := mustFold(t, fold.NewState(), []fold.Event{
				{Header: fold.Header{Sequence: 1}, Body: fold.EmbedderChanged{Embedder: "test/1", Dim: dim}},
				{Header: fold.Header{Sequence: 2}, Body: fold.ParamsChanged{Params: p}},
				{Header: fold.Header{Sequence: 3}, Body: fold.SessionOpened{Number: 1}},
			})
			step := func(b fold.Body) fold.Outcome {
				e := fold.Event{Header: fold.Header{Sequence: s.Sequence + 1}, Body: b}
				out, err := fold.Step(s, e, near(s, e))
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			live := func(n byte, v []float32) fold.Outcome {
				x := fold.Experienced{ID: fold.ID{n}, Key: fold.Key{n}, Embedder: "test/1", Embedding: v, AlwaysCreate: true}
				x.Judgement = fold.Judgement{Assessor: "test", Intensity: 1, Emotion: 1, Guna: reactivation.Sattva()}
				return step(x)
			}
			live(1, at(cosine, 1))
			live(2, at(0.95, 2))
			live(3, at(0.2, 3))
			below, err := p.Reactivation.Depth(s.Impressions[0].Reinforcement, 1.5) // it is faint in the third session
			if err != nil {
				t.Fatal(err)
			}
			p.Reactivation.BuryBelow = below
			step(fold.ParamsChanged{Params: p})
			for range 3 {
				step(fold.SessionClosed{Number: s.Session.Number})
				step(fold.SessionOpened{Number: s.Session.Number + 1})
			}
			before := s.Impressions[0]
			if before.BuryAt != 3+5 || s.Session.Number != 4 {
				t.Fatalf("to be buried in %d, now is %d", before.BuryAt, s.Session.Number)
			}
			out := live(4, at(1, 1))
			m := s.Impressions[0]
			if !slices.Contains(out.Softened, 0) {
				continue // it was woken, or not even touched
			}
			depth, err := s.Depth(0)
			if err != nil {
				t.Fatal(err)
			}
			age, ok, err := p.Reactivation.FaintAge(m.Reinforcement, p.Reactivation.BuryBelow)
			switch {
			case err != nil || !ok || m.Last != 1:
				t.Fatalf("%d %v %v, last %d", age, ok, err, m.Last)
			case depth < p.Reactivation.BuryBelow && m.BuryAt == before.BuryAt:
				left++
			case depth >= p.Reactivation.BuryBelow && m.BuryAt == 1+age+5 && m.BuryAt > before.BuryAt:
				lifted++
			default:
				t.Errorf("at %.2f: depth %v, to be buried in %d, before in %d", cosine, depth, m.BuryAt, before.BuryAt)
			}
		}
	}
	if lifted == 0 || left == 0 {
		t.Errorf("%d were lifted, %d were not: the test shows nothing", lifted, left)
	}
}

// A day in several parts buries what the same day in one part does.
func TestBurialDoesNotDependOnTheParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := lives(t, quick(t))
		whole := fold.NewState()
		for i, e := range log {
			if next := log[min(i+1, len(log)-1)]; i > 0 {
				opened, again := e.Body.(fold.SessionOpened)
				before, ended := log[i-1].Body.(fold.SessionClosed)
				if again && ended && before.Number == opened.Number {
					continue // it was not ended
				}
				closed, ends := e.Body.(fold.SessionClosed)
				if o, more := next.Body.(fold.SessionOpened); ends && more && o.Number == closed.Number {
					continue
				}
			}
			if _, err := fold.Step(whole, e, near(whole, e)); err != nil {
				t.Fatal(err)
			}
		}
		parts := mustFold(t, fold.NewState(), log)
		if parts.Digest() != whole.Digest() {
			found, _ := fold.Difference(parts, whole, 0, 5)
			t.Fatalf("%v", found)
		}
	})
}

// The fold with burial is deterministic, may be cut into a snapshot anywhere, and
// End on a copy shows what the end of the session does.
func TestBurialSurvivesASnapshot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := lives(t, quick(t))
		whole := mustFold(t, fold.NewState(), log)
		cut := rapid.IntRange(1, len(log)).Draw(t, "cut")
		first := mustFold(t, fold.NewState(), log[:cut])
		second, err := fold.DecodeState(first.Encode(), first.Vectors.Prefix(first.Vectors.Len()))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range log[cut:] {
			shown := second.Clone()
			rows := shown.End()
			out, err := fold.Step(second, e, near(second, e))
			if err != nil {
				t.Fatal(err)
			}
			if _, ended := e.Body.(fold.SessionClosed); ended && (!slices.Equal(rows, out.Buried) || shown.Digest() != second.Digest()) {
				t.Fatalf("the end of a session buried %v, shown was %v", out.Buried, rows)
			}
		}
		if whole.Digest() != second.Digest() {
			t.Fatal("cut into a snapshot it comes out differently")
		}
	})
}

// When parameters change, every impression is looked at as if it had had its
// present reinforcement since it was last active; unless they say the same of
// burial.
func TestParametersChangeBurial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := quick(t)
		log := lives(t, p)
		s := mustFold(t, fold.NewState(), log[:rapid.IntRange(2, len(log)).Draw(t, "cut")])
		before := s.Clone()
		other := quick(t)
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			other.Reactivation.BuryAfter = 0
		case 1:
			other.Reactivation.BuryBelow = 0
		case 2: // nothing that matters here
			other = p
			other.Gate.KBase++
			other.Reactivation.SoftGain = 0.5
		}
		if _, err := fold.Step(s, fold.Event{Header: fold.Header{Sequence: s.Sequence + 1}, Body: fold.ParamsChanged{Params: other}}, nil); err != nil {
			t.Fatal(err)
		}
		r, was := other.Reactivation, p.Reactivation
		same := r.R0 == was.R0 && r.Lambda == was.Lambda && r.BuryBelow == was.BuryBelow && r.BuryAfter == was.BuryAfter
		for i, m := range s.Impressions {
			old := before.Impressions[i]
			if m.Buried != old.Buried {
				t.Fatal("a change of parameters buries nothing and raises nothing")
			}
			if m.Buried || same {
				if m.BuryAt != old.BuryAt {
					t.Fatalf("impression %d moved from %d to %d", i, old.BuryAt, m.BuryAt)
				}
				continue
			}
			const far = 3000
			want := uint32(0)
			if r.BuryAfter > 0 {
				for age := range uint32(far) {
					if d, err := r.Depth(m.Reinforcement, float64(age)); err != nil || d < r.BuryBelow {
						want = m.Last + age + uint32(r.BuryAfter)
						break
					}
				}
			}
			if m.BuryAt != want && !(want == 0 && m.BuryAt > far) {
				t.Fatalf("impression %d is to be buried in %d, counted %d", i, m.BuryAt, want)
			}
		}
	})
}

// Without the parameters, as in a log of before there were any, nothing is buried.
func TestNothingIsBuriedUnlessParametersSaySo(t *testing.T) {
	log := []fold.Event{{Header: fold.Header{Sequence: 1}, Body: fold.EmbedderChanged{Embedder: "test/1", Dim: dim}}}
	rapid.Check(t, func(t *rapid.T) {
		p := quick(t)
		p.Reactivation.BuryAfter = 0
		if rapid.Bool().Draw(t, "other") {
			p = quick(t)
			p.Reactivation.BuryBelow = 0
		}
		s := mustFold(t, fold.NewState(), lives(t, p))
		for i, m := range s.Impressions {
			if m.Buried || m.BuryAt != 0 {
				t.Fatalf("impression %d: %+v", i, m)
			}
		}
	})
	old, err := fold.Encode(fold.Event{Body: fold.ParamsChanged{Params: fold.DefaultParams()}})
	if err != nil {
		t.Fatal(err)
	}
	// An event as programs wrote it that knew nothing of burial.
	start := slices.Index(old, '{')
	text := []byte(`{"profile":"old","reactivation":{"R0":10},"gate":{}}`)
	raw := append(slices.Clone(old[:start-4]), byte(len(text)), 0, 0, 0)
	e, err := fold.Decode(2, append(raw, text...))
	if err != nil {
		t.Fatal(err)
	}
	s := mustFold(t, fold.NewState(), append(log, e))
	if r := s.Params.Reactivation; r.BuryBelow != 0 || r.BuryAfter != 0 || r.R0 != 10 || s.Params.Profile != "old" {
		t.Fatalf("%+v", s.Params)
	}
}

// An event that only acted on others loses its text with the last of them.
func TestEntriesThatMadeNoImpression(t *testing.T) {
	links := 0
	rapid.Check(t, func(t *rapid.T) {
		s := fold.NewState()
		for _, e := range lives(t, quick(t)) {
			if x, ok := e.Body.(fold.Experienced); ok {
				x.AlwaysCreate = false
				e.Body = x
			}
			before := s.BuriedEntries()
			out, err := fold.Step(s, e, near(s, e))
			if err != nil {
				t.Fatal(err)
			}
			after := s.BuriedEntries()
			var all []uint64
			for i := range s.Impressions {
				all = append(all, s.Impressions[i].Sequence)
			}
			for _, l := range s.Links {
				all = append(all, l.Sequence)
				living := slices.ContainsFunc(l.Acted, func(i uint32) bool { return !s.Impressions[i].Buried })
				if s.EntryBuried(l.Sequence) == living {
					t.Fatalf("entry %d acted on %v, buried: %v", l.Sequence, l.Acted, !living)
				}
				if !living {
					links++
				}
			}
			for _, seq := range all {
				if _, listed := slices.BinarySearch(after, seq); listed != s.EntryBuried(seq) {
					t.Fatalf("entry %d is listed: %v", seq, listed)
				}
			}
			fresh := slices.DeleteFunc(slices.Clone(after), func(seq uint64) bool { return slices.Contains(before, seq) })
			if told := s.BuriedBy(out.Buried); !slices.Equal(told, fresh) {
				t.Fatalf("told %v, %v came to it", told, fresh)
			}
		}
		if s.EntryBuried(1) || s.EntryBuried(1<<40) {
			t.Fatal("what is no entry is not buried")
		}
	})
	if links < 10 {
		t.Errorf("only %d entries without impressions were buried: the test shows little", links)
	}
}
