package builtin

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// The product of a matrix and some tokens against sums in float64.
func TestMulIsExactEnough(t *testing.T) {
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

// Any number of tokens and rows, rows that lie apart: both ways to compute a product give its sums,
// and touch nothing else. Between the rows is NaN, which would show in every sum that took it in.
func TestProductsAreExactEnough(t *testing.T) {
	both(t, func(t *testing.T, m *useModel) {
		rapid.Check(t, func(t *rapid.T) {
			n, rows := rapid.IntRange(0, 30).Draw(t, "tokens"), rapid.IntRange(0, 30).Draw(t, "rows")
			cols := 8 * rapid.IntRange(1, 80).Draw(t, "columns/8")
			rng := rand.New(rand.NewPCG(7, rapid.Uint64().Draw(t, "seed")))
			gap := rapid.IntRange(0, 9)
			array := func(rows, cols int, name string) view {
				v := view{stride: cols + gap.Draw(t, name)}
				v.data = make([]float32, rows*v.stride+1) // the last is nobody's either
				for i := range v.data {
					v.data[i] = float32(math.NaN())
					if i%v.stride < cols && i < rows*v.stride {
						v.data[i] = float32(rng.NormFloat64())
					}
				}
				return v
			}
			x, w, y := array(n, cols, "gap of x"), array(rows, cols, "gap of w"), array(n, rows+1, "gap of y")
			before := append([]float32(nil), y.data...)
			m.addProduct(y, x, w, n, rows, cols)
			for i, got := range y.data {
				token, r := i/y.stride, i%y.stride
				if token == n || r >= rows {
					if math.Float32bits(got) != math.Float32bits(before[i]) {
						t.Fatalf("token %d, row %d of %d × %d was overwritten by %v", token, r, n, rows, got)
					}
					continue
				}
				want, size := float64(before[i]), math.Abs(float64(before[i]))
				for c := range cols {
					term := float64(x.data[token*x.stride+c]) * float64(w.data[r*w.stride+c])
					want, size = want+term, size+math.Abs(term)
				}
				// No order of cols additions errs by more; a term left out does.
				if bound := float64(cols+1) * size * 0x1p-24; !(math.Abs(float64(got)-want) <= bound) {
					t.Fatalf("token %d, row %d: %v, want %v", token, r, got, want)
				}
			}
		})
	})
}

// What the matrices of the model are: the kernels count on it.
func TestColumnsComeInEights(t *testing.T) {
	m := newModel(t)
	all := []matrix{m.pieces, m.final}
	for _, l := range m.layers {
		all = append(all, l.qkv, l.out, l.up, l.down, l.widen)
	}
	for _, w := range all {
		if w.cols%8 != 0 || w.cols > stepCols && w.cols%stepCols != 0 {
			t.Errorf("a matrix of %d×%d", w.rows, w.cols)
		}
	}
}

// Every weight becomes itself times the scale, and nothing behind the last is written.
func TestUnpack(t *testing.T) {
	both(t, func(t *testing.T, m *useModel) {
		all := make([]byte, 256)
		for i := range all {
			all[i] = byte(i)
		}
		for n := 0; n <= len(all); n += 8 {
			w, dst := string(all[len(all)-n:]), make([]float32, n+8)
			m.unpack(dst[:n], w, 0.3)
			for i, got := range dst {
				want := float32(0)
				if i < n {
					want = float32(int8(w[i])) * 0.3
				}
				if got != want {
					t.Fatalf("weight %d of %d became %v, want %v", i, n, got, want)
				}
			}
		}
	})
}

func TestExp(t *testing.T) {
	for x := float32(0); x >= -80; x -= 0.00123 {
		if got, want := float64(exp(x)), math.Exp(float64(x)); !(math.Abs(got-want) <= 5e-7*want) {
			t.Fatalf("exp(%v) is %v, want %v", x, got, want)
		}
	}
	if exp(0) != 1 || exp(-80.1) != 0 || exp(float32(math.Inf(-1))) != 0 {
		t.Errorf("exp(0), exp(-80.1), exp(-∞) are %v, %v, %v", exp(0), exp(-80.1), exp(float32(math.Inf(-1))))
	}
}

// The waves that turn from token to token are those of the position.
func TestLookUp(t *testing.T) {
	m := newModel(t)
	ids, x := make([]uint16, useTokens), make([]float32, useTokens*useInputDim)
	for i := range ids {
		ids[i] = uint16(i * 61)
	}
	m.lookUp(ids, x)
	for i, got := range x {
		token, c := i/useInputDim, i%useInputDim
		wave := math.Sin
		if c >= useInputDim/2 {
			wave = math.Cos
		}
		id := int(ids[token])
		piece := 2 * float64(int8(m.pieces.w[id*useInputDim+c])) * float64(m.pieces.scale[id])
		if want := piece + wave(float64(m.timing[c%(useInputDim/2)])*float64(token)); !(math.Abs(float64(got)-want) < 1e-6*(1+math.Abs(piece))) {
			t.Fatalf("token %d, place %d: %v, want %v", token, c, got, want)
		}
	}
}

func TestRectify(t *testing.T) {
	x := []float32{-1, 2, float32(math.Copysign(0, -1)), 0, float32(math.Inf(-1)), 1e-45, -1e-45}
	rectify(x)
	for i, want := range []float32{0, 2, 0, 0, 0, 1e-45, 0} {
		if x[i] != want {
			t.Errorf("value %d is %v, want %v", i, x[i], want)
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
