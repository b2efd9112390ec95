package reactivation_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/reactivation"
)

// noSuppression draws parameters under which every strike is a snap-back.
func noSuppression() *rapid.Generator[reactivation.Params] {
	return rapid.Map(anyParams(), func(p reactivation.Params) reactivation.Params {
		p.Suppression = 0
		return p
	})
}

func TestReactivationNeverLowersDepth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := noSuppression().Draw(t, "params")
		i, e := anyImpression().Draw(t, "impression"), anyStimulus().Draw(t, "event")
		before, err := p.Depth(i.Reinforcement, i.Age)
		if err != nil {
			t.Fatal(err)
		}
		o, err := p.Collide(i, e, rapid.OneOf(rapid.Float64Range(1, 2), rapid.Float64Range(1, 1e300)).Draw(t, "stiffness"))
		if err != nil {
			t.Fatal(err)
		}
		if !(o.Depth >= before && o.Depth < 1) {
			t.Fatalf("depth went from %v to %v", before, o.Depth)
		}
		if !o.Reset || o.Suppressed || !(o.Snap >= 0 && o.Snap <= 1) || o.Reinforcement > math.MaxFloat64 {
			t.Fatalf("outcome %+v", o)
		}
		if law, err := p.Depth(o.Reinforcement, 0); err != nil || law != o.Depth {
			t.Fatalf("the outcome says %v, the depth law %v (%v)", o.Depth, law, err)
		}
	})
}

func TestDepthAfterIsTheClosedForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := noSuppression().Draw(t, "params")
		i, e := anyImpression().Draw(t, "impression"), anyStimulus().Draw(t, "event")
		before, err1 := p.Depth(i.Reinforcement, i.Age)
		hard, err2 := p.Hardness(i.Age)
		o, err3 := p.Collide(i, e, 1.25)
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatal(err1, err2, err3)
		}
		snap := math.Pow(e.Weight*(1-before)*i.Guna.Resonance(e.Guna), 2)
		if math.Abs(o.Snap-snap) > 1e-14 {
			t.Fatalf("snap is %v; expected %v", o.Snap, snap)
		}
		if want := before + (1-before)*snap/(hard*1.25); math.Abs(o.Depth-want) > 1e-14 {
			t.Fatalf("depth is %v; expected %v", o.Depth, want)
		}
	})
}

func TestGainVanishesNearFullDepth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := noSuppression().Draw(t, "params")
		i, e := anyImpression().Draw(t, "impression"), anyStimulus().Draw(t, "event")
		before, err1 := p.Depth(i.Reinforcement, i.Age)
		o, err2 := p.Collide(i, e, 1)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		// gain ≤ (1-D)³, by W, r ≤ 1 and H ≥ 1.
		if gain := o.Depth - before; gain > math.Pow(1-before, 3)+4*ulps {
			t.Fatalf("at depth %v the gain is %v", before, gain)
		}
	})
	p := reactivation.Default()
	last := 1.0
	for _, ratio := range []float64{1, 2, 4, 8, 12} {
		i := reactivation.Impression{Reinforcement: ratio * p.R0, Guna: reactivation.Rajas()}
		o := must[reactivation.Outcome](t)(p.Collide(i, reactivation.Stimulus{Weight: 1, Guna: reactivation.Rajas()}, 1))
		gain := o.Depth - must[float64](t)(p.Depth(i.Reinforcement, 0))
		if !(gain < last) {
			t.Errorf("at R = %v·R0 the gain is %v, before it was %v", ratio, gain, last)
		}
		last = gain
	}
	if last > 1e-15 {
		t.Errorf("at 12·R0 the gain is still %v", last)
	}
}

func TestOrthogonalGunasChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := noSuppression().Draw(t, "params")
		i := anyImpression().Draw(t, "impression")
		poles := []reactivation.Guna{reactivation.Tamas(), reactivation.Rajas(), reactivation.Sattva()}
		k := rapid.IntRange(0, 2).Draw(t, "pole")
		i.Guna = poles[k]
		e := reactivation.Stimulus{Weight: unitFloat().Draw(t, "weight"), Guna: poles[(k+1)%3]}
		before, err1 := p.Depth(i.Reinforcement, i.Age)
		o, err2 := p.Collide(i, e, 1)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		// R/R0 of numbers below the normal ones is coarse.
		if before > 1e-290 && !near(o.Depth, before, 4*ulps) || o.Snap != 0 {
			t.Fatalf("depth went from %v to %v, snap %v", before, o.Depth, o.Snap)
		}
		if i.Age == 0 && o.Reinforcement != i.Reinforcement {
			t.Fatalf("a fresh impression went from R = %v to %v", i.Reinforcement, o.Reinforcement)
		}
	})
}

func TestHalfTheWeightIsAQuarterOfTheSnap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := noSuppression().Draw(t, "params")
		i, e := anyImpression().Draw(t, "impression"), anyStimulus().Draw(t, "event")
		full, err1 := p.Collide(i, e, 1)
		e.Weight /= 2
		half, err2 := p.Collide(i, e, 1)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		// Halving is exact, except among the smallest numbers.
		if full.Snap > 1e-290 && half.Snap != full.Snap/4 {
			t.Fatalf("snap %v, at half the weight %v", full.Snap, half.Snap)
		}
		if half.Depth > full.Depth+ulps {
			t.Fatalf("half the weight went deeper: %v, not %v", half.Depth, full.Depth)
		}
	})
}

// Of two impressions that are equally deep now, the older one gains less.
func TestOlderGainsLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := reactivation.Default()
		p.Suppression = 0
		p.HardnessGain = rapid.Float64Range(0.01, 3).Draw(t, "hardness gain")
		young := rapid.Float64Range(0, 400).Draw(t, "young")
		old := young*1.01 + rapid.Float64Range(0.1, 400).Draw(t, "older by")
		depth := rapid.Float64Range(0.01, 0.9).Draw(t, "part of the reachable") / (1 + p.Lambda*math.Log1p(old))
		g, e := anyGuna().Draw(t, "guna"), anyStimulus().Draw(t, "event")
		gain := func(age float64) float64 {
			r, err := p.Reinforcement(depth * (1 + p.Lambda*math.Log1p(age)))
			if err != nil {
				t.Fatal(err)
			}
			o, err := p.Collide(reactivation.Impression{Reinforcement: r, Age: age, Guna: g}, e, 1)
			if err != nil {
				t.Fatal(err)
			}
			return o.Depth - depth
		}
		if y, o := gain(young), gain(old); y > 1e-10 && !(o < y) {
			t.Fatalf("aged %v the gain is %v, aged %v it is %v", young, y, old, o)
		} else if o > y+4*ulps {
			t.Fatalf("aged %v the gain is %v, aged %v it is %v", young, y, old, o)
		}
	})
}

// At equal R the older one is also the shallower one, which leaves it more room.
// With η_h = λ and u = 1+λ·ln(1+t) the gain goes as (1-f/u)³/u, which falls with
// age exactly where D = f/u < 1/4, and rises above.
func TestGainOverAgeAtEqualReinforcement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := reactivation.Default()
		r := rapid.Float64Range(0.1, 30).Draw(t, "reinforcement")
		age := rapid.Float64Range(0, 400).Draw(t, "age")
		older := age*1.01 + 0.1
		gain := func(age float64) (gain, depth float64) {
			depth, err1 := p.Depth(r, age)
			o, err2 := p.Collide(reactivation.Impression{Reinforcement: r, Age: age, Guna: reactivation.Rajas()},
				reactivation.Stimulus{Weight: 1, Guna: reactivation.Rajas()}, 1)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			return o.Depth - depth, depth
		}
		young, from := gain(age)
		old, to := gain(older)
		if from < 0.25 && !(old < young) {
			t.Fatalf("below a quarter (%v) the gain rose from %v to %v", from, young, old)
		}
		if to > 0.25 && !(old > young) {
			t.Fatalf("above a quarter (%v) the gain fell from %v to %v", to, young, old)
		}
	})
}

func TestStiffnessLowersTheGain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := noSuppression().Draw(t, "params")
		i, e := anyImpression().Draw(t, "impression"), anyStimulus().Draw(t, "event")
		loose, err1 := p.Collide(i, e, 1)
		stiff, err2 := p.Collide(i, e, 1.5)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if stiff.Depth > loose.Depth*(1+4*ulps) || stiff.Snap != loose.Snap || stiff.Guna != loose.Guna {
			t.Fatalf("loose %+v, stiff %+v", loose, stiff)
		}
	})
}

func TestSuppression(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams().Draw(t, "params")
		i, e := anyImpression().Draw(t, "impression"), anyStimulus().Draw(t, "event")
		o, err := p.Collide(i, e, 1)
		if err != nil {
			t.Fatal(err)
		}
		s := e.Guna.Shares()
		want := p.Suppression > 0 && i.Guna.Sattva > p.Protection && max(s.Tamas, s.Rajas) > s.Sattva
		if o.Suppressed != want || o.Reset == want {
			t.Fatalf("suppressed %v, reset %v; expected suppressed %v", o.Suppressed, o.Reset, want)
		}
		if !want {
			return
		}
		if o.Guna != i.Guna || o.Snap != 0 {
			t.Fatalf("suppression touched the character or snapped: %+v", o)
		}
		before, err1 := p.Depth(i.Reinforcement, i.Age)
		law, err2 := p.Depth(o.Reinforcement, i.Age)
		if err1 != nil || err2 != nil || law != o.Depth {
			t.Fatalf("the outcome says %v, the depth law %v (%v, %v)", o.Depth, law, err1, err2)
		}
		factor := 1 - p.Suppression*e.Weight*(1-i.Guna.Resonance(e.Guna))
		if before > 1e-290 && !near(o.Depth, before*factor, 1e-13) {
			t.Fatalf("depth %v became %v; expected %v", before, o.Depth, before*factor)
		}
		if o.Reinforcement > i.Reinforcement || (o.Depth == 0) != (i.Reinforcement == 0) {
			t.Fatalf("R went from %v to %v, depth to %v", i.Reinforcement, o.Reinforcement, o.Depth)
		}
	})
}

func TestSuppressionSwitchedOffIsASnap(t *testing.T) {
	p := reactivation.Default()
	i := reactivation.Impression{Reinforcement: 5, Age: 3, Guna: must[reactivation.Guna](t)(reactivation.NewGuna(0.5, 0, 0.8))}
	e := reactivation.Stimulus{Weight: 1, Guna: reactivation.Tamas()}
	if o := must[reactivation.Outcome](t)(p.Collide(i, e, 1)); !o.Suppressed {
		t.Errorf("with suppression %v: %+v; expected it suppressed", p.Suppression, o)
	}
	p.Suppression = 0
	o := must[reactivation.Outcome](t)(p.Collide(i, e, 1))
	if o.Suppressed || !o.Reset || !(o.Snap > 0) || o.Guna != i.Guna {
		t.Errorf("without: %+v; expected a snap with the character kept", o)
	}
}

func TestSoften(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams().Draw(t, "params")
		i, e := anyImpression().Draw(t, "impression"), anyStimulus().Draw(t, "event")
		r, err := p.Soften(i, e)
		if err != nil {
			t.Fatal(err)
		}
		if gain := float64(p.SoftGain * e.Weight * i.Guna.Resonance(e.Guna)); r != i.Reinforcement+gain || r > math.MaxFloat64 {
			t.Fatalf("R went from %v to %v; expected %v more", i.Reinforcement, r, gain)
		}
	})
}
