package gate_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/jivad/jivad/gate"
)

// vectorTolerance is the greatest difference from a published value, relative
// to the value or to 1, the scale of cosines and of focus, whichever is more.
const vectorTolerance = 1e-12

// vectors reads one family of published values, computed apart from this code
// by scripts/vectors/dynamics.py, and runs check on each.
func vectors[Case any](t *testing.T, name string, check func(t *testing.T, sets []gate.Params, c Case)) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Sets  []gate.Params
		Cases []Case
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 200 {
		t.Fatalf("%d cases; expected at least 200", len(file.Cases))
	}
	if file.Sets[0] != gate.Default() {
		t.Errorf("the first set of %s is %+v; expected the defaults", name, file.Sets[0])
	}
	for i, c := range file.Cases {
		check(t, file.Sets, c)
		if t.Failed() {
			t.Fatalf("case %d: %+v", i, c)
		}
	}
}

func same(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= vectorTolerance*max(1, math.Abs(want))) {
		t.Errorf("%s is %.17g; expected %.17g", what, got, want)
	}
}

func TestVectorsRead(t *testing.T) {
	type c struct {
		Params       int
		Similarities []float64
		Load         [2]float64
		Bands        []string
		Stiffness    float64
		Reading      gate.Reading
	}
	seen := map[string]int{}
	vectors(t, "read", func(t *testing.T, sets []gate.Params, c c) {
		load := gate.Load{Inertia: c.Load[0], Reactivity: c.Load[1]}
		r, err := sets[c.Params].Read(c.Similarities, load)
		if err != nil {
			t.Fatal(err)
		}
		if r.N != len(c.Similarities) {
			t.Errorf("n is %d; expected %d", r.N, len(c.Similarities))
		}
		same(t, "mean", r.Mean, c.Reading.Mean)
		same(t, "deviation", r.Deviation, c.Reading.Deviation)
		same(t, "entropy", r.Entropy, c.Reading.Entropy)
		same(t, "focus", r.Focus, c.Reading.Focus)
		same(t, "k", r.K, c.Reading.K)
		same(t, "theta", r.Theta, c.Reading.Theta)
		same(t, "effective", r.Effective, c.Reading.Effective)
		same(t, "floor", r.Floor, c.Reading.Floor)
		same(t, "stiffness", sets[c.Params].Stiffness(load), c.Stiffness)
		for i, s := range c.Similarities {
			band := band(r, s)
			if band != c.Bands[i] {
				t.Errorf("similarity %v: %s; expected %s", s, band, c.Bands[i])
			}
			seen[band]++
		}
	})
	for _, band := range []string{"fires", "soft", "none"} {
		if seen[band] < 100 {
			t.Errorf("%d similarities in band %q; expected at least 100", seen[band], band)
		}
	}
}

func band(r gate.Reading, s float64) string {
	switch fires, soft := r.Fires(s), r.Soft(s); {
	case fires && soft:
		return "both"
	case fires:
		return "fires"
	case soft:
		return "soft"
	}
	return "none"
}

func TestVectorsLoad(t *testing.T) {
	type c struct {
		Context [][3]float64
		Load    [2]float64
	}
	vectors(t, "load", func(t *testing.T, _ []gate.Params, c c) {
		context := make([]gate.Weighted, len(c.Context))
		for i, w := range c.Context {
			context[i] = gate.Weighted{Depth: w[0], Tamas: w[1], Rajas: w[2]}
		}
		load, err := gate.LoadOf(context)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "inertia", load.Inertia, c.Load[0])
		same(t, "reactivity", load.Reactivity, c.Load[1])
	})
}
