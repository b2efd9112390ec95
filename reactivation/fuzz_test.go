package reactivation_test

import (
	"math"
	"testing"

	"github.com/jivad/jivad/reactivation"
)

// FuzzCollide throws any bits at a collision: it is refused, or the outcome is
// one that a store may keep.
func FuzzCollide(f *testing.F) {
	f.Add(10.0, 0.35, 0.1, 1.0, 0.0, 0.1, 0.2, 0.9, 0.7, 0.6, 0.9, 0.3, 0.1, 1.0)
	f.Add(1e-6, 0.0, 0.0, math.MaxFloat64, 1e18, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1e300)
	f.Add(1e6, 1000.0, 0.99, 5e-324, 5e-324, 0.0, 0.0, 1.0, 1.0, 0.5, 0.8, 0.6, 0.0, 1.5)
	f.Fuzz(func(t *testing.T, r0, lambda, suppression, r, age, t1, r1, s1, weight, match, t2, r2, s2, stiffness float64) {
		p := reactivation.Default()
		p.R0, p.Lambda, p.Suppression = r0, lambda, suppression
		g, errG := reactivation.NewGuna(t1, r1, s1)
		h, errH := reactivation.NewGuna(t2, r2, s2)
		if errG != nil || errH != nil {
			return
		}
		i := reactivation.Impression{Reinforcement: r, Age: age, Guna: g}
		o, err := p.Collide(i, reactivation.Stimulus{Weight: weight, Match: match, Guna: h}, stiffness)
		if err != nil {
			if o != (reactivation.Outcome{}) {
				t.Fatalf("refused (%v), but %+v", err, o)
			}
			return
		}
		checkOctant(t, o.Guna)
		before, err := p.Depth(r, age)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case !(o.Reinforcement >= 0 && o.Reinforcement <= math.MaxFloat64), !(o.Depth >= 0 && o.Depth < 1), !(o.Snap >= 0 && o.Snap <= 1):
			t.Fatalf("outcome %+v", o)
		case o.Suppressed == o.Reset:
			t.Fatalf("suppressed %v, reset %v", o.Suppressed, o.Reset)
		case o.Reset && o.Depth < before, o.Suppressed && o.Depth > before*(1+ulps):
			t.Fatalf("depth went from %v to %v: %+v", before, o.Depth, o)
		case r > 0 && o.Depth == 0:
			t.Fatalf("the groove was erased: %+v", o)
		}
	})
}
