package gate_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/gate"
)

// ulps is the room for the last digits of a sum over a few hundred numbers.
const ulps = 1e-13

func unitFloat() *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 0.5, 1}))
}

func anyCosine() *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Float64Range(-1, 1), rapid.Float64Range(0.2, 0.6), rapid.SampledFrom([]float64{-1, 0, 1}))
}

func anySimilarities(least int) *rapid.Generator[[]float64] {
	return rapid.SliceOfN(anyCosine(), least, 64)
}

func anyLoad() *rapid.Generator[gate.Load] {
	return rapid.Custom(func(t *rapid.T) gate.Load {
		return gate.Load{Inertia: unitFloat().Draw(t, "inertia"), Reactivity: unitFloat().Draw(t, "reactivity")}
	})
}

func anyParams() *rapid.Generator[gate.Params] {
	return rapid.Custom(func(t *rapid.T) gate.Params {
		p := gate.Params{
			Candidates:     rapid.IntRange(64, 65536).Draw(t, "candidates"),
			Temperature:    rapid.OneOf(rapid.Float64Range(0.01, 1), rapid.Float64Range(0.001, 1000)).Draw(t, "temperature"),
			KBase:          rapid.OneOf(rapid.Float64Range(0, 4), rapid.Float64Range(0, 100)).Draw(t, "k base"),
			MinSimilarity:  unitFloat().Draw(t, "min similarity"),
			InertiaGain:    unitFloat().Draw(t, "inertia gain"),
			ReactivityGain: rapid.Float64Range(0, 100).Draw(t, "reactivity gain"),
			Balance:        rapid.Float64Range(0, 0.9).Draw(t, "balance"),
			Mode:           rapid.SampledFrom([]gate.Mode{gate.Concentrate, gate.Literal}).Draw(t, "mode"),
		}
		p.NoiseFloor = p.MinSimilarity * unitFloat().Draw(t, "noise floor")
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		return p
	})
}

// read fails the test on an error.
func read(t interface{ Fatal(...any) }, p gate.Params, s []float64, load gate.Load) gate.Reading {
	r, err := p.Read(s, load)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReadingStaysInItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams().Draw(t, "params")
		s := anySimilarities(1).Draw(t, "similarities")
		r := read(t, p, s, anyLoad().Draw(t, "load"))
		if r.N != len(s) || !(r.Focus >= 0 && r.Focus <= 1) || r.Entropy != 1-r.Focus && math.Abs(r.Entropy+r.Focus-1) > ulps {
			t.Fatalf("reading %+v", r)
		}
		if !(r.Mean >= slices.Min(s)-ulps && r.Mean <= slices.Max(s)+ulps && r.Deviation >= 0 && r.Deviation <= 1+ulps) {
			t.Fatalf("mean %v, deviation %v of %v", r.Mean, r.Deviation, s)
		}
		if !(r.Theta >= p.MinSimilarity && r.Theta <= 1 && r.Effective >= r.Theta && r.Effective <= 1) {
			t.Fatalf("thresholds %v and %v outside of [%v, 1]", r.Theta, r.Effective, p.MinSimilarity)
		}
		if !(r.Floor >= p.NoiseFloor && r.Floor <= r.Effective) {
			t.Fatalf("floor %v outside of [%v, %v]", r.Floor, p.NoiseFloor, r.Effective)
		}
		low, high := 0.5*p.KBase, 1.5*p.KBase
		if !(r.K >= low && r.K <= high) {
			t.Fatalf("k is %v, outside of [%v, %v]", r.K, low, high)
		}
		for _, x := range append(s, p.MinSimilarity, r.Floor, r.Effective, math.NaN()) {
			fires, soft := r.Fires(x), r.Soft(x)
			if fires && (soft || x < p.MinSimilarity) || soft && x < p.NoiseFloor || math.IsNaN(x) && (fires || soft) {
				t.Fatalf("similarity %v: fires %v, soft %v in %+v", x, fires, soft, r)
			}
		}
		if !r.Fires(r.Effective) || r.Soft(r.Effective) || r.Floor < r.Effective && !r.Soft(r.Floor) {
			t.Fatalf("an edge belongs to the wrong band in %+v", r)
		}
	})
}

func TestNothingFiresInAnEmptyStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := read(t, anyParams().Draw(t, "params"), nil, anyLoad().Draw(t, "load"))
		if want := (gate.Reading{Theta: 1, Effective: 1, Floor: 1}); r != want {
			t.Fatalf("reading %+v; expected %+v", r, want)
		}
		for _, s := range []float64{-1, 0, 1, 2} {
			if r.Fires(s) || r.Soft(s) {
				t.Fatalf("similarity %v was let through", s)
			}
		}
	})
}

func TestOneAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams().Draw(t, "params")
		s := anyCosine().Draw(t, "similarity")
		r := read(t, p, []float64{s}, gate.Load{})
		if r.Entropy != 0 || r.Focus != 1 || r.Deviation != 0 || r.Mean != s || r.Theta != max(s, p.MinSimilarity) {
			t.Fatalf("reading of %v alone: %+v", s, r)
		}
		// It fires by being near enough, never by being alone.
		if r.Fires(s) != (s >= p.MinSimilarity) {
			t.Fatalf("similarity %v alone fires: %v", s, r.Fires(s))
		}
	})
}

// Equal similarities are all or nothing, have no deviation and no focus, to the bit.
func TestEqualSimilarities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams().Draw(t, "params")
		s := slices.Repeat([]float64{anyCosine().Draw(t, "similarity")}, rapid.IntRange(2, 64).Draw(t, "n"))
		r := read(t, p, s, gate.Load{})
		if r.Focus != 0 || r.Entropy != 1 || r.Deviation != 0 || r.Mean != s[0] {
			t.Fatalf("reading of %d times %v: %+v", len(s), s[0], r)
		}
		if r.Fires(s[0]) != (s[0] >= p.MinSimilarity) {
			t.Fatalf("similarity %v fires: %v", s[0], r.Fires(s[0]))
		}
	})
}

func TestOrderOfSimilaritiesIsOnlyRounding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams().Draw(t, "params")
		s := anySimilarities(1).Draw(t, "similarities")
		load := anyLoad().Draw(t, "load")
		a, b := read(t, p, s, load), read(t, p, rapid.Permutation(s).Draw(t, "permuted"), load)
		for _, pair := range [][2]float64{{a.Mean, b.Mean}, {a.Focus, b.Focus}, {a.Effective, b.Effective}, {a.Floor, b.Floor}} {
			// k_eff is at most 150, and multiplies the rounding of σ.
			if math.Abs(pair[0]-pair[1]) > 1e-11 {
				t.Fatalf("%+v in one order, %+v in another", a, b)
			}
		}
		if again := read(t, p, s, load); again != a {
			t.Fatalf("%+v, and once more %+v", a, again)
		}
	})
}

// One similarity that stands out is focus; the further out, the more.
func TestFocusGrowsWithWhatStandsOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := gate.Default()
		n := rapid.IntRange(3, 256).Draw(t, "n")
		base := rapid.Float64Range(0, 0.4).Draw(t, "base")
		near := rapid.Float64Range(0.01, 0.25).Draw(t, "out by")
		far := near + rapid.Float64Range(0.01, 0.25).Draw(t, "further by")
		focus := func(out float64) float64 {
			s := slices.Repeat([]float64{base}, n)
			s[n/2] += out
			return read(t, p, s, gate.Load{}).Focus
		}
		if a, b := focus(near), focus(far); !(a > 0 && b > a) {
			t.Fatalf("out by %v the focus is %v, by %v it is %v", near, a, far, b)
		}
	})
}

// TestModes pins the direction of each reading of decision D-2: with focus the
// bar rises under concentrate and falls under literal.
func TestModes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		concentrate := anyParams().Draw(t, "params")
		concentrate.Mode = gate.Concentrate
		literal := concentrate
		literal.Mode = gate.Literal
		load := anyLoad().Draw(t, "load")
		s1, s2 := anySimilarities(2).Draw(t, "one"), anySimilarities(2).Draw(t, "other")
		a, b := read(t, concentrate, s1, load), read(t, concentrate, s2, load)
		c, d := read(t, literal, s1, load), read(t, literal, s2, load)
		if a.Focus > b.Focus {
			a, b, c, d = b, a, d, c
		}
		if a.K > b.K || c.K < d.K {
			t.Fatalf("focus from %v to %v: k from %v to %v (concentrate), from %v to %v (literal)", a.Focus, b.Focus, a.K, b.K, c.K, d.K)
		}
		for _, r := range [][2]gate.Reading{{a, c}, {b, d}} {
			if r[0].Focus > 0.5 && r[0].Effective < r[1].Effective || r[0].Focus < 0.5 && r[0].Effective > r[1].Effective {
				t.Fatalf("at focus %v: effective %v (concentrate), %v (literal)", r[0].Focus, r[0].Effective, r[1].Effective)
			}
		}
	})

	// The same spread, its shape turned over: one far above many, many far above one.
	focused := append(slices.Repeat([]float64{0.3}, 31), 0.9)
	diffuse := append(slices.Repeat([]float64{0.9}, 31), 0.3)
	for _, c := range []struct {
		mode    gate.Mode
		tighter bool
	}{{gate.Concentrate, true}, {gate.Literal, false}} {
		p := gate.Default()
		p.Mode = c.mode
		f, d := read(t, p, focused, gate.Load{}), read(t, p, diffuse, gate.Load{})
		if !(f.Focus > 0.9 && d.Focus < 0.1) {
			t.Fatalf("focus is %v and %v; expected it high and low", f.Focus, d.Focus)
		}
		if (f.K > d.K) != c.tighter {
			t.Errorf("%s: k is %v with focus, %v without; expected tighter %v", c.mode, f.K, d.K, c.tighter)
		}
	}
}

func TestInertiaRaisesTheBar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyParams().Draw(t, "params")
		s := anySimilarities(1).Draw(t, "similarities")
		low, high := unitFloat().Draw(t, "less"), unitFloat().Draw(t, "more")
		low, high = min(low, high), max(low, high)
		a, b := read(t, p, s, gate.Load{Inertia: low}), read(t, p, s, gate.Load{Inertia: high})
		if a.Theta != b.Theta || b.Effective < a.Effective {
			t.Fatalf("inertia %v: %+v; inertia %v: %+v", low, a, high, b)
		}
		if even := read(t, p, s, gate.Load{Inertia: p.Balance * unitFloat().Draw(t, "below balance")}); even.Effective != even.Theta {
			t.Fatalf("a load below balance moved the bar from %v to %v", even.Theta, even.Effective)
		}
		if high > max(low, p.Balance)+1e-6 && p.InertiaGain > 1e-6 && a.Theta < 1-1e-3 && !(b.Effective > a.Effective) {
			t.Fatalf("inertia %v leaves the bar at %v", high, a.Effective)
		}
		if none := read(t, p, s, gate.Load{Reactivity: 1}); none.Effective != none.Theta {
			t.Fatalf("reactivity moved the bar from %v to %v", none.Theta, none.Effective)
		}
	})
}

func TestCosinesJustBeyondOneAreOne(t *testing.T) {
	p := gate.Default()
	p.MinSimilarity, p.NoiseFloor = 0, 0
	for _, sign := range []float64{-1, 1} {
		at, beyond := read(t, p, []float64{sign, 0.5}, gate.Load{}), read(t, p, []float64{sign * (1 + 5e-7), 0.5}, gate.Load{})
		if at != beyond {
			t.Errorf("%+v at %v, %+v just beyond", at, sign, beyond)
		}
	}
}

// TestDiaryScale keeps the figures of the defaults for a store of 256 with
// similarities as diaries have them (mean 0.45, deviation 0.1): some fire, few.
func TestDiaryScale(t *testing.T) {
	s := make([]float64, 256)
	for i := range s { // the quantiles of a normal distribution
		s[i] = 0.45 + 0.1*math.Sqrt2*math.Erfinv(2*(float64(i)+0.5)/256-1)
	}
	r := read(t, gate.Default(), s, gate.Load{})
	fired, soft := 0, 0
	for _, x := range s {
		if r.Fires(x) {
			fired++
		}
		if r.Soft(x) {
			soft++
		}
	}
	if fired < 5 || fired > 25 || soft < fired || soft > 100 {
		t.Errorf("%d fire and %d are soft at %+v; expected 5 to 25, and up to 100", fired, soft, r)
	}
}
