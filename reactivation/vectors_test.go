package reactivation_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/jivad/jivad/reactivation"
)

// vectorTolerance is the greatest relative difference from a published value.
// The functions chain a handful of roundings of 1e-16 and none that cancels.
const vectorTolerance = 1e-12

type triple [3]float64

func (v triple) guna() reactivation.Guna {
	return reactivation.Guna{Tamas: v[0], Rajas: v[1], Sattva: v[2]}
}

// vectors reads one family of published values, computed apart from this code
// by scripts/vectors/dynamics.py, and runs check on each.
func vectors[Case any](t *testing.T, name string, check func(t *testing.T, sets []reactivation.Params, c Case)) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Sets  []reactivation.Params
		Cases []Case
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 200 {
		t.Fatalf("%d cases; expected at least 200", len(file.Cases))
	}
	for _, p := range file.Sets {
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
	}
	defaults := reactivation.Default()
	defaults.BuryBelow, defaults.BuryAfter = 0, 0 // no published value depends on them
	if file.Sets[0] != defaults {
		t.Errorf("the first set of %s is %+v; expected the defaults", name, file.Sets[0])
	}
	for i, c := range file.Cases {
		check(t, file.Sets, c)
		if t.Failed() {
			t.Fatalf("case %d: %+v", i, c)
		}
	}
}

// same compares one value with its vector.
func same(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= vectorTolerance*math.Abs(want)) {
		t.Errorf("%s is %.17g; expected %.17g", what, got, want)
	}
}

func sameGuna(t *testing.T, what string, got reactivation.Guna, want triple) {
	t.Helper()
	same(t, what+" (tamas)", got.Tamas, want[0])
	same(t, what+" (rajas)", got.Rajas, want[1])
	same(t, what+" (sattva)", got.Sattva, want[2])
}

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestVectorsDepth(t *testing.T) {
	type c struct {
		Params                    int
		Reinforcement, Age, Depth float64
	}
	vectors(t, "depth", func(t *testing.T, sets []reactivation.Params, c c) {
		same(t, "depth", must[float64](t)(sets[c.Params].Depth(c.Reinforcement, c.Age)), c.Depth)
	})
}

func TestVectorsReinforcement(t *testing.T) {
	type c struct {
		Params               int
		Depth, Reinforcement float64
	}
	vectors(t, "reinforcement", func(t *testing.T, sets []reactivation.Params, c c) {
		same(t, "reinforcement", must[float64](t)(sets[c.Params].Reinforcement(c.Depth)), c.Reinforcement)
	})
}

func TestVectorsHardness(t *testing.T) {
	type c struct {
		Params        int
		Age, Hardness float64
	}
	vectors(t, "hardness", func(t *testing.T, sets []reactivation.Params, c c) {
		same(t, "hardness", must[float64](t)(sets[c.Params].Hardness(c.Age)), c.Hardness)
	})
}

func TestVectorsWeight(t *testing.T) {
	type c struct {
		Force  [4]float64
		Weight float64
	}
	vectors(t, "weight", func(t *testing.T, _ []reactivation.Params, c c) {
		f := reactivation.Force{Intensity: c.Force[0], Novelty: c.Force[1], Emotion: c.Force[2], Match: c.Force[3]}
		same(t, "weight", must[float64](t)(f.Weight()), c.Weight)
	})
}

func TestVectorsBlend(t *testing.T) {
	type c struct {
		Params   int
		Embedded float64
		Judged   *float64
		Blended  float64
	}
	vectors(t, "blend", func(t *testing.T, sets []reactivation.Params, c c) {
		same(t, "blend", must[float64](t)(sets[c.Params].Blend(c.Embedded, c.Judged)), c.Blended)
	})
}

func TestVectorsGuna(t *testing.T) {
	type c struct {
		Triple, Guna, Shares, Other triple
		Resonance                   float64
	}
	vectors(t, "guna", func(t *testing.T, _ []reactivation.Params, c c) {
		g := must[reactivation.Guna](t)(reactivation.NewGuna(c.Triple[0], c.Triple[1], c.Triple[2]))
		sameGuna(t, "guna", g, c.Guna)
		sameGuna(t, "shares", reactivation.Guna(g.Shares()), c.Shares)
		same(t, "resonance", g.Resonance(c.Other.guna()), c.Resonance)
	})
}

func TestVectorsDrift(t *testing.T) {
	type c struct {
		Params      int
		Guna, Event triple
		Match       float64
		Drifted     triple
	}
	vectors(t, "drift", func(t *testing.T, sets []reactivation.Params, c c) {
		e := reactivation.Stimulus{Weight: 1, Match: c.Match, Guna: c.Event.guna()}
		sameGuna(t, "drift", must[reactivation.Guna](t)(sets[c.Params].Drift(c.Guna.guna(), e)), c.Drifted)
	})
}

func TestVectorsDriftTowards(t *testing.T) {
	type c struct {
		Guna, Event      triple
		Rate, Protection float64
		Drifted          triple
	}
	vectors(t, "towards", func(t *testing.T, _ []reactivation.Params, c c) {
		got := must[reactivation.Guna](t)(reactivation.DriftTowards(c.Guna.guna(), c.Event.guna(), c.Rate, c.Protection))
		sameGuna(t, "drift", got, c.Drifted)
	})
}

func TestVectorsMean(t *testing.T) {
	type c struct {
		Gunas   []triple
		Weights []float64
		Mean    *triple
	}
	vectors(t, "mean", func(t *testing.T, _ []reactivation.Params, c c) {
		gs := make([]reactivation.Guna, len(c.Gunas))
		for i, g := range c.Gunas {
			gs[i] = g.guna()
		}
		mean, ok, err := reactivation.MeanGuna(gs, c.Weights)
		if err != nil || ok != (c.Mean != nil) {
			t.Fatalf("mean: %v, %v; expected %v", ok, err, c.Mean != nil)
		}
		if ok {
			sameGuna(t, "mean", mean, *c.Mean)
		}
	})
}

func TestVectorsCollide(t *testing.T) {
	type c struct {
		Params                   int
		Reinforcement, Age       float64
		Guna, Event              triple
		Weight, Match, Stiffness float64
		After                    struct {
			Reinforcement, Depth, Snap float64
			Guna                       triple
			Suppressed                 bool
		}
	}
	suppressed := 0
	vectors(t, "collide", func(t *testing.T, sets []reactivation.Params, c c) {
		i := reactivation.Impression{Reinforcement: c.Reinforcement, Age: c.Age, Guna: c.Guna.guna()}
		e := reactivation.Stimulus{Weight: c.Weight, Match: c.Match, Guna: c.Event.guna()}
		o := must[reactivation.Outcome](t)(sets[c.Params].Collide(i, e, c.Stiffness))
		same(t, "reinforcement", o.Reinforcement, c.After.Reinforcement)
		same(t, "depth", o.Depth, c.After.Depth)
		same(t, "snap", o.Snap, c.After.Snap)
		sameGuna(t, "guna", o.Guna, c.After.Guna)
		if o.Suppressed != c.After.Suppressed || o.Reset == c.After.Suppressed {
			t.Errorf("suppressed %v, reset %v; expected suppressed %v", o.Suppressed, o.Reset, c.After.Suppressed)
		}
		if o.Suppressed {
			suppressed++
		}
	})
	if suppressed < 10 {
		t.Errorf("%d suppressions among the vectors; expected at least 10", suppressed)
	}
}

func TestVectorsSoften(t *testing.T) {
	type c struct {
		Params        int
		Reinforcement float64
		Guna, Event   triple
		Weight, After float64
	}
	vectors(t, "soften", func(t *testing.T, sets []reactivation.Params, c c) {
		i := reactivation.Impression{Reinforcement: c.Reinforcement, Guna: c.Guna.guna()}
		e := reactivation.Stimulus{Weight: c.Weight, Guna: c.Event.guna()}
		same(t, "reinforcement", must[float64](t)(sets[c.Params].Soften(i, e)), c.After)
	})
}
