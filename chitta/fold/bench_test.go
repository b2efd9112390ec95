package fold_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/reactivation"
)

// grown makes a state of n impressions of the given dimension without folding.
func grown(b *testing.B, n, dim int) (*fold.State, *rand.Rand) {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	s := fold.NewState()
	s.Embedder, s.Dim, s.Vectors = "test/1", dim, fold.NewMatrix(dim)
	s.Session = fold.Session{Number: uint32(n), Open: true, Sum: make([]float64, dim)}
	for i := range n {
		g, err := reactivation.NewGuna(r.Float64(), r.Float64(), r.Float64())
		if err != nil {
			b.Fatal(err)
		}
		m := fold.Samskara{Reinforcement: 1 + 3*r.Float64(), Guna: g, Born: uint32(i), Last: uint32(i + r.IntN(n-i)), Peak: 0.2}
		m.ID[0], m.ID[1], m.ID[2] = byte(i), byte(i>>8), byte(i>>16)
		s.Impressions = append(s.Impressions, m)
		if err := s.Vectors.Append(near1(r, dim)); err != nil {
			b.Fatal(err)
		}
	}
	return s, r
}

// near1 draws unit vectors with a common component, as the entries of one life have.
func near1(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	var n float64
	for i := range v {
		v[i] = float32(r.NormFloat64() + 0.8)
		n += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(n))
	}
	return v
}

// One event folded at a given size of the store: the scan and the step, with a
// new session after every ten.
func BenchmarkStep(b *testing.B) {
	const dim = 512
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("impressions=%d", n), func(b *testing.B) {
			s, r := grown(b, n, dim)
			g, err := reactivation.NewGuna(0.3, 0.5, 0.6)
			if err != nil {
				b.Fatal(err)
			}
			workers := runtime.GOMAXPROCS(0)
			b.ReportAllocs()
			body := func(x fold.Body, c []fold.Candidate) {
				if _, err := fold.Step(s, fold.Event{Header: fold.Header{Sequence: s.Sequence + 1}, Body: x}, c); err != nil {
					b.Fatal(err)
				}
			}
			for i := 0; b.Loop(); i++ {
				if i%10 == 9 {
					body(fold.SessionClosed{Number: s.Session.Number}, nil)
					body(fold.SessionOpened{Number: s.Session.Number + 1}, nil)
				}
				e := fold.Experienced{Embedder: "test/1", Embedding: near1(r, dim), AlwaysCreate: true,
					Judgement: fold.Judgement{Assessor: "t", Intensity: 0.5, Emotion: 0.5, Guna: g}}
				e.ID[0], e.ID[15] = 1, 1
				body(e, s.Vectors.Nearest(e.Embedding, s.Params.Gate.Candidates, workers, nil))
			}
		})
	}
}

// What a session's opening costs: the greatest influences of the whole store.
func BenchmarkTop(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("impressions=%d", n), func(b *testing.B) {
			s, _ := grown(b, n, 8)
			for b.Loop() {
				if _, err := s.Top(12); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
