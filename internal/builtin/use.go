package builtin

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
)

// useBlob is the Universal Sentence Encoder lite, packed by usepack: pieces, then int8 weights
// with one float32 scale per row. A string, so that it stays in the read-only part of the binary,
// is paged in on use and can be dropped by the kernel under memory pressure.
//
//go:embed use.bin
var useBlob string

const (
	useDim      = 512 // width of the sentence vector and of the second layer
	useInputDim = 256 // width of the piece vectors and of the first layer
	useHidden   = 1536
	useHeads    = 4
	useTokens   = 128 // tokens the encoder reads at once
	useQueries  = 24  // of them that look for others at once: a multiple of what every kernel tiles
	useEpsilon  = 1e-6
)

// matrix is a weight matrix left in the blob: output r is scale[r]·Σ w[r][c]·x[c].
type matrix struct {
	rows, cols int
	scale      []float32
	w          string // rows*cols int8
}

// layer is one transformer layer (pre-norm attention, then a feed-forward net).
type layer struct {
	width                              int // of its attention
	attnScale, attnBias                []float32
	qkv, out, up, down                 matrix
	qkvBias, outBias, upBias, downBias []float32
	ffnScale, ffnBias                  []float32
	widen                              matrix // first layer: 256 → 512 on the residual path
	widenBias                          []float32
}

// useModel holds views into the blob and the small tables made from it. It is read-only after parseUSE.
type useModel struct {
	vocab  *vocabulary
	pieces matrix // one row per piece
	timing []float32
	layers [2]layer
	final  matrix
	finalB []float32
	floats *[256]float32 // int8 (as byte) → float32
	simd   bool          // use the kernels in assembly
}

// errBlob is what every fault of the packed model wraps.
var errBlob = errors.New("the built-in sentence encoder is damaged: rebuild it with scripts/build-use.sh")

// blobReader walks the packed file; the first fault sticks and every later read gives zeros.
type blobReader struct {
	b   string
	err error
}

func (r *blobReader) take(n int) string {
	if r.err != nil || n < 0 || n > len(r.b) {
		if r.err == nil {
			r.err = fmt.Errorf("%w: it ends %d bytes early", errBlob, n-len(r.b))
		}
		return ""
	}
	s := r.b[:n]
	r.b = r.b[n:]
	return s
}

func (r *blobReader) u32() uint32 {
	s := r.take(4)
	if s == "" {
		return 0
	}
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func (r *blobReader) f32() float32 { return math.Float32frombits(r.u32()) }

func (r *blobReader) floats(n int) []float32 {
	s := r.take(4 * n)
	v := make([]float32, len(s)/4)
	for i := range v {
		b := s[4*i : 4*i+4]
		v[i] = math.Float32frombits(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
	}
	return v
}

func (r *blobReader) vector(n int) []float32 {
	if got := int(r.u32()); got != n && r.err == nil {
		r.err = fmt.Errorf("%w: a vector has %d values, not %d", errBlob, got, n)
	}
	return r.floats(n)
}

func (r *blobReader) matrix(rows, cols int) matrix {
	gotRows, gotCols := int(r.u32()), int(r.u32())
	if (gotRows != rows || gotCols != cols) && r.err == nil {
		r.err = fmt.Errorf("%w: a matrix is %d×%d, not %d×%d", errBlob, gotRows, gotCols, rows, cols)
	}
	scale := r.floats(rows)
	return matrix{rows: rows, cols: cols, scale: scale, w: r.take(rows * cols)}
}

const (
	usePieces    = 8000
	usePieceRows = 8002 // the last two rows are never used
)

// parseUSE reads the packed model. Weights stay where they are; only scales, biases and the
// vocabulary (together under 1 MB) go to the heap.
func parseUSE(blob string) (*useModel, error) {
	r := &blobReader{b: blob}
	if r.take(4) != "USEL" {
		return nil, fmt.Errorf("%w: it does not begin with USEL", errBlob)
	}
	if n := int(r.u32()); n != usePieces {
		return nil, fmt.Errorf("%w: it has %d pieces, not %d", errBlob, n, usePieces)
	}
	m := &useModel{vocab: newVocabulary(usePieces), floats: new([256]float32), simd: hasSIMD()}
	for id := range usePieces {
		size := r.take(1)
		if size == "" {
			break
		}
		score := r.f32()
		text := r.take(int(size[0]))
		if r.err == nil && !m.vocab.add(id, text, score) {
			r.err = fmt.Errorf("%w: too many pieces for the table", errBlob)
		}
	}
	m.pieces = r.matrix(usePieceRows, useInputDim)
	m.timing = r.vector(useInputDim / 2)
	for i := range m.layers {
		l, in := &m.layers[i], useInputDim
		if i > 0 {
			in = useDim
		}
		l.width = in
		l.attnScale, l.attnBias = r.vector(in), r.vector(in)
		l.qkv, l.qkvBias = r.matrix(3*in, in), r.vector(3*in)
		l.out, l.outBias = r.matrix(useDim, in), r.vector(useDim)
		l.ffnScale, l.ffnBias = r.vector(useDim), r.vector(useDim)
		l.up, l.upBias = r.matrix(useHidden, useDim), r.vector(useHidden)
		l.down, l.downBias = r.matrix(useDim, useHidden), r.vector(useDim)
		if i == 0 {
			l.widen, l.widenBias = r.matrix(useDim, in), r.vector(useDim)
		}
	}
	m.final, m.finalB = r.matrix(useDim, useDim), r.vector(useDim)
	if r.err == nil && r.b != "" {
		r.err = fmt.Errorf("%w: %d bytes are left over", errBlob, len(r.b))
	}
	if r.err != nil {
		return nil, r.err
	}
	for i := range m.floats {
		m.floats[i] = float32(int8(i))
	}
	return m, nil
}
