package gate_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/gate"
)

func anyWeighted() *rapid.Generator[gate.Weighted] {
	return rapid.Custom(func(t *rapid.T) gate.Weighted {
		tamas := unitFloat().Draw(t, "tamas")
		return gate.Weighted{
			Depth: rapid.OneOf(unitFloat(), rapid.Just(math.SmallestNonzeroFloat64)).Draw(t, "depth"),
			Tamas: tamas,
			Rajas: (1 - tamas) * unitFloat().Draw(t, "part of the rest"),
		}
	})
}

func TestLoadIsAMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		context := rapid.SliceOfN(anyWeighted(), 0, 20).Draw(t, "context")
		load, err := gate.LoadOf(context)
		if err != nil {
			t.Fatal(err)
		}
		low, high := gate.Load{Inertia: 1, Reactivity: 1}, gate.Load{}
		for _, w := range context {
			if w.Depth > 0 {
				low = gate.Load{Inertia: min(low.Inertia, w.Tamas), Reactivity: min(low.Reactivity, w.Rajas)}
				high = gate.Load{Inertia: max(high.Inertia, w.Tamas), Reactivity: max(high.Reactivity, w.Rajas)}
			}
		}
		if low.Inertia > high.Inertia { // nothing has depth
			if load != (gate.Load{}) {
				t.Fatalf("a load of %+v from nothing", load)
			}
			return
		}
		if load.Inertia < low.Inertia-ulps || load.Inertia > high.Inertia+ulps ||
			load.Reactivity < low.Reactivity-ulps || load.Reactivity > high.Reactivity+ulps {
			t.Fatalf("load %+v is not between %+v and %+v", load, low, high)
		}
		if load.Inertia > 1 || load.Reactivity > 1 {
			t.Fatalf("load %+v", load)
		}
	})
}

func TestDepthWeighsTheLoad(t *testing.T) {
	load, err := gate.LoadOf([]gate.Weighted{{Depth: 0.75, Tamas: 1}, {Depth: 0.25, Rajas: 1}})
	if want := (gate.Load{Inertia: 0.75, Reactivity: 0.25}); err != nil || load != want {
		t.Errorf("load is %+v (%v); expected %+v", load, err, want)
	}
}

func TestStiffness(t *testing.T) {
	p := gate.Default()
	for _, c := range []struct{ reactivity, want float64 }{{0.2, 1}, {1.0 / 3, 1}, {2.0 / 3, 1.25}, {1, 1.5}} {
		if got := p.Stiffness(gate.Load{Reactivity: c.reactivity}); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("stiffness at reactivity %v is %v; expected %v", c.reactivity, got, c.want)
		}
	}
	p.Balance = 0 // as the source prints it
	for _, c := range []struct{ reactivity, want float64 }{
		{0, 1}, {0.5, 1.25}, {1, 1.5}, {2, 1.5}, {-1, 1}, {math.NaN(), 1}, {math.Inf(1), 1.5}, {math.Inf(-1), 1},
	} {
		if got := p.Stiffness(gate.Load{Reactivity: c.reactivity, Inertia: 1}); got != c.want {
			t.Errorf("stiffness at reactivity %v is %v; expected %v", c.reactivity, got, c.want)
		}
	}
	p.ReactivityGain = math.NaN()
	if got := p.Stiffness(gate.Load{Reactivity: 1}); got != 1 {
		t.Errorf("stiffness without a usable gain is %v; expected 1", got)
	}
}
