package neighbour

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta/fold"
)

// steady is a clock by which the two-level index is always the faster one:
// measure looks three times per query, and the second step is short.
func steady() func() time.Time {
	var now time.Time
	looks := 0
	return func() time.Time {
		looks++
		if looks%3 == 0 {
			now = now.Add(time.Millisecond)
		} else {
			now = now.Add(time.Second)
		}
		return now
	}
}

func trained(t testing.TB, rows [][]float32, o Options) *Index {
	t.Helper()
	m := matrixOf(t, rows)
	x := New(m, o)
	x.now = steady()
	if err := x.Update(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	return x
}

// checkIndex reports every fault in the inner order of an index.
func checkIndex(t rapid.TB, x *Index) {
	t.Helper()
	v := x.view.Load()
	if v.cells == nil {
		if v.on {
			t.Errorf("serves two-level without cells")
		}
		return
	}
	seen := make([]int, v.rows.Len())
	for c, list := range v.cells.lists {
		if !slices.IsSorted(list) {
			t.Errorf("cell %d is out of order", c)
		}
		for _, r := range list {
			if int(r) >= len(seen) {
				t.Errorf("cell %d holds row %d of %d", c, r, len(seen))
				continue
			}
			seen[r]++
		}
	}
	count := 0
	for r, n := range seen {
		removed := v.removed.has(r)
		if removed {
			count++
		}
		if n > 1 || n == 0 && !removed && !v.rows.Unplaced(r) || n > 0 && v.rows.Unplaced(r) {
			t.Errorf("row %d (removed: %v) is in %d cells", r, removed, n)
		}
	}
	if count != v.removed.count {
		t.Errorf("%d rows are removed, the count is %d", count, v.removed.count)
	}
	for i := range v.cells.centroids.Len() {
		if err := fold.CheckVector(v.cells.centroids.Row(i), x.dim); err != nil {
			t.Errorf("centroid %d: %v", i, err)
		}
	}
}

// checkAnswer holds what is true of every answer, however it was found; an
// exact one is compared with sorting everything.
func checkAnswer(t rapid.TB, x *Index, rows [][]float32, removed map[int]bool, query []float32, n int) {
	t.Helper()
	found, served := x.Nearest(query, n)
	var all []fold.Candidate
	for i, r := range rows {
		if !removed[i] {
			all = append(all, fold.Candidate{Index: i, Similarity: float64(fold.Dot(query, r))})
		}
	}
	order := func(a, b fold.Candidate) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.Index, b.Index))
	}
	slices.SortFunc(all, order)
	if served.By == servedExact {
		if served.Scanned != len(all) || !slices.Equal(found, all[:min(n, len(all))]) {
			t.Fatalf("exact answer over %d rows of %d: %v\nwant %v", served.Scanned, len(all), found, all[:min(n, len(all))])
		}
		return
	}
	if served.Scanned < n || served.Scanned > len(rows) || len(found) > n {
		t.Fatalf("%d found in %d scanned rows of %d, asked for %d", len(found), served.Scanned, len(rows), n)
	}
	if !slices.IsSortedFunc(found, order) {
		t.Fatalf("out of order: %v", found)
	}
	last := -1
	for _, c := range found {
		place := slices.Index(all, c)
		if place <= last {
			t.Fatalf("%v is not a live row with its similarity, or there twice", c)
		}
		last = place
	}
}

// An index under any sequence of growth, removal, truncation, guarding and
// reloading gives answers that hold against a plain list of rows.
func TestIndexAgainstPlainRows(t *testing.T) {
	const dim = 8
	twoLevel := 0
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var themes [][]float64
		for range 12 {
			themes = append(themes, widen(randomUnit(r, dim)))
		}
		o := Options{Mode: rapid.SampledFrom([]string{ModeHNSW, ModeHNSW, ModeAuto, ModeExact}).Draw(t, "mode"), MinRows: 256, Cells: 12, Workers: 2, StoreKey: "k"}
		m, removed, unplaced := fold.NewMatrix(dim), map[int]bool{}, map[int]bool{}
		lost := rapid.SampledFrom([]int{0, 0, 2, 30}).Draw(t, "unplaced of a hundred")
		var rows [][]float32
		x := New(m, o)
		x.now = steady()
		grow := func(t *rapid.T, n int) {
			for range n {
				v := around(r, themes[r.IntN(len(themes))], 0.1)
				if r.IntN(100) < lost {
					unplaced[len(rows)] = true
					rows = append(rows, nil)
					m.AppendUnplaced()
					continue
				}
				if again := r.IntN(10 * max(len(rows), 1)); again < len(rows) && rows[again] != nil {
					v = rows[again]
				}
				rows = append(rows, v)
				if err := m.Append(v); err != nil {
					t.Fatal(err)
				}
			}
			if err := x.Update(context.Background(), m); err != nil {
				t.Fatal(err)
			}
		}
		grow(t, rapid.SampledFrom([]int{0, 10, 255, 256, 400}).Draw(t, "rows"))
		t.Repeat(map[string]func(*rapid.T){
			"grow": func(t *rapid.T) {
				if len(rows) > 800 {
					t.Skip("large enough")
				}
				grow(t, rapid.SampledFrom([]int{0, 1, 30, 200}).Draw(t, "more"))
			},
			"remove": func(t *rapid.T) {
				i := rapid.IntRange(-1, len(rows)).Draw(t, "row")
				x.Remove(i)
				if i >= 0 && i < len(rows) && !unplaced[i] {
					removed[i] = true
				}
			},
			"truncate": func(t *rapid.T) {
				n := rapid.IntRange(len(rows)*2/3, len(rows)+1).Draw(t, "rows")
				x.Truncate(n)
				for i := n; i < len(rows); i++ {
					delete(removed, i)
					delete(unplaced, i)
				}
				rows = rows[:min(n, len(rows))]
				m = m.Prefix(n)
			},
			"guard": func(t *rapid.T) {
				recall, err := x.Guard(context.Background(), 30)
				if recall < 0 || recall > 1 || err != nil && !errors.Is(err, ErrNothingToMeasure) {
					t.Fatalf("recall %v, error %v", recall, err)
				}
			},
			"reload": func(t *rapid.T) {
				var file bytes.Buffer
				if err := x.Save(&file); errors.Is(err, ErrNothingToMeasure) {
					t.Skip("not trained")
				} else if err != nil {
					t.Fatal(err)
				}
				y := New(m, o)
				y.now = steady()
				for i := range removed {
					y.Remove(i)
				}
				if err := y.Load(&file, m); err != nil {
					t.Fatal(err)
				}
				if a, b := x.Report(), y.Report(); a != b {
					t.Fatalf("reported %+v\nreloaded %+v", a, b)
				}
				x = y
			},
			"": func(t *rapid.T) {
				checkIndex(t, x)
				if r := x.Report(); r.Rows != len(rows) || r.Removed != len(removed) {
					t.Fatalf("report %+v, want %d rows and %d removed", r, len(rows), len(removed))
				}
				if x.Report().Serving == servedTwoLevel {
					twoLevel++
				}
				out := maps.Clone(removed)
				maps.Copy(out, unplaced)
				checkAnswer(t, x, rows, out, randomUnit(r, dim), 1+r.IntN(10))
			},
		})
	})
	if twoLevel == 0 {
		t.Error("the two-level index never served")
	}
}

func TestRecallOnClusteredRows(t *testing.T) {
	all := mixture(41, 6_200, 48, 60, 0.7)
	rows, queries := all[:6_000], all[6_000:]
	x := trained(t, rows, Options{MinRows: 1000, Seed: 5, Workers: 2})
	r := x.Report()
	if r.Serving != servedTwoLevel || r.Recall < 0.98 || r.Scanned > 0.4 || r.Queries != guardSample {
		t.Fatalf("report %+v", r)
	}
	m := x.view.Load().rows
	recall := 0.0
	for _, q := range queries {
		found, served := x.Nearest(q, 10)
		if served.By != servedTwoLevel {
			t.Fatalf("served %+v", served)
		}
		recall += share(m.Nearest(q, 10, 1, nil), found) / float64(len(queries))
	}
	if recall < 0.97 {
		t.Fatalf("recall@10 of queries that are not in the store: %.3f", recall)
	}
}

func TestGuardSwitchesOff(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var rows [][]float32
	for range 2_000 {
		rows = append(rows, randomUnit(r, 64)) // no structure: cells cannot help
	}
	for _, mode := range []string{ModeAuto, ModeHNSW} {
		x := trained(t, rows, Options{Mode: mode, MinRows: 500, Cells: 40, Probes: 2})
		report := x.Report()
		if report.Serving != servedExact || report.Recall > 0.9 || report.Recall == 0 || !strings.Contains(report.Why, "switched off: recall@10") {
			t.Fatalf("%s: %+v", mode, report)
		}
		if _, served := x.Nearest(rows[0], 10); served != (Served{servedExact, 2_000}) {
			t.Fatalf("%s: served %+v", mode, served)
		}
		if recall, err := x.Guard(context.Background(), 50); err != nil || recall > 0.9 || x.Report().Queries != 50 {
			t.Fatalf("%s: guard says %v, %v, report %+v", mode, recall, err, x.Report())
		}
	}
}

func TestRecallBetweenTheTwoBars(t *testing.T) {
	for _, c := range []struct {
		mode   string
		recall float64
		on     bool
	}{
		{ModeAuto, 0.9799, false}, {ModeAuto, 0.98, true}, {ModeHNSW, 0.9799, true},
		{ModeHNSW, 0.95, true}, {ModeHNSW, 0.9499, false}, {ModeExact, 1, false}, {"best", 1, false},
	} {
		x := New(fold.NewMatrix(2), Options{Mode: c.mode, MinRows: 256})
		v := *x.view.Load()
		v.rows = matrixOf(t, slices.Repeat([][]float32{{1, 0}}, 300))
		v.cells = &cells{}
		v.measured = measurement{queries: 9, recall: c.recall, exact: 2, twoLevel: 1}
		if got := x.judged(&v); got.on != c.on || got.why == "" {
			t.Errorf("%+v: on %v, %s", c, got.on, got.why)
		}
	}
}

func TestAutoWantsAGain(t *testing.T) {
	rows := mixture(8, 1_500, 24, 20, 0.4)
	m := matrixOf(t, rows)
	for mode, serving := range map[string]string{ModeAuto: servedExact, ModeHNSW: servedTwoLevel} {
		x := New(m, Options{Mode: mode, MinRows: 500})
		var now time.Time
		x.now = func() time.Time { now = now.Add(time.Second); return now } // both take as long
		if err := x.Update(context.Background(), m); err != nil {
			t.Fatal(err)
		}
		r := x.Report()
		if r.Serving != serving || mode == ModeAuto && !strings.Contains(r.Why, "no faster") {
			t.Errorf("%s: %+v", mode, r)
		}
	}
}

func TestTrainsOnlyWhenItShould(t *testing.T) {
	rows := mixture(2, 1_300, 16, 10, 0.3)
	m := matrixOf(t, rows)
	x := New(m.Prefix(299), Options{MinRows: 300, Mode: ModeHNSW})
	for _, step := range []struct{ rows, trainedOn int }{
		{299, 0}, {300, 300}, {300, 300}, {599, 300}, {600, 600}, {1_199, 600}, {1_300, 1_300},
	} {
		if err := x.Update(context.Background(), m.Prefix(step.rows)); err != nil {
			t.Fatal(err)
		}
		if r := x.Report(); r.TrainedOn != step.trainedOn || r.Rows != step.rows {
			t.Fatalf("%+v: %+v", step, r)
		}
		checkIndex(t, x)
	}
	same := x.view.Load()
	if err := x.Update(context.Background(), m); err != nil || x.view.Load() != same {
		t.Fatalf("an update without news replaced the view (error %v)", err)
	}
}

func TestUpdateRefusesAndStops(t *testing.T) {
	rows := mixture(2, 600, 16, 10, 0.3)
	x := trained(t, rows, Options{MinRows: 300, Mode: ModeHNSW})
	before := x.view.Load()
	if err := x.Update(context.Background(), fold.NewMatrix(17)); !errors.Is(err, fold.ErrDimension) {
		t.Fatalf("another dimension: %v", err)
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	for _, n := range []int{20, 700} { // assigning, training
		bigger := matrixOf(t, append(slices.Clone(rows), mixture(3, n, 16, 10, 0.3)...))
		if err := x.Update(stopped, bigger); !errors.Is(err, context.Canceled) {
			t.Fatalf("%d more rows, stopped: %v", n, err)
		}
	}
	if _, err := x.Guard(stopped, 5); !errors.Is(err, context.Canceled) {
		t.Fatalf("guard, stopped: %v", err)
	}
	if x.view.Load() != before {
		t.Fatal("a failed update changed the index")
	}
	if err := x.Update(context.Background(), before.rows.Prefix(500)); err != nil || x.Report().Rows != 500 {
		t.Fatalf("a shorter matrix: %v, %+v", err, x.Report())
	}
	checkIndex(t, x)
}

// What is removed and cut while a training runs stays removed and cut.
func TestRemoveAndTruncateDuringTraining(t *testing.T) {
	m := matrixOf(t, mixture(2, 1_000, 16, 10, 0.3))
	x := New(m.Prefix(400), Options{MinRows: 300, Mode: ModeHNSW})
	clock, done := steady(), false
	x.now = func() time.Time { // first looked at when the cells are trained
		if !done {
			done = true
			x.Remove(7)
			x.Remove(390)
			x.Truncate(380)
			x.Remove(390)
		}
		return clock()
	}
	if err := x.Update(context.Background(), m); err != nil || !done {
		t.Fatalf("error %v, reached %v", err, done)
	}
	if r := x.Report(); r.Rows != 380 || r.Removed != 1 || r.Cells == 0 {
		t.Fatalf("%+v", r)
	}
	checkIndex(t, x)
	// The next update brings the rows back; 390 is another row by then.
	if err := x.Update(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	if r := x.Report(); r.Rows != 1_000 || r.Removed != 1 {
		t.Fatalf("%+v", r)
	}
	checkIndex(t, x)
}

func TestManyWantedIsServedExactly(t *testing.T) {
	rows := mixture(2, 2_000, 16, 10, 0.3)
	x := trained(t, rows, Options{MinRows: 300, Mode: ModeHNSW})
	for n, by := range map[int]string{0: servedTwoLevel, 10: servedTwoLevel, 2_000: servedExact, 1 << 30: servedExact} {
		found, served := x.Nearest(rows[3], n)
		if served.By != by || len(found) != min(n, 2_000) {
			t.Errorf("n %d: %d found, %+v", n, len(found), served)
		}
	}
	for _, bad := range [][]float32{nil, {1}, make([]float32, 16)} {
		if found, _ := x.Nearest(bad, 5); len(found) != 0 {
			t.Errorf("query %v has neighbours", bad)
		}
	}
}

func TestReadersBesideWriters(t *testing.T) {
	rows := mixture(6, 2_400, 16, 20, 0.3)
	m := matrixOf(t, rows)
	x := New(m.Prefix(300), Options{MinRows: 300, Mode: ModeHNSW, Workers: 2})
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for reader := range 4 {
		readers.Go(func() {
			for i := reader; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				q := rows[i%len(rows)]
				found, _ := x.Nearest(q, 5)
				for _, c := range found {
					if c.Similarity != float64(fold.Dot(q, rows[c.Index])) {
						t.Errorf("row %d with a similarity not its own", c.Index)
					}
				}
				x.Report()
				if i%50 == 0 {
					if err := x.Save(&bytes.Buffer{}); err != nil && !errors.Is(err, ErrNothingToMeasure) {
						t.Error(err)
					}
				}
				runtime.Gosched()
			}
		})
	}
	for n := 300; n <= len(rows); n += 150 {
		var writers sync.WaitGroup
		writers.Go(func() {
			if err := x.Update(context.Background(), m.Prefix(n)); err != nil {
				t.Error(err)
			}
		})
		writers.Go(func() { x.Remove(n / 2); x.Truncate(n - 40) })
		writers.Go(func() {
			if _, err := x.Guard(context.Background(), 5); err != nil && !errors.Is(err, ErrNothingToMeasure) {
				t.Error(err)
			}
		})
		writers.Wait()
		checkIndex(t, x)
	}
	close(stop)
	readers.Wait()
}

func TestTrainingIsDeterministic(t *testing.T) {
	m := matrixOf(t, mixture(12, 1_500, 20, 15, 0.5))
	live := (&view{rows: m}).live(0)
	var first *fold.Matrix
	for workers := 1; workers <= 4; workers++ {
		got, err := train(context.Background(), m, live, 30, 99, workers)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		}
		for i := range 30 {
			if !slices.Equal(got.Row(i), first.Row(i)) {
				t.Fatalf("%d workers: centroid %d differs", workers, i)
			}
		}
	}
	other, err := train(context.Background(), m, live, 30, 100, 1)
	if err != nil || slices.Equal(other.Row(0), first.Row(0)) && slices.Equal(other.Row(1), first.Row(1)) {
		t.Fatalf("another seed gives the same centroids (error %v)", err)
	}
}

// Copies of few texts leave most cells without rows; opposite rows cancel out.
func TestTrainingOnDegenerateRows(t *testing.T) {
	for name, few := range map[string][][]float32{
		"one":      {{1, 0}},
		"opposite": {{1, 0}, {-1, 0}},
		"three":    {{1, 0}, {0, 1}, {0, -1}},
	} {
		t.Run(name, func(t *testing.T) {
			var rows [][]float32
			for i := range 600 {
				rows = append(rows, few[i%len(few)])
			}
			x := trained(t, rows, Options{MinRows: 300, Mode: ModeHNSW, Cells: 40})
			checkIndex(t, x)
			for _, q := range few {
				found, _ := x.Nearest(q, 10)
				if len(found) != 10 || found[9].Similarity != 1 {
					t.Fatalf("%+v: %v", x.Report(), found)
				}
			}
		})
	}
}

func TestCentroidsThroughTheGraph(t *testing.T) {
	for _, seed := range []uint64{1, 2, 3} {
		rows := mixture(seed, 400, 32, 100, 0.8)
		c := newCells(matrixOf(t, rows[:200]), 0)
		c.probes = 30
		c.chooseCoarse(rows[200:250], seed, true, time.Now)
		if c.ask < 60 {
			t.Fatalf("seed %d: the graph is not used when it is forced (asked for %d)", seed, c.ask)
		}
		good := 0
		for _, q := range rows[250:350] {
			exact := c.centroids.Nearest(q, c.probes, 1, nil)
			for _, found := range c.nearest(q, c.probes) {
				if slices.Contains(exact, found) {
					good++
				}
			}
		}
		if recall := float64(good) / 3_000; recall < 0.99 {
			t.Errorf("seed %d: recall of centroids is %.3f when asked for %d", seed, recall, c.ask)
		}
		// What the graph cannot give, the scan does.
		exact := c.centroids.Nearest(rows[300], 200, 1, nil)
		if c.throughGraph(rows[300], 201, 200) != nil {
			t.Error("more centroids than there are")
		}
		c.ask = 100
		if !slices.Equal(c.nearest(rows[300], 200), exact) {
			t.Error("asked for more than of the graph, the answer is not exact")
		}
	}
}

func TestGraphMustPay(t *testing.T) {
	rows := mixture(4, 300, 16, 50, 0.8)
	for _, c := range []struct {
		graphTime, scanTime time.Duration
		used                bool
	}{{1, 2, true}, {2, 2, false}, {3, 2, false}} {
		looks, at := 0, time.Time{}
		clock := func() time.Time {
			at = at.Add([]time.Duration{0, c.graphTime, c.scanTime}[looks%3])
			looks++
			return at
		}
		got := newCells(matrixOf(t, rows[:100]), 0)
		got.probes = 20
		got.chooseCoarse(rows[100:140], 1, false, clock)
		if (got.graph != nil) != c.used || (got.ask > 0) != c.used {
			t.Errorf("%+v: asked of the graph %d", c, got.ask)
		}
	}
}

func ExampleIndex_Nearest() {
	m := fold.NewMatrix(2)
	for _, v := range [][]float32{{1, 0}, {0.6, 0.8}, {0, 1}} {
		if err := m.Append(v); err != nil {
			fmt.Println(err)
		}
	}
	x := New(m, Options{})
	found, served := x.Nearest([]float32{0, 1}, 2)
	for _, c := range found {
		fmt.Printf("row %d %.2f\n", c.Index, c.Similarity)
	}
	fmt.Println(served.By, served.Scanned)
	// Output:
	// row 2 1.00
	// row 1 0.80
	// exact 3
}
