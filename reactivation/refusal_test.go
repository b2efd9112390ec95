package reactivation_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/jivad/jivad/reactivation"
)

// broken are the values that no function accepts anywhere.
var broken = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}

// inputs lists every number that every function takes: how to call the function
// with that number replaced, the name an error must give it, and finite values
// outside its range.
func inputs() []input {
	p := reactivation.Default()
	half := 0.5
	i := reactivation.Impression{Reinforcement: 1, Age: 1, Guna: reactivation.Sattva()}
	e := reactivation.Stimulus{Weight: 0.5, Match: 0.5, Guna: reactivation.Rajas()}
	f := reactivation.Force{Intensity: 0.5, Novelty: 0.5, Emotion: 0.5, Match: 0.5}
	below, outside := []float64{-1e-300, -1}, []float64{-1e-300, -1, 1 + 1e-15, 2}

	list := []input{
		{"Depth", "reinforcement", below, func(x float64) error { _, err := p.Depth(x, 1); return err }},
		{"Depth", "age", below, func(x float64) error { _, err := p.Depth(1, x); return err }},
		{"FaintAge", "reinforcement", below, func(x float64) error { _, _, err := p.FaintAge(x, 0.04); return err }},
		{"FaintAge", "depth", outside, func(x float64) error { _, _, err := p.FaintAge(1, x); return err }},
		{"Reinforcement", "depth", append(outside, 1), func(x float64) error { _, err := p.Reinforcement(x); return err }},
		{"Hardness", "age", below, func(x float64) error { _, err := p.Hardness(x); return err }},
		{"Weight", "intensity", outside, func(x float64) error { f := f; f.Intensity = x; _, err := f.Weight(); return err }},
		{"Weight", "novelty", outside, func(x float64) error { f := f; f.Novelty = x; _, err := f.Weight(); return err }},
		{"Weight", "emotion", outside, func(x float64) error { f := f; f.Emotion = x; _, err := f.Weight(); return err }},
		{"Weight", "match", outside, func(x float64) error { f := f; f.Match = x; _, err := f.Weight(); return err }},
		{"Blend", "embedded", outside, func(x float64) error { _, err := p.Blend(x, &half); return err }},
		{"Blend", "embedded", outside, func(x float64) error { _, err := p.Blend(x, nil); return err }},
		{"Blend", "judged", outside, func(x float64) error { _, err := p.Blend(half, &x); return err }},
		{"Collide", "stiffness", append(outside[:2:2], 0, 0.999), func(x float64) error { _, err := p.Collide(i, e, x); return err }},
		{"DriftTowards", "rate", outside, func(x float64) error { _, err := reactivation.DriftTowards(i.Guna, e.Guna, x, 0.5); return err }},
		{"DriftTowards", "protection", outside, func(x float64) error { _, err := reactivation.DriftTowards(i.Guna, e.Guna, 0.5, x); return err }},
		{"MeanGuna", "weight", below, func(x float64) error {
			_, _, err := reactivation.MeanGuna([]reactivation.Guna{i.Guna}, []float64{x})
			return err
		}},
	}
	strikes := map[string]func(i reactivation.Impression, e reactivation.Stimulus) error{
		"Collide": func(i reactivation.Impression, e reactivation.Stimulus) error {
			_, err := p.Collide(i, e, 1)
			return err
		},
		"Soften": func(i reactivation.Impression, e reactivation.Stimulus) error { _, err := p.Soften(i, e); return err },
		"Drift": func(i reactivation.Impression, e reactivation.Stimulus) error {
			_, err := p.Drift(i.Guna, e)
			return err
		},
	}
	for name, strike := range strikes {
		list = append(list,
			input{name, "weight", outside, func(x float64) error { e := e; e.Weight = x; return strike(i, e) }},
			input{name, "match", outside, func(x float64) error { e := e; e.Match = x; return strike(i, e) }},
		)
		if name != "Drift" {
			list = append(list,
				input{name, "reinforcement", below, func(x float64) error { i := i; i.Reinforcement = x; return strike(i, e) }},
				input{name, "age", below, func(x float64) error { i := i; i.Age = x; return strike(i, e) }},
			)
		}
	}
	return list
}

type input struct {
	function, field string
	outside         []float64
	call            func(float64) error
}

func TestEveryInputIsChecked(t *testing.T) {
	for _, in := range inputs() {
		for _, x := range broken {
			checkRefusal(t, in.function, in.field, x, in.call(x), reactivation.ErrNotFinite)
		}
		for _, x := range in.outside {
			checkRefusal(t, in.function, in.field, x, in.call(x), reactivation.ErrRange)
		}
	}
}

// checkRefusal wants an error of the kinds named, that says field and value.
func checkRefusal(t *testing.T, function, field string, x float64, err error, kinds ...error) {
	t.Helper()
	for _, kind := range kinds {
		if !errors.Is(err, kind) {
			t.Errorf("%s with %s %v: error %v; expected %v", function, field, x, err, kind)
		}
	}
	var value *reactivation.ValueError
	if !errors.As(err, &value) || !strings.Contains(err.Error(), field) {
		t.Errorf("%s with %s %v: error %v; expected the field named", function, field, x, err)
	} else if value.Value != x && !math.IsNaN(x) {
		t.Errorf("%s with %s %v: the error says %v", function, field, x, value.Value)
	}
}

// gunaCalls lists every function by the gunas that it takes.
func gunaCalls() map[string]func(reactivation.Guna) error {
	p := reactivation.Default()
	ok := reactivation.Sattva()
	return map[string]func(reactivation.Guna) error{
		"NewGuna": func(g reactivation.Guna) error {
			_, err := reactivation.NewGuna(g.Tamas, g.Rajas, g.Sattva)
			return err
		},
		"Check": func(g reactivation.Guna) error { return g.Check() },
		"Drift": func(g reactivation.Guna) error { _, err := p.Drift(g, reactivation.Stimulus{Guna: ok}); return err },
		"Drift event": func(g reactivation.Guna) error {
			_, err := p.Drift(ok, reactivation.Stimulus{Guna: g})
			return err
		},
		"DriftTowards":        func(g reactivation.Guna) error { _, err := reactivation.DriftTowards(g, ok, 0.5, 0.5); return err },
		"DriftTowards target": func(g reactivation.Guna) error { _, err := reactivation.DriftTowards(ok, g, 0.5, 0.5); return err },
		"Collide": func(g reactivation.Guna) error {
			_, err := p.Collide(reactivation.Impression{Guna: g}, reactivation.Stimulus{Guna: ok}, 1)
			return err
		},
		"Collide event": func(g reactivation.Guna) error {
			_, err := p.Collide(reactivation.Impression{Guna: ok}, reactivation.Stimulus{Guna: g}, 1)
			return err
		},
		"Soften": func(g reactivation.Guna) error {
			_, err := p.Soften(reactivation.Impression{Guna: g}, reactivation.Stimulus{Guna: ok})
			return err
		},
		"Soften event": func(g reactivation.Guna) error {
			_, err := p.Soften(reactivation.Impression{Guna: ok}, reactivation.Stimulus{Guna: g})
			return err
		},
		"MeanGuna": func(g reactivation.Guna) error {
			_, _, err := reactivation.MeanGuna([]reactivation.Guna{ok, g}, []float64{1, 1})
			return err
		},
	}
}

func TestEveryGunaIsChecked(t *testing.T) {
	for name, call := range gunaCalls() {
		for _, x := range broken {
			checkRefusal(t, name, "tamas", x, call(reactivation.Guna{Tamas: x, Sattva: 1}), reactivation.ErrGuna, reactivation.ErrNotFinite)
			checkRefusal(t, name, "rajas", x, call(reactivation.Guna{Rajas: x, Sattva: 1}), reactivation.ErrGuna, reactivation.ErrNotFinite)
			checkRefusal(t, name, "sattva", x, call(reactivation.Guna{Sattva: x}), reactivation.ErrGuna, reactivation.ErrNotFinite)
		}
		checkRefusal(t, name, "rajas", -0.1, call(reactivation.Guna{Rajas: -0.1, Sattva: 1}), reactivation.ErrGuna, reactivation.ErrRange)
		checkRefusal(t, name, "length", 0, call(reactivation.Guna{}), reactivation.ErrGuna, reactivation.ErrRange)
		if name == "NewGuna" {
			continue
		}
		for _, length := range []float64{1 + 1e-8, 1 - 1e-8, 2} {
			checkRefusal(t, name, "length", length, call(reactivation.Guna{Sattva: length}), reactivation.ErrGuna, reactivation.ErrRange)
		}
		if err := call(reactivation.Guna{Sattva: 1 + 1e-10}); err != nil {
			t.Errorf("%s refused a guna within the tolerance: %v", name, err)
		}
		if err := call(reactivation.Guna{Sattva: math.MaxFloat64}); !errors.Is(err, reactivation.ErrGuna) {
			t.Errorf("%s accepted a guna of length %v", name, math.MaxFloat64)
		}
	}
}

func TestMeanGunaNeedsOneWeightEach(t *testing.T) {
	_, _, err := reactivation.MeanGuna([]reactivation.Guna{reactivation.Sattva()}, nil)
	checkRefusal(t, "MeanGuna", "number of weights", 0, err, reactivation.ErrRange)
}
