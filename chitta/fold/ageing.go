package fold

import (
	"fmt"
	"math"
	"slices"

	"github.com/jivad/jivad/reactivation"
)

// Ageing works out the depths and hardnesses of a whole store, session after
// session. Each has the bits that [State.Depth] and the law of hardness give it
// alone; but a logarithm is taken once for each age, and an exponential only
// where a reinforcement changed since the time before. The zero value is ready.
type Ageing struct {
	law               reactivation.Params
	divisor, hardness byAge
	fresh             []freshDepth
}

// freshDepth is the depth at age 0 of a reinforcement.
type freshDepth struct{ reinforcement, depth float64 }

// Of returns the depth and the hardness of every impression now, in order of
// creation.
func (a *Ageing) Of(s *State) (depths, hardness []float64, err error) {
	if law := s.Params.Reactivation; law != a.law {
		*a = Ageing{law: law, divisor: divisorOf(law), hardness: byAge{law: law}}
	}
	n := len(s.Impressions)
	if more := n - len(a.fresh); more > 0 {
		a.fresh = append(a.fresh, make([]freshDepth, more)...) // a reinforcement of 0 has depth 0
	}
	depths, hardness = make([]float64, n), make([]float64, n)
	for i := range s.Impressions {
		r, age := s.Impressions[i].Reinforcement, s.age(i)
		if f := &a.fresh[i]; f.reinforcement != r {
			if f.depth, err = a.law.Depth(r, 0); err != nil {
				return nil, nil, fmt.Errorf("depth of impression %d: %w", i, err)
			}
			f.reinforcement = r
		}
		divisor, err := a.divisor.at(age)
		if err != nil {
			return nil, nil, err
		}
		if hardness[i], err = a.hardness.at(age); err != nil {
			return nil, nil, err
		}
		if depths[i] = a.fresh[i].depth / divisor; depths[i] == 0 && r > 0 {
			depths[i] = math.SmallestNonzeroFloat64 // as the law has it: no depth is lost
		}
	}
	return depths, hardness, nil
}

// byAge is the hardness law 1 + η·ln(1+t), worked out once for each age.
type byAge struct {
	law   reactivation.Params
	known []float64 // 0 where it was not asked for yet
}

// divisorOf is what age divides a fresh depth by, 1 + λ·ln(1+t): the hardness
// law with another factor.
func divisorOf(law reactivation.Params) byAge {
	law.HardnessGain = law.Lambda
	return byAge{law: law}
}

func (b *byAge) at(age uint32) (float64, error) {
	if int(age) < len(b.known) && b.known[age] != 0 {
		return b.known[age], nil
	}
	x, err := b.law.Hardness(float64(age))
	if err != nil {
		return 0, err
	}
	if more := int(age) + 1 - len(b.known); more > 0 {
		b.known = append(b.known, make([]float64, more)...)
	}
	b.known[age] = x
	return x, nil
}

// Ranked is an impression with its influence.
type Ranked struct {
	Index     int
	Influence float64
}

// Top returns the k impressions of greatest influence, greatest first, ties by
// order of creation.
func (s *State) Top(k int) ([]Ranked, error) {
	top := make([]Ranked, 0, k+1)
	divisor := divisorOf(s.Params.Reactivation)
	for i := range s.Impressions {
		if len(top) == k {
			if k == 0 {
				break
			}
			below, err := s.isBelow(top[k-1].Influence, i, &divisor)
			if err != nil {
				return nil, fmt.Errorf("depth of impression %d: %w", i, err)
			}
			if below {
				continue
			}
		}
		d, err := s.Depth(i)
		if err != nil {
			return nil, fmt.Errorf("depth of impression %d: %w", i, err)
		}
		if len(top) == k && d <= top[k-1].Influence {
			continue
		}
		at := len(top)
		for at > 0 && d > top[at-1].Influence {
			at--
		}
		top = slices.Insert(top, at, Ranked{i, d})
		if len(top) > k {
			top = top[:k]
		}
	}
	return top, nil
}

// isBelow says of many impressions, without an exponential, that their depth is
// less than floor: 1 - e^(-x) is at most x and at most 1, and age only divides it.
func (s *State) isBelow(floor float64, i int, divisor *byAge) (bool, error) {
	const rounding = 1 + 1e-9 // far more than the law's own
	most := rounding * min(s.Impressions[i].Reinforcement/s.Params.Reactivation.R0, 1)
	if most < floor {
		return true, nil
	}
	by, err := divisor.at(s.age(i))
	return most/by < floor, err
}
