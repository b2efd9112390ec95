package neighbour

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

// CompareWithExact is the benchmark of the two-level index over the given
// vectors: an index is trained on all but two hundred of them, chosen at
// random, and those are the queries. Exact and two-level scans take turns query
// by query, so that both see the same load of the machine.
func CompareWithExact(b *testing.B, vectors [][]float32, seed uint64) {
	b.Helper()
	r := rand.New(rand.NewPCG(seed, 8))
	r.Shuffle(len(vectors), func(i, j int) { vectors[i], vectors[j] = vectors[j], vectors[i] })
	queries, m := vectors[:200], matrixOf(b, vectors[200:])
	x := New(m, Options{Mode: ModeAuto, Seed: seed, MinRows: leastRows, Workers: 2})
	start := time.Now()
	if err := x.Update(context.Background(), m); err != nil {
		b.Fatal(err)
	}
	training := time.Since(start)
	v := x.view.Load()
	b.Logf("%d rows, trained in %v: %+v", m.Len(), training.Round(time.Millisecond), x.Report())
	// An index that its guard switched off is measured all the same.
	for _, n := range []int{10, 64, 256} {
		b.Run(fmt.Sprintf("rows=%d/n=%d", m.Len(), n), func(b *testing.B) {
			var exactTime, twoLevelTime time.Duration
			var recall, scanned float64
			runs := 0
			// Recall speaks of all queries, so every round asks all of them.
			for b.Loop() {
				for _, q := range queries {
					start := time.Now()
					exact := v.exact(q, n, 1)
					between := time.Now()
					found, read, ok := v.twoLevel(q, n)
					end := time.Now()
					if !ok {
						found, read = exact, m.Len()
					}
					exactTime, twoLevelTime = exactTime+between.Sub(start), twoLevelTime+end.Sub(between)
					recall += share(exact, found)
					scanned += float64(read) / float64(m.Len())
					runs++
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(recall/float64(runs), "recall")
			b.ReportMetric(scanned/float64(runs), "scanned")
			b.ReportMetric(float64(exactTime.Microseconds())/float64(runs), "µs-exact")
			b.ReportMetric(float64(twoLevelTime.Microseconds())/float64(runs), "µs-two-level")
			b.ReportMetric(float64(twoLevelTime)/float64(exactTime), "time-share")
		})
	}
}

// BenchmarkMixture asks a synthetic store; JIVAD_BENCH_ROWS changes its 100,000 rows.
func BenchmarkMixture(b *testing.B) {
	rows := 100_000
	if testing.Short() {
		rows = 10_000
	}
	if s := os.Getenv("JIVAD_BENCH_ROWS"); s != "" {
		if _, err := fmt.Sscan(s, &rows); err != nil {
			b.Fatal(err)
		}
	}
	for _, noise := range []float64{0.6, 0.9} {
		b.Run(fmt.Sprintf("noise=%.1f", noise), func(b *testing.B) {
			CompareWithExact(b, mixture(2026, rows+200, 512, 500, noise), 17)
		})
	}
}

// BenchmarkCentroids compares the two ways to the nearest 15 % of the centroids:
// the graph, asked for some of them, and their scan.
func BenchmarkCentroids(b *testing.B) {
	for _, count := range []int{200, 447} {
		rows := mixture(7, count+200, 512, 500, 0.8)
		c := newCells(matrixOf(b, rows[:count]), 0)
		c.graph, c.probes = buildGraph(c.centroids, 1), count*15/100
		for _, share := range []float64{0.3, 0.6, 1} {
			b.Run(fmt.Sprintf("cells=%d/graph-asked-for=%.1f", count, share), func(b *testing.B) {
				c.ask = int(share * float64(count))
				for i := 0; b.Loop(); i++ {
					c.throughGraph(rows[count+i%200], c.probes, c.ask)
				}
				recall, _ := c.compareCoarse(rows[count:], time.Now)
				b.ReportMetric(recall, "recall")
			})
		}
		b.Run(fmt.Sprintf("cells=%d/scan", count), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				c.centroids.Nearest(rows[count+i%200], c.probes, 1, nil)
			}
		})
	}
}

func BenchmarkUpdateWithOneRow(b *testing.B) {
	rows := mixture(7, 10_000, 128, 100, 0.8)
	m := matrixOf(b, rows[:5_000])
	x := New(m, Options{MinRows: 1_000, Mode: ModeHNSW, Cells: 140})
	if err := x.Update(context.Background(), m); err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if m.Len() >= 9_000 {
			x.Truncate(5_000)
			m = m.Prefix(5_000)
		}
		if err := m.Append(rows[5_000+i%5_000]); err != nil {
			b.Fatal(err)
		}
		if err := x.Update(context.Background(), m); err != nil {
			b.Fatal(err)
		}
	}
}
