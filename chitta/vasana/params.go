package vasana

import (
	"fmt"
	"math"
)

// Params are the settings of detection. Their similarities are centred
// cosines, so they depend less on the embedder than raw cosines would.
type Params struct {
	// MinPoints is how many impressions, itself counted, make one a core;
	// also the least size of a cluster. 2 to 1000.
	MinPoints int `json:"min_points"`
	// GunaCoherence is the least resonance of two neighbours, in [0,1].
	GunaCoherence float64 `json:"guna_coherence"`
	// Semantic is a fixed threshold in (0,1], or 0 to take the percentile.
	Semantic float64 `json:"semantic"`
	// Percentile of the sampled pairs that the threshold is set to, in (0,100);
	// 0 chooses it by the size of the store, so that a row has one
	// near rows on average.
	Percentile float64 `json:"percentile"`
	// SemanticLow and SemanticHigh clip the percentile, in (0,1], low ≤ high.
	SemanticLow  float64 `json:"semantic_low"`
	SemanticHigh float64 `json:"semantic_high"`
}

// DefaultParams returns MinPoints 3, coherence 0.9, and a percentile by the size
// of the store (99.5 at 300 rows), clipped to [0.3, 0.85].
func DefaultParams() Params {
	return Params{
		MinPoints:     3,
		GunaCoherence: 0.9,
		SemanticLow:   0.3,
		SemanticHigh:  0.85,
	}
}

// Validate reports the first parameter outside its range, as ErrParams.
func (p Params) Validate() error {
	bad := func(name string, value any, want string) error {
		return &Error{Op: "check parameters", What: fmt.Sprintf("%s = %v", name, value), Hint: "use " + want, Err: ErrParams}
	}
	within := func(v, low, high float64) bool { return v >= low && v <= high } // false for NaN
	switch {
	case p.MinPoints < 2 || p.MinPoints > 1000:
		return bad("min_points", p.MinPoints, "2 to 1000")
	case !within(p.GunaCoherence, 0, 1):
		return bad("guna_coherence", p.GunaCoherence, "0 to 1")
	case !within(p.Semantic, 0, 1):
		return bad("semantic", p.Semantic, "0 for the percentile, or a cosine up to 1")
	case !within(p.Percentile, 0, 100) || p.Percentile == 100:
		return bad("percentile", p.Percentile, "0, or less than 100")
	case !within(p.SemanticLow, math.SmallestNonzeroFloat64, 1):
		return bad("semantic_low", p.SemanticLow, "more than 0, at most 1")
	case !within(p.SemanticHigh, p.SemanticLow, 1):
		return bad("semantic_high", p.SemanticHigh, "semantic_low to 1")
	}
	return nil
}

// sameEdges says whether both lead to the same graph over the same rows.
func (p Params) sameEdges(q Params) bool {
	return p.Semantic == q.Semantic && p.Percentile == q.Percentile &&
		p.SemanticLow == q.SemanticLow && p.SemanticHigh == q.SemanticHigh
}
