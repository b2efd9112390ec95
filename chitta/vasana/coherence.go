package vasana

import (
	"cmp"
	"slices"

	"github.com/jivad/jivad/reactivation"
)

// few is up to how many gunas all pairs are compared: sooner done than the hull.
const few = 64

// leastResonance is the least guna resonance of any two, 1 for fewer than two.
//
// Of many only the corners of the convex hull, as seen from the middle of the sphere,
// need be compared. What lies between a and b is (λ·a + μ·b)/|λ·a + μ·b| with
// λ + μ = 1, the divisor is 1 or less, and resonances are 0 or more: so with
// whatever it is compared, it resonates at least as much as a or as b does.
func leastResonance(gs []reactivation.Guna) float64 {
	if len(gs) > few {
		gs = corners(gs)
	}
	least := 1.0
	for i := range gs {
		for j := range i {
			least = min(least, gs[i].Resonance(gs[j]))
		}
	}
	return least
}

// corners are the gunas on the convex hull, some twice. Seen from the middle
// they are points of the plane tamas + rajas + sattva = 1, where the hull is
// made by going along it and back (Andrew's monotone chain).
func corners(gs []reactivation.Guna) []reactivation.Guna {
	type point struct {
		x, y float64
		g    reactivation.Guna
	}
	flat := make([]point, len(gs))
	for i, g := range gs {
		sum := g.Tamas + g.Rajas + g.Sattva
		flat[i] = point{g.Tamas / sum, g.Rajas / sum, g}
	}
	slices.SortFunc(flat, func(a, b point) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y)) })
	left := func(a, b, c point) bool { // whether the way from a over b to c turns left
		return float64((b.x-a.x)*(c.y-a.y)) > float64((b.y-a.y)*(c.x-a.x))
	}
	var around []reactivation.Guna
	for range 2 {
		var chain []point
		for _, p := range flat {
			for len(chain) >= 2 && !left(chain[len(chain)-2], chain[len(chain)-1], p) {
				chain = chain[:len(chain)-1]
			}
			chain = append(chain, p)
		}
		for _, p := range chain {
			around = append(around, p.g)
		}
		slices.Reverse(flat)
	}
	return around
}
