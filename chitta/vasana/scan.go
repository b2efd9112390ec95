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

// block is some consecutive rows, centred and perhaps sketched.
type block struct {
	width, wordsPerRow int
	rows               []float32
	words              []uint64
	sketches           []sketch
}

func newBlock(size, dim int) *block {
	b := &block{width: padded(dim)}
	b.wordsPerRow = sketchWords(b.width)
	b.rows = make([]float32, size*b.width)
	if sketchable {
		b.words = make([]uint64, size*b.wordsPerRow)
		b.sketches = make([]sketch, size)
	}
	return b
}

func (b *block) row(k int) []float32   { return b.rows[k*b.width : (k+1)*b.width] }
func (b *block) sketch(k int) []uint64 { return b.words[k*b.wordsPerRow : (k+1)*b.wordsPerRow] }

// fill centres the rows from start to stop and, where asked, sketches them.
func (b *block) fill(rows Rows, start, stop int, mean []float32, sketched, right bool) {
	for i := start; i < stop; i++ {
		row := b.row(i - start)
		centre(row, rows.Row(i), mean)
		if sketched {
			b.sketches[i-start] = sketchRow(b.sketch(i-start), row, right)
		}
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
		strip.fill(rows, start, stop, g.mean, sketched, false)
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
					last := min(first+chunkRows, stop)
					chunks[w].fill(rows, first, last, g.mean, sketched, true)
					hits[c] = nearPairs(strip, chunks[w], start, stop, first, last, g.threshold, sketched)
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

// nearPairs compares the rows start to stop with the rows first to last of the
// chunk and returns the near pairs i > j, ascending.
func nearPairs(strip, chunk *block, start, stop, first, last int, threshold float64, sketched bool) []pair {
	var hits []pair
	for i := max(start, first+1); i < stop; i++ {
		a := strip.row(i - start)
		for j := first; j < min(last, i); j++ {
			if sketched && !mayReach(strip.sketch(i-start), chunk.sketch(j-first),
				strip.sketches[i-start], chunk.sketches[j-first], strip.width, threshold) {
				continue
			}
			if float64(dot(a, chunk.row(j-first))) >= threshold {
				hits = append(hits, pair{i, j})
			}
		}
	}
	return hits
}

// scanSource does the work of scan with proposed neighbours, each checked.
func (g *Graph) scanSource(ctx context.Context, rows Rows, from int) ([][]uint32, error) {
	n, width := rows.Len(), padded(g.dim)
	found := make([][]uint32, n-from)
	a, b := make([]float32, width), make([]float32, width)
	for i := from; i < n; i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !centre(a, rows.Row(i), g.mean) {
			continue
		}
		for _, j := range g.source(i, g.threshold) {
			if j < 0 || j >= n || j == i || !centre(b, rows.Row(j), g.mean) || float64(dot(a, b)) < g.threshold {
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
