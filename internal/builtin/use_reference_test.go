package builtin

import (
	"math"
	"strings"
)

// The reference: the same model, written as plainly as possible, with every weight a float32.
// The working code is tested and timed against it.

type refMatrix struct {
	r, c int
	w    []float32
}

type refLayer struct {
	ls, lb, qb, ob, fs, fb, b1, b2, db []float32
	qkv, o, w1, w2, d                  *refMatrix
}

type refToken struct {
	id    int
	score float32
}

type reference struct {
	m       *useModel
	tok     map[string]refToken
	longest int
	layers  [2]refLayer
	wf      *refMatrix
}

func newReference(m *useModel) *reference {
	ref := &reference{m: m, tok: map[string]refToken{}}
	r := &blobReader{b: useBlob[8:]}
	for id := range usePieces {
		size := int(r.take(1)[0])
		score := r.f32()
		text := r.take(size)
		if _, twice := ref.tok[text]; id >= firstPiece && !twice {
			ref.tok[text] = refToken{id, score}
			ref.longest = max(ref.longest, len([]rune(text)))
		}
	}
	wide := func(x *matrix) *refMatrix {
		if x.rows == 0 {
			return nil
		}
		w := make([]float32, x.rows*x.cols)
		for i := range w {
			w[i] = float32(int8(x.w[i])) * x.scale[i/x.cols]
		}
		return &refMatrix{x.rows, x.cols, w}
	}
	for i := range m.layers {
		l := &m.layers[i]
		ref.layers[i] = refLayer{ls: l.attnScale, lb: l.attnBias, qb: l.qkvBias, ob: l.outBias, fs: l.ffnScale, fb: l.ffnBias,
			b1: l.upBias, b2: l.downBias, db: l.widenBias, qkv: wide(&l.qkv), o: wide(&l.out), w1: wide(&l.up), w2: wide(&l.down), d: wide(&l.widen)}
	}
	ref.wf = wide(&m.final)
	return ref
}

// encode is the tokeniser; unlike the original it does not cut at 128. It also gives the log
// probability of that cut.
func (ref *reference) encode(s string) ([]int, float64) {
	r := []rune(wordMark + strings.ReplaceAll(s, " ", wordMark))
	n := len(r)
	best := make([]float64, n+1)
	type step struct{ from, id int }
	back := make([]step, n+1)
	for i := 1; i <= n; i++ {
		best[i] = -1e30
	}
	for i := range n {
		hit := false
		for j := i + 1; j <= n && j <= i+ref.longest; j++ {
			if e, ok := ref.tok[string(r[i:j])]; ok {
				hit = hit || j == i+1
				if v := best[i] + float64(e.score); v > best[j] {
					best[j], back[j] = v, step{i, e.id}
				}
			}
		}
		if v := best[i] - 20; !hit && v > best[i+1] {
			best[i+1], back[i+1] = v, step{i, 0}
		}
	}
	var ids []int
	for j := n; j > 0; j = back[j].from {
		if id := back[j].id; id != 0 || len(ids) == 0 || ids[len(ids)-1] != 0 {
			ids = append(ids, id)
		}
	}
	for a, z := 0, len(ids)-1; a < z; a, z = a+1, z-1 {
		ids[a], ids[z] = ids[z], ids[a]
	}
	return ids, best[n]
}

func (w *refMatrix) mul(x, b []float32, T int) []float32 {
	y := make([]float32, T*w.r)
	C := w.c
	for o := range w.r {
		row := w.w[o*C : (o+1)*C]
		t := 0
		for ; t+4 <= T; t += 4 {
			x0, x1, x2, x3 := x[t*C:(t+1)*C], x[(t+1)*C:(t+2)*C], x[(t+2)*C:(t+3)*C], x[(t+3)*C:(t+4)*C]
			x0, x1, x2, x3 = x0[:len(row)], x1[:len(row)], x2[:len(row)], x3[:len(row)]
			var a0, a1, a2, a3 float32
			for i, v := range row {
				a0 += v * x0[i]
				a1 += v * x1[i]
				a2 += v * x2[i]
				a3 += v * x3[i]
			}
			y[t*w.r+o], y[(t+1)*w.r+o], y[(t+2)*w.r+o], y[(t+3)*w.r+o] = a0+b[o], a1+b[o], a2+b[o], a3+b[o]
		}
		for ; t < T; t++ {
			xr := x[t*C : (t+1)*C][:len(row)]
			var a0, a1, a2, a3 float32
			for i := 0; i+4 <= len(row); i += 4 {
				a0 += row[i] * xr[i]
				a1 += row[i+1] * xr[i+1]
				a2 += row[i+2] * xr[i+2]
				a3 += row[i+3] * xr[i+3]
			}
			y[t*w.r+o] = a0 + a1 + a2 + a3 + b[o]
		}
	}
	return y
}

func refNorm(x, a, b []float32, T int) []float32 {
	d := len(a)
	y := make([]float32, len(x))
	for t := range T {
		r := x[t*d : (t+1)*d]
		var m, v float32
		for _, z := range r {
			m += z
		}
		m /= float32(d)
		for _, z := range r {
			v += (z - m) * (z - m)
		}
		s := 1 / float32(math.Sqrt(float64(v/float32(d)+1e-6)))
		for i, z := range r {
			y[t*d+i] = (z-m)*s*a[i] + b[i]
		}
	}
	return y
}

// vector runs the model over at most 128 ids.
func (ref *reference) vector(ids []int) []float32 {
	T := len(ids)
	x := make([]float32, T*256)
	for t, id := range ids {
		for i := range 256 {
			x[t*256+i] = 2 * float32(int8(ref.m.pieces.w[id*256+i])) * ref.m.pieces.scale[id]
		}
		for i, f := range ref.m.timing {
			si, co := math.Sincos(float64(f) * float64(t))
			x[t*256+i] += float32(si)
			x[t*256+128+i] += float32(co)
		}
	}
	for li := range ref.layers {
		l := &ref.layers[li]
		h := l.qkv.mul(refNorm(x, l.ls, l.lb, T), l.qb, T)
		D := l.qkv.r / 3
		dk := D / 4
		sc := float32(1 / math.Sqrt(float64(dk)))
		at := make([]float32, T*D)
		p := make([]float32, T)
		for hd := range 4 {
			for a := range T {
				q := h[a*3*D+hd*dk : a*3*D+(hd+1)*dk]
				mx := float32(-1e30)
				for c := range T {
					k := h[c*3*D+D+hd*dk:][:dk]
					var z float32
					for i := range q {
						z += q[i] * k[i]
					}
					z *= sc
					p[c] = z
					if z > mx {
						mx = z
					}
				}
				var sum float32
				for c := range p {
					p[c] = float32(math.Exp(float64(p[c] - mx)))
					sum += p[c]
				}
				o := at[a*D+hd*dk : a*D+(hd+1)*dk]
				for c := range p {
					w := p[c] / sum
					v := h[c*3*D+2*D+hd*dk:][:dk]
					for i := range o {
						o[i] += w * v[i]
					}
				}
			}
		}
		o := l.o.mul(at, l.ob, T)
		if l.d != nil {
			x = l.d.mul(x, l.db, T)
		}
		for i := range x {
			x[i] += o[i]
		}
		f := l.w1.mul(refNorm(x, l.fs, l.fb, T), l.b1, T)
		for i, v := range f {
			if v < 0 {
				f[i] = 0
			}
		}
		g := l.w2.mul(f, l.b2, T)
		for i := range x {
			x[i] += g[i]
		}
	}
	y := make([]float32, 512)
	for t := range T {
		for i := range y {
			y[i] += x[t*512+i] / float32(T)
		}
	}
	y = ref.wf.mul(y, ref.m.finalB, 1)
	var n float64
	for i, v := range y {
		y[i] = float32(math.Tanh(float64(v)))
		n += float64(y[i]) * float64(y[i])
	}
	for i := range y {
		y[i] /= float32(math.Sqrt(n))
	}
	return y
}
