package reactivation

import (
	"fmt"
	"math"
)

// unitTolerance is how far from 1 the length of a Guna may be. Normalising is
// exact to about 2e-16; the room is for values that went through a file or a
// shorter float.
const unitTolerance = 1e-9

// Guna is the character of an event or an impression: how much inertia,
// reactivity and clarity it has. Each part is 0 or more and the Euclidean
// length is 1, so it is a point of the positive octant of the unit sphere.
// The zero Guna is not valid; make one with NewGuna or take a pole.
type Guna struct{ Tamas, Rajas, Sattva float64 }

// Shares are the squares of a Guna's parts. They sum to 1 and are the
// proportions to plot and to average.
type Shares struct{ Tamas, Rajas, Sattva float64 }

// Tamas is the pole of inertia.
func Tamas() Guna { return Guna{Tamas: 1} }

// Rajas is the pole of reactivity.
func Rajas() Guna { return Guna{Rajas: 1} }

// Sattva is the pole of clarity.
func Sattva() Guna { return Guna{Sattva: 1} }

// NewGuna gives the Guna in the direction of (t, r, s). The triple may have any
// finite length above 0, however small or large, and no negative part;
// otherwise the error is ErrGuna.
func NewGuna(t, r, s float64) (Guna, error) {
	g := Guna{t, r, s}
	if err := g.octant(); err != nil {
		return Guna{}, err
	}
	// Scaling by the greatest part first keeps the squares from overflowing
	// and from vanishing.
	greatest := max(t, r, s)
	if greatest == 0 {
		return Guna{}, refuse("length of the guna", 0, "above 0 (at least one part must be positive)", ErrGuna)
	}
	t, r, s = t/greatest, r/greatest, s/greatest
	length := math.Sqrt(dot(Guna{t, r, s}, Guna{t, r, s}))
	// Adding 0 turns -0 into 0, so that equal gunas have equal bytes.
	return Guna{t/length + 0, r/length + 0, s/length + 0}, nil
}

// Check refuses (ErrGuna) what is not finite, has a negative part, or has a
// length that differs from 1 by more than 1e-9.
func (g Guna) Check() error {
	if err := g.octant(); err != nil {
		return err
	}
	if length := math.Sqrt(dot(g, g)); !(math.Abs(length-1) <= unitTolerance) {
		return refuse("length of the guna", min(length, math.MaxFloat64), "1 (make it with NewGuna)", ErrGuna)
	}
	return nil
}

func (g Guna) octant() error {
	if inOctant(g.Tamas) && inOctant(g.Rajas) && inOctant(g.Sattva) {
		return nil
	}
	field, value := "tamas", g.Tamas
	if inOctant(value) {
		field, value = "rajas", g.Rajas
	}
	if inOctant(value) {
		field, value = "sattva", g.Sattva
	}
	return refuse(field+" part of the guna", value, "a finite number, 0 or more", ErrGuna)
}

func inOctant(x float64) bool { return x >= 0 && x <= math.MaxFloat64 }

// Shares gives the squares of the parts.
func (g Guna) Shares() Shares {
	return Shares{float64(g.Tamas * g.Tamas), float64(g.Rajas * g.Rajas), float64(g.Sattva * g.Sattva)}
}

// Resonance is the dot product of two gunas, in [0,1]: 1 for the same
// character, 0 for poles apart. It is symmetric. Both gunas are expected to
// pass Check; one that is not a number resonates with nothing.
func (g Guna) Resonance(o Guna) float64 {
	if r := dot(g, o); r > 0 { // false for NaN
		return min(r, 1)
	}
	return 0
}

// Angle is the angle between two gunas in radians, in [0, π/2]. Unlike the
// arc cosine of Resonance it is exact for nearly equal gunas too. Both gunas
// are expected to pass Check; one that is not a number is at π/2 to all.
func (g Guna) Angle(o Guna) float64 {
	x := float64(g.Rajas*o.Sattva) - float64(g.Sattva*o.Rajas)
	y := float64(g.Sattva*o.Tamas) - float64(g.Tamas*o.Sattva)
	z := float64(g.Tamas*o.Rajas) - float64(g.Rajas*o.Tamas)
	cross := Guna{x, y, z}
	if a := math.Atan2(math.Sqrt(dot(cross, cross)), dot(g, o)); a < math.Pi/2 {
		return a
	}
	return math.Pi / 2
}

// String gives the parts in the order tamas, rajas, sattva.
func (g Guna) String() string {
	return fmt.Sprintf("(tamas %.3f, rajas %.3f, sattva %.3f)", g.Tamas, g.Rajas, g.Sattva)
}

func dot(a, b Guna) float64 {
	return float64(a.Tamas*b.Tamas) + float64(a.Rajas*b.Rajas) + float64(a.Sattva*b.Sattva)
}

// MeanGuna is the direction of Σ weight·guna: the common character of several.
// Weights are finite and 0 or more, one for each guna; their scale does not
// matter. The bool is false, and the Guna zero, when there is nothing to
// average: no gunas, or no weight above 0. Summed in the order given.
func MeanGuna(gs []Guna, weights []float64) (Guna, bool, error) {
	if len(gs) != len(weights) {
		return Guna{}, false, refuse("number of weights", float64(len(weights)), fmt.Sprintf("%d, one for each guna", len(gs)))
	}
	var greatest float64
	for i, g := range gs {
		if err := g.Check(); err != nil {
			return Guna{}, false, fmt.Errorf("guna %d of %d: %w", i+1, len(gs), err)
		}
		if err := positive("weight", weights[i]); err != nil {
			return Guna{}, false, fmt.Errorf("guna %d of %d: %w", i+1, len(gs), err)
		}
		greatest = max(greatest, weights[i])
	}
	if greatest == 0 {
		return Guna{}, false, nil
	}
	var sum Guna
	for i, g := range gs {
		w := weights[i] / greatest
		sum.Tamas += float64(w * g.Tamas)
		sum.Rajas += float64(w * g.Rajas)
		sum.Sattva += float64(w * g.Sattva)
	}
	mean, err := NewGuna(sum.Tamas, sum.Rajas, sum.Sattva)
	return mean, err == nil, err
}
