package vasana

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

// matrix is a store of rows for tests.
type matrix struct {
	dim  int
	rows [][]float32
}

func (m matrix) Len() int            { return len(m.rows) }
func (m matrix) Dim() int            { return m.dim }
func (m matrix) Row(i int) []float32 { return m.rows[i] }
func (m matrix) first(n int) matrix  { return matrix{m.dim, m.rows[:n]} }

func unit(v []float64) []float32 {
	var square float64
	for _, x := range v {
		square += x * x
	}
	out := make([]float32, len(v))
	for k, x := range v {
		out[k] = float32(x / math.Sqrt(square))
	}
	return out
}

// life makes rows as a diary has them: a strong common part, some themes, noise.
func life(n, dim, themes int, seed uint64) matrix {
	r := rand.New(rand.NewPCG(seed, 1))
	normal := func(scale float64) []float64 {
		v := make([]float64, dim)
		for k := range v {
			v[k] = r.NormFloat64() * scale / math.Sqrt(float64(dim))
		}
		return v
	}
	common := normal(1)
	centres := make([][]float64, themes)
	for t := range centres {
		centres[t] = normal(0.8)
	}
	m := matrix{dim: dim}
	for range n {
		v, theme := normal(0.7), centres[r.IntN(themes)]
		for k := range v {
			v[k] += common[k] + theme[k]*r.Float64()
		}
		m.rows = append(m.rows, unit(v))
	}
	return m
}

func updated(t testing.TB, p Params, rows Rows) *Graph {
	t.Helper()
	g := NewGraph(p)
	if err := g.Update(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	return g
}

// edges is what must not depend on how a graph came to be.
func edges(g *Graph) string {
	s := fmt.Sprintf("%d rows, frame %d, threshold %x:", g.Len(), g.Frame(), math.Float64bits(g.Threshold()))
	for i, j := range g.Near {
		s += fmt.Sprintf(" %d-%d", i, j)
	}
	return s
}

func TestFrameSizes(t *testing.T) {
	for n, want := range map[int]int{
		0: 0, 1: 1, 255: 255, 256: 256, 257: 256, 319: 256, 320: 320, 399: 320, 400: 400, 499: 400, 500: 500, 625: 625, 780: 625, 781: 781, 975: 781, 976: 976,
	} {
		if got := frameSize(n); got != want {
			t.Errorf("frame of %d rows is %d, want %d", n, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(257, 1<<30).Draw(t, "n")
		if f := frameSize(n); f > n || f+f/4 <= n || frameSize(f) != f {
			t.Fatalf("frame of %d rows is %d", n, f)
		}
	})
}

// The definition, in float64 and without a frame, blocks or goroutines.
func TestEdgesFollowTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, dim := rapid.IntRange(2, 60).Draw(t, "rows"), rapid.IntRange(2, 37).Draw(t, "dim")
		m := life(n, dim, 4, rapid.Uint64().Draw(t, "seed"))
		p := DefaultParams()
		p.Semantic = rapid.Float64Range(0.05, 0.9).Draw(t, "threshold")
		g := NewGraph(p)
		if err := g.Update(context.Background(), m); err != nil {
			t.Fatal(err)
		}
		near := map[[2]int]bool{}
		for i, j := range g.Near {
			near[[2]int{i, j}] = true
		}
		mean := make([]float64, dim)
		for _, row := range m.rows {
			for k, x := range row {
				mean[k] += float64(x) / float64(n)
			}
		}
		cosine := func(a, b []float32) float64 {
			var ab, aa, bb float64
			for k := range a {
				x, y := float64(a[k])-mean[k], float64(b[k])-mean[k]
				ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
			}
			return ab / math.Sqrt(aa*bb)
		}
		for i := range n {
			for j := range i {
				c := cosine(m.rows[i], m.rows[j])
				if math.Abs(c-p.Semantic) < 1e-4 {
					continue // on the edge, rounding decides
				}
				if near[[2]int{i, j}] != (c > p.Semantic) {
					t.Fatalf("rows %d and %d have centred cosine %v, threshold %v, near: %v", i, j, c, p.Semantic, near[[2]int{i, j}])
				}
			}
		}
	})
}

// Whatever the schedule of growth and truncation, rows replaced in between,
// and through a stored graph: the edges are those of a graph made at once.
func TestGrowthLeavesNoTrace(t *testing.T) {
	a, b := life(700, 16, 6, 1), life(700, 16, 6, 2)
	rapid.Check(t, func(t *rapid.T) {
		rows := matrix{dim: 16}
		g := NewGraph(DefaultParams())
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				n := min(rows.Len()+rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, 300)).Draw(t, "grow"), 700)
				rows.rows = append(rows.rows[:rows.Len():rows.Len()], a.rows[rows.Len():n]...)
			case 2:
				n := rapid.IntRange(0, rows.Len()).Draw(t, "replace from")
				rows.rows = append(rows.rows[:n:n], b.rows[n:rows.Len()]...)
				g.Truncate(n)
			case 3:
				data, err := g.MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				g = NewGraph(DefaultParams())
				if err := g.UnmarshalBinary(data); err != nil {
					t.Fatal(err)
				}
				// The store has other rows than the cache was made from, and
				// nobody said so.
				n := rapid.IntRange(0, rows.Len()).Draw(t, "replace from")
				rows.rows = append(rows.rows[:n:n], b.rows[n:rows.Len()]...)
			}
			if err := g.Update(context.Background(), rows); err != nil {
				t.Fatal(err)
			}
		}
		fresh := NewGraph(DefaultParams())
		if err := fresh.Update(context.Background(), rows); err != nil {
			t.Fatal(err)
		}
		if got, want := edges(g), edges(fresh); got != want {
			t.Fatalf("grown:   %.300s\nat once: %.300s", got, want)
		}
	})
}

func TestProcessorsLeaveNoTrace(t *testing.T) {
	m := life(900, 24, 8, 3)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := edges(updated(t, DefaultParams(), m))
	runtime.GOMAXPROCS(4)
	if four := edges(updated(t, DefaultParams(), m)); one != four {
		t.Fatal("one processor and four give different edges")
	}
}

func TestThresholdIsThePercentile(t *testing.T) {
	m := life(200, 32, 5, 4)
	g := updated(t, DefaultParams(), m)
	// One near row each, 100 of 19900 pairs: the 99 above the nearest rank and
	// the rank itself, unless the clip moved the threshold.
	if g.Threshold() <= 0.3 || g.Threshold() >= 0.85 {
		t.Fatalf("threshold %v is clipped; the rows of this test should leave it inside", g.Threshold())
	}
	if g.Edges() != 100 {
		t.Errorf("%d edges, want 100: one near row for each", g.Edges())
	}
	p := DefaultParams()
	p.SemanticLow = 0.84
	if got := updated(t, p, m).Threshold(); got != 0.84 {
		t.Errorf("threshold %v, want it clipped to 0.84", got)
	}
	p = DefaultParams()
	p.SemanticLow, p.SemanticHigh = 0.1, 0.2
	if got := updated(t, p, m).Threshold(); got != 0.2 {
		t.Errorf("threshold %v, want it clipped to 0.2", got)
	}
	// Sampled, not all pairs: a fixed percentile gives about its share, the usual
	// one about one near row for each.
	large := life(1500, 32, 5, 4)
	p = DefaultParams()
	p.Percentile = 99.5
	if share := float64(updated(t, p, large).Edges()) / (1500 * 1499 / 2); share < 0.004 || share > 0.006 {
		t.Errorf("%.4f of the pairs are near, want about 0.005", share)
	}
	if each := 2 * float64(updated(t, DefaultParams(), large).Edges()) / 1500; each < 0.5 || each > 1.7 {
		t.Errorf("%.2f near rows for each, want about 1", each)
	}
}

func TestRowsWithoutDirection(t *testing.T) {
	same := unit([]float64{1, 2, 3})
	g := updated(t, DefaultParams(), matrix{3, [][]float32{same, same, same, same}})
	if g.Edges() != 0 {
		t.Errorf("rows equal to the mean have %d edges, want none", g.Edges())
	}
	// A row that is not placed has no neighbours and does not move the others.
	m := life(40, 8, 2, 5)
	p := DefaultParams()
	p.Semantic = 0.4
	with := matrix{8, slices.Insert(slices.Clone(m.rows), 20, nil)}
	a, b := updated(t, p, m), updated(t, p, with)
	if a.Edges() != b.Edges() || a.Edges() == 0 {
		t.Errorf("%d edges without and %d with an unplaced row", a.Edges(), b.Edges())
	}
	for i, j := range b.Near {
		if i == 20 || j == 20 {
			t.Errorf("the unplaced row is near: %d-%d", i, j)
		}
	}
}

func TestInvalidRowsAreRefused(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, c := range map[string]struct {
		row  []float32
		want error
	}{
		"NaN":       {[]float32{nan, 0, 0}, ErrNotFinite},
		"infinity":  {[]float32{inf, 0, 0}, ErrNotFinite},
		"zero":      {[]float32{0, 0, 0}, ErrZero},
		"dimension": {[]float32{1, 0}, ErrDimension},
		"length":    {[]float32{2, 0, 0}, ErrNotUnit},
	} {
		t.Run(name, func(t *testing.T) {
			m := life(300, 3, 2, 6)
			g := updated(t, DefaultParams(), m)
			before := edges(g)
			m.rows = append(m.rows, c.row)
			err := g.Update(t.Context(), m)
			var e *Error
			if !errors.Is(err, c.want) || !errors.As(err, &e) || e.Hint == "" {
				t.Fatalf("error %v, want %v with a hint", err, c.want)
			}
			if edges(g) != before {
				t.Error("the refused row changed the graph")
			}
		})
	}
	if err := NewGraph(DefaultParams()).Update(t.Context(), matrix{}); !errors.Is(err, ErrDimension) {
		t.Errorf("dimension 0: %v", err)
	}
}

func TestCancelledUpdateChangesNothing(t *testing.T) {
	m := life(500, 16, 4, 7)
	g := updated(t, DefaultParams(), m.first(300))
	before := edges(g)
	ctx, cancel := context.WithCancel(t.Context())
	cut := &stopping{matrix: m, at: 450, cancel: cancel}
	if err := g.Update(ctx, cut); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want context.Canceled", err)
	}
	if edges(g) != before {
		t.Fatal("a cancelled update changed the graph")
	}
	if err := g.Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if edges(g) != edges(updated(t, DefaultParams(), m)) {
		t.Fatal("an update after a cancelled one differs from one at once")
	}
}

// stopping cancels when a certain row is read for the second time: the first
// is the check of new rows, the second in the middle of the comparing.
type stopping struct {
	matrix
	at     int
	reads  atomic.Int32
	cancel func()
}

func (s *stopping) Row(i int) []float32 {
	if i == s.at && s.reads.Add(1) == 2 {
		s.cancel()
	}
	return s.matrix.Row(i)
}

func TestSourceIsCheckedExactly(t *testing.T) {
	m := life(400, 16, 5, 8)
	exact := updated(t, DefaultParams(), m)
	all := func(i int, threshold float64) []int {
		list := []int{-1, i, 1 << 20, 0, 0} // and some nonsense
		for j := range m.Len() {
			list = append(list, j)
		}
		return list
	}
	g := NewGraph(DefaultParams())
	g.UseSource(all)
	for _, n := range []int{100, 300, 310, 400} {
		if err := g.Update(t.Context(), m.first(n)); err != nil {
			t.Fatal(err)
		}
	}
	if edges(g) != edges(exact) {
		t.Fatal("a source that proposes everything differs from exact")
	}
	g.UseSource(func(int, float64) []int { return nil })
	if err := g.Update(t.Context(), m); err != nil || g.Edges() != 0 {
		t.Fatalf("a source that proposes nothing gives %d edges, %v", g.Edges(), err)
	}
}

func TestParamsAreChecked(t *testing.T) {
	if err := DefaultParams().Validate(); err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	for i, change := range []func(*Params){
		func(p *Params) { p.MinPoints = 1 },
		func(p *Params) { p.MinPoints = 1001 },
		func(p *Params) { p.GunaCoherence = 1.01 },
		func(p *Params) { p.GunaCoherence = nan },
		func(p *Params) { p.Semantic = -0.1 },
		func(p *Params) { p.Semantic = nan },
		func(p *Params) { p.Percentile = -1 },
		func(p *Params) { p.Percentile = 100 },
		func(p *Params) { p.Percentile = nan },
		func(p *Params) { p.SemanticLow = 0 },
		func(p *Params) { p.SemanticLow = nan },
		func(p *Params) { p.SemanticHigh = 0.2 },
		func(p *Params) { p.SemanticHigh = 1.1 },
	} {
		p := DefaultParams()
		change(&p)
		if err := p.Validate(); !errors.Is(err, ErrParams) {
			t.Errorf("case %d, %+v: error %v, want ErrParams", i, p, err)
		}
		if err := NewGraph(p).Update(t.Context(), life(3, 2, 1, 1)); !errors.Is(err, ErrParams) {
			t.Errorf("case %d: Update gives %v, want ErrParams", i, err)
		}
	}
}
