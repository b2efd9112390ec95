package neighbour

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/jivad/jivad/chitta/fold"
)

const (
	// trainingRows bounds the sample on which the cells are trained.
	trainingRows = 20_000
	// iterations of k-means: the cells need not be optimal, only reasonable.
	iterations = 6
	// chunkRows is how much is assigned between two looks at the context.
	chunkRows = 256
)

// train returns count unit centroids for the listed rows (at least count of
// them) by spherical k-means. The result depends on its arguments alone, not on
// the number of workers: rows are assigned one by one, and sums run in row
// order.
func train(ctx context.Context, rows *fold.Matrix, live []uint32, count int, seed uint64, workers int) (*fold.Matrix, error) {
	random := rand.New(rand.NewPCG(seed, uint64(len(live))))
	sample := choose(random, live, max(trainingRows, count))
	centroids := fold.NewMatrix(rows.Dim())
	for _, r := range choose(random, sample, count) {
		if err := centroids.Append(rows.Row(int(r))); err != nil {
			return nil, err
		}
	}
	var before []uint32
	for range iterations {
		cell, similarity, err := assign(ctx, rows, sample, centroids, workers)
		if err != nil {
			return nil, err
		}
		if slices.Equal(cell, before) {
			break
		}
		if centroids, err = recentre(rows, sample, cell, similarity, centroids); err != nil {
			return nil, err
		}
		before = cell
	}
	return centroids, nil
}

// choose returns n of the rows (all where there are fewer) in rising order.
func choose(random *rand.Rand, rows []uint32, n int) []uint32 {
	if n >= len(rows) {
		return rows
	}
	deck := slices.Clone(rows)
	for i := range n {
		j := i + random.IntN(len(deck)-i)
		deck[i], deck[j] = deck[j], deck[i]
	}
	deck = deck[:n]
	slices.Sort(deck)
	return deck
}

// assign finds the nearest centroid of each listed row, the lower one among
// equals, and its similarity.
func assign(ctx context.Context, rows *fold.Matrix, list []uint32, centroids *fold.Matrix, workers int) ([]uint32, []float32, error) {
	cell := make([]uint32, len(list))
	similarity := make([]float32, len(list))
	work := func(from, to int) {
		for i := from; i < to; i++ {
			if (i-from)%chunkRows == 0 && ctx.Err() != nil {
				return
			}
			row, best := rows.Row(int(list[i])), float32(-2)
			for c := range centroids.Len() {
				if s := fold.Dot(row, centroids.Row(c)); s > best {
					best, cell[i] = s, uint32(c)
				}
			}
			similarity[i] = best
		}
	}
	workers = max(1, min(workers, len(list)/chunkRows))
	var wait sync.WaitGroup
	for w := 1; w < workers; w++ {
		wait.Go(func() { work(len(list)*w/workers, len(list)*(w+1)/workers) })
	}
	work(0, len(list)/workers)
	wait.Wait()
	return cell, similarity, ctx.Err()
}

// recentre moves each centroid to the direction of the mean of its rows. A
// centroid that lost all its rows takes the row that is worst off where it is.
func recentre(rows *fold.Matrix, list, cell []uint32, similarity []float32, old *fold.Matrix) (*fold.Matrix, error) {
	dim := rows.Dim()
	sums := make([]float64, old.Len()*dim)
	size := make([]int, old.Len())
	for i, r := range list {
		c := int(cell[i])
		size[c]++
		sum := sums[c*dim : (c+1)*dim]
		for d, x := range rows.Row(int(r)) {
			sum[d] += float64(x)
		}
	}
	var worst []int // places in list, the least similar row first; made when needed
	centroids := fold.NewMatrix(dim)
	for c := range old.Len() {
		next := old.Row(c)
		if size[c] == 0 {
			if worst == nil {
				worst = byRising(similarity)
			}
			next, worst = rows.Row(int(list[worst[0]])), worst[1:]
		} else if mean := unit(sums[c*dim : (c+1)*dim]); mean != nil {
			next = mean
		}
		if err := centroids.Append(next); err != nil {
			return nil, err
		}
	}
	return centroids, nil
}

// byRising returns the places of values, the smallest value first.
func byRising(values []float32) []int {
	places := make([]int, len(values))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int {
		switch {
		case values[a] < values[b]:
			return -1
		case values[a] > values[b]:
			return 1
		}
		return 0
	})
	return places
}

// unit scales a sum of unit vectors to unit length; nil where they cancelled
// out and left no direction.
func unit(sum []float64) []float32 {
	var square float64
	for _, x := range sum {
		square += float64(x * x)
	}
	if square < 1e-12 {
		return nil
	}
	scale := 1 / math.Sqrt(square)
	v := make([]float32, len(sum))
	for i, x := range sum {
		v[i] = float32(x * scale)
	}
	return v
}
