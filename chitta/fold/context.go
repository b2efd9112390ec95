package fold

import (
	"cmp"
	"slices"
)

// reminders is how many times the number asked for is weighed for variety.
const reminders = 8

// TopFor returns the k impressions that a query would bring to mind: those of
// greatest influence × max(0, cosine), re-ranked by maximal marginal relevance
// (Params.Reactivation.MMR weighs relevance against likeness to what was chosen
// before), so that twelve copies of one thought do not fill the context. query is
// a unit vector of the store's dimension; Influence in the answer is the product.
// Ties go to the older impression.
func (s *State) TopFor(query []float32, k int) ([]Ranked, error) {
	if err := CheckVector(query, s.Dim); err != nil {
		return nil, err
	}
	var pool []Ranked
	for i := range s.Impressions {
		depth, err := s.Depth(i)
		if err != nil {
			return nil, err
		}
		if relevance := float64(depth * max(0, float64(Dot(s.Vectors.Row(i), query)))); relevance > 0 {
			pool = append(pool, Ranked{i, relevance})
		}
	}
	slices.SortStableFunc(pool, func(a, b Ranked) int { return cmp.Compare(b.Influence, a.Influence) })
	pool = pool[:min(len(pool), reminders*k)]
	return s.varied(pool, k), nil
}

// varied chooses k of a pool that is sorted by relevance, one after the other.
func (s *State) varied(pool []Ranked, k int) []Ranked {
	chosen := make([]Ranked, 0, min(k, len(pool)))
	lambda := s.Params.Reactivation.MMR
	likeness := make([]float64, len(pool)) // to the nearest of the chosen
	taken := make([]bool, len(pool))
	for len(chosen) < cap(chosen) {
		best, value := -1, 0.0
		for i, p := range pool {
			if taken[i] {
				continue
			}
			v := float64(lambda*p.Influence/pool[0].Influence) - float64((1-lambda)*likeness[i])
			if best < 0 || v > value {
				best, value = i, v
			}
		}
		taken[best] = true
		chosen = append(chosen, pool[best])
		for i, p := range pool {
			if !taken[i] {
				likeness[i] = max(likeness[i], float64(Dot(s.Vectors.Row(p.Index), s.Vectors.Row(pool[best].Index))))
			}
		}
	}
	return chosen
}
