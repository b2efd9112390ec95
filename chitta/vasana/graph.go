package vasana

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Rows are the embeddings of the store in the order of its impressions. Row i
// never changes once it is there; where rows were replaced, say so with
// [Graph.Truncate]. Row is called from several goroutines at once and the
// slice is neither kept nor written to.
//
// A row is a unit vector of length Dim, or empty where an impression has no
// place in this embedding: it is then near nothing.
type Rows interface {
	Len() int
	Dim() int
	Row(i int) []float32
}

// NeighbourSource proposes rows that may be near row i: those with a centred
// cosine of about threshold and more. Every proposal is checked exactly, so a
// source can only miss edges, never invent them. Rows out of range are ignored.
type NeighbourSource func(i int, threshold float64) []int

// Graph holds which rows are near in meaning. It is a pure function of the
// rows and the parameters, however it grew; with a NeighbourSource it is that
// function less the edges that the source missed. A Graph is used by one
// goroutine at a time.
type Graph struct {
	params Params
	source NeighbourSource

	dim       int
	frame     int       // how many rows define mean and threshold
	mean      []float32 // of the frame
	threshold float64

	// lengths are those of the centred rows; 0 where a row has no direction.
	lengths []float32

	// The near rows below row i are lower[ends[i-1]:ends[i]], ascending: each
	// edge is kept once, and a new row is appended.
	ends  []int
	lower []uint32
	// prints[i] depends on the rows 0 to i: it tells a stored graph whether
	// the rows it meets are the ones it was made from.
	prints []uint64
	// loaded is set until the rows of a stored graph were checked.
	loaded bool
}

// NewGraph returns an empty graph. Parameters are checked by Update.
func NewGraph(p Params) *Graph { return &Graph{params: p} }

// UseSource makes Update ask source for neighbours instead of comparing every
// pair, for very large stores; nil goes back to exact. The graph starts anew.
func (g *Graph) UseSource(source NeighbourSource) {
	g.source = source
	g.reset()
}

// Len is how many rows the graph covers.
func (g *Graph) Len() int { return len(g.ends) }

// Edges is how many pairs of rows are near.
func (g *Graph) Edges() int { return len(g.lower) }

// Threshold is the centred cosine from which two rows are near; 0 before the
// first Update.
func (g *Graph) Threshold() float64 { return g.threshold }

// Frame is how many of the first rows define mean and threshold.
func (g *Graph) Frame() int { return g.frame }

// Near calls yield with every pair of near rows, i > j, in ascending order.
func (g *Graph) Near(yield func(i, j int) bool) {
	for i := range g.ends {
		for _, j := range g.below(i) {
			if !yield(i, int(j)) {
				return
			}
		}
	}
}

// below returns the near rows before row i, ascending.
func (g *Graph) below(i int) []uint32 {
	start := 0
	if i > 0 {
		start = g.ends[i-1]
	}
	return g.lower[start:g.ends[i]]
}

func (g *Graph) reset() { *g = Graph{params: g.params, source: g.source} }

// Truncate drops what depends on rows from n on, because they were removed or
// replaced. When the frame reached beyond n that is everything.
func (g *Graph) Truncate(n int) {
	switch {
	case n >= g.Len():
	case n < g.frame || n <= 0:
		g.reset()
	default:
		// Clipped, so that what is appended next goes to a place of its own and
		// an Update that fails can leave the graph as it was.
		g.ends = g.ends[:n:n]
		g.lower = slices.Clip(g.lower[:g.ends[n-1]])
		g.prints = g.prints[:n:n]
		g.lengths = g.lengths[:min(n, len(g.lengths)):min(n, len(g.lengths))]
	}
}

// Update brings the graph to rows.Len(). On an error, a cancelled context
// among them, the graph stays as it was. Invalid rows are ErrDimension,
// ErrNotFinite, ErrZero or ErrNotUnit; parameters out of range ErrParams.
func (g *Graph) Update(ctx context.Context, rows Rows) error {
	if err := g.params.Validate(); err != nil {
		return err
	}
	n := rows.Len()
	if uint64(n) > math.MaxUint32 || rows.Dim() < 1 {
		return &Error{Op: "update graph", What: fmt.Sprintf("%d rows of dimension %d", n, rows.Dim()), Err: ErrDimension}
	}
	next := *g // worked on apart, so that a failure leaves g untouched
	if next.dim != rows.Dim() {
		next.reset()
		next.dim = rows.Dim()
	}
	if next.loaded {
		next.adopt(rows)
	}
	next.Truncate(n)
	next.dim = rows.Dim()
	if err := next.admit(rows); err != nil {
		return err
	}
	from := len(next.ends)
	if f := frameSize(n); f != next.frame {
		from = 0
		next.frame = f
		next.mean = meanOf(rows, f)
		next.ends, next.lower, next.lengths = nil, nil, nil
	}
	next.measure(rows)
	if from == 0 {
		next.threshold = thresholdOf(rows, next.frame, next.mean, next.lengths, next.params)
	}
	found, err := next.scan(ctx, rows, from)
	if err != nil {
		return err
	}
	for _, near := range found {
		next.lower = append(next.lower, near...)
		next.ends = append(next.ends, len(next.lower))
	}
	*g = next
	return nil
}

// admit checks the rows that were not seen before and takes their prints.
func (g *Graph) admit(rows Rows) error {
	for i := len(g.prints); i < rows.Len(); i++ {
		row := rows.Row(i)
		if err := checkRow(i, row, rows.Dim()); err != nil {
			return err
		}
		g.prints = append(g.prints, printOf(g.lastPrint(i), row))
	}
	return nil
}

// measure takes the centred lengths of the rows that have none yet.
func (g *Graph) measure(rows Rows) {
	scratch := make([]float32, g.dim)
	for i := len(g.lengths); i < rows.Len(); i++ {
		g.lengths = append(g.lengths, float32(centre(scratch, rows.Row(i), g.mean)))
	}
}

// adopt keeps of a stored graph what was made from exactly these rows.
func (g *Graph) adopt(rows Rows) {
	g.loaded = false
	i := 0
	for i < min(len(g.prints), rows.Len()) && g.prints[i] == printOf(g.lastPrint(i), rows.Row(i)) {
		i++
	}
	g.Truncate(i)
	if g.frame > 0 {
		g.mean = meanOf(rows, g.frame)
	}
}

func (g *Graph) lastPrint(i int) uint64 {
	if i == 0 {
		return 0
	}
	return g.prints[i-1]
}

// printOf mixes a row into the print of the rows before it. It guards against
// a cache that belongs to other rows, not against an adversary.
func printOf(before uint64, row []float32) uint64 {
	const prime = 0x9E3779B97F4A7C15
	a, b := before^prime, uint64(len(row))
	k := 0
	for ; k+2 <= len(row); k += 2 {
		a = (a ^ uint64(math.Float32bits(row[k]))) * prime
		b = (b ^ uint64(math.Float32bits(row[k+1]))) * prime
		a ^= a >> 29
		b ^= b >> 31
	}
	for ; k < len(row); k++ {
		a = (a ^ uint64(math.Float32bits(row[k]))) * prime
	}
	a ^= b * prime
	return a ^ a>>32
}

// unitTolerance is how far from 1 the length of a row may be: room for rows
// that went through int8 or a text format.
const unitTolerance = 0.02

// checkRow refuses what is not a unit vector of the right length. An empty row
// is an impression without a place.
func checkRow(i int, row []float32, dim int) error {
	if len(row) == 0 {
		return nil
	}
	fail := func(what string, err error) error {
		return &Error{Op: "update graph", What: fmt.Sprintf("row %d %s", i, what), Hint: "embed that impression again", Err: err}
	}
	if len(row) != dim {
		return fail(fmt.Sprintf("has %d numbers, the store %d", len(row), dim), ErrDimension)
	}
	length := math.Sqrt(squares(row))
	switch {
	case math.IsNaN(length) || math.IsInf(length, 0):
		return fail("holds NaN or infinity", ErrNotFinite)
	case length == 0:
		return fail("is zero", ErrZero)
	case math.Abs(length-1) > unitTolerance:
		return fail(fmt.Sprintf("has length %.4g", length), ErrNotUnit)
	}
	return nil
}
