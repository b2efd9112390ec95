package vasana

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The processor's way and the plain one give the same bits for any numbers, at
// any place in memory and of any length.
func TestProductsAreTheSameEitherWay(t *testing.T) {
	number := rapid.OneOf(
		rapid.Float32Range(-1, 1),
		rapid.Float32(),
		rapid.SampledFrom([]float32{0, float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32, -math.MaxFloat32}),
	)
	rapid.Check(t, func(t *rapid.T) {
		n := lanes * rapid.IntRange(1, 80).Draw(t, "eights")
		shift := rapid.IntRange(0, lanes).Draw(t, "shift")
		a := rapid.SliceOfN(number, n+shift, n+shift).Draw(t, "a")[shift:]
		b := rapid.SliceOfN(number, n, n).Draw(t, "b")
		var fast, plain [lanes]float32
		for i := range fast {
			fast[i] = number.Draw(t, "before")
			plain[i] = fast[i]
		}
		addProducts(&fast, a, b)
		addPlain(&plain, a, b)
		for i := range fast {
			if nan := math.IsNaN(float64(fast[i])) && math.IsNaN(float64(plain[i])); !nan && math.Float32bits(fast[i]) != math.Float32bits(plain[i]) {
				t.Fatalf("sum %d is %v, in plain Go %v", i, fast[i], plain[i])
			}
		}
	})
}

// The eight sums and their order are the definition: they decide which rows are
// near, and must never change from one machine to the next.
func TestDotFollowsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 100).Draw(t, "length")
		a := rapid.SliceOfN(rapid.Float32Range(-1, 1), n, n).Draw(t, "a")
		b := rapid.SliceOfN(rapid.Float32Range(-1, 1), n, n).Draw(t, "b")
		var s [lanes]float32
		for k := range n {
			at := k % lanes
			if k >= n&^(lanes-1) {
				at = 0
			}
			product := a[k] * b[k]
			s[at] += float32(product)
		}
		want := float32(float32(s[0]+s[1])+float32(s[2]+s[3])) + float32(float32(s[4]+s[5])+float32(s[6]+s[7]))
		if got := dot(a, b); math.Float32bits(got) != math.Float32bits(want) {
			t.Fatalf("%v, by the definition %v", got, want)
		}
	})
}
