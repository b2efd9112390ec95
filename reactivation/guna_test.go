package reactivation_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/reactivation"
)

// onOctant is how far from length 1 the dynamics may leave a guna.
const onOctant = 1e-12

func checkOctant(t interface{ Fatalf(string, ...any) }, g reactivation.Guna) {
	length := math.Sqrt(g.Tamas*g.Tamas + g.Rajas*g.Rajas + g.Sattva*g.Sattva)
	if !(g.Tamas >= 0 && g.Rajas >= 0 && g.Sattva >= 0 && math.Abs(length-1) <= onOctant) {
		t.Fatalf("%v left the octant: its length is %v", g, length)
	}
}

func TestNewGunaNormalisesAnyTriple(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := anyPositive()
		tamas, rajas, sattva := part.Draw(t, "tamas"), part.Draw(t, "rajas"), part.Draw(t, "sattva")
		g, err := reactivation.NewGuna(tamas, rajas, sattva)
		if tamas == 0 && rajas == 0 && sattva == 0 {
			if !errors.Is(err, reactivation.ErrGuna) {
				t.Fatalf("a zero triple gave %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		checkOctant(t, g)
		if err := g.Check(); err != nil {
			t.Fatal(err)
		}
		if tamas > rajas != (g.Tamas > g.Rajas) && g.Tamas != g.Rajas {
			t.Fatalf("(%v, %v, %v) turned into %v", tamas, rajas, sattva, g)
		}
	})
}

func TestNewGunaDoesNotDependOnScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGuna().Draw(t, "guna")
		// A power of two scales exactly, but for parts that end up below the
		// normal numbers.
		scale := math.Ldexp(1, rapid.IntRange(-900, 1000).Draw(t, "exponent"))
		a, errA := reactivation.NewGuna(g.Tamas, g.Rajas, g.Sattva)
		b, errB := reactivation.NewGuna(g.Tamas*scale, g.Rajas*scale, g.Sattva*scale)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if math.Abs(a.Tamas-b.Tamas) > ulps || math.Abs(a.Rajas-b.Rajas) > ulps || math.Abs(a.Sattva-b.Sattva) > ulps {
			t.Fatalf("%v at one scale, %v at another", a, b)
		}
	})
}

func TestNewGunaHasNoNegativeZero(t *testing.T) {
	g := must[reactivation.Guna](t)(reactivation.NewGuna(math.Copysign(0, -1), 1, math.Copysign(0, -1)))
	if math.Signbit(g.Tamas) || math.Signbit(g.Sattva) {
		t.Errorf("%v holds a negative zero", g)
	}
}

func TestSharesSumToOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyGuna().Draw(t, "guna").Shares()
		if sum := s.Tamas + s.Rajas + s.Sattva; math.Abs(sum-1) > onOctant {
			t.Fatalf("shares sum to %v", sum)
		}
	})
}

func TestResonance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyGuna().Draw(t, "a"), anyGuna().Draw(t, "b")
		r := a.Resonance(b)
		if !(r >= 0 && r <= 1) || r != b.Resonance(a) {
			t.Fatalf("resonance is %v one way and %v the other", r, b.Resonance(a))
		}
		if self := a.Resonance(a); 1-self > ulps {
			t.Fatalf("resonance with itself is %v", self)
		}
		if angle := a.Angle(b); math.Abs(math.Cos(angle)-r) > 4*ulps {
			t.Fatalf("an angle of %v for a resonance of %v", angle, r)
		}
	})
	poles := []reactivation.Guna{reactivation.Tamas(), reactivation.Rajas(), reactivation.Sattva()}
	for i, a := range poles {
		for j, b := range poles {
			resonance, angle := 0.0, math.Pi/2
			if i == j {
				resonance, angle = 1, 0
			}
			if a.Resonance(b) != resonance || a.Angle(b) != angle {
				t.Errorf("%v and %v: resonance %v, angle %v; expected %v, %v", a, b, a.Resonance(b), a.Angle(b), resonance, angle)
			}
		}
	}
}

func TestAngleOfNearGunas(t *testing.T) {
	// The arc cosine of the dot product gives 0 here.
	a := must[reactivation.Guna](t)(reactivation.NewGuna(1e-10, 0, 1))
	if got := a.Angle(reactivation.Sattva()); !near(got, 1e-10, ulps) {
		t.Errorf("angle is %v; expected 1e-10", got)
	}
}

func TestBrokenGunaResonatesWithNothing(t *testing.T) {
	broken := reactivation.Guna{Tamas: math.NaN(), Sattva: 1}
	if r, a := broken.Resonance(reactivation.Sattva()), broken.Angle(reactivation.Sattva()); r != 0 || a != math.Pi/2 {
		t.Errorf("resonance %v, angle %v; expected 0 and a right angle", r, a)
	}
}

func TestMeanGuna(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gs := rapid.SliceOfN(anyGuna(), 1, 8).Draw(t, "gunas")
		ws := rapid.SliceOfN(rapid.OneOf(unitFloat(), anyPositive()), len(gs), len(gs)).Draw(t, "weights")
		mean, ok, err := reactivation.MeanGuna(gs, ws)
		if err != nil {
			t.Fatal(err)
		}
		low, weight := 1.0, 0.0
		for i, g := range gs {
			weight += ws[i]
			low = min(low, g.Sattva)
		}
		if ok != (weight > 0) {
			t.Fatalf("a mean (%v) for a total weight of %v", ok, weight)
		}
		if !ok {
			if mean != (reactivation.Guna{}) {
				t.Fatalf("no mean, but %v", mean)
			}
			return
		}
		checkOctant(t, mean)
		// The mean of unit vectors is shorter than 1, so its direction has at
		// least the least sattva, and the single guna is its own mean.
		if mean.Sattva < low-onOctant {
			t.Fatalf("mean %v has less sattva than any of %v", mean, gs)
		}
		if len(gs) == 1 && mean.Angle(gs[0]) > onOctant {
			t.Fatalf("mean of %v alone is %v", gs[0], mean)
		}
	})
	if _, ok, err := reactivation.MeanGuna(nil, nil); ok || err != nil {
		t.Errorf("mean of nothing: %v, %v; expected none", ok, err)
	}
}
