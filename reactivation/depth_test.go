package reactivation_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/reactivation"
)

// ulps is the room for a last digit: the elementary functions are good to about
// one unit in the last place and need not be monotone within it.
const ulps = 1e-15

func TestDepthAtItsLandmarks(t *testing.T) {
	p := reactivation.Default()
	for _, c := range []struct {
		name string
		r, t float64
		want float64
		room float64
	}{
		{"nothing", 0, 0, 0, 0},
		{"nothing, for ever", 0, 1e18, 0, 0},
		{"R0 fresh", p.R0, 0, 1 - 1/math.E, ulps},
		{"2·R0 fresh", 2 * p.R0, 0, 1 - 1/(math.E*math.E), ulps},
		{"R0 after e-1 sessions", p.R0, math.E - 1, (1 - 1/math.E) / 1.35, ulps},
		{"all there is", math.MaxFloat64, 0, math.Nextafter(1, 0), 0},
	} {
		if got := must[float64](t)(p.Depth(c.r, c.t)); !near(got, c.want, c.room) {
			t.Errorf("%s: depth is %v; expected %v", c.name, got, c.want)
		}
	}
}

func TestDepthStaysBetweenZeroAndOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams().Draw(t, "params")
		age := rapid.OneOf(anyAge(), rapid.Just(math.MaxFloat64)).Draw(t, "age")
		r := anyPositive().Draw(t, "reinforcement")
		d, err := p.Depth(r, age)
		if err != nil {
			t.Fatal(err)
		}
		if !(d >= 0 && d < 1) {
			t.Fatalf("depth is %v", d)
		}
		if (d == 0) != (r == 0) {
			t.Fatalf("depth is %v for R = %v: only nothing has no depth", d, r)
		}
	})
}

func TestDepthRisesWithReinforcement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams().Draw(t, "params")
		age := anyAge().Draw(t, "age")
		r1, r2 := anyPositive().Draw(t, "less"), anyPositive().Draw(t, "more")
		r1, r2 = min(r1, r2), max(r1, r2)
		d1, err1 := p.Depth(r1, age)
		d2, err2 := p.Depth(r2, age)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if d2 < d1*(1-ulps) {
			t.Fatalf("depth fell from %v to %v", d1, d2)
		}
		// Where floats can tell: e^(-20)·1e-6 is well above 1e-16, and numbers
		// below 1e-300 are too coarse for a millionth.
		if r2 >= r1*(1+1e-6) && r2 > 1e-290 && r1 <= 20*p.R0 && !(d2 > d1) {
			t.Fatalf("depth did not rise: %v, then %v", d1, d2)
		}
	})
}

func TestDepthFadesWithAge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams().Draw(t, "params")
		r := anyPositive().Draw(t, "reinforcement")
		t1, t2 := anyAge().Draw(t, "younger"), anyAge().Draw(t, "older")
		t1, t2 = min(t1, t2), max(t1, t2)
		d1, err1 := p.Depth(r, t1)
		d2, err2 := p.Depth(r, t2)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if d2 > d1*(1+ulps) {
			t.Fatalf("depth rose from %v to %v", d1, d2)
		}
		if p.Lambda > 1e-6 && r > 1e-290 && t2 >= t1*1.001 && t2 > 1e-6 && !(d2 < d1) {
			t.Fatalf("depth did not fade: %v, then %v", d1, d2)
		}
	})
}

func TestDepthDoesNotFadeWithoutLambda(t *testing.T) {
	p := reactivation.Default()
	p.Lambda = 0
	fresh, old := must[float64](t)(p.Depth(3, 0)), must[float64](t)(p.Depth(3, 1e18))
	if fresh != old {
		t.Errorf("depth is %v fresh and %v old; expected the same", fresh, old)
	}
}

func TestReinforcementInvertsDepth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams().Draw(t, "params")
		depth := rapid.OneOf(
			rapid.Float64Range(0, math.Nextafter(1, 0)),
			rapid.Float64Range(0, 1e-12),
			rapid.SampledFrom([]float64{0, 1e-300, math.Nextafter(1, 0)}),
		).Draw(t, "depth")
		if depth > 0 && depth < 1e-290 { // R0·depth is below the normal numbers
			depth = 1e-290
		}
		r, err := p.Reinforcement(depth)
		if err != nil {
			t.Fatal(err)
		}
		back, err := p.Depth(r, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !near(back, depth, 4*ulps) {
			t.Fatalf("depth %v came back as %v", depth, back)
		}
	})
}

func TestReinforcementComesBackFromDepth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams().Draw(t, "params")
		// Above 8·R0 the last digits of the depth no longer hold R to 1e-12.
		r := p.R0 * rapid.Float64Range(1e-12, 8).Draw(t, "ratio")
		d, err := p.Depth(r, 0)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := p.Reinforcement(d); err != nil || !near(back, r, 1e-12) {
			t.Fatalf("reinforcement %v came back as %v (%v)", r, back, err)
		}
	})
}

func TestHardnessGrowsWithAge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams().Draw(t, "params")
		t1, t2 := anyAge().Draw(t, "younger"), anyAge().Draw(t, "older")
		h1, err1 := p.Hardness(min(t1, t2))
		h2, err2 := p.Hardness(max(t1, t2))
		if err1 != nil || err2 != nil || h1 < 1 || h2 < h1 {
			t.Fatalf("hardness %v, then %v (%v, %v)", h1, h2, err1, err2)
		}
	})
	if h := must[float64](t)(reactivation.Default().Hardness(0)); h != 1 {
		t.Errorf("fresh hardness is %v; expected 1", h)
	}
}
