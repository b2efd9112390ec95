package gate_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/gate"
)

var broken = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}

// checkRefusal wants an error of the kinds named, that says field and value.
func checkRefusal(t *testing.T, field string, x float64, err error, kinds ...error) {
	t.Helper()
	for _, kind := range kinds {
		if !errors.Is(err, kind) {
			t.Errorf("%s %v: error %v; expected %v", field, x, err, kind)
		}
	}
	var value *gate.ValueError
	if !errors.As(err, &value) || !strings.Contains(err.Error(), field) {
		t.Errorf("%s %v: error %v; expected the field named", field, x, err)
	} else if value.Value != x && !math.IsNaN(x) {
		t.Errorf("%s %v: the error says %v", field, x, value.Value)
	}
}

func TestEveryInputIsChecked(t *testing.T) {
	p := gate.Default()
	outside := []float64{-1e-300, -1, 1 + 1e-15, 2}
	for _, c := range []struct {
		field   string
		outside []float64
		call    func(float64) error
	}{
		{"cosine", []float64{-1.00001, 1.00001, 2}, func(x float64) error { _, err := p.Read([]float64{0.5, x, 0.4}, gate.Load{}); return err }},
		{"inertia", outside, func(x float64) error { _, err := p.Read(nil, gate.Load{Inertia: x}); return err }},
		{"reactivity", outside, func(x float64) error { _, err := p.Read([]float64{0.5}, gate.Load{Reactivity: x}); return err }},
		{"depth", outside, func(x float64) error { _, err := gate.LoadOf([]gate.Weighted{{Depth: x}}); return err }},
		{"tamas", outside, func(x float64) error { _, err := gate.LoadOf([]gate.Weighted{{Depth: 1, Tamas: x}}); return err }},
		{"rajas", outside, func(x float64) error { _, err := gate.LoadOf([]gate.Weighted{{Depth: 1, Rajas: x}}); return err }},
	} {
		for _, x := range broken {
			checkRefusal(t, c.field, x, c.call(x), gate.ErrNotFinite)
		}
		for _, x := range c.outside {
			checkRefusal(t, c.field, x, c.call(x), gate.ErrRange)
		}
	}
	_, err := gate.LoadOf([]gate.Weighted{{Depth: 1, Tamas: 0.75, Rajas: 0.5}})
	checkRefusal(t, "sum", 1.25, err, gate.ErrRange)
	_, err = p.Read(slices.Repeat([]float64{0.5}, 257), gate.Load{})
	checkRefusal(t, "number of similarities", 257, err, gate.ErrRange)
}

func TestDefaultIsValid(t *testing.T) {
	if err := gate.Default().Validate(); err != nil {
		t.Error(err)
	}
}

func TestValidateRefusesEveryFieldOutOfRange(t *testing.T) {
	bad := map[string][]float64{
		"Temperature": {0, -1, 1e-4, 1001}, "KBase": {-0.1, 101}, "MinSimilarity": {-0.1, 1.1},
		"NoiseFloor": {-0.1, 0.26, 1.1}, "InertiaGain": {-0.1, 1.1}, "ReactivityGain": {-0.1, 101},
		"Balance": {-0.1, 0.91},
	}
	fields := reflect.TypeFor[gate.Params]()
	for k := range fields.NumField() {
		name := fields.Field(k).Name
		if name == "Candidates" || name == "Mode" {
			continue
		}
		if bad[name] == nil {
			t.Errorf("no bad values for %s", name)
		}
		set := func(x float64) gate.Params {
			p := gate.Default()
			reflect.ValueOf(&p).Elem().Field(k).SetFloat(x)
			return p
		}
		for _, x := range broken {
			checkRefusal(t, name, x, set(x).Validate(), gate.ErrParams, gate.ErrNotFinite)
			if _, err := set(x).Read([]float64{0.5}, gate.Load{}); !errors.Is(err, gate.ErrParams) {
				t.Errorf("Read with %s %v: error %v; expected it refused", name, x, err)
			}
		}
		for _, x := range bad[name] {
			checkRefusal(t, name, x, set(x).Validate(), gate.ErrParams, gate.ErrRange)
		}
	}
	for _, n := range []int{0, -1, 65537} {
		p := gate.Default()
		p.Candidates = n
		checkRefusal(t, "Candidates", float64(n), p.Validate(), gate.ErrParams)
	}
	for _, mode := range []gate.Mode{"", "Concentrate", "loose"} {
		p := gate.Default()
		p.Mode = mode
		if err := p.Validate(); !errors.Is(err, gate.ErrParams) || !strings.Contains(err.Error(), "Mode") {
			t.Errorf("mode %q: error %v; expected it named", mode, err)
		}
	}
}

func TestValidateReportsAllFaults(t *testing.T) {
	err := gate.Params{Candidates: 1, Temperature: 1, KBase: -1, InertiaGain: 2}.Validate()
	for _, name := range []string{"KBase", "InertiaGain", "Mode"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not among the faults: %v", name, err)
		}
	}
}
