package fold

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

func TestDotFollowsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 100).Draw(t, "length")
		a := rapid.SliceOfN(rapid.Float32Range(-1, 1), n, n).Draw(t, "a")
		b := rapid.SliceOfN(rapid.Float32Range(-1, 1), n, n).Draw(t, "b")
		if got, want := Dot(a, b), slowDot(a, b); math.Float32bits(got) != math.Float32bits(want) {
			t.Fatalf("%v, by the definition %v", got, want)
		}
	})
}
