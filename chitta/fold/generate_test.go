package fold_test

import (
	"math"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/reactivation"
)

const dim = 8

func ptr(x float64) *float64 { return &x }

// unit draws a vector of length 1.
func unit(t *rapid.T, label string) []float32 {
	v := make([]float32, dim)
	var n float64
	for i := range v {
		v[i] = float32(rapid.IntRange(-100, 100).Draw(t, label))
		n += float64(v[i]) * float64(v[i])
	}
	if n == 0 {
		v[0], n = 1, 1
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(n))
	}
	return v
}

func share(t *rapid.T, label string) float64 { return rapid.Float64Range(0, 1).Draw(t, label) }

func guna(t *rapid.T) reactivation.Guna {
	g, err := reactivation.NewGuna(share(t, "tamas")+1e-6, share(t, "rajas"), share(t, "sattva"))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func judgement(t *rapid.T) fold.Judgement {
	j := fold.Judgement{
		Assessor: "test", Intensity: share(t, "intensity"), Emotion: share(t, "emotion"),
		Guna: guna(t), Valence: rapid.Float64Range(-1, 1).Draw(t, "valence"),
	}
	if rapid.Bool().Draw(t, "judged") {
		j.Novelty, j.Match = ptr(share(t, "novelty")), ptr(share(t, "match"))
	}
	return j
}

// experience draws an event whose identity is n.
func experience(t *rapid.T, n int) fold.Experienced {
	e := fold.Experienced{
		Embedder: "test/1", Embedding: unit(t, "embedding"), Judgement: judgement(t),
		AlwaysCreate: rapid.Bool().Draw(t, "create"), Date: "2026-03-01", Source: "test", Category: "behavioural",
	}
	e.ID[15], e.ID[14], e.Key[0], e.Key[1] = byte(n), byte(n>>8)+1, byte(n), byte(n>>8)
	return e
}

// history draws a log that folds: embedder first, sessions of experiences.
func history(t *rapid.T) []fold.Event {
	log := []fold.Event{{Header: fold.Header{Sequence: 1}, Body: fold.EmbedderChanged{Embedder: "test/1", Dim: dim}}}
	add := func(b fold.Body) {
		log = append(log, fold.Event{Header: fold.Header{Sequence: uint64(len(log) + 1), Wall: int64(rapid.IntRange(-5, 5).Draw(t, "wall"))}, Body: b})
	}
	number, open := uint32(0), false
	for n := range rapid.IntRange(0, 40).Draw(t, "events") {
		if open && rapid.IntRange(0, 4).Draw(t, "close") == 0 {
			add(fold.SessionClosed{Number: number, Reason: "end"})
			open = false
		}
		if !open {
			number++
			add(fold.SessionOpened{Number: number, Date: "2026-03-01"})
			open = true
		}
		add(experience(t, n))
	}
	return log
}

// near are the candidates that the shell would hand in.
func near(s *fold.State, e fold.Event) []fold.Candidate {
	x, ok := e.Body.(fold.Experienced)
	if !ok {
		return nil
	}
	return s.Vectors.Nearest(x.Embedding, s.Params.Gate.Candidates, 1, nil)
}

func mustFold(t rapid.TB, s *fold.State, log []fold.Event) *fold.State {
	for _, e := range log {
		if _, err := fold.Step(s, e, near(s, e)); err != nil {
			t.Fatalf("step %d: %v", e.Sequence, err)
		}
	}
	return s
}
