package vasana

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// stripRows new rows are compared at a time with chunks of chunkRows rows;
// both blocks, centred, stay in a core's cache.
const (
	stripRows = 64
	chunkRows = 64
)

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
	width := padded(g.dim)
	workers := min(runtime.GOMAXPROCS(0), (n+chunkRows-1)/chunkRows)
	strip := make([]float32, stripRows*width)
	chunks := make([][]float32, workers)
	for w := range chunks {
		chunks[w] = make([]float32, chunkRows*width)
	}
	for start := from; start < n; start += stripRows {
		stop := min(start+stripRows, n)
		for i := start; i < stop; i++ {
			centre(strip[(i-start)*width:(i-start+1)*width], rows.Row(i), g.mean)
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
					hits[c] = g.scanChunk(rows, strip, start, stop, c*chunkRows, chunks[w])
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

// scanChunk compares the centred rows start to stop with the chunk that begins
// at row first and returns the near pairs i > j, ascending.
func (g *Graph) scanChunk(rows Rows, strip []float32, start, stop, first int, chunk []float32) []pair {
	width := padded(g.dim)
	last := min(first+chunkRows, stop)
	for j := first; j < last; j++ {
		centre(chunk[(j-first)*width:(j-first+1)*width], rows.Row(j), g.mean)
	}
	var hits []pair
	for i := max(start, first+1); i < stop; i++ {
		a := strip[(i-start)*width : (i-start+1)*width]
		for j := first; j < min(last, i); j++ {
			if float64(dot(a, chunk[(j-first)*width:(j-first+1)*width])) >= g.threshold {
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
