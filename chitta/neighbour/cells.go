package neighbour

import (
	"context"
	"math/rand"
	"slices"
	"time"

	"github.com/coder/hnsw"

	"github.com/jivad/jivad/chitta/fold"
)

// cells is the coarse level: centroids, and which rows belong to each. Once
// readers can see it, it never changes; withRows and upTo make new ones.
type cells struct {
	centroids *fold.Matrix
	// graph finds centroids, and ask is how many it is asked for; nil and 0
	// where all centroids are scanned instead.
	graph *hnsw.Graph[uint64]
	ask   int
	// probes is how many cells a query for ten rows scans.
	probes int
	// lists holds the rows of each cell in rising order.
	lists [][]uint32
	// trainedOn is the number of rows that the store had at training.
	trainedOn int
}

const (
	// graphM is the number of edges per centroid.
	graphM = 32
	// centroidRecall is how much of the wanted centroids the graph must find.
	centroidRecall = 0.995
	// coarseSample is the number of queries by which graph and scan are compared.
	coarseSample = 50
)

// newCells returns empty cells round the centroids.
func newCells(centroids *fold.Matrix, trainedOn int) *cells {
	return &cells{
		centroids: centroids,
		probes:    1,
		lists:     make([][]uint32, centroids.Len()),
		trainedOn: trainedOn,
	}
}

// buildGraph puts the centroids into a graph. The library panics or answers
// nonsense on repeated keys, deletions, unequal dimensions and zero vectors:
// here each centroid is added once under its own number, fold.Matrix has
// checked and copied every vector, and nothing is ever deleted or added later.
func buildGraph(centroids *fold.Matrix, seed uint64) *hnsw.Graph[uint64] {
	graph := hnsw.NewGraph[uint64]()
	graph.Distance = func(a, b []float32) float32 { return 1 - fold.Dot(a, b) }
	graph.Rng = rand.New(rand.NewSource(int64(seed)))
	graph.M = graphM
	graph.EfSearch = max(64, centroids.Len())
	for i := range centroids.Len() {
		graph.Add(hnsw.MakeNode(uint64(i), slices.Clone(centroids.Row(i))))
	}
	return graph
}

// nearest returns the want nearest centroids, nearest first. The query has been
// checked by the caller.
func (c *cells) nearest(query []float32, want int) []fold.Candidate {
	if want <= c.ask {
		if found := c.throughGraph(query, want, c.ask); found != nil {
			return found
		}
	}
	return c.centroids.Nearest(query, want, 1, nil)
}

// throughGraph asks the graph for so many centroids and takes the best of them
// by exact similarity; nil where it found too few.
func (c *cells) throughGraph(query []float32, want, ask int) []fold.Candidate {
	nodes := c.graph.Search(query, ask)
	if len(nodes) < want {
		return nil
	}
	found := make([]uint32, len(nodes))
	for i, node := range nodes {
		found[i] = uint32(node.Key)
	}
	// The library returns its finds unsorted.
	return c.centroids.NearestAmong(query, want, nil, found)
}

// chooseCoarse decides how centroids are found. The graph is asked for as many
// as it takes to find the wanted ones; the library keeps its finds in a heap
// from which it drops the wrong ones, so that this is often all of them.
// Unless it is forced, the graph must also be faster than scanning them.
func (c *cells) chooseCoarse(queries [][]float32, seed uint64, forced bool, now func() time.Time) {
	c.graph = buildGraph(c.centroids, seed)
	for _, ask := range []int{2 * c.probes, 4 * c.probes, c.centroids.Len()} {
		c.ask = min(ask, c.centroids.Len())
		recall, faster := c.compareCoarse(queries, now)
		if recall < centroidRecall {
			continue
		}
		if forced || faster {
			return
		}
		break
	}
	c.graph, c.ask = nil, 0
}

// compareCoarse returns the share of the wanted centroids that the graph finds,
// and whether it takes less time than their scan.
func (c *cells) compareCoarse(queries [][]float32, now func() time.Time) (recall float64, faster bool) {
	var graph, scan time.Duration
	good, all := 0, 0
	for _, q := range queries {
		start := now()
		found := c.throughGraph(q, c.probes, c.ask)
		between := now()
		exact := c.centroids.Nearest(q, c.probes, 1, nil)
		end := now()
		graph, scan = graph+between.Sub(start), scan+end.Sub(between)
		all += len(exact)
		for i, j := 0, 0; i < len(found) && j < len(exact); j++ {
			if found[i] == exact[j] { // both are in one order
				good, i = good+1, i+1
			}
		}
	}
	return float64(good) / float64(max(all, 1)), graph < scan
}

// withRows returns the cells with the listed rows, which are in rising order
// and above all rows there, assigned to the nearest centroids.
func (c *cells) withRows(ctx context.Context, rows *fold.Matrix, list []uint32, workers int) (*cells, error) {
	cell, _, err := assign(ctx, rows, list, c.centroids, workers)
	if err != nil {
		return nil, err
	}
	next := *c
	next.lists = slices.Clone(c.lists)
	for i, r := range list {
		next.lists[cell[i]] = append(next.lists[cell[i]], r)
	}
	return &next, nil
}

// upTo returns the cells with the rows below n only.
func (c *cells) upTo(n int) *cells {
	next := *c
	next.lists = make([][]uint32, len(c.lists))
	for i, list := range c.lists {
		end, _ := slices.BinarySearch(list, uint32(n))
		// Without room behind its end a list is copied by the next append, which
		// therefore cannot write into what older readers still look at.
		next.lists[i] = list[:end:end]
	}
	next.trainedOn = min(c.trainedOn, n)
	return &next
}
