package fold_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/reactivation"
)

// remindedPlainly is TopFor by its definition: every depth computed, everything
// sorted.
func remindedPlainly(s *fold.State, query []float32, k int) ([]fold.Ranked, error) {
	var pool []fold.Ranked
	for i := range s.Impressions {
		depth, err := s.Depth(i)
		if err != nil {
			return nil, err
		}
		if r := float64(depth * max(0, float64(fold.Dot(s.Vectors.Row(i), query)))); r > 0 {
			pool = append(pool, fold.Ranked{Index: i, Influence: r})
		}
	}
	slices.SortStableFunc(pool, func(a, b fold.Ranked) int { return cmp.Compare(b.Influence, a.Influence) })
	pool = pool[:min(len(pool), 8*k)]
	chosen := []fold.Ranked{}
	lambda := s.Params.Reactivation.MMR
	for len(pool) > 0 && len(chosen) < k {
		best, value := -1, 0.0
		for i, p := range pool {
			if slices.Contains(chosen, p) {
				continue
			}
			likeness := 0.0
			for _, c := range chosen {
				likeness = max(likeness, float64(fold.Dot(s.Vectors.Row(p.Index), s.Vectors.Row(c.Index))))
			}
			if v := float64(lambda*p.Influence/pool[0].Influence) - float64((1-lambda)*likeness); best < 0 || v > value {
				best, value = i, v
			}
		}
		if best < 0 {
			break
		}
		chosen = append(chosen, pool[best])
	}
	return chosen, nil
}

// mixedState has n impressions of few directions, depths and ages, so that many are
// alike in all of them, some without a vector and some that came to nothing.
func mixedState(t testing.TB, r *rand.Rand, n int) *fold.State {
	t.Helper()
	const dim = 16
	s := fold.NewState()
	s.Embedder, s.Dim, s.Vectors = "test/1", dim, fold.NewMatrix(dim)
	s.Session = fold.Session{Number: uint32(1 + r.IntN(2000)), Open: true, Sum: make([]float64, dim)}
	themes := make([][]float32, 1+r.IntN(300))
	for i := range themes {
		themes[i] = near1(r, dim)
		if r.IntN(4) == 0 { // turned away
			for d := range themes[i] {
				themes[i][d] = -themes[i][d]
			}
		}
	}
	strengths := []float64{0, math.SmallestNonzeroFloat64, 1e-9, 0.5, 1, 2, 40, 1e6, math.MaxFloat64}
	for i := range n {
		m := fold.Samskara{Reinforcement: strengths[r.IntN(len(strengths))], Guna: reactivation.Sattva(),
			Last: uint32(r.IntN(int(s.Session.Number) + 5)), Unplaced: r.IntN(20) == 0}
		if r.IntN(2) == 0 {
			m.Reinforcement = 3 * r.Float64()
		}
		m.ID[0], m.ID[1] = byte(i), byte(i>>8)
		s.Impressions = append(s.Impressions, m)
		if m.Unplaced {
			s.Vectors.AppendUnplaced()
			continue
		}
		if err := s.Vectors.Append(themes[r.IntN(len(themes))]); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestWhatIsRemindedIsWhatTheDefinitionSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		s := mixedState(t, r, rapid.SampledFrom([]int{0, 1, 40, 700, 3000}).Draw(rt, "impressions"))
		k := rapid.SampledFrom([]int{0, 1, 5, 12, 64}).Draw(rt, "k")
		query := near1(r, s.Dim)
		want, err := remindedPlainly(s, query, k)
		if err != nil {
			rt.Fatal(err)
		}
		if got, err := s.TopFor(query, k); err != nil || !slices.Equal(got, want) {
			rt.Fatalf("%v, %v; by the definition %v", got, err, want)
		}
	})
}

// A state that cannot be is refused for the same row, whoever meets it.
func TestWhatIsRemindedRefusesAsBefore(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, wrong := range []float64{-1, math.NaN(), math.Inf(1)} {
		s := mixedState(t, r, 4000)
		s.Impressions[1999].Reinforcement, s.Impressions[3500].Reinforcement = wrong, -2
		_, want := remindedPlainly(s, near1(r, s.Dim), 5)
		if _, err := s.TopFor(near1(r, s.Dim), 5); want == nil || fmt.Sprint(err) != want.Error() {
			t.Errorf("%v: %v, want %v", wrong, err, want)
		}
	}
}

// What it costs to be reminded of something.
func BenchmarkTopFor(b *testing.B) {
	s, r := grown(b, 10_000, 512)
	query := near1(r, 512)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.TopFor(query, 12); err != nil {
			b.Fatal(err)
		}
	}
}
