package vasana

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// stripRows new rows are compared at a time with chunks of chunkRows rows;
// both blocks, centred, stay in a core's caches.
const (
	stripRows = 256
	chunkRows = 32
)

// block is some consecutive rows, centred, with their sketches.
type block struct {
	dim, words int
	rows       []float32
	packed     []uint64
	sketches   []sketch
}

func newBlock(size, dim int) *block {
	words := sketchWords(dim)
	return &block{dim, words, make([]float32, size*dim), make([]uint64, size*words), make([]sketch, size)}
}

func (b *block) row(k int) []float32 { return b.rows[k*b.dim : (k+1)*b.dim] }
func (b *block) pack(k int) []uint64 { return b.packed[k*b.words : (k+1)*b.words] }

// fill centres the rows from start to stop.
func (b *block) fill(rows Rows, start, stop int, mean []float32) {
	for i := start; i < stop; i++ {
		centre(b.row(i-start), rows.Row(i), mean)
	}
}

// sketchAll sketches the first n rows for one side of a product.
func (b *block) sketchAll(n int, right bool) {
	for k := range n {
		b.sketches[k] = sketchRow(b.pack(k), b.row(k), right)
	}
}

// scan finds, for each row from `from` on, the near rows below it, ascending.
func (g *Graph) scan(ctx context.Context, rows Rows, from int) ([][]uint32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if g.source != nil {
		return g.scanSource(ctx, rows, from)
	}
	n := rows.Len()
	found := make([][]uint32, n-from)
	if from == n {
		return found, nil
	}
	workers := min(runtime.GOMAXPROCS(0), (n+chunkRows-1)/chunkRows)
	strip := newBlock(min(stripRows, n-from), g.dim)
	chunks := make([]*block, workers)
	for w := range chunks {
		chunks[w] = newBlock(chunkRows, g.dim)
	}
	for start := from; start < n; start += stripRows {
		stop := min(start+stripRows, n)
		sketched := sketchable && stop-start >= sketchFrom
		strip.fill(rows, start, stop, g.mean)
		if sketched {
			strip.sketchAll(stop-start, false)
		}
		// Chunks are shared out as workers come free; each writes its own
		// place, and they are joined in order, so that the number of workers
		// leaves no trace.
		hits := make([][]pair, (stop+chunkRows-1)/chunkRows)
		var next atomic.Int64
		var wait sync.WaitGroup
		for w := range workers {
			wait.Go(func() {
				for ctx.Err() == nil {
					c := int(next.Add(1)) - 1
					if c >= len(hits) {
						return
					}
					first := c * chunkRows
					t := tile{g, rows, strip, chunks[w], start, stop, first, min(first+chunkRows, stop)}
					if sketched {
						hits[c] = t.bySketch()
					} else {
						hits[c] = t.byLength()
					}
				}
			})
		}
		wait.Wait()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, list := range hits {
			for _, h := range list {
				found[h.i-from] = append(found[h.i-from], uint32(h.j))
			}
		}
	}
	return found, nil
}

type pair struct{ i, j int }

// tile is a strip of rows start to stop beside a chunk of rows first to last.
// Either way of comparing them gives the same pairs i > j, ascending: it rules
// out what cannot be near and decides about the rest by the same dot product.
type tile struct {
	g                        *Graph
	rows                     Rows
	strip, chunk             *block
	start, stop, first, last int
}

// bySketch is for many new rows: the chunk is centred and sketched once for
// all of them.
func (t tile) bySketch() (hits []pair) {
	t.chunk.fill(t.rows, t.first, t.last, t.g.mean)
	t.chunk.sketchAll(t.last-t.first, true)
	for i := max(t.start, t.first+1); i < t.stop; i++ {
		a, x := t.strip.pack(i-t.start), t.strip.sketches[i-t.start]
		for j := t.first; j < min(t.last, i); j++ {
			if mayReach(a, t.chunk.pack(j-t.first), x, t.chunk.sketches[j-t.first], t.g.dim, t.g.threshold) &&
				t.near(i, t.chunk.row(j-t.first)) {
				hits = append(hits, pair{i, j})
			}
		}
	}
	return hits
}

// byLength is for few new rows, and for machines without 64-bit registers:
// with x centred and of length 1, x·(y − mean) = x·y − x·mean, so the rows of
// the chunk need not be centred to rule them out; their centred lengths are
// known. The slack is more than ten times the error of either dot product.
func (t tile) byLength() (hits []pair) {
	const slack = 2e-5
	centred := t.chunk.row(0)
	for i := max(t.start, t.first+1); i < t.stop; i++ {
		x := t.strip.row(i - t.start)
		shift := float64(dot(x, t.g.mean))
		for j := t.first; j < min(t.last, i); j++ {
			y, length := t.rows.Row(j), float64(t.g.lengths[j])
			if length == 0 || float64(dot(x[:len(y)], y))-shift+slack < float64(t.g.threshold*length) {
				continue
			}
			centre(centred, y, t.g.mean)
			if t.near(i, centred) {
				hits = append(hits, pair{i, j})
			}
		}
	}
	return hits
}

func (t tile) near(i int, centred []float32) bool {
	return float64(dot(t.strip.row(i-t.start), centred)) >= t.g.threshold
}

// scanSource does the work of scan with proposed neighbours, each checked.
func (g *Graph) scanSource(ctx context.Context, rows Rows, from int) ([][]uint32, error) {
	n := rows.Len()
	found := make([][]uint32, n-from)
	a, b := make([]float32, g.dim), make([]float32, g.dim)
	for i := from; i < n; i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if centre(a, rows.Row(i), g.mean) == 0 {
			continue
		}
		for _, j := range g.source(i, g.threshold) {
			if j < 0 || j >= n || j == i || centre(b, rows.Row(j), g.mean) == 0 || float64(dot(a, b)) < g.threshold {
				continue
			}
			// A proposal of a later row belongs to that row.
			high, low := max(i, j), min(i, j)
			found[high-from] = append(found[high-from], uint32(low))
		}
	}
	for i := range found {
		slices.Sort(found[i])
		found[i] = slices.Compact(found[i])
	}
	return found, nil
}
