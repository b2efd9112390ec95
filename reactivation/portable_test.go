package reactivation

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// libraryTolerance is the greatest relative difference from package math, which
// is itself good to one unit in the last place (2.2e-16).
const libraryTolerance = 8e-16

func TestPortableFunctionsAgreeWithTheLibrary(t *testing.T) {
	for _, c := range []struct {
		name     string
		mine     func(float64) float64
		standard func(float64) float64
		low, top float64
	}{
		{"exp", exp, math.Exp, -700, 0},
		{"exp", exp, math.Exp, -1, 0},
		{"expm1", expm1, math.Expm1, -700, 0},
		{"expm1", expm1, math.Expm1, -1, 0},
		{"expm1", expm1, math.Expm1, -1e-9, 0},
		{"log", log, math.Log, 1e-300, 0.6},
		{"log", log, math.Log, 1.5, math.MaxFloat64},
		{"log1p", log1p, math.Log1p, -belowOne, 0},
		{"log1p", log1p, math.Log1p, -1e-9, 1e-9},
		{"log1p", log1p, math.Log1p, 0, 2},
		{"log1p", log1p, math.Log1p, 0, 400},
		{"log1p", log1p, math.Log1p, 0, math.MaxFloat64},
	} {
		rapid.Check(t, func(t *rapid.T) {
			x := rapid.Float64Range(c.low, c.top).Draw(t, "x")
			got, want := c.mine(x), c.standard(x)
			if math.Abs(got-want) > libraryTolerance*math.Abs(want) {
				t.Fatalf("%s(%v) is %.17g; expected %.17g", c.name, x, got, want)
			}
		})
	}
}

// The bits of these results are the same on every processor.
func TestPortableFunctionsToTheBit(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(float64) float64
		x    float64
		want uint64
	}{
		{"exp", exp, 0, 0x3ff0000000000000},
		{"expm1", expm1, 0, 0},
		{"log", log, 1, 0},
		{"log1p", log1p, 0, 0},
	} {
		if got := math.Float64bits(c.f(c.x)); got != c.want {
			t.Errorf("%s(%v) is %#x; expected %#x", c.name, c.x, got, c.want)
		}
	}
}
