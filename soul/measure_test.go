package soul

import (
	"errors"
	"math"
	"testing"

	"github.com/jivad/jivad/reactivation"
	"pgregory.net/rapid"
)

func TestWitnessGap(t *testing.T) {
	big, small, nan := float32(math.MaxFloat32), float32(math.SmallestNonzeroFloat32), float32(math.NaN())
	for name, c := range map[string]struct {
		identity, session []float32
		want              float64 // -1: undefined
		err               error
	}{
		"same":             {[]float32{1, 2, 3}, []float32{1, 2, 3}, 0, nil},
		"same direction":   {[]float32{1, 0}, []float32{7, 0}, 0, nil},
		"right angle":      {[]float32{1, 0}, []float32{0, 1}, 1, nil},
		"opposite":         {[]float32{1, -1}, []float32{-2, 2}, 2, nil},
		"huge and tiny":    {[]float32{big, big}, []float32{small, small}, 0, nil},
		"no events":        {[]float32{1, 0}, nil, -1, nil},
		"nothing at all":   {nil, []float32{}, -1, nil},
		"no identity":      {nil, []float32{1}, -1, ErrDimension},
		"other dimension":  {[]float32{1}, []float32{1, 0}, -1, ErrDimension},
		"zero identity":    {[]float32{0, 0}, []float32{1, 0}, -1, ErrZeroVector},
		"zero session":     {[]float32{1, 0}, []float32{0, 0}, -1, ErrZeroVector},
		"NaN":              {[]float32{1, nan}, []float32{1, 0}, -1, ErrNotFinite},
		"infinite session": {[]float32{1, 0}, []float32{float32(math.Inf(-1)), 0}, -1, ErrNotFinite},
	} {
		got, err := WitnessGap(c.identity, c.session)
		if !errors.Is(err, c.err) || (err != nil) != (c.err != nil) {
			t.Errorf("%s: error %v, want %v", name, err, c.err)
		}
		if (got == nil) != (c.want < 0) || got != nil && math.Abs(*got-c.want) > 1e-12 {
			t.Errorf("%s: got %s, want %v", name, figure(got), c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 32).Draw(t, "dimension")
		vector := rapid.SliceOfN(rapid.Float32(), n, n)
		a, b := vector.Draw(t, "a"), vector.Draw(t, "b")
		gap, err := WitnessGap(a, b)
		if err != nil {
			if gap != nil || !errors.Is(err, ErrZeroVector) && !errors.Is(err, ErrNotFinite) {
				t.Fatalf("%v, %v", gap, err)
			}
			return
		}
		if !(*gap >= 0 && *gap <= 2) {
			t.Fatalf("gap %v", *gap)
		}
		if back, err := WitnessGap(b, a); err != nil || math.Abs(*back-*gap) > 1e-12 {
			t.Fatalf("not symmetric: %v, %v", *gap, back)
		}
	})
}

func TestGStore(t *testing.T) {
	g, err := GStore([]reactivation.Guna{reactivation.Tamas(), reactivation.Sattva()}, []float64{3, 4})
	if err != nil || math.Abs(g.Tamas-0.6) > 1e-12 || math.Abs(g.Sattva-0.8) > 1e-12 {
		t.Errorf("%v, %v", g, err)
	}
	if g, err := GStore(nil, nil); err != nil || g != (reactivation.Guna{}) {
		t.Errorf("empty: %v, %v", g, err)
	}
	if _, err := GStore([]reactivation.Guna{reactivation.Tamas()}, []float64{math.NaN()}); !errors.Is(err, reactivation.ErrNotFinite) {
		t.Errorf("NaN: %v", err)
	}
}

func TestAhamkara(t *testing.T) {
	none := reactivation.Guna{}
	clear, restless := reactivation.Sattva(), reactivation.Rajas()
	if g, err := Ahamkara(none, restless, 0.6); err != nil || g != restless {
		t.Errorf("first session: %v, %v", g, err)
	}
	if g, err := Ahamkara(restless, none, 0.6); err != nil || g != restless {
		t.Errorf("empty store: %v, %v", g, err)
	}
	if g, err := Ahamkara(none, none, 0.6); err != nil || g != none {
		t.Errorf("nothing: %v, %v", g, err)
	}
	if g, err := Ahamkara(clear, restless, 0.6); err != nil || g != clear {
		t.Errorf("protection: %v, %v", g, err)
	}
	if g, err := Ahamkara(restless, clear, 0.6); err != nil || math.Abs(g.Sattva/g.Rajas-0.02/0.98) > 1e-12 {
		t.Errorf("one step: %v, %v", g, err)
	}
	if _, err := Ahamkara(clear, restless, 2); !errors.Is(err, reactivation.ErrRange) {
		t.Errorf("protection 2: %v", err)
	}
	rapid.Check(t, func(t *rapid.T) {
		current, store := anyGuna().Draw(t, "current"), anyGuna().Draw(t, "store")
		next, err := Ahamkara(current, store, 0.6)
		if err != nil {
			t.Fatal(err)
		}
		if current == none || store == none {
			return
		}
		if current.Sattva > 0.6 && next.Sattva < current.Sattva {
			t.Fatalf("%v lost clarity: %v", current, next)
		}
		if next.Angle(store) > current.Angle(store)+1e-12 {
			t.Fatalf("%v went away from %v: %v", current, store, next)
		}
	})
}

func TestMokshaDistance(t *testing.T) {
	if MokshaDistance(nil) != nil {
		t.Error("an empty store has a distance")
	}
	d := MokshaDistance([]reactivation.Guna{reactivation.Sattva(), reactivation.Rajas()})
	if d == nil || math.Abs(*d-45) > 1e-12 {
		t.Errorf("got %s, want 45", figure(d))
	}
}
