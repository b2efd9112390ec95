package builtin

import (
	"runtime"

	"github.com/viterin/vek/vek32"
)

// rowBudget is the size of the scratch for dequantised rows, in floats: with one token it fits
// a 32 KB first-level cache.
const rowBudget = 4 * useHidden

// rowStep is how many rows of cols weights are dequantised at once: 16 of 256, 8 of 512, 4 of
// 1536, which divides the rows of every matrix of the model.
func rowStep(cols int) int { return max(4, 4096/cols) }

// mul computes y[t] = w·x[t] + bias for n tokens, or adds that to y when accumulate is set.
//
// Weights are int8 in the blob. A few rows at a time are turned to floats, used for every token,
// and forgotten; the scale of a row is applied to the result, not to its weights.
func (m *useModel) mul(y, x []float32, w *matrix, bias []float32, n int, s *useScratch, accumulate bool) {
	rows, cols := w.rows, w.cols
	step := rowStep(cols)
	for r := 0; r < rows; r += step {
		block := s.rows[:step*cols]
		m.dequantise(block, w.w[r*cols:(r+step)*cols])
		if m.simd {
			mulSIMD(y[r:], x, block, w.scale[r:r+step], bias[r:r+step], rows, n, accumulate)
		} else {
			mulPlain(y[r:], x, block, w.scale[r:r+step], bias[r:r+step], rows, n, accumulate)
		}
	}
}

// dequantise turns int8 weights to floats by table: twice as fast as converting.
func (m *useModel) dequantise(dst []float32, w string) {
	table := m.floats
	for len(dst) >= 8 && len(w) >= 8 {
		dst[0], dst[1], dst[2], dst[3] = table[w[0]], table[w[1]], table[w[2]], table[w[3]]
		dst[4], dst[5], dst[6], dst[7] = table[w[4]], table[w[5]], table[w[6]], table[w[7]]
		dst, w = dst[8:], w[8:]
	}
}

func (m *useModel) dot(a, b []float32) float32 {
	if m.simd {
		return vek32.Dot(a, b)
	}
	return dotPlain(a, b)
}

// mulSIMD multiplies n tokens with a block of len(scale) rows through the AVX2 dot product.
// y is offset to the first row of the block; stride is the width of one token in y.
func mulSIMD(y, x, block, scale, bias []float32, stride, n int, accumulate bool) {
	cols := len(block) / len(scale)
	for t := range n {
		in, out := x[t*cols:(t+1)*cols], y[t*stride:][:len(scale)]
		for r := range scale {
			v := vek32.Dot(block[r*cols:(r+1)*cols], in)*scale[r] + bias[r]
			if accumulate {
				v += out[r]
			}
			out[r] = v
		}
	}
}

// pairRows says whether the registers hold two rows by four tokens (arm64: 32 of them). On amd64,
// with 16, the compiler spills, and one row by four tokens is half as fast again.
const pairRows = runtime.GOARCH == "arm64"

// mulPlain does the same in plain Go, several rows and tokens at a time, so that each loaded value
// is used more than once and several sums run side by side.
func mulPlain(y, x, block, scale, bias []float32, stride, n int, accumulate bool) {
	cols := len(block) / len(scale)
	put := func(t, r int, sum float32) {
		v := sum*scale[r] + bias[r]
		if accumulate {
			v += y[t*stride+r]
		}
		y[t*stride+r] = v
	}
	r := 0
	for ; pairRows && r+2 <= len(scale); r += 2 {
		w0, w1 := block[r*cols:(r+1)*cols], block[(r+1)*cols:(r+2)*cols]
		t := 0
		for ; t+4 <= n; t += 4 {
			sums := dot2x4(w0, w1, x[t*cols:], x[(t+1)*cols:], x[(t+2)*cols:], x[(t+3)*cols:])
			for i := range 4 {
				put(t+i, r, sums[i])
				put(t+i, r+1, sums[4+i])
			}
		}
		for ; t < n; t++ {
			in := x[t*cols : (t+1)*cols]
			put(t, r, dotPlain(w0, in))
			put(t, r+1, dotPlain(w1, in))
		}
	}
	for ; r < len(scale); r++ {
		row := block[r*cols : (r+1)*cols]
		t := 0
		for ; t+4 <= n; t += 4 {
			for i, sum := range dot1x4(row, x[t*cols:], x[(t+1)*cols:], x[(t+2)*cols:], x[(t+3)*cols:]) {
				put(t+i, r, sum)
			}
		}
		for ; t < n; t++ {
			put(t, r, dotPlain(row, x[t*cols:(t+1)*cols]))
		}
	}
}

// dot1x4 returns the dot products of a row with four tokens.
func dot1x4(w, x0, x1, x2, x3 []float32) [4]float32 {
	x0, x1, x2, x3 = x0[:len(w)], x1[:len(w)], x2[:len(w)], x3[:len(w)]
	var a0, a1, a2, a3 float32
	for i, u := range w {
		a0 += u * x0[i]
		a1 += u * x1[i]
		a2 += u * x2[i]
		a3 += u * x3[i]
	}
	return [4]float32{a0, a1, a2, a3}
}

// dot2x4 returns the dot products of two rows with four tokens, the first row's first. It is a
// function of its own so that the compiler has all registers for the loop.
func dot2x4(w0, w1, x0, x1, x2, x3 []float32) [8]float32 {
	w1, x0, x1, x2, x3 = w1[:len(w0)], x0[:len(w0)], x1[:len(w0)], x2[:len(w0)], x3[:len(w0)]
	var a0, a1, a2, a3, b0, b1, b2, b3 float32
	for i, u := range w0 {
		v, p, q, r, s := w1[i], x0[i], x1[i], x2[i], x3[i]
		a0 += u * p
		b0 += v * p
		a1 += u * q
		b1 += v * q
		a2 += u * r
		b2 += v * r
		a3 += u * s
		b3 += v * s
	}
	return [8]float32{a0, a1, a2, a3, b0, b1, b2, b3}
}

// dotPlain is the dot product in plain Go with four independent sums.
func dotPlain(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		p, q := a[i:i+4:i+4], b[i:i+4:i+4]
		s0 += p[0] * q[0]
		s1 += p[1] * q[1]
		s2 += p[2] * q[2]
		s3 += p[3] * q[3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}
