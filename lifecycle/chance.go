package lifecycle

import (
	"math"
	"slices"
)

// Chance is what a measure is when something else is removed at random.
type Chance struct {
	Least  float64 `json:"least"`
	Median float64 `json:"median"`
	// Upper ends the band: one more random removal lies in it with probability
	// Band. With 19 to 38 removals it is the greatest of them. With fewer too, and
	// the band then holds less than 95 %: of 7 removals 87.5 %.
	Upper float64 `json:"upper"`
	Band  float64 `json:"band"`
	// P is the share of all removals, the examined one among them, that have as
	// great a measure: its rank among all that can be where they are all there.
	P float64 `json:"p"`
	// Beyond says that the measure lies above the band, Larger that it does and
	// the band holds at least 95 %: never with fewer than 19 removals.
	Beyond bool `json:"beyond"`
	Larger bool `json:"larger"`
}

// wantedBand is how much of chance the band is to hold.
const wantedBand = 0.95

// chanceOf compares a measure with those of random removals; nil without any.
//
// Were the examined removal a random one too, each rank among all would be
// equally likely. So the band ends at the least rank that holds 95 % of them,
// k of n+1 with k = ⌈0.95·(n+1)⌉: no quantile between two removals is needed.
func chanceOf(value float64, removals []float64) *Chance {
	n := len(removals)
	if n == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(removals))
	k := min(int(math.Ceil(wantedBand*float64(n+1)-1e-9)), n)
	c := &Chance{Least: sorted[0], Upper: sorted[k-1], Band: float64(k) / float64(n+1)}
	c.Median = (sorted[(n-1)/2] + sorted[n/2]) / 2
	as := 1
	for _, x := range removals {
		if x >= value {
			as++
		}
	}
	c.P = float64(as) / float64(n+1)
	c.Beyond = value > c.Upper
	c.Larger = c.Beyond && c.Wide()
	return c
}

// Wide tells whether the band holds as much of chance as it should, 95 %.
func (c *Chance) Wide() bool { return c.Band >= wantedBand-1e-9 }
