package lifecycle

import (
	"context"

	"github.com/jivad/jivad/chitta"
)

// IDs are those of all impressions, in the order in which they came.
func (c *Companion) IDs() (out []string) {
	for _, m := range c.store.Snapshot().Impressions {
		out = append(out, formatID(m.ID))
	}
	return out
}

// Removals tells the headline of what GhostsOf says of many single entries; each
// removal is folded once, and SOUL.md and the curves are left out.
type Removals struct {
	c        *Companion
	retraced *chitta.Retracing
	sums     map[uint64]float64
}

// Removals begins with the fold of everything.
func (c *Companion) Removals(ctx context.Context) (*Removals, error) {
	r, err := c.store.Retrace(ctx, nil)
	return &Removals{c, r, map[uint64]float64{}}, err
}

func (r *Removals) sum(ctx context.Context, sequence uint64) (float64, error) {
	if sum, ok := r.sums[sequence]; ok {
		return sum, nil
	}
	w, err := r.retraced.Without(ctx, []uint64{sequence}, chitta.WithoutOptions{})
	if err != nil {
		return 0, err
	}
	contrast, err := r.retraced.Contrast(w)
	r.sums[sequence] = contrast.Sum
	return contrast.Sum, err
}

// DepthsOf compares an entry with n random ones.
func (r *Removals) DepthsOf(ctx context.Context, id string, n int) (GhostMeasure, error) {
	what, err := r.c.examine(r.c.store.Snapshot(), id)
	if err != nil {
		return GhostMeasure{}, err
	}
	m := GhostMeasure{Name: MeasureDepths}
	if m.Value, err = r.sum(ctx, what.sequences[0]); err != nil {
		return m, err
	}
	var chance []float64
	for _, set := range r.retraced.Draws(what.sequences, n).Sets {
		sum, err := r.sum(ctx, set[0])
		if err != nil {
			return m, err
		}
		chance = append(chance, sum)
	}
	m.Chance = chanceOf(m.Value, chance)
	return m, nil
}
