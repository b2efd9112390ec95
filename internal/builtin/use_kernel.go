package builtin

import "runtime"

const (
	// stepCols is how many columns of a matrix are worked off at once: so many of 128 tokens are
	// 256 KB, which the second-level cache of a small board holds while all rows pass by.
	stepCols = 512
	// stepWeights is how many weights are turned to floats at once: 16 KB, half the first-level cache.
	stepWeights = 4096
)

// view is a part of a row-major array: its row r begins at data[r*stride].
type view struct {
	data   []float32
	stride int
}

// from is the view without its first rows.
func (v view) from(row int) view { return view{v.data[row*v.stride:], v.stride} }

// row is the first n values of a row.
func (v view) row(r, n int) []float32 { return v.data[r*v.stride:][:n] }

// mul computes y[t] = w·x[t] + bias for n tokens, or adds that to y when accumulate is set.
//
// Weights are int8 in the blob. A few rows at a time are turned to floats, used for every token,
// and forgotten.
func (m *useModel) mul(y, x []float32, w *matrix, bias []float32, n int, s *useScratch, accumulate bool) {
	for t := range n {
		out := y[t*w.rows:][:w.rows]
		if !accumulate {
			copy(out, bias)
			continue
		}
		for i, b := range bias {
			out[i] += b
		}
	}
	for c := 0; c < w.cols; c += stepCols {
		cols := min(stepCols, w.cols-c)
		step := stepWeights / cols
		// Rows do not touch each other, so it makes no difference who works off which.
		s.share((w.rows+step-1)/step, n*step*cols, func(part int, unpacked []float32) {
			r := part * step
			rows := min(step, w.rows-r)
			for i := range rows {
				m.unpack(unpacked[i*cols:][:cols], w.w[(r+i)*w.cols+c:][:cols], w.scale[r+i])
			}
			m.addProduct(view{y[r:], w.rows}, view{x[c:], w.cols}, view{unpacked, cols}, n, rows, cols)
		})
	}
}

// addProduct adds w·xᵀ to y: n tokens (the rows of x and y) times rows of w, each of cols values.
// cols is a multiple of 8.
func (m *useModel) addProduct(y, x, w view, n, rows, cols int) {
	whole := 0
	if m.simd {
		whole = rows &^ 3
	}
	if n > 0 && whole > 0 {
		addTiles(y, x, w, n, whole, cols)
	}
	addPlain(y, x, w, n, whole, rows, cols)
}

// unpack turns one row of int8 weights to floats; their number is a multiple of 8.
func (m *useModel) unpack(dst []float32, w string, scale float32) {
	if m.simd && len(w) > 0 {
		unpackFast(dst, w, scale)
		return
	}
	table := m.floats // twice as fast as converting
	for len(dst) >= 8 && len(w) >= 8 {
		dst[0], dst[1], dst[2], dst[3] = table[w[0]]*scale, table[w[1]]*scale, table[w[2]]*scale, table[w[3]]*scale
		dst[4], dst[5], dst[6], dst[7] = table[w[4]]*scale, table[w[5]]*scale, table[w[6]]*scale, table[w[7]]*scale
		dst, w = dst[8:], w[8:]
	}
}

// pairRows says whether the registers hold two rows by four tokens (arm64: 32 of them). On amd64,
// with 16, the compiler spills, and one row by four tokens is half as fast again.
const pairRows = runtime.GOARCH == "arm64"

// addPlain is addProduct in plain Go for the rows from the r-th on, several rows and tokens at a
// time, so that each loaded value is used more than once and several sums run side by side.
func addPlain(y, x, w view, n, r, rows, cols int) {
	for ; pairRows && r+2 <= rows; r += 2 {
		w0, w1 := w.row(r, cols), w.row(r+1, cols)
		t := 0
		for ; t+4 <= n; t += 4 {
			sums := dot2x4(w0, w1, x.row(t, cols), x.row(t+1, cols), x.row(t+2, cols), x.row(t+3, cols))
			for i := range 4 {
				y.data[(t+i)*y.stride+r] += sums[i]
				y.data[(t+i)*y.stride+r+1] += sums[4+i]
			}
		}
		for ; t < n; t++ {
			in := x.row(t, cols)
			y.data[t*y.stride+r] += dotPlain(w0, in)
			y.data[t*y.stride+r+1] += dotPlain(w1, in)
		}
	}
	for ; r < rows; r++ {
		row := w.row(r, cols)
		t := 0
		for ; t+4 <= n; t += 4 {
			for i, sum := range dot1x4(row, x.row(t, cols), x.row(t+1, cols), x.row(t+2, cols), x.row(t+3, cols)) {
				y.data[(t+i)*y.stride+r] += sum
			}
		}
		for ; t < n; t++ {
			y.data[t*y.stride+r] += dotPlain(row, x.row(t, cols))
		}
	}
}

// dot1x4 returns the dot products of a row with four tokens. Inlined, it would lack registers for the loop.
//
//go:noinline
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
