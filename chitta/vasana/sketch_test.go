package vasana

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The bound is never wrong: what is ruled out lies below the threshold. And it
// is worth its while: far below, it does rule out.
func TestSketchNeverRulesOutANearPair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.OneOf(rapid.IntRange(1, 40), rapid.SampledFrom([]int{512, 527, 528, 529, 768, 1600})).Draw(t, "dim")
		m := life(3, dim, 2, rapid.Uint64().Draw(t, "seed"))
		if rapid.Bool().Draw(t, "spiky") { // one number holds nearly all
			m.rows[0][0] += 20
			m.rows[1][dim/2] -= 20
		}
		width := dim
		a, b := make([]float32, width), make([]float32, width)
		mean := make([]float32, dim)
		if rapid.Bool().Draw(t, "centred") {
			mean = m.rows[2]
		}
		centre(a, m.rows[0], mean)
		centre(b, m.rows[1], mean)
		left, right := make([]uint64, sketchWords(width)), make([]uint64, sketchWords(width))
		x, y := sketchRow(left, a, false), sketchRow(right, b, true)

		var product, exact int64
		for k := range width {
			u := func(v float32, s sketch) int64 {
				if s.scale == 0 {
					return middle
				}
				return int64(v*(1/float32(s.scale)) + middle + 0.5)
			}
			product += u(a[k], x) * u(b[k], y)
		}
		exact = packedDot(left, right)
		if x.scale > 0 && y.scale > 0 && exact != product {
			t.Fatalf("packed product %d, one by one %d", exact, product)
		}
		c := float64(dot(a, b))
		if !mayReach(left, right, x, y, width, c) {
			t.Fatalf("a pair of cosine %v is ruled out for that threshold", c)
		}
		if dim >= 512 && mayReach(left, right, x, y, width, c+2*(x.rest+y.rest)+0.01+x.rest*y.rest) {
			t.Fatalf("cosine %v, rests %v and %v: a threshold far above is not ruled out", c, x.rest, y.rest)
		}
	})
}

// The greatest values there are must not run over into each other.
func TestSketchFieldsHold(t *testing.T) {
	for _, width := range []int{packed * segment, packed*segment + 1, 4096} {
		row := make([]float32, width)
		for k := range row {
			row[k] = float32(1 / math.Sqrt(float64(width)))
		}
		left, right := make([]uint64, sketchWords(width)), make([]uint64, sketchWords(width))
		sketchRow(left, row, false)
		sketchRow(right, row, true)
		if got, want := packedDot(left, right), int64(width)*63*63; got != want {
			t.Errorf("width %d: product %d, want %d", width, got, want)
		}
	}
}

// Either way of comparing a tile gives what the plain one gives.
func TestTilesAgree(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		n, dim := rapid.IntRange(2, 60).Draw(t, "rows"), rapid.IntRange(1, 70).Draw(t, "dim")
		m := life(n, dim, 3, rapid.Uint64().Draw(t, "seed"))
		if rapid.Bool().Draw(t, "hardly apart") { // the mean is nearly all there is
			for _, row := range m.rows[1:] {
				for k := range row {
					row[k] = m.rows[0][k] + (row[k]-m.rows[0][k])*1e-3
				}
			}
		}
		if rapid.Bool().Draw(t, "unplaced") {
			m.rows[rapid.IntRange(0, n-1).Draw(t, "which")] = nil
		}
		g := &Graph{params: DefaultParams(), dim: dim, mean: meanOf(m, n), threshold: rapid.Float64Range(1e-9, 1).Draw(t, "threshold")}
		g.measure(m)
		first := rapid.IntRange(0, n-1).Draw(t, "first")
		last := rapid.IntRange(first+1, n).Draw(t, "last")
		start := rapid.IntRange(0, n-1).Draw(t, "start")
		strip, chunk := newBlock(n-start, dim), newBlock(last-first, dim)
		strip.fill(m, start, n, g.mean)
		strip.sketchAll(n-start, false)
		tile := tile{g, m, strip, chunk, start, n, first, last}
		var want []pair
		a, b := make([]float32, dim), make([]float32, dim)
		for i := start; i < n; i++ {
			for j := first; j < min(last, i); j++ {
				if centre(a, m.rows[i], g.mean) > 0 && centre(b, m.rows[j], g.mean) > 0 && float64(dot(a, b)) >= g.threshold {
					want = append(want, pair{i, j})
				}
			}
		}
		found += len(want)
		if got := tile.bySketch(); !slices.Equal(got, want) {
			t.Fatalf("by sketch %v, want %v", got, want)
		}
		if got := tile.byLength(); !slices.Equal(got, want) {
			t.Fatalf("by length %v, want %v", got, want)
		}
	})
	if found == 0 {
		t.Error("no near pair in any case")
	}
}

func BenchmarkPair(b *testing.B) {
	m := life(65, benchDim, 20, 1)
	strip, chunk := newBlock(1, benchDim), newBlock(64, benchDim)
	mean := meanOf(m, 65)
	strip.fill(m, 0, 1, mean)
	strip.sketchAll(1, false)
	chunk.fill(m, 1, 65, mean)
	chunk.sketchAll(64, true)
	b.Run("exact", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			dot(strip.row(0), chunk.row(i%64))
		}
	})
	b.Run("sketch", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			mayReach(strip.pack(0), chunk.pack(i%64), strip.sketches[0], chunk.sketches[i%64], benchDim, 0.5)
		}
	})
	b.Run("sketch-row", func(b *testing.B) {
		for b.Loop() {
			sketchRow(strip.pack(0), strip.row(0), false)
		}
	})
}
