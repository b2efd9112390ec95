package main

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// sample is one text: what the heads read, what they should say, the fold
// that it is held out with, and how much it counts (0 stands for 1).
type sample struct {
	x      []float32
	y      []float64
	fold   int
	weight float64
}

// moments are the sums that ridge regression needs, kept for each fold so that
// leaving one out costs a subtraction.
type moments struct {
	inputs, outputs int // inputs without the constant
	xx              []*mat.Dense
	xy              []*mat.Dense
}

const batch = 1024

func gather(samples []sample, folds int) *moments {
	m := &moments{inputs: len(samples[0].x), outputs: len(samples[0].y)}
	n := m.inputs + 1
	for range folds {
		m.xx = append(m.xx, mat.NewDense(n, n, nil))
		m.xy = append(m.xy, mat.NewDense(n, m.outputs, nil))
	}
	for f := range folds {
		var part []sample
		flush := func() {
			if len(part) == 0 {
				return
			}
			x := mat.NewDense(len(part), n, nil)
			y := mat.NewDense(len(part), m.outputs, nil)
			for i, s := range part {
				scale := 1.0
				if s.weight > 0 {
					scale = math.Sqrt(s.weight)
				}
				for j, v := range s.x {
					x.Set(i, j, scale*float64(v))
				}
				x.Set(i, m.inputs, scale)
				for j, v := range s.y {
					y.Set(i, j, scale*v)
				}
			}
			var xx, xy mat.Dense
			xx.Mul(x.T(), x)
			xy.Mul(x.T(), y)
			m.xx[f].Add(m.xx[f], &xx)
			m.xy[f].Add(m.xy[f], &xy)
			part = part[:0]
		}
		for _, s := range samples {
			if s.fold == f {
				part = append(part, s)
			}
			if len(part) == batch {
				flush()
			}
		}
		flush()
	}
	return m
}

// solve gives the ridge weights, one column for each output and the constant
// in the last row, from all folds but the one left out (-1: from all). The
// penalty of an input is penalty(i); the constant has none.
func (m *moments) solve(leave int, penalty func(i int) float64) (*mat.Dense, error) {
	n := m.inputs + 1
	xx, xy := mat.NewDense(n, n, nil), mat.NewDense(n, m.outputs, nil)
	for f := range m.xx {
		if f != leave {
			xx.Add(xx, m.xx[f])
			xy.Add(xy, m.xy[f])
		}
	}
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			sym.SetSym(i, j, xx.At(i, j))
		}
	}
	for i := range m.inputs {
		sym.SetSym(i, i, sym.At(i, i)+penalty(i))
	}
	sym.SetSym(n-1, n-1, sym.At(n-1, n-1)+1e-9)
	var chol mat.Cholesky
	if !chol.Factorize(sym) {
		return nil, fmt.Errorf("the normal equations of %d inputs are singular", n)
	}
	var w mat.Dense
	if err := chol.SolveTo(&w, xy); err != nil {
		return nil, err
	}
	return &w, nil
}

// predict applies column o of the weights.
func predict(w *mat.Dense, x []float32, o int) float64 {
	n := len(x)
	sum := w.At(n, o)
	for i, v := range x {
		if v != 0 {
			sum += w.At(i, o) * float64(v)
		}
	}
	return sum
}
