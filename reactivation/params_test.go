package reactivation_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/jivad/jivad/reactivation"
)

func TestDefaultIsValid(t *testing.T) {
	if err := reactivation.Default().Validate(); err != nil {
		t.Error(err)
	}
}

func TestValidateRefusesEveryFieldOutOfRange(t *testing.T) {
	bad := map[string][]float64{
		"R0": {0, -1, 1e-7, 1e7}, "Lambda": {-0.1, 1001}, "Alpha": {-0.1, 1.1}, "HardnessGain": {-0.1, 1001},
		"SoftGain": {-0.1, 1.1}, "DriftRate": {-0.1, 1.1}, "Protection": {-0.1, 1.1}, "Suppression": {-0.1, 1},
		"UpliftMatch": {-0.1, 1.1}, "Novel": {-0.1, 1.1}, "MMR": {-0.1, 1.1},
		"BuryBelow": {-0.1, 1.1},
	}
	fields := reflect.TypeFor[reactivation.Params]()
	for k := range fields.NumField() {
		name := fields.Field(k).Name
		if fields.Field(k).Type.Kind() == reflect.Int {
			continue
		}
		if bad[name] == nil {
			t.Errorf("no bad values for %s", name)
		}
		set := func(x float64) error {
			p := reactivation.Default()
			reflect.ValueOf(&p).Elem().Field(k).SetFloat(x)
			return p.Validate()
		}
		for _, x := range broken {
			checkRefusal(t, "Validate", name, x, set(x), reactivation.ErrParams, reactivation.ErrNotFinite)
		}
		for _, x := range bad[name] {
			checkRefusal(t, "Validate", name, x, set(x), reactivation.ErrParams, reactivation.ErrRange)
		}
	}
	for _, k := range []int{0, -1, 4097} {
		p := reactivation.Default()
		p.Context = k
		checkRefusal(t, "Validate", "Context", float64(k), p.Validate(), reactivation.ErrParams)
	}
	for _, n := range []int{-1, 1_000_001} {
		p := reactivation.Default()
		p.BuryAfter = n
		checkRefusal(t, "Validate", "BuryAfter", float64(n), p.Validate(), reactivation.ErrParams)
	}
}

func TestValidateReportsAllFaults(t *testing.T) {
	err := reactivation.Params{R0: -1, Lambda: math.NaN(), Suppression: 1, Context: 12}.Validate()
	for _, name := range []string{"R0", "Lambda", "Suppression"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not among the faults: %v", name, err)
		}
	}
}

// Unusable parameters are refused by the function that would use them, too.
func TestEveryFunctionChecksItsParameters(t *testing.T) {
	half := 0.5
	i := reactivation.Impression{Reinforcement: 1, Guna: reactivation.Sattva()}
	e := reactivation.Stimulus{Weight: 0.5, Match: 0.5, Guna: reactivation.Rajas()}
	calls := map[string]struct {
		uses []string
		call func(p reactivation.Params) error
	}{
		"Depth":         {[]string{"R0", "Lambda"}, func(p reactivation.Params) error { _, err := p.Depth(1, 1); return err }},
		"Reinforcement": {[]string{"R0"}, func(p reactivation.Params) error { _, err := p.Reinforcement(0.5); return err }},
		"FaintAge":      {[]string{"R0", "Lambda"}, func(p reactivation.Params) error { _, _, err := p.FaintAge(1, 0.04); return err }},
		"Hardness":      {[]string{"HardnessGain"}, func(p reactivation.Params) error { _, err := p.Hardness(1); return err }},
		"Blend":         {[]string{"Alpha"}, func(p reactivation.Params) error { _, err := p.Blend(half, &half); return err }},
		"Soften":        {[]string{"SoftGain"}, func(p reactivation.Params) error { _, err := p.Soften(i, e); return err }},
		"Drift":         {[]string{"DriftRate", "Protection", "UpliftMatch"}, func(p reactivation.Params) error { _, err := p.Drift(i.Guna, e); return err }},
		"Collide": {[]string{"R0", "Lambda", "HardnessGain", "DriftRate", "Protection", "UpliftMatch", "Suppression"},
			func(p reactivation.Params) error { _, err := p.Collide(i, e, 1); return err }},
	}
	for name, c := range calls {
		for _, field := range c.uses {
			for _, x := range append([]float64{-1, 1e9}, broken...) {
				p := reactivation.Default()
				reflect.ValueOf(&p).Elem().FieldByName(field).SetFloat(x)
				if err := c.call(p); !errors.Is(err, reactivation.ErrParams) || !strings.Contains(err.Error(), field) {
					t.Errorf("%s with %s = %v: error %v; expected it named", name, field, x, err)
				}
			}
		}
	}
}
