package fold_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta/fold"
)

// changed is a state of n impressions of any age and any reinforcement.
func changed(t *rapid.T, n int) *fold.State {
	s := fold.NewState()
	s.Session.Number = uint32(rapid.IntRange(0, 50).Draw(t, "session"))
	s.Params.Reactivation.Lambda = rapid.SampledFrom([]float64{0, 0.35, 1000}).Draw(t, "lambda")
	s.Params.Reactivation.HardnessGain = rapid.SampledFrom([]float64{0, 0.35, 2}).Draw(t, "hardness gain")
	for range n {
		s.Impressions = append(s.Impressions, fold.Samskara{
			Reinforcement: reinforcement(t), Last: uint32(rapid.IntRange(0, 50).Draw(t, "last")),
		})
	}
	return s
}

func reinforcement(t *rapid.T) float64 {
	return rapid.OneOf(
		rapid.SampledFrom([]float64{0, 1, 10, math.SmallestNonzeroFloat64, 1e-300, 1e300}),
		rapid.Float64Range(0, 40),
	).Draw(t, "reinforcement")
}

// However the store changed between two sessions, depths and hardnesses are
// those that each impression has for itself.
func TestAgeingGivesTheBitsOfTheLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := changed(t, rapid.IntRange(0, 20).Draw(t, "impressions"))
		var a fold.Ageing
		for range 4 {
			depths, hardness, err := a.Of(s)
			if err != nil {
				t.Fatal(err)
			}
			for i := range s.Impressions {
				d, err1 := s.Depth(i)
				h, err2 := s.Params.Reactivation.Hardness(s.Age(i))
				if err1 != nil || err2 != nil {
					t.Fatal(err1, err2)
				}
				if math.Float64bits(depths[i]) != math.Float64bits(d) || math.Float64bits(hardness[i]) != math.Float64bits(h) {
					t.Fatalf("impression %d: depth %v and hardness %v, alone %v and %v", i, depths[i], hardness[i], d, h)
				}
			}
			switch s.Session.Number++; rapid.IntRange(0, 2).Draw(t, "change") {
			case 0:
				s = changed(t, rapid.IntRange(0, 25).Draw(t, "impressions"))
			case 1:
				for i := range s.Impressions {
					if rapid.Bool().Draw(t, "touched") {
						s.Impressions[i].Reinforcement, s.Impressions[i].Last = reinforcement(t), s.Session.Number
					}
				}
			}
		}
	})
}

// Top passes over what cannot be among the greatest; the answer is the one of
// sorting all.
func TestTopIsTheBeginningOfAllInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := changed(t, rapid.IntRange(0, 60).Draw(t, "impressions"))
		k := rapid.IntRange(0, 20).Draw(t, "k")
		var all []fold.Ranked
		for i := range s.Impressions {
			d, err := s.Depth(i)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fold.Ranked{Index: i, Influence: d})
		}
		slices.SortStableFunc(all, func(a, b fold.Ranked) int {
			switch {
			case a.Influence > b.Influence:
				return -1
			case a.Influence < b.Influence:
				return 1
			}
			return 0
		})
		got, err := s.Top(k)
		if err != nil || !slices.Equal(got, all[:min(k, len(all))]) {
			t.Fatalf("%v (%v), in order %v", got, err, all)
		}
	})
}
