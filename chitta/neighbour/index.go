package neighbour

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jivad/jivad/chitta/fold"
)

// The modes of Options.Mode.
const (
	// ModeAuto uses the two-level index where the store is large enough, its
	// guard finds recall@10 ≥ 0.98, and it is faster than the exact scan.
	ModeAuto = "auto"
	// ModeExact always scans everything.
	ModeExact = "exact"
	// ModeHNSW uses the two-level index wherever recall@10 ≥ 0.95, and the graph
	// over its centroids even where scanning them is faster.
	ModeHNSW = "hnsw"
)

const (
	// autoMinRows is where the two-level index begins to be worth its training:
	// the exact scan of fewer rows takes under 5 ms on a desktop core.
	autoMinRows = 20_000
	// leastRows is the smallest store that can be cut into cells at all.
	leastRows = 256

	recallForAuto   = 0.98
	recallForForced = 0.95
)

// Options says how an index works. The zero value is a good choice.
type Options struct {
	// Cells is the number of cells; 0 chooses it from the number of rows.
	Cells int
	// Probes is how many cells a query scans; 0 chooses the least that reaches
	// recall@10 of 0.99 on rows of the store.
	Probes int
	// MinRows is the number of rows below which every answer is exact; 0 means
	// 20,000 in mode auto and 256 in mode hnsw. Under 256 it counts as 256.
	MinRows int
	// Seed chooses the training sample and the first centroids.
	Seed uint64
	// Mode is ModeAuto (also when empty), ModeExact or ModeHNSW. Any other
	// value counts as ModeExact, and the report says so.
	Mode string
	// Workers is how many goroutines an exact scan and a training may use; under
	// 1 it counts as 1. Answers do not depend on it.
	Workers int
	// StoreKey binds a saved index to one store; at most 256 bytes.
	StoreKey string
}

// Served says how an answer came about.
type Served struct {
	// By is "exact" or "two-level".
	By string
	// Scanned is the number of rows that were compared with the query.
	Scanned int
}

const (
	servedExact    = "exact"
	servedTwoLevel = "two-level"
)

// Index finds the rows of a matrix that are nearest to a query. All its methods
// may be called from many goroutines at once: readers see one finished state of
// the index, which a writer replaces but never changes.
type Index struct {
	options Options
	dim     int
	now     func() time.Time // replaced by tests

	// updating is held through a whole Update or Load, so that there is one at a time.
	updating sync.Mutex
	// writing is held for the short moment in which the view is replaced.
	writing sync.Mutex
	view    atomic.Pointer[view]
	// cut is the least row count that Truncate asked for during an Update.
	cut int
}

// view is one state of the index. It is never changed once it is in force.
type view struct {
	rows    *fold.Matrix
	removed bitset
	// cells is nil before the first training.
	cells *cells
	// on says that the two-level index answers.
	on bool
	// measured is what the last guard found; its queries are 0 before the first.
	measured measurement
	// why says in a sentence why on is what it is.
	why string
}

// New returns an index over the rows of m that answers exactly; Update trains
// it, Load fetches an earlier training. The caller may append to m later.
func New(m *fold.Matrix, o Options) *Index {
	if o.Mode == "" {
		o.Mode = ModeAuto
	}
	if o.MinRows <= 0 && o.Mode == ModeAuto {
		o.MinRows = autoMinRows
	}
	o.MinRows = max(o.MinRows, leastRows)
	o.Cells, o.Probes, o.Workers = max(o.Cells, 0), max(o.Probes, 0), max(o.Workers, 1)
	x := &Index{options: o, dim: m.Dim(), now: time.Now, cut: math.MaxInt}
	x.view.Store(x.judged(&view{rows: m.Prefix(m.Len())}))
	return x
}

// Nearest returns the n rows most similar to query, most similar first and the
// lower row first among equals, and how they were found. Removed rows are left
// out. A query that fold.CheckVector refuses has no neighbours.
func (x *Index) Nearest(query []float32, n int) ([]fold.Candidate, Served) {
	v := x.view.Load()
	if v.on && fold.CheckVector(query, x.dim) == nil {
		if found, scanned, ok := v.twoLevel(query, n); ok {
			return found, Served{By: servedTwoLevel, Scanned: scanned}
		}
	}
	found := v.exact(query, n, x.options.Workers)
	return found, Served{By: servedExact, Scanned: v.compared()}
}

func (v *view) exact(query []float32, n, workers int) []fold.Candidate {
	return v.rows.Nearest(query, n, workers, v.skip())
}

// rowsPerAnswer is how many rows at least are scanned for each one wanted:
// whoever wants 256 needs more cells than whoever wants 10.
const rowsPerAnswer = 16

// twoLevel scans the cells nearest to a checked query. It gives up (ok false)
// where it would read more than half of the store.
func (v *view) twoLevel(query []float32, n int) (found []fold.Candidate, scanned int, ok bool) {
	if n > v.rows.Len()/(2*rowsPerAnswer) {
		return nil, 0, false
	}
	lists, scanned := v.probed(v.cells.nearest(query, v.cells.probes), n)
	if lists == nil {
		lists, scanned = v.probed(v.cells.nearest(query, v.cells.centroids.Len()), n)
	}
	if lists == nil || scanned > v.rows.Len()/2 {
		return nil, 0, false
	}
	return v.rows.NearestAmong(query, n, v.skip(), lists...), scanned, true
}

// probed returns the rows of the given cells, as many cells as it takes for n
// answers; nil where all of them are not enough.
func (v *view) probed(order []fold.Candidate, n int) (lists [][]uint32, rows int) {
	for _, c := range order {
		if len(lists) >= v.cells.probes && rows >= n*rowsPerAnswer {
			break
		}
		list := v.cells.lists[c.Index]
		lists, rows = append(lists, list), rows+len(list)
	}
	if rows < n*rowsPerAnswer {
		return nil, 0
	}
	return lists, rows
}

// skip is nil where no row was removed, which saves a call for every row.
func (v *view) skip() func(int) bool {
	if v.removed.count == 0 {
		return nil
	}
	return v.removed.has
}

// Update takes in the rows that m has beyond those known. It trains the cells
// when there are enough rows for the first time and whenever the store has
// doubled since, and then lets the guard judge them; other new rows are assigned
// to the cells that exist. Readers are served from the old state meanwhile.
//
// The rows known so far must be the same in m, which is not to be appended to
// during the call; where rows changed, Truncate comes first. A shorter m
// truncates. The error is a *fold.VectorError for a matrix of another dimension,
// or the context's; the index then stays as it was.
func (x *Index) Update(ctx context.Context, m *fold.Matrix) error {
	if m.Dim() != x.dim {
		return fmt.Errorf("neighbour index: %w", &fold.VectorError{Kind: fold.ErrDimension, Got: m.Dim(), Want: x.dim})
	}
	x.updating.Lock()
	defer x.updating.Unlock()
	if m.Len() < x.view.Load().rows.Len() {
		x.Truncate(m.Len())
	}
	x.writing.Lock()
	x.cut = math.MaxInt
	old := x.view.Load()
	x.writing.Unlock()

	next := *old
	next.rows = m.Prefix(m.Len())
	switch {
	case x.needsTraining(&next):
		if err := x.retrain(ctx, &next); err != nil {
			return err
		}
	case next.rows.Len() == old.rows.Len():
		return nil
	case next.cells != nil:
		fresh := next.live(old.rows.Len())
		var err error
		if next.cells, err = next.cells.withRows(ctx, next.rows, fresh, x.options.Workers); err != nil {
			return err
		}
	}
	x.install(&next)
	return nil
}

func (x *Index) needsTraining(v *view) bool {
	rows := v.compared()
	if x.options.Mode != ModeAuto && x.options.Mode != ModeHNSW || rows < x.options.MinRows {
		return false
	}
	return v.cells == nil || rows >= 2*v.cells.trainedOn
}

// retrain gives v new cells, chooses the probes and measures.
func (x *Index) retrain(ctx context.Context, v *view) error {
	live := v.live(0)
	count := x.options.Cells
	if count == 0 {
		count = autoCells(len(live))
	}
	centroids, err := train(ctx, v.rows, live, min(count, len(live)), x.options.Seed, x.options.Workers)
	if err != nil {
		return err
	}
	v.cells = newCells(centroids, len(live))
	if v.cells, err = v.cells.withRows(ctx, v.rows, live, x.options.Workers); err != nil {
		return err
	}
	if v.cells.probes = min(x.options.Probes, centroids.Len()); v.cells.probes == 0 {
		if v.cells.probes, err = x.chooseProbes(ctx, v); err != nil {
			return err
		}
	}
	var queries [][]float32
	for _, r := range x.queries(v, coarseSample, 3) {
		queries = append(queries, v.rows.Row(int(r)))
	}
	v.cells.chooseCoarse(queries, x.options.Seed, x.options.Mode == ModeHNSW, x.now)
	v.measured, err = x.measure(ctx, v, guardSample)
	return err
}

// autoCells is √(2·rows): 200 cells at 20,000 rows, 447 at 100,000.
func autoCells(rows int) int {
	return int(math.Sqrt(2 * float64(rows)))
}

// install puts v in force, with what Remove and Truncate did meanwhile.
func (x *Index) install(v *view) {
	x.writing.Lock()
	defer x.writing.Unlock()
	v.removed = x.view.Load().removed.upTo(v.rows.Len())
	if x.cut < v.rows.Len() {
		v = v.upTo(x.cut)
	}
	x.view.Store(x.judged(v))
}

// Remove leaves row i out of all answers from now on. Rows out of range are
// ignored.
func (x *Index) Remove(i int) {
	x.writing.Lock()
	defer x.writing.Unlock()
	next := *x.view.Load()
	if i < 0 || i >= next.rows.Len() || next.removed.has(i) || next.rows.Unplaced(i) {
		return
	}
	next.removed = next.removed.with(i)
	x.view.Store(x.judged(&next))
}

// Truncate forgets the rows from n on, also those that an Update still at work
// would bring.
func (x *Index) Truncate(n int) {
	n = max(n, 0)
	x.writing.Lock()
	defer x.writing.Unlock()
	x.cut = min(x.cut, n)
	if v := x.view.Load(); n < v.rows.Len() {
		x.view.Store(x.judged(v.upTo(n)))
	}
}

func (v *view) upTo(n int) *view {
	next := *v
	next.rows = v.rows.Prefix(n)
	next.removed = v.removed.upTo(n)
	if v.cells != nil {
		next.cells = v.cells.upTo(n)
		if n < v.cells.centroids.Len() { // fewer rows than cells: they say nothing any more
			next.cells = nil
		}
	}
	return &next
}

// compared is how many rows take part: those that have a vector and were not removed.
func (v *view) compared() int { return v.rows.Placed() - v.removed.count }

// live returns the rows from the given one on that take part.
func (v *view) live(from int) []uint32 {
	rows := make([]uint32, 0, v.rows.Len()-from)
	for i := from; i < v.rows.Len(); i++ {
		if !v.removed.has(i) && !v.rows.Unplaced(i) {
			rows = append(rows, uint32(i))
		}
	}
	return rows
}

// bitset is a set of rows; the zero value is empty. It is never changed.
type bitset struct {
	words []uint64
	count int
}

func (b bitset) has(i int) bool {
	return i/64 < len(b.words) && b.words[i/64]>>(i%64)&1 == 1
}

func (b bitset) with(i int) bitset {
	words := make([]uint64, max(len(b.words), i/64+1))
	copy(words, b.words)
	words[i/64] |= 1 << (i % 64)
	return bitset{words, b.count + 1}
}

func (b bitset) upTo(n int) bitset {
	kept := bitset{}
	for i := range min(n, 64*len(b.words)) {
		if b.has(i) {
			if kept.words == nil {
				kept.words = make([]uint64, len(b.words))
			}
			kept.words[i/64] |= 1 << (i % 64)
			kept.count++
		}
	}
	return kept
}
