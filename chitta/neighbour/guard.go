package neighbour

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jivad/jivad/chitta/fold"
)

const (
	// recallAt is the number of nearest rows that recall speaks of.
	recallAt = 10
	// recallAimed is what the probes are chosen for, above what the guard asks,
	// so that the noise of its sample does not switch the index off.
	recallAimed = 0.99
	// probeSample and guardSample are numbers of queries. Of 200 queries with
	// ten neighbours each, a recall near 0.98 has a standard error of some 0.005.
	probeSample = 200
	guardSample = 200
)

// ErrNothingToMeasure is returned by Guard where there are no cells: below the
// least number of rows, before the first training, or in mode exact.
var ErrNothingToMeasure = errors.New("the two-level index is not trained, every answer is exact")

// measurement is what a guard found over its queries.
type measurement struct {
	queries         int
	recall          float64
	exact, twoLevel time.Duration // per query
	scanned         float64       // share of the rows, 0..1
}

// Guard measures recall@10 of the two-level index against the exact scan, on
// sample rows of the store (200 where sample is under 1), each asked for its ten
// nearest others. Below what the mode asks for (0.98 in auto, 0.95 in hnsw) the
// two-level index is switched off until a later Guard or training finds better.
// The error is ErrNothingToMeasure or the context's.
func (x *Index) Guard(ctx context.Context, sample int) (recall float64, err error) {
	if sample < 1 {
		sample = guardSample
	}
	v := x.view.Load()
	if v.cells == nil {
		return 0, ErrNothingToMeasure
	}
	measured, err := x.measure(ctx, v, sample)
	if err != nil {
		return 0, err
	}
	x.writing.Lock()
	defer x.writing.Unlock()
	// A training that ended meanwhile has its own measurement.
	if now := x.view.Load(); now.cells != nil && now.cells.centroids == v.cells.centroids {
		next := *now
		next.measured = measured
		x.view.Store(x.judged(&next))
	}
	return measured.recall, nil
}

// measure asks both ways. Equal similarities count as equal finds, so that
// copies of one text do not look like errors.
func (x *Index) measure(ctx context.Context, v *view, sample int) (measurement, error) {
	var m measurement
	var recall, scanned float64
	var exactTime, twoLevelTime time.Duration
	for _, row := range x.queries(v, sample, 1) {
		if err := ctx.Err(); err != nil {
			return m, err
		}
		query := v.rows.Row(int(row))
		start := x.now()
		exact := v.exact(query, recallAt+1, x.options.Workers)
		between := x.now()
		found, read, ok := v.twoLevel(query, recallAt+1)
		if end := x.now(); ok {
			twoLevelTime += end.Sub(between)
		} else {
			// Such a query is answered by the exact scan, after all.
			found, read = exact, v.rows.Len()
			twoLevelTime += end.Sub(start)
		}
		exactTime += between.Sub(start)
		m.queries++
		recall += share(without(exact, int(row)), without(found, int(row)))
		scanned += float64(read) / float64(v.rows.Len())
	}
	if m.queries > 0 {
		m.recall = recall / float64(m.queries)
		m.scanned = scanned / float64(m.queries)
		m.exact = exactTime / time.Duration(m.queries)
		m.twoLevel = twoLevelTime / time.Duration(m.queries)
	}
	return m, nil
}

// share returns how much of the exact answer was found, 0..1.
func share(exact, found []fold.Candidate) float64 {
	if len(exact) == 0 {
		return 1
	}
	least := exact[len(exact)-1].Similarity
	good := 0
	for _, c := range found[:min(len(found), len(exact))] {
		if c.Similarity >= least {
			good++
		}
	}
	return float64(good) / float64(len(exact))
}

// without drops the query's own row and keeps ten others.
func without(found []fold.Candidate, row int) []fold.Candidate {
	others := make([]fold.Candidate, 0, len(found))
	for _, c := range found {
		if c.Index != row {
			others = append(others, c)
		}
	}
	return others[:min(len(others), recallAt)]
}

// queries chooses rows to ask for. Streams differ, so that probes are never
// judged by the rows that they were chosen for.
func (x *Index) queries(v *view, sample int, stream uint64) []uint32 {
	random := rand.New(rand.NewPCG(x.options.Seed^0x9e3779b97f4a7c15, stream))
	return choose(random, v.live(0), sample)
}

// chooseProbes returns the least number of cells that hold recallAimed of the
// ten nearest rows of the sampled rows. One exact scan for each is enough: a
// neighbour is found with p probes exactly when its cell is among the p nearest.
func (x *Index) chooseProbes(ctx context.Context, v *view) (int, error) {
	cellOf := make([]uint32, v.rows.Len())
	for c, list := range v.cells.lists {
		for _, r := range list {
			cellOf[r] = uint32(c)
		}
	}
	count := v.cells.centroids.Len()
	var ranks []int
	for _, row := range x.queries(v, probeSample, 2) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		query := v.rows.Row(int(row))
		rank := make([]int, count)
		for i, c := range v.cells.centroids.Nearest(query, count, 1, nil) {
			rank[c.Index] = i
		}
		for _, c := range without(v.exact(query, recallAt+1, x.options.Workers), int(row)) {
			ranks = append(ranks, rank[cellOf[c.Index]])
		}
	}
	if len(ranks) == 0 {
		return count, nil
	}
	slices.Sort(ranks)
	needed := ranks[min(len(ranks)-1, int(recallAimed*float64(len(ranks))))]
	return needed + 1, nil
}

// judged decides whether the two-level index answers, and says why.
func (x *Index) judged(v *view) *view {
	needed := recallForForced
	if x.options.Mode == ModeAuto {
		needed = recallForAuto
	}
	m := v.measured
	v.on = false
	switch rows := v.compared(); {
	case x.options.Mode == ModeExact:
		v.why = "exact by configuration"
	case x.options.Mode != ModeAuto && x.options.Mode != ModeHNSW:
		v.why = fmt.Sprintf("exact, because the mode %q is none of auto, exact, hnsw", x.options.Mode)
	case rows < x.options.MinRows:
		v.why = fmt.Sprintf("exact, because %d rows are fewer than %d", rows, x.options.MinRows)
	case v.cells == nil:
		v.why = "exact until the cells are trained"
	case m.queries == 0:
		v.why = "exact until the guard has measured the recall"
	case m.recall < needed:
		v.why = fmt.Sprintf("switched off: recall@10 is %.3f and must be %.2f", m.recall, needed)
	case x.options.Mode == ModeAuto && m.twoLevel >= m.exact:
		v.why = fmt.Sprintf("exact, because the two-level index is no faster here (%v against %v)", m.twoLevel.Round(time.Microsecond), m.exact.Round(time.Microsecond))
	default:
		v.on = true
		v.why = fmt.Sprintf("two-level: recall@10 is %.3f at %.0f %% of the rows", m.recall, 100*m.scanned)
	}
	return v
}

// Report says what an index does and why.
type Report struct {
	// Asked is the mode of the options; Serving is "exact" or "two-level".
	Asked, Serving string
	// Why is a sentence for people.
	Why string
	// Rows is the number of rows known; Removed of them are left out.
	Rows, Removed int
	// Cells, Probes and TrainedOn (rows at training) are 0 before training.
	Cells, Probes, TrainedOn int
	// Coarse says how centroids are found: "graph" or "scan"; empty before training.
	Coarse string
	// Queries is the size of the last guard's sample; where it is 0, nothing
	// below has been measured.
	Queries int
	// Recall is the last recall@10 against the exact scan, 0..1.
	Recall float64
	// Scanned is the share of the rows that a query read, 0..1.
	Scanned float64
	// Exact and TwoLevel are the mean times of one query.
	Exact, TwoLevel time.Duration
}

// Report returns the present state.
func (x *Index) Report() Report {
	v := x.view.Load()
	r := Report{
		Asked: x.options.Mode, Serving: servedExact, Why: v.why,
		Rows: v.rows.Len(), Removed: v.removed.count,
		Queries: v.measured.queries, Recall: v.measured.recall, Scanned: v.measured.scanned,
		Exact: v.measured.exact, TwoLevel: v.measured.twoLevel,
	}
	if v.on {
		r.Serving = servedTwoLevel
	}
	if v.cells != nil {
		r.Cells, r.Probes, r.TrainedOn = v.cells.centroids.Len(), v.cells.probes, v.cells.trainedOn
		if r.Coarse = "scan"; v.cells.ask > 0 {
			r.Coarse = "graph"
		}
	}
	return r
}
