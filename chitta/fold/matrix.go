package fold

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// What can be wrong with a vector; a *VectorError wraps one of them.
var (
	ErrDimension  = errors.New("wrong dimension")
	ErrNotFinite  = errors.New("not finite")
	ErrZeroVector = errors.New("zero vector")
	ErrNotUnit    = errors.New("not of unit length")
)

// unitTolerance is how far from 1 the length of a vector may be. Float32
// embedders are within 1e-6; half-precision ones within about 5e-4.
const unitTolerance = 1e-3

// VectorError says why a vector was refused.
type VectorError struct {
	// Kind is one of ErrDimension, ErrNotFinite, ErrZeroVector, ErrNotUnit.
	Kind error
	// Got and Want are the two dimensions.
	Got, Want int
	// Position is the first component that is not finite; 0 for the other kinds.
	Position int
	// Norm is the length of the vector where it could be computed.
	Norm float64
}

// Error implements error.
func (e *VectorError) Error() string {
	switch e.Kind {
	case ErrDimension:
		return fmt.Sprintf("vector of dimension %d where %d is needed: was it made by another embedder?", e.Got, e.Want)
	case ErrNotFinite:
		return fmt.Sprintf("vector component %d is not a finite number: the embedder gave a broken vector", e.Position)
	case ErrZeroVector:
		return "the vector is zero and points nowhere: the embedder found nothing in the text"
	default:
		return fmt.Sprintf("vector of length %.6g where 1 is needed: normalise it before storing", e.Norm)
	}
}

// Unwrap lets errors.Is find the kind.
func (e *VectorError) Unwrap() error { return e.Kind }

// CheckVector returns nil for a finite vector of dimension dim whose length is
// 1 to within 1e-3, and a *VectorError for any other.
func CheckVector(v []float32, dim int) error {
	if len(v) != dim {
		return &VectorError{Kind: ErrDimension, Got: len(v), Want: dim}
	}
	// Squares of float32 values cannot overflow a float64, so the sum is finite
	// exactly when every component is.
	var sum float64
	for _, x := range v {
		sum += float64(float64(x) * float64(x))
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return &VectorError{Kind: ErrNotFinite, Got: dim, Want: dim, Position: firstNotFinite(v)}
	}
	if sum == 0 {
		return &VectorError{Kind: ErrZeroVector, Got: dim, Want: dim}
	}
	if norm := math.Sqrt(sum); math.Abs(norm-1) > unitTolerance {
		return &VectorError{Kind: ErrNotUnit, Got: dim, Want: dim, Norm: norm}
	}
	return nil
}

func firstNotFinite(v []float32) int {
	for i, x := range v {
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return i
		}
	}
	return 0
}

const (
	// blockRows is the number of rows of a full block, half a megabyte at 512
	// dimensions: long enough for the memory to stream, short enough that the
	// unused end of the last block does not matter.
	blockRows = 256
	// firstRows is the room that a block begins with; it doubles up to
	// blockRows, so that a store of ten rows costs about ten rows.
	firstRows = 8
)

// Matrix holds unit vectors of one dimension, row by row, in blocks, so that
// it grows without copying more than one block. Rows never change once
// appended. A row may be without a vector: it keeps its number and is near
// nothing.
//
// Reading is safe from many goroutines, but not beside Append: whoever reads
// while another appends takes a Prefix first, which nothing changes.
type Matrix struct {
	dim  int
	rows int
	// blocks are all full but the last. A block is only ever written behind its
	// length, and a Prefix has no capacity there.
	blocks [][]float32
	// unplaced are the rows without a vector, rising; zeros stand in their blocks.
	unplaced []uint32
}

// NewMatrix returns an empty matrix for vectors of dimension dim (≥ 1).
func NewMatrix(dim int) *Matrix { return &Matrix{dim: max(dim, 0)} }

// Dim returns the number of components of a row.
func (m *Matrix) Dim() int { return m.dim }

// Len returns the number of rows.
func (m *Matrix) Len() int { return m.rows }

// Placed returns the number of rows that have a vector.
func (m *Matrix) Placed() int { return m.rows - len(m.unplaced) }

// Unplaced tells whether row i has no vector.
func (m *Matrix) Unplaced(i int) bool {
	if len(m.unplaced) == 0 {
		return false
	}
	_, found := slices.BinarySearch(m.unplaced, uint32(i))
	return found
}

// Row returns row i, 0 ≤ i < Len, without copying. It must not be written. It
// is nil where the row has no vector.
func (m *Matrix) Row(i int) []float32 {
	if i < 0 || i >= m.rows {
		panic(fmt.Sprintf("fold: row %d of a matrix of %d rows", i, m.rows))
	}
	if m.Unplaced(i) {
		return nil
	}
	return m.row(i)
}

func (m *Matrix) row(i int) []float32 {
	start := i % blockRows * m.dim
	return m.blocks[i/blockRows][start : start+m.dim : start+m.dim]
}

// Append copies v into a new last row. It refuses, with a *VectorError, what
// CheckVector refuses, and leaves the matrix as it was.
func (m *Matrix) Append(v []float32) error {
	if err := CheckVector(v, m.dim); err != nil {
		return err
	}
	m.push(v)
	return nil
}

// AppendUnplaced adds a last row that has no vector.
func (m *Matrix) AppendUnplaced() {
	m.unplaced = append(m.unplaced, uint32(m.rows))
	m.push(make([]float32, m.dim))
}

func (m *Matrix) push(v []float32) {
	last := len(m.blocks) - 1
	if last < 0 || len(m.blocks[last]) == blockRows*m.dim {
		room := firstRows
		if last >= 0 {
			room = blockRows
		}
		m.blocks = append(m.blocks, make([]float32, 0, room*m.dim))
		last++
	}
	block := m.blocks[last]
	if len(block) == cap(block) {
		room := min(max(firstRows, 2*len(block)/m.dim), blockRows)
		block = append(make([]float32, 0, room*m.dim), block...)
	}
	m.blocks[last] = append(block, v...)
	m.rows++
}

// Prefix returns a matrix of the first n rows (all of them where there are
// fewer). Both share the memory of these rows, and a later Append to one is
// never seen by the other.
func (m *Matrix) Prefix(n int) *Matrix {
	n = min(max(n, 0), m.rows)
	p := &Matrix{dim: m.dim, rows: n}
	lost, _ := slices.BinarySearch(m.unplaced, uint32(n))
	p.unplaced = m.unplaced[:lost:lost]
	count := (n + blockRows - 1) / blockRows
	// The copy and its exact capacity keep an append to the one list of blocks
	// out of the other; the same holds for the cut last block.
	p.blocks = append(make([][]float32, 0, count), m.blocks[:count]...)
	if count > 0 {
		end := (n - (count-1)*blockRows) * m.dim
		p.blocks[count-1] = p.blocks[count-1][:end:end]
	}
	return p
}
