package chitta

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/reactivation"
)

// Contrast is what differs today between the store as it is and as it would be.
type Contrast struct {
	// Depths are the impressions, of those that are not gone, whose depth differs,
	// the greatest difference first.
	Depths []DepthChange
	// Sum is Σ|Δdepth| over them.
	Sum float64
	// Angle is between the two characters of the store, each the mean of all
	// impressions weighted by influence, in degrees from 0 to 90; nil where one
	// side has no impression.
	Angle *float64
}

// DepthChange is one impression with its depth today on both sides, in [0,1). A
// side on which it never came to be has depth 0 and is marked.
type DepthChange struct {
	ID               fold.ID
	Sequence         uint64
	With, Without    float64
	OnlyWith, OnlyIn bool
}

// Delta is how much deeper it would be without; negative where it would be less deep.
func (d DepthChange) Delta() float64 { return d.Without - d.With }

// Contrast compares today's outcomes impression by impression.
func (r *Retracing) Contrast(w *Without) (Contrast, error) {
	real, here, absent := r.state, w.State, map[uint64]bool{}
	for _, e := range w.Gone.Events {
		absent[e.Sequence] = true
	}
	var out Contrast
	depths := [2][]float64{}
	for side, s := range []*fold.State{real, here} {
		for i := range s.Impressions {
			d, err := s.Depth(i)
			if err != nil {
				return out, fmt.Errorf("depth of impression %d: %w", i, err)
			}
			depths[side] = append(depths[side], d)
		}
	}
	// Both sides stand in the order of their events.
	for i, j := 0, 0; i < len(real.Impressions) || j < len(here.Impressions); {
		var a, b uint64 = math.MaxUint64, math.MaxUint64
		if i < len(real.Impressions) {
			a = real.Impressions[i].Sequence
		}
		if j < len(here.Impressions) {
			b = here.Impressions[j].Sequence
		}
		var d DepthChange
		switch {
		case a == b:
			d = DepthChange{ID: real.Impressions[i].ID, Sequence: a, With: depths[0][i], Without: depths[1][j]}
			i, j = i+1, j+1
		case a < b:
			d = DepthChange{ID: real.Impressions[i].ID, Sequence: a, With: depths[0][i], OnlyWith: true}
			i++
		default:
			d = DepthChange{ID: here.Impressions[j].ID, Sequence: b, Without: depths[1][j], OnlyIn: true}
			j++
		}
		if delta := d.Delta(); delta != 0 && !absent[d.Sequence] {
			out.Depths = append(out.Depths, d)
			out.Sum += math.Abs(delta)
		}
	}
	slices.SortStableFunc(out.Depths, func(a, b DepthChange) int {
		return cmp.Compare(math.Abs(b.Delta()), math.Abs(a.Delta()))
	})
	with, err := character(real, depths[0])
	if err != nil || with == nil {
		return out, err
	}
	without, err := character(here, depths[1])
	if err != nil || without == nil {
		return out, err
	}
	angle := with.Angle(*without) * 180 / math.Pi
	out.Angle = &angle
	return out, nil
}

// character is the mean of all impressions, weighted by their depths.
func character(s *fold.State, depths []float64) (*reactivation.Guna, error) {
	gunas := make([]reactivation.Guna, len(s.Impressions))
	for i := range gunas {
		gunas[i] = s.Impressions[i].Guna
	}
	mean, ok, err := reactivation.MeanGuna(gunas, depths)
	if err != nil || !ok {
		return nil, err
	}
	return &mean, nil
}
