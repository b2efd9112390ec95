package vasana

import (
	"math"
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
		width := padded(dim)
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

func BenchmarkPair(b *testing.B) {
	m := life(65, benchDim, 20, 1)
	g := NewGraph(DefaultParams())
	g.dim = benchDim
	strip, chunk := newBlock(1, benchDim), newBlock(64, benchDim)
	mean := meanOf(m, 65)
	strip.fill(m, 0, 1, mean, true, false)
	chunk.fill(m, 1, 65, mean, true, true)
	b.Run("exact", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			dot(strip.row(0), chunk.row(i%64))
		}
	})
	b.Run("sketch", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			mayReach(strip.sketch(0), chunk.sketch(i%64), strip.sketches[0], chunk.sketches[i%64], strip.width, 0.5)
		}
	})
	b.Run("sketch-row", func(b *testing.B) {
		for b.Loop() {
			sketchRow(strip.sketch(0), strip.row(0), false)
		}
	})
}
