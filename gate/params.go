package gate

import (
	"errors"
	"fmt"
)

// Mode says how focus moves the threshold. The source gives a formula and, in
// words, the opposite effect; both ship (decision D-2).
type Mode string

const (
	// Concentrate: the more focus, the higher the threshold and the fewer
	// reactivations, k_eff = k_base·(½ + focus).
	Concentrate Mode = "concentrate"
	// Literal: the more focus, the lower the threshold, k_eff = k_base·(1½ - focus).
	Literal Mode = "literal"
)

// Params are the parameters of the gate. Start from Default. Temperature,
// MinSimilarity and NoiseFloor belong to the scale of one embedder.
type Params struct {
	// Candidates is the greatest number of nearest impressions that are read;
	// 1 to 65536.
	Candidates int
	// Temperature τ of the softmax over cosines; 0.001 to 1000.
	Temperature float64
	// KBase k_base scales the deviations above the mean; 0 to 100.
	KBase float64
	// MinSimilarity is the cosine below which nothing ever fires; 0 to 1.
	MinSimilarity float64
	// NoiseFloor is the cosine below which nothing is touched at all; 0 to
	// MinSimilarity.
	NoiseFloor float64
	// InertiaGain η_T is the part of the way to 1 that a wholly tamasic context
	// raises the threshold; 0 to 1.
	InertiaGain float64
	// ReactivityGain η_R is how much a wholly rajasic context stiffens; 0 to 100.
	ReactivityGain float64
	// Balance is the share from which inertia and reactivity count at all; 0 to
	// 0.9. At 1/3 a context of three equal shares weighs nothing; at 0 the load
	// counts as the source prints it (decision D-5).
	Balance float64
	// Mode is Concentrate or Literal.
	Mode Mode
}

// Scale are the parameters that belong to the spread of one embedder's
// similarities, as they were measured for it. KBase is among them because focus,
// and with it the number of deviations, follows the temperature.
type Scale struct{ Temperature, KBase, MinSimilarity, NoiseFloor float64 }

// On fills the parameters of the scale that are 0 with those of s.
func (p Params) On(s Scale) Params {
	for _, f := range []struct {
		to   *float64
		from float64
	}{{&p.Temperature, s.Temperature}, {&p.KBase, s.KBase}, {&p.MinSimilarity, s.MinSimilarity}, {&p.NoiseFloor, s.NoiseFloor}} {
		if *f.to == 0 {
			*f.to = f.from
		}
	}
	return p
}

// Unscaled leaves the parameters of the scale 0, for On to fill.
func (p Params) Unscaled() Params {
	p.Temperature, p.KBase, p.MinSimilarity, p.NoiseFloor = 0, 0, 0, 0
	return p
}

// Default gives the parameters of the specification. An embedder whose
// similarities were measured has a Scale of its own.
func Default() Params {
	return Params{
		Candidates: 256, Temperature: 0.05, KBase: 2,
		MinSimilarity: 0.25, NoiseFloor: 0.20,
		InertiaGain: 0.3, ReactivityGain: 0.5, Balance: 1.0 / 3,
		Mode: Concentrate,
	}
}

// Validate reports every parameter that cannot be used, joined; each is an
// ErrParams that names the field, the value and the range.
func (p Params) Validate() error {
	return errors.Join(
		between("Candidates", float64(p.Candidates), 1, 65536, "a whole number from 1 to 65536"),
		between("Temperature", p.Temperature, 0.001, 1000, "a number from 0.001 to 1000"),
		between("KBase", p.KBase, 0, 100, "a number from 0 to 100"),
		between("MinSimilarity", p.MinSimilarity, 0, 1, "a number from 0 to 1"),
		p.checkNoiseFloor(),
		between("InertiaGain", p.InertiaGain, 0, 1, "a number from 0 to 1"),
		between("ReactivityGain", p.ReactivityGain, 0, 100, "a number from 0 to 100"),
		between("Balance", p.Balance, 0, 0.9, "a number from 0 to 0.9"),
		p.Mode.check(),
	)
}

func (p Params) checkNoiseFloor() error {
	if err := between("NoiseFloor", p.NoiseFloor, 0, 1, "a number from 0 to 1"); err != nil {
		return err
	}
	if p.NoiseFloor > p.MinSimilarity {
		return refuse("parameter NoiseFloor", p.NoiseFloor, fmt.Sprintf("at most MinSimilarity (%v)", p.MinSimilarity), ErrParams)
	}
	return nil
}

func (m Mode) check() error {
	if m == Concentrate || m == Literal {
		return nil
	}
	return fmt.Errorf("gate: parameter Mode is %q; it must be %q or %q: %w", string(m), Concentrate, Literal, ErrParams)
}

func between(field string, x, low, high float64, want string) error {
	if x >= low && x <= high {
		return nil
	}
	return refuse("parameter "+field, x, want, ErrParams)
}
