package reactivation_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/reactivation"
)

func TestDriftStaysOnTheOctant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams().Draw(t, "params")
		g := anyGuna().Draw(t, "guna")
		for _, e := range rapid.SliceOfN(anyStimulus(), 1, 50).Draw(t, "events") {
			next, err := p.Drift(g, e)
			if err != nil {
				t.Fatal(err)
			}
			checkOctant(t, next)
			// No step goes past the event or away from it.
			if next.Angle(e.Guna) > g.Angle(e.Guna)+onOctant {
				t.Fatalf("%v met %v and turned away to %v", g, e.Guna, next)
			}
			if next.Angle(g) > g.Angle(e.Guna)+onOctant {
				t.Fatalf("%v met %v and went past it to %v", g, e.Guna, next)
			}
			g = next
		}
	})
}

func TestProtectedSattvaNeverDecreases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams().Draw(t, "params")
		g := anyGuna().Draw(t, "guna")
		for _, e := range rapid.SliceOfN(anyStimulus(), 1, 100).Draw(t, "events") {
			next, err := p.Drift(g, e)
			if err != nil {
				t.Fatal(err)
			}
			if g.Sattva > p.Protection {
				if next.Sattva < g.Sattva {
					t.Fatalf("protected sattva fell from %v to %v", g.Sattva, next.Sattva)
				}
				if e.Guna.Sattva < g.Sattva && next != g {
					t.Fatalf("protected %v was turned to %v", g, next)
				}
			}
			if e.Guna.Sattva >= g.Sattva && next.Sattva < g.Sattva {
				t.Fatalf("sattva fell from %v to %v by an event that has %v", g.Sattva, next.Sattva, e.Guna.Sattva)
			}
			g = next
		}
	})
}

// TestBombardment strikes one impression with everything, in any order, for a
// hundred steps, tamas above all.
func TestBombardment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams().Draw(t, "params")
		i := reactivation.Impression{Reinforcement: 1, Guna: anyGuna().Draw(t, "guna")}
		protected := 0.0 // the most sattva it ever had above the protection
		strike := func(t *rapid.T, e reactivation.Stimulus) {
			before, err := p.Depth(i.Reinforcement, i.Age)
			if err != nil {
				t.Fatal(err)
			}
			o, err := p.Collide(i, e, rapid.Float64Range(1, 2).Draw(t, "stiffness"))
			if err != nil {
				t.Fatal(err)
			}
			if !o.Suppressed && o.Depth < before {
				t.Fatalf("reactivation lowered the depth from %v to %v", before, o.Depth)
			}
			if o.Suppressed && o.Depth < before*(1-p.Suppression)*(1-4*ulps) {
				t.Fatalf("suppression took more than its part: %v, then %v", before, o.Depth)
			}
			i.Reinforcement, i.Guna = o.Reinforcement, o.Guna
			if o.Reset {
				i.Age = 0
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"tamas": func(t *rapid.T) {
				strike(t, reactivation.Stimulus{Weight: 1, Match: 1, Guna: reactivation.Tamas()})
			},
			"rajas": func(t *rapid.T) {
				strike(t, reactivation.Stimulus{Weight: 1, Match: 1, Guna: reactivation.Rajas()})
			},
			"anything": func(t *rapid.T) { strike(t, anyStimulus().Draw(t, "event")) },
			"soft": func(t *rapid.T) {
				r, err := p.Soften(i, anyStimulus().Draw(t, "event"))
				if err != nil || r < i.Reinforcement {
					t.Fatalf("soft strike: R from %v to %v (%v)", i.Reinforcement, r, err)
				}
				i.Reinforcement = r
			},
			"age": func(t *rapid.T) { i.Age += rapid.Float64Range(0, 100).Draw(t, "sessions") },
			"": func(t *rapid.T) {
				checkOctant(t, i.Guna)
				if i.Guna.Sattva < protected {
					t.Fatalf("sattva fell to %v after it was protected at %v", i.Guna.Sattva, protected)
				}
				if i.Guna.Sattva > p.Protection {
					protected = i.Guna.Sattva
				}
				if d, err := p.Depth(i.Reinforcement, i.Age); err != nil || !(d > 0 && d < 1) {
					t.Fatalf("depth is %v (%v)", d, err)
				}
			},
		})
	})
}

// bombard gives the sattva that is left after a number of tamasic events.
func bombard(t *testing.T, p reactivation.Params, g reactivation.Guna, events int) float64 {
	for range events {
		g = must[reactivation.Guna](t)(p.Drift(g, reactivation.Stimulus{Weight: 1, Match: 1, Guna: reactivation.Tamas()}))
	}
	return g.Sattva
}

func TestWhereProtectionBreaks(t *testing.T) {
	g := must[reactivation.Guna](t)(reactivation.NewGuna(0.7, 0, 0.714))
	for _, c := range []struct {
		protection float64
		holds      bool
	}{
		{0, true}, {0.3, true}, {0.6, true}, {g.Sattva - 1e-9, true},
		{g.Sattva, false}, {0.8, false}, {1, false},
	} {
		p := reactivation.Default()
		p.Protection = c.protection
		left := bombard(t, p, g, 500)
		if c.holds && left != g.Sattva {
			t.Errorf("protection %v: sattva went from %v to %v; expected no change", c.protection, g.Sattva, left)
		}
		if !c.holds && left > 1e-6 {
			t.Errorf("protection %v: %v of sattva is left; expected next to nothing", c.protection, left)
		}
	}
}

func TestSattvicEventsLeadToSattva(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := reactivation.Default()
		p.Protection = unitFloat().Draw(t, "protection")
		g := anyGuna().Draw(t, "guna")
		e := reactivation.Stimulus{Weight: 1, Match: unitFloat().Draw(t, "match"), Guna: reactivation.Sattva()}
		for range 700 { // 0.95^700 is below 1e-15
			next, err := p.Drift(g, e)
			if err != nil {
				t.Fatal(err)
			}
			if next.Sattva < g.Sattva {
				t.Fatalf("sattva fell from %v to %v", g.Sattva, next.Sattva)
			}
			g = next
		}
		if angle := g.Angle(reactivation.Sattva()); angle > 1e-12 {
			t.Fatalf("after 700 sattvic events the angle to sattva is %v", angle)
		}
	})
}

// Events that are sattvic without being pure lead as far as they are
// themselves: never below the lesser of the start and the least of them.
func TestMixedSattvicEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams().Draw(t, "params")
		g := anyGuna().Draw(t, "guna")
		least := g.Sattva
		for _, e := range rapid.SliceOfN(anyStimulus(), 1, 60).Draw(t, "events") {
			least = min(least, e.Guna.Sattva)
			next, err := p.Drift(g, e)
			if err != nil {
				t.Fatal(err)
			}
			if g = next; g.Sattva < least-onOctant {
				t.Fatalf("sattva is %v; nothing had less than %v", g.Sattva, least)
			}
		}
	})
}

func TestUpliftDoublesTheRate(t *testing.T) {
	p := reactivation.Default()
	g := reactivation.Tamas()
	clarity := must[reactivation.Guna](t)(reactivation.NewGuna(0.5, 0.5, 0.8))
	even := must[reactivation.Guna](t)(reactivation.NewGuna(0.8, 0, 0.8))
	for _, c := range []struct {
		name  string
		event reactivation.Guna
		match float64
		rate  float64
	}{
		{"sattvic, at the match", clarity, p.UpliftMatch, 2 * p.DriftRate},
		{"sattvic, just below it", clarity, p.UpliftMatch - 1e-9, p.DriftRate},
		{"sattva not above tamas", even, 1, p.DriftRate},
		{"rajasic", reactivation.Rajas(), 1, p.DriftRate},
	} {
		got := must[reactivation.Guna](t)(p.Drift(g, reactivation.Stimulus{Weight: 1, Match: c.match, Guna: c.event}))
		want := must[reactivation.Guna](t)(reactivation.DriftTowards(g, c.event, c.rate, 1))
		if got != want {
			t.Errorf("%s: %v; expected %v", c.name, got, want)
		}
	}
	p.DriftRate = 0.8 // doubled, it stops at the event
	got := must[reactivation.Guna](t)(p.Drift(g, reactivation.Stimulus{Match: 1, Guna: clarity}))
	if got.Angle(clarity) > onOctant {
		t.Errorf("at full rate: %v; expected %v", got, clarity)
	}
}

func TestDriftWithoutRateOrDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, target := anyGuna().Draw(t, "guna"), anyGuna().Draw(t, "target")
		if got, err := reactivation.DriftTowards(g, target, 0, 1); err != nil || got != g {
			t.Fatalf("rate 0: %v became %v (%v)", g, got, err)
		}
		rate := unitFloat().Draw(t, "rate")
		if got, err := reactivation.DriftTowards(g, g, rate, 1); err != nil || got != g {
			t.Fatalf("no difference: %v became %v (%v)", g, got, err)
		}
	})
}
