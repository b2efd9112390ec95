package vasana

import (
	"github.com/jivad/jivad/reactivation"
)

const (
	// exactMembers is up to which size every pair is looked at.
	exactMembers = 2000
	// directionGrid sets how finely larger clusters are looked round.
	directionGrid = 8
)

// leastResonance is the least guna resonance of any two, 1 for fewer than two.
//
// Up to exactMembers it is exact. Beyond, it uses that on the unit sphere
// r = 1 − |a−b|²/2, so that the least resonance is the greatest distance: the
// two extremes along each of 769 directions are measured. No direction is
// further than φ from a grid direction, tan φ ≤ √2/(2·directionGrid), so the
// greatest distance found is at least cos φ of the true one and the result
// exceeds the true r by at most sin²φ·(1−r), less than 0.8 % of 1−r.
func leastResonance(gs []reactivation.Guna) float64 {
	least := 1.0
	if len(gs) <= exactMembers {
		for i := range gs {
			for j := range i {
				least = min(least, gs[i].Resonance(gs[j]))
			}
		}
		return least
	}
	const m = directionGrid
	for x := -m; x <= m; x++ {
		for y := -m; y <= m; y++ {
			for z := 0; z <= m; z++ {
				// One of each opposite pair, on the surface of the cube.
				onSurface := x == -m || x == m || y == -m || y == m || z == m
				half := z > 0 || y > 0 || (y == 0 && x > 0)
				if onSurface && half {
					least = min(least, extremes(gs, float64(x), float64(y), float64(z)))
				}
			}
		}
	}
	return least
}

// extremes is the resonance of the two furthest apart along (x, y, z).
func extremes(gs []reactivation.Guna, x, y, z float64) float64 {
	along := func(g reactivation.Guna) float64 {
		return float64(x*g.Tamas) + float64(y*g.Rajas) + float64(z*g.Sattva)
	}
	low, high := 0, 0
	least, most := along(gs[0]), along(gs[0])
	for i := 1; i < len(gs); i++ {
		a := along(gs[i])
		if a < least {
			low, least = i, a
		}
		if a > most {
			high, most = i, a
		}
	}
	return gs[low].Resonance(gs[high])
}
