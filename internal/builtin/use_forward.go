package builtin

import "math"

// useScratch is the working memory of one forward pass over at most useTokens tokens.
type useScratch struct {
	x       []float32 // residual stream, tokens × width
	x2      []float32 // the wider stream of the second layer
	norm    []float32 // layer-normed input; then the attention output
	h       []float32 // q|k|v, or the hidden units of the feed-forward net
	v       []float32 // values of one head, transposed
	p       []float32 // attention weights of one token
	rows    []float32 // dequantised weight rows
	mean    []float32 // mean hidden units
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
		p:      make([]float32, useTokens),
		rows:   make([]float32, rowBudget),
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
	for t, id := range ids {
		row := x[t*useInputDim : (t+1)*useInputDim]
		w := m.pieces.w[int(id)*useInputDim:][:useInputDim]
		scale := 2 * m.pieces.scale[id]
		for i := range row {
			row[i] = m.floats[w[i]] * scale
		}
		const half = useInputDim / 2
		for i, f := range m.timing {
			sin, cos := math.Sincos(float64(f) * float64(t))
			row[i] += float32(sin)
			row[half+i] += float32(cos)
		}
	}
}

// attend writes softmax(q·kᵀ/√d)·v of every head into y (tokens × width); h holds q|k|v per token.
func (m *useModel) attend(y, h []float32, width, n int, s *useScratch) {
	dim := width / useHeads
	scale := float32(1 / math.Sqrt(float64(dim)))
	padded := (n + 31) &^ 31 // the dot kernel is at its best on multiples of 32
	for head := range useHeads {
		q, k, v := h[head*dim:], h[width+head*dim:], h[2*width+head*dim:]
		for i := range dim {
			row := s.v[i*padded : (i+1)*padded]
			for t := range n {
				row[t] = v[t*3*width+i]
			}
			clear(row[n:])
		}
		p := s.p[:padded]
		clear(p)
		for a := range n {
			qa := q[a*3*width:][:dim]
			top := float32(math.Inf(-1))
			for c := range n {
				p[c] = m.dot(qa, k[c*3*width:][:dim]) * scale
				top = max(top, p[c])
			}
			var sum float32
			for c := range n {
				p[c] = float32(math.Exp(float64(p[c] - top)))
				sum += p[c]
			}
			out := y[a*width+head*dim:][:dim]
			for i := range out {
				out[i] = m.dot(p, s.v[i*padded:(i+1)*padded]) / sum
			}
		}
	}
}

// layerNorm writes (x−mean)/√(var+ε)·scale+bias of each of the n rows of x into y.
func layerNorm(y, x, scale, bias []float32, n int) {
	d := len(scale)
	bias = bias[:d]
	for t := range n {
		in, out := x[t*d:(t+1)*d], y[t*d:(t+1)*d]
		var sum float32
		for _, v := range in {
			sum += v
		}
		mean := sum / float32(d)
		var square float32
		for _, v := range in {
			square += (v - mean) * (v - mean)
		}
		r := float32(1 / math.Sqrt(float64(square/float32(d)+useEpsilon)))
		for i, v := range in {
			out[i] = (v-mean)*r*scale[i] + bias[i]
		}
	}
}

func rectify(x []float32) {
	for i, v := range x {
		x[i] = max(v, 0)
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
