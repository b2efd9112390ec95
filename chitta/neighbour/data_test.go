package neighbour

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/jivad/jivad/chitta/fold"
)

func matrixOf(t testing.TB, rows [][]float32) *fold.Matrix {
	t.Helper()
	m := fold.NewMatrix(len(rows[0]))
	for i, r := range rows {
		if err := m.Append(r); err != nil {
			t.Fatalf("row %d: %v", i, err)
		}
	}
	return m
}

func randomUnit(r *rand.Rand, dim int) []float32 {
	return around(r, make([]float64, dim), 1)
}

// around returns a unit vector: centre plus noise of about the given length.
func around(r *rand.Rand, centre []float64, noise float64) []float32 {
	v := make([]float64, len(centre))
	var square float64
	for i := range v {
		v[i] = centre[i] + noise*r.NormFloat64()/math.Sqrt(float64(len(v)))
		square += v[i] * v[i]
	}
	unit := make([]float32, len(v))
	for i := range v {
		unit[i] = float32(v[i] / math.Sqrt(square))
	}
	return unit
}

// mixture draws rows from clusters whose sizes differ as those of real themes
// do (the k-th about 1/√k as big) and that have themes within: a row is its
// cluster's centre, plus one of its forty sub-centres, plus noise of its own, so
// that its nearest rows mean something.
func mixture(seed uint64, count, dim, clusters int, noise float64) [][]float32 {
	r := rand.New(rand.NewPCG(seed, 77))
	type cluster struct{ themes [][]float64 }
	all := make([]cluster, clusters)
	cumulated, total := make([]float64, clusters), 0.0
	for c := range all {
		centre := widen(randomUnit(r, dim))
		for range 40 {
			all[c].themes = append(all[c].themes, widen(around(r, centre, 0.6)))
		}
		total += 1 / math.Sqrt(float64(c+1))
		cumulated[c] = total
	}
	rows := make([][]float32, count)
	for i := range rows {
		c, at := 0, r.Float64()*total
		for c < clusters-1 && cumulated[c] < at {
			c++
		}
		rows[i] = around(r, all[c].themes[r.IntN(40)], noise)
	}
	return rows
}

func widen(v []float32) []float64 {
	w := make([]float64, len(v))
	for i, x := range v {
		w[i] = float64(x)
	}
	return w
}
