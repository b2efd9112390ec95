package fold_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/reactivation"
)

// The fold of the same events is the same to the last bit, whatever the wall
// clock said and wherever the log was cut into a snapshot.
func TestFoldIsDeterministicAndMayBeCutAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := history(t)
		whole := mustFold(t, fold.NewState(), log)
		cut := rapid.IntRange(0, len(log)).Draw(t, "cut")
		first := mustFold(t, fold.NewState(), log[:cut])
		decoded, err := fold.DecodeState(first.Encode(), first.Vectors.Prefix(first.Vectors.Len()))
		if cut > 0 && err != nil {
			t.Fatal(err)
		}
		if cut == 0 {
			decoded = fold.NewState()
		}
		for i := range log {
			log[i].Wall, log[i].ClockTrusted = -log[i].Wall*1000, !log[i].ClockTrusted
		}
		second := mustFold(t, decoded, log[cut:])
		if found, n := fold.Difference(whole, second, 0, 3); n > 0 {
			t.Fatalf("%d differences: %v", n, found)
		}
		if whole.Digest() != second.Digest() {
			t.Fatal("digests differ where Difference sees nothing")
		}
	})
}

// A clone shares nothing that changes.
func TestCloneIsIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := history(t)
		cut := rapid.IntRange(1, len(log)).Draw(t, "cut")
		s := mustFold(t, fold.NewState(), log[:cut])
		c := s.Clone()
		before := c.Digest()
		mustFold(t, s, log[cut:])
		if c.Digest() != before {
			t.Fatal("folding on changed the clone")
		}
		if mustFold(t, c, log[cut:]).Digest() != s.Digest() {
			t.Fatal("the clone folds differently")
		}
	})
}

// No tamasic or rajasic event, nor any sequence of them, lowers the sattva of a
// protected impression (seed 001, rule 1).
func TestBombardmentNeverLowersProtectedSattva(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := mustFold(t, fold.NewState(), history(t))
		seq := s.Sequence
		next := func(b fold.Body) {
			seq++
			e := fold.Event{Header: fold.Header{Sequence: seq}, Body: b}
			if _, err := fold.Step(s, e, near(s, e)); err != nil {
				t.Fatal(err)
			}
		}
		if !s.Session.Open {
			next(fold.SessionOpened{Number: s.Session.Number + 1})
		}
		protection := s.Params.Reactivation.Protection
		before := make([]float64, len(s.Impressions))
		for i, m := range s.Impressions {
			before[i] = m.Guna.Sattva
		}
		for n := range rapid.IntRange(1, 30).Draw(t, "blows") {
			e := experience(t, 1000+n)
			if k := len(s.Impressions); k > 0 { // aim at something that is there
				copy(e.Embedding, s.Vectors.Row(rapid.IntRange(0, k-1).Draw(t, "aim")))
			}
			e.Judgement.Guna = reactivation.Tamas()
			e.Judgement.Intensity, e.Judgement.Emotion = 1, 1
			next(e)
			if rapid.IntRange(0, 5).Draw(t, "new session") == 0 {
				next(fold.SessionClosed{Number: s.Session.Number})
				next(fold.SessionOpened{Number: s.Session.Number + 1})
			}
		}
		for i, was := range before {
			if is := s.Impressions[i].Guna.Sattva; was > protection && is < was {
				t.Fatalf("impression %d: sattva fell from %v to %v", i, was, is)
			}
		}
	})
}

// Whatever happens, the state stays within its bounds and finite.
func TestStateStaysWithinItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := mustFold(t, fold.NewState(), history(t))
		for i, m := range s.Impressions {
			d, err := s.Depth(i)
			if err != nil || d <= 0 || d >= 1 {
				t.Fatalf("impression %d: depth %v, %v", i, d, err)
			}
			if m.Peak < d || m.Peak >= 1 {
				t.Fatalf("impression %d: peak %v under depth %v", i, m.Peak, d)
			}
			if err := m.Guna.Check(); err != nil {
				t.Fatal(err)
			}
			if m.Reinforcement <= 0 || math.IsInf(m.Reinforcement, 0) || m.Last > s.Session.Number || m.Born > m.Last {
				t.Fatalf("impression %d: %+v", i, m)
			}
		}
		if n := int(s.Session.Created); n > len(s.Impressions) {
			t.Fatalf("%d created of %d", n, len(s.Impressions))
		}
	})
}

// Depth is computed at read time: to look at it, however often, changes nothing,
// and it falls with sessions only.
func TestDecayIsNotAppliedAgainAndAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := mustFold(t, fold.NewState(), history(t))
		before := s.Digest()
		for range 24 {
			for i := range s.Impressions {
				if _, err := s.Depth(i); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.Top(5); err != nil {
				t.Fatal(err)
			}
		}
		if s.Digest() != before {
			t.Fatal("reading changed the state")
		}
	})
}

// A day whose rest comes later is one session.
func TestASessionMayBeTakenUpAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opened := fold.SessionOpened{Number: 1, Date: "1911-02-03"}
		a, b := experience(t, 1), experience(t, 2)
		bodies := [][]fold.Body{
			{opened, a, b, fold.SessionClosed{Number: 1}},
			{opened, a, fold.SessionClosed{Number: 1}, opened, b, fold.SessionClosed{Number: 1}},
		}
		var digests [2][32]byte
		for i, list := range bodies {
			log := []fold.Event{{Header: fold.Header{Sequence: 1}, Body: fold.EmbedderChanged{Embedder: "test/1", Dim: dim}}}
			for _, x := range list {
				log = append(log, fold.Event{Header: fold.Header{Sequence: uint64(len(log) + 1)}, Body: x})
			}
			digests[i] = mustFold(t, fold.NewState(), log).Digest()
		}
		if digests[0] != digests[1] {
			t.Fatal("the session in two parts differs")
		}
	})
}

// A refused event leaves the state as it was.
func TestRefusedEventsChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := mustFold(t, fold.NewState(), history(t))
		before := s.Digest()
		x := experience(t, 9999)
		bad := []fold.Body{
			fold.SessionOpened{Number: s.Session.Number + 2},
			fold.SessionClosed{Number: s.Session.Number + 1},
			fold.EmbedderChanged{Embedder: "", Dim: dim},
			fold.Superseded{Target: s.Sequence + 1, Embedder: "test/1", Embedding: x.Embedding, Judgement: x.Judgement},
			fold.ParamsChanged{},
			nil,
		}
		x.Judgement.Intensity = math.Inf(1)
		bad = append(bad, x)
		for _, b := range bad {
			if _, err := fold.Step(s, fold.Event{Header: fold.Header{Sequence: s.Sequence + 1}, Body: b}, nil); err == nil {
				t.Fatalf("%T %+v was folded", b, b)
			}
		}
		if _, err := fold.Step(s, fold.Event{Header: fold.Header{Sequence: s.Sequence}, Body: fold.SessionClosed{}}, nil); !errors.Is(err, fold.ErrOrder) {
			t.Fatalf("an event out of order: %v", err)
		}
		if s.Digest() != before {
			t.Fatal("a refused event changed the state")
		}
	})
}

// Candidates that do not belong to the state are refused.
func TestCandidatesAreChecked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := mustFold(t, fold.NewState(), history(t))
		if !s.Session.Open || len(s.Impressions) < 2 {
			t.Skip("too young")
		}
		e := fold.Event{Header: fold.Header{Sequence: s.Sequence + 1}, Body: experience(t, 9999)}
		good := near(s, e)
		spoil := []func([]fold.Candidate) []fold.Candidate{
			func(c []fold.Candidate) []fold.Candidate { return c[1:] },
			func(c []fold.Candidate) []fold.Candidate { c[0].Index = len(s.Impressions); return c },
			func(c []fold.Candidate) []fold.Candidate { c[0].Similarity = math.NaN(); return c },
			func(c []fold.Candidate) []fold.Candidate { c[len(c)-1].Similarity = 1; c[0].Similarity = -1; return c },
		}
		for i, f := range spoil {
			if _, err := fold.Step(s, e, f(append([]fold.Candidate(nil), good...))); !errors.Is(err, fold.ErrCandidates) {
				t.Fatalf("spoiled candidates %d: %v", i, err)
			}
		}
	})
}

// A log with judgements that came later, at any places behind what they judge, folds to
// the state of one that was judged so at once.
func TestJudgedAgainIsJudgedSoAtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var again, once []fold.Event
		var later []fold.Reassessed
		put := func(log *[]fold.Event, b fold.Body) uint64 {
			n := uint64(len(*log) + 1)
			*log = append(*log, fold.Event{Header: fold.Header{Sequence: n}, Body: b})
			return n
		}
		for _, e := range history(t) {
			for len(later) > 0 && rapid.Bool().Draw(t, "now") {
				put(&again, later[0])
				later = later[1:]
			}
			at := put(&again, e.Body)
			x, ok := e.Body.(fold.Experienced)
			for ok && rapid.Bool().Draw(t, "again") {
				x.Judgement = judgement(t)
				later = append(later, fold.Reassessed{Target: at, Judgement: x.Judgement})
				e.Body = x
			}
			put(&once, e.Body)
		}
		for _, b := range later {
			put(&again, b)
		}
		var a fold.Amendments
		for _, e := range again {
			a.Add(e)
		}
		for i, e := range again {
			again[i] = a.Resolve(e)
		}
		if mustFold(t, fold.NewState(), again).Digest() != mustFold(t, fold.NewState(), once).Digest() {
			t.Fatal("the states differ")
		}
	})
}

// Amendments act at the place of what they amend; the last one counts.
func TestAmendments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		original := fold.Event{Header: fold.Header{Sequence: 7}, Body: experience(t, 1)}
		x, y := experience(t, 2), experience(t, 3)
		var a fold.Amendments
		steps := []fold.Body{
			fold.Reassessed{Target: 7, Judgement: y.Judgement},
			fold.Superseded{Target: 7, Key: x.Key, Embedding: x.Embedding, Embedder: x.Embedder, Judgement: x.Judgement},
			fold.Reassessed{Target: 7, Judgement: y.Judgement},
		}
		want := original.Body.(fold.Experienced)
		for i, b := range steps {
			if got := a.Add(fold.Event{Header: fold.Header{Sequence: uint64(10 + i)}, Body: b}); got != 7 {
				t.Fatalf("target %d", got)
			}
			switch i {
			case 0, 2:
				want.Judgement = y.Judgement
			case 1:
				want.Key, want.Embedding, want.Judgement = x.Key, x.Embedding, x.Judgement
			}
			if got := a.Resolve(original).Body; !reflect.DeepEqual(got, want) {
				t.Fatalf("after step %d: %+v, want %+v", i, got, want)
			}
		}
		other := fold.Event{Header: fold.Header{Sequence: 8}, Body: y}
		if got := a.Resolve(other); !reflect.DeepEqual(got, other) {
			t.Fatal("another event was changed")
		}
	})
}
