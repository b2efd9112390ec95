package builtin

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Both kernels against sums in float64, for every count of tokens modulo the block of four.
func TestKernelsAgree(t *testing.T) {
	both(t, func(t *testing.T, m *useModel) {
		rng := rand.New(rand.NewPCG(3, 4))
		s := newUSEScratch()
		l := &m.layers[0]
		for _, c := range []struct {
			w    *matrix
			bias []float32
		}{{&l.widen, l.widenBias}, {&l.up, l.upBias}, {&l.down, l.downBias}} {
			for _, n := range []int{1, 2, 3, 4, 5, 9} {
				for _, accumulate := range []bool{false, true} {
					x, y := make([]float32, n*c.w.cols), make([]float32, n*c.w.rows)
					for i := range x {
						x[i] = float32(rng.NormFloat64())
					}
					for i := range y {
						y[i] = float32(rng.NormFloat64())
					}
					want := make([]float64, len(y))
					for token := range n {
						for r := range c.w.rows {
							var sum float64
							for i := range c.w.cols {
								sum += float64(int8(c.w.w[r*c.w.cols+i])) * float64(x[token*c.w.cols+i])
							}
							want[token*c.w.rows+r] = sum*float64(c.w.scale[r]) + float64(c.bias[r])
							if accumulate {
								want[token*c.w.rows+r] += float64(y[token*c.w.rows+r])
							}
						}
					}
					m.mul(y, x, c.w, c.bias, n, s, accumulate)
					for i := range want {
						if !(math.Abs(float64(y[i])-want[i]) < 1e-4*(1+math.Abs(want[i]))) {
							t.Fatalf("%d×%d, %d tokens, accumulate %v: value %d is %v, want %v", c.w.rows, c.w.cols, n, accumulate, i, y[i], want[i])
						}
					}
				}
			}
		}
	})
}

func TestRowStepDividesEveryMatrix(t *testing.T) {
	m := newModel(t)
	all := []matrix{m.final}
	for _, l := range m.layers {
		all = append(all, l.qkv, l.out, l.up, l.down, l.widen)
	}
	for _, w := range all {
		if w.cols == 0 {
			continue // the second layer widens nothing
		}
		if step := rowStep(w.cols); w.rows%step != 0 || step%2 != 0 || step*w.cols > rowBudget || w.cols%8 != 0 {
			t.Errorf("%d×%d does not divide into steps of %d rows", w.rows, w.cols, step)
		}
	}
}

// The blocked dot products give the sums of the simple one, also where mul does not choose them.
func TestBlockedDotsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var v [6][]float32
	for i := range v {
		v[i] = make([]float32, 67)
		for k := range v[i] {
			v[i][k] = float32(rng.NormFloat64())
		}
	}
	one, two := dot1x4(v[0], v[2], v[3], v[4], v[5]), dot2x4(v[0], v[1], v[2], v[3], v[4], v[5])
	for i := range 4 {
		for r, got := range []float32{two[i], two[4+i], one[i]} {
			if want := dotPlain(v[r%2], v[2+i]); math.Abs(float64(got-want)) > 1e-4 {
				t.Errorf("row %d, token %d: %v, want %v", r, i, got, want)
			}
		}
	}
}
