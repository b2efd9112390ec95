package fold

import (
	"cmp"
	"math"
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
	k = max(k, 0)
	best := foremost{limit: max(reminders*k, 1)}
	if err := s.relevant(query, &best); err != nil {
		return nil, err
	}
	best.cut()
	return s.varied(best.list[:min(len(best.list), reminders*k)], k), nil
}

// relevant offers all rows. Most need no depth: where even the deepest
// impression of that age would come too late, it is not computed.
func (s *State) relevant(query []float32, best *foremost) error {
	var deepest ceilings
	for i := range s.Impressions {
		similarity := max(0, float64(Dot(s.Vectors.Row(i), query)))
		most, err := deepest.of(s, i)
		if err != nil {
			return err
		}
		// Rounding keeps order, so a product is not above that of greater factors.
		// A tie goes to the older one, which is there already.
		if known := s.Impressions[i].Reinforcement; known >= 0 && known <= math.MaxFloat64 && float64(most*similarity) <= best.floor {
			continue
		}
		depth, err := s.Depth(i)
		if err != nil {
			return err
		}
		if relevance := float64(depth * similarity); relevance > best.floor {
			best.offer(Ranked{i, relevance})
		}
	}
	return nil
}

// ceilings are the greatest depths by age, those asked for last.
type ceilings [256]struct {
	known bool
	age   uint32
	most  float64
}

// of is how deep an impression of that age can be, however often it was active.
func (c *ceilings) of(s *State, i int) (float64, error) {
	age := s.age(i)
	at := &c[age%uint32(len(c))]
	if at.known && at.age == age {
		return at.most, nil
	}
	most, err := s.Params.Reactivation.Depth(math.MaxFloat64, float64(age))
	at.known, at.age, at.most = err == nil, age, most
	return most, err
}

// foremost keeps the most influential of what it is offered, up to its limit.
type foremost struct {
	limit int
	// list holds up to twice as many, so that it is seldom sorted.
	list []Ranked
	// floor is the influence up to which an offer is useless.
	floor float64
}

func (f *foremost) offer(r Ranked) {
	if f.list = append(f.list, r); len(f.list) >= 2*f.limit {
		f.cut()
		f.floor = f.list[f.limit-1].Influence
	}
}

// cut sorts, and drops what is over the limit.
func (f *foremost) cut() {
	slices.SortFunc(f.list, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Influence, a.Influence), cmp.Compare(a.Index, b.Index))
	})
	f.list = f.list[:min(len(f.list), f.limit)]
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
