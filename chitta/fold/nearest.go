package fold

import (
	"cmp"
	"slices"
	"sync"
)

// Candidate is one row and its likeness to the query.
type Candidate struct {
	// Index is the row.
	Index int
	// Similarity is the cosine of row and query, in [-1,1].
	Similarity float64
}

// rowsPerWorker is the least work that is worth a goroutine of its own, about
// 0.2 ms at 512 dimensions.
const rowsPerWorker = 1024

// Nearest returns the n rows most similar to query, most similar first and the
// lower row first among equals; fewer where the matrix has fewer. It reads
// every row, so the answer is exact.
//
// Up to workers goroutines share the rows (1 where workers is less); the
// answer is the same, bit for bit, for any number of them and on every
// architecture. Rows for which skip returns true are left out; skip may be nil,
// and is called from the goroutines at once, so it must be safe for that.
// Rows without a vector are left out too.
// A query that CheckVector refuses has no neighbours: the result is empty.
func (m *Matrix) Nearest(query []float32, n int, workers int, skip func(int) bool) []Candidate {
	if n < 1 || m.rows == 0 || CheckVector(query, m.dim) != nil {
		return nil
	}
	n = min(n, m.rows)
	workers = max(1, min(workers, m.rows/rowsPerWorker))
	if workers == 1 {
		best := newSelection(n)
		m.scan(query, 0, m.rows, skip, &best)
		return best.sorted()
	}
	parts := make([]selection, workers)
	var wait sync.WaitGroup
	for w := range parts {
		parts[w] = newSelection(n)
		from, to := m.share(w, workers), m.share(w+1, workers)
		wait.Go(func() { m.scan(query, from, to, skip, &parts[w]) })
	}
	wait.Wait()
	// Similarity and index order all rows strictly, so the best n are one set,
	// however the rows were divided.
	best := parts[0]
	for _, part := range parts[1:] {
		for _, s := range part.heap {
			best.offer(s.similarity, s.index)
		}
	}
	return best.sorted()
}

// NearestAmong is Nearest over the listed rows only: each list holds rows of
// the matrix, and no row is listed twice.
func (m *Matrix) NearestAmong(query []float32, n int, skip func(int) bool, lists ...[]uint32) []Candidate {
	if n < 1 || CheckVector(query, m.dim) != nil {
		return nil
	}
	listed := 0
	for _, list := range lists {
		listed += len(list)
	}
	best := newSelection(min(n, listed))
	for _, list := range lists {
		for _, r := range list {
			i := int(r)
			if i >= m.rows || m.Unplaced(i) || skip != nil && skip(i) {
				continue
			}
			if s := Dot(query, m.row(i)); s >= best.floor {
				best.offer(s, i)
			}
		}
	}
	return best.sorted()
}

// share returns where the rows of worker w of so many begin: at whole blocks.
func (m *Matrix) share(w, workers int) int {
	if w == workers {
		return m.rows
	}
	return len(m.blocks) * w / workers * blockRows
}

// scan offers the rows from ≤ i < to; from is the beginning of a block.
func (m *Matrix) scan(query []float32, from, to int, skip func(int) bool, best *selection) {
	first, _ := slices.BinarySearch(m.unplaced, uint32(from))
	unplaced := m.unplaced[first:]
	for i := from; i < to; {
		block := m.blocks[i/blockRows]
		for len(block) >= len(query) && i < to {
			if len(unplaced) > 0 && int(unplaced[0]) == i {
				unplaced = unplaced[1:]
			} else if skip == nil || !skip(i) {
				if s := Dot(query, block[:len(query)]); s >= best.floor {
					best.offer(s, i)
				}
			}
			block = block[len(query):]
			i++
		}
	}
}

// scored is a Candidate before its similarity is widened.
type scored struct {
	similarity float32
	index      int
}

// worse says whether s comes after t in the answer.
func (s scored) worse(t scored) bool {
	return s.similarity < t.similarity || s.similarity == t.similarity && s.index > t.index
}

// selection keeps the best of what it is offered: a heap with the worst kept
// candidate at its root.
type selection struct {
	limit int
	heap  []scored
	// floor is the similarity below which an offer is useless: most rows of a
	// scan are turned away by this one comparison.
	floor float32
}

func newSelection(limit int) selection {
	return selection{limit: limit, heap: make([]scored, 0, limit), floor: -2}
}

func (t *selection) offer(similarity float32, index int) {
	s := scored{similarity, index}
	if len(t.heap) < t.limit {
		t.heap = append(t.heap, s)
		t.up(len(t.heap) - 1)
	} else if t.limit > 0 && t.heap[0].worse(s) {
		t.heap[0] = s
		t.down(0)
	} else {
		return
	}
	if len(t.heap) == t.limit {
		t.floor = t.heap[0].similarity
	}
}

func (t *selection) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !t.heap[i].worse(t.heap[parent]) {
			return
		}
		t.heap[i], t.heap[parent] = t.heap[parent], t.heap[i]
		i = parent
	}
}

func (t *selection) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(t.heap) {
			return
		}
		if child+1 < len(t.heap) && t.heap[child+1].worse(t.heap[child]) {
			child++
		}
		if !t.heap[child].worse(t.heap[i]) {
			return
		}
		t.heap[i], t.heap[child] = t.heap[child], t.heap[i]
		i = child
	}
}

// sorted returns what was kept, best first.
func (t *selection) sorted() []Candidate {
	slices.SortFunc(t.heap, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.similarity, a.similarity), cmp.Compare(a.index, b.index))
	})
	found := make([]Candidate, len(t.heap))
	for i, s := range t.heap {
		found[i] = Candidate{Index: s.index, Similarity: float64(s.similarity)}
	}
	return found
}
