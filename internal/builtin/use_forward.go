package builtin

import "math"

// useScratch is the working memory of one forward pass over at most useTokens tokens.
type useScratch struct {
	x       []float32   // residual stream, tokens × width
	x2      []float32   // the wider stream of the second layer
	norm    []float32   // layer-normed input; then the attention output
	h       []float32   // q|k|v, or the hidden units of the feed-forward net
	v       []float32   // values of one head, transposed
	p       []float32   // attention weights of useQueries tokens
	rows    []float32   // dequantised weight rows
	crew    *crew       // who may help; nil for nobody
	spare   [][]float32 // as rows, of each helper
	mean    []float32   // mean hidden units
	pooled  []float32
	lattice lattice
	toks    tokens
}

func newUSEScratch() *useScratch {
	return &useScratch{
		x:      make([]float32, useTokens*useInputDim),
		x2:     make([]float32, useTokens*useDim),
		norm:   make([]float32, useTokens*useDim),
		h:      make([]float32, useTokens*useHidden),
		v:      make([]float32, useTokens*useDim/useHeads),
		p:      make([]float32, useQueries*useTokens),
		rows:   make([]float32, stepWeights),
		mean:   make([]float32, useHidden),
		pooled: make([]float32, useDim),
	}
}

// encode writes the sentence vector (512, unit length) of 1 to useTokens piece ids into dst.
func (m *useModel) encode(ids []uint16, s *useScratch, dst []float32) {
	n := len(ids)
	m.lookUp(ids, s.x)
	x := s.x
	for i := range m.layers {
		l := &m.layers[i]
		layerNorm(s.norm, x, l.attnScale, l.attnBias, n)
		m.mul(s.h, s.norm, &l.qkv, l.qkvBias, n, s, false)
		m.attend(s.norm, s.h, l.width, n, s)
		if i == 0 {
			m.mul(s.x2, x, &l.widen, l.widenBias, n, s, false)
			x = s.x2
		}
		m.mul(x, s.norm, &l.out, l.outBias, n, s, true)
		layerNorm(s.norm, x, l.ffnScale, l.ffnBias, n)
		m.mul(s.h, s.norm, &l.up, l.upBias, n, s, false)
		rectify(s.h[:n*useHidden])
		if i == 0 {
			m.mul(x, s.h, &l.down, l.downBias, n, s, true)
			continue
		}
		// Only the mean over the tokens is wanted from here on, and what is left is linear:
		// take the mean first and multiply once instead of once per token.
		meanRows(s.mean, s.h, useHidden, n)
		meanRows(s.pooled, x, useDim, n)
		m.mul(s.pooled, s.mean, &l.down, l.downBias, 1, s, true)
	}
	m.mul(dst, s.pooled, &m.final, m.finalB, 1, s, false)
	var sum float64
	for i, v := range dst {
		t := math.Tanh(float64(v))
		dst[i] = float32(t)
		sum += t * t
	}
	scaleBy(dst, float32(1/math.Sqrt(sum)))
}

// lookUp fills x with twice the piece vectors plus the position signal: sines, then cosines.
func (m *useModel) lookUp(ids []uint16, x []float32) {
	const half = useInputDim / 2
	for i, f := range m.timing {
		// From token to token a wave turns by f. In float64, 128 turns lose nothing that a float32 shows.
		stepSin, stepCos := math.Sincos(float64(f))
		sin, cos := 0.0, 1.0
		for t := range ids {
			x[t*useInputDim+i], x[t*useInputDim+half+i] = float32(sin), float32(cos)
			sin, cos = sin*stepCos+cos*stepSin, cos*stepCos-sin*stepSin
		}
	}
	for t, id := range ids {
		row := x[t*useInputDim : (t+1)*useInputDim]
		w := m.pieces.w[int(id)*useInputDim:][:useInputDim]
		scale := 2 * m.pieces.scale[id]
		for i := range row {
			row[i] += m.floats[w[i]] * scale
		}
	}
}

// attend writes softmax(q·kᵀ/√d)·v of every head into y (tokens × width); h holds q|k|v per token.
func (m *useModel) attend(y, h []float32, width, n int, s *useScratch) {
	dim := width / useHeads
	scale := float32(1 / math.Sqrt(float64(dim)))
	padded := (n + 7) &^ 7
	for head := range useHeads {
		first := head * dim
		q, k, v := view{h[first:], 3 * width}, view{h[width+first:], 3 * width}, view{h[2*width+first:], 3 * width}
		turned := view{s.v, padded}
		for i := range dim {
			row := turned.row(i, padded)
			for t := range n {
				row[t] = v.data[t*v.stride+i]
			}
			clear(row[n:])
		}
		for a := 0; a < n; a += useQueries {
			count := min(useQueries, n-a)
			p, out := view{s.p, padded}, view{y[a*width+first:], width}
			clear(s.p[:count*padded])
			m.addProduct(p, q.from(a), k, count, n, dim)
			for i := range count {
				softmax(p.row(i, n), scale)
				clear(out.row(i, dim))
			}
			m.addProduct(out, p, turned, count, dim, padded)
		}
	}
}

// softmax turns x into the shares exp(scale·x)/Σ exp(scale·x).
func softmax(x []float32, scale float32) {
	top := float32(math.Inf(-1))
	for _, v := range x {
		if v > top {
			top = v
		}
	}
	for i, v := range x {
		x[i] = exp((v - top) * scale)
	}
	scaleBy(x, 1/sum(x))
}

// exp is the exponential of x ≤ 0 to six digits; below exp(−80) it is 0.
func exp(x float32) float32 {
	if x < -80 {
		return 0
	}
	n := int32(x*math.Log2E - 0.5)                // the nearest whole number of halvings
	const high, low = 0.693359375, -2.12194440e-4 // ln 2: n·high is exact
	r := x - float32(n)*high - float32(n)*low
	p := 1 + r*(1+r*(5.0000001201e-1+r*(1.6666665459e-1+r*(4.1665795894e-2+r*(8.3334519073e-3+r*1.3981999507e-3)))))
	return p * math.Float32frombits(uint32(n+127)<<23)
}

// layerNorm writes (x−mean)/√(var+ε)·scale+bias of each of the n rows of x into y.
func layerNorm(y, x, scale, bias []float32, n int) {
	d := len(scale)
	bias = bias[:d]
	for t := range n {
		in, out := x[t*d:][:d], y[t*d:][:d]
		mean := sum(in) / float32(d)
		for i, v := range in {
			out[i] = v - mean
		}
		r := float32(1 / math.Sqrt(float64(dotPlain(out, out)/float32(d)+useEpsilon)))
		for i, v := range out {
			out[i] = v*r*scale[i] + bias[i]
		}
	}
}

// sum adds in four strands: one would wait for every addition.
func sum(x []float32) float32 {
	var s0, s1, s2, s3 float32
	for ; len(x) >= 4; x = x[4:] {
		s0 += x[0]
		s1 += x[1]
		s2 += x[2]
		s3 += x[3]
	}
	for _, v := range x {
		s0 += v
	}
	return (s0 + s1) + (s2 + s3)
}

// rectify clears what is negative, by the sign bit: a branch would be guessed wrong half the time.
func rectify(x []float32) {
	for i, v := range x {
		b := math.Float32bits(v)
		x[i] = math.Float32frombits(b &^ uint32(int32(b)>>31))
	}
}

// meanRows writes the mean of the n rows of x (each d wide) into y.
func meanRows(y, x []float32, d, n int) {
	y = y[:d]
	clear(y)
	for t := range n {
		for i, v := range x[t*d : (t+1)*d] {
			y[i] += v
		}
	}
	scaleBy(y, 1/float32(n))
}

func scaleBy(x []float32, f float32) {
	for i := range x {
		x[i] *= f
	}
}
