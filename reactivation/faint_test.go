package reactivation_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/reactivation"
)

func TestFaintAgeAtItsLandmarks(t *testing.T) {
	p := reactivation.Default()
	still := p
	still.Lambda = 0
	fresh := must[float64](t)(p.Depth(1, 0))
	later := must[float64](t)(p.Depth(1, 7))
	for _, c := range []struct {
		name     string
		p        reactivation.Params
		r, below float64
		age      uint32
		ok       bool
	}{
		{"touched once, the usual parameters", p, 1, 0.04, 51, true},
		{"fresh is not below what it is", p, 1, fresh, 1, true},
		{"nor at the age at which it is just that", p, 1, later, 8, true},
		{"below from the start", p, 1, math.Nextafter(fresh, 1), 0, true},
		{"nothing is below 1", p, 1e9, 1, 0, true},
		{"not in any number of sessions", p, 1, 0.005, 0, false},
		{"none is less deep than 0", p, 0, 0, 0, false},
		{"nothing fades", still, 1, fresh, 0, false},
		{"nothing fades, but shallow", still, 1, 0.2, 0, true},
	} {
		age, ok, err := c.p.FaintAge(c.r, c.below)
		if err != nil || age != c.age || ok != c.ok {
			t.Errorf("%s: %d %v %v; expected %d %v", c.name, age, ok, err, c.age, c.ok)
		}
	}
}

// The age is the first at which the depth, as everybody else computes it, is below.
func TestFaintAgeIsWhereDepthFallsBelow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := reactivation.Default()
		p.R0 = rapid.Float64Range(0.1, 100).Draw(t, "R0")
		p.Lambda = rapid.OneOf(rapid.Float64Range(0.001, 3), rapid.Float64Range(1e-9, 1e-3), rapid.Just(0.35)).Draw(t, "lambda")
		r := rapid.OneOf(rapid.Float64Range(0, 50), rapid.Just(1.0), anyPositive()).Draw(t, "reinforcement")
		below := unitFloat().Draw(t, "below")
		if rapid.Bool().Draw(t, "on the edge") { // of some age, to the bit
			at := rapid.OneOf(rapid.Uint32Range(0, 500), rapid.Uint32()).Draw(t, "edge")
			below = depthAt(t, p, r, at)
		}
		depth := func(age uint32) float64 { return depthAt(t, p, r, age) }
		age, ok, err := p.FaintAge(r, below)
		switch {
		case err != nil:
			t.Fatal(err)
		case !ok && depth(math.MaxUint32) < below:
			t.Fatal("it never gets there, and does")
		case !ok:
			return
		case depth(age) >= below:
			t.Fatalf("depth is %v at age %d, not below %v", depth(age), age, below)
		case age > 0 && depth(age-1) < below:
			t.Fatalf("depth is %v at age %d, below %v already", depth(age-1), age-1, below)
		}
	})
}

// Counted session by session it is the same.
func TestFaintAgeCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := reactivation.Default()
		p.Lambda = rapid.Float64Range(0.05, 2).Draw(t, "lambda")
		r := rapid.Float64Range(0, 8).Draw(t, "reinforcement")
		below := rapid.Float64Range(0.01, 0.3).Draw(t, "below")
		const far = 2000
		want := uint32(0)
		for want < far && depthAt(t, p, r, want) >= below {
			want++
		}
		age, ok, err := p.FaintAge(r, below)
		if err != nil || want < far && (!ok || age != want) || want == far && ok && age < far {
			t.Fatalf("%d %v %v, counted %d", age, ok, err, want)
		}
	})
}

func depthAt(t *rapid.T, p reactivation.Params, r float64, age uint32) float64 {
	d, err := p.Depth(r, float64(age))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func BenchmarkFaintAge(b *testing.B) {
	p := reactivation.Default()
	for i := range b.N {
		if _, _, err := p.FaintAge(1+float64(i%100)/40, p.BuryBelow); err != nil {
			b.Fatal(err)
		}
	}
}
