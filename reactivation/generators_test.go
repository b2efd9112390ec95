package reactivation_test

import (
	"math"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/reactivation"
)

// unitFloat draws from [0,1], the ends included.
func unitFloat() *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 0.5, 1}))
}

// anyPositive draws from all of [0, MaxFloat64], and often from where life is.
func anyPositive() *rapid.Generator[float64] {
	return rapid.OneOf(
		rapid.Float64Range(0, 400),
		rapid.Float64Range(0, math.MaxFloat64),
		rapid.SampledFrom([]float64{0, math.SmallestNonzeroFloat64, 1, 10, 1e18, math.MaxFloat64}),
	)
}

// anyAge draws from 0 to 1e18 sessions.
func anyAge() *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Float64Range(0, 400), rapid.Float64Range(0, 1e18), rapid.SampledFrom([]float64{0, 1, 1e18}))
}

// anyGuna draws from the whole octant, edges and poles included.
func anyGuna() *rapid.Generator[reactivation.Guna] {
	return rapid.Custom(func(t *rapid.T) reactivation.Guna {
		part := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Just(0.0), rapid.Float64Range(0, 1e-6))
		tamas, rajas, sattva := part.Draw(t, "tamas"), part.Draw(t, "rajas"), part.Draw(t, "sattva")
		if tamas == 0 && rajas == 0 && sattva == 0 {
			return reactivation.Sattva()
		}
		g, err := reactivation.NewGuna(tamas, rajas, sattva)
		if err != nil {
			t.Fatal(err)
		}
		return g
	})
}

func anyImpression() *rapid.Generator[reactivation.Impression] {
	return rapid.Custom(func(t *rapid.T) reactivation.Impression {
		return reactivation.Impression{
			Reinforcement: anyPositive().Draw(t, "reinforcement"),
			Age:           anyAge().Draw(t, "age"),
			Guna:          anyGuna().Draw(t, "guna"),
		}
	})
}

func anyStimulus() *rapid.Generator[reactivation.Stimulus] {
	return rapid.Custom(func(t *rapid.T) reactivation.Stimulus {
		return reactivation.Stimulus{
			Weight: unitFloat().Draw(t, "weight"),
			Match:  unitFloat().Draw(t, "match"),
			Guna:   anyGuna().Draw(t, "event guna"),
		}
	})
}

// anyParams draws any usable set.
func anyParams() *rapid.Generator[reactivation.Params] {
	return rapid.Custom(func(t *rapid.T) reactivation.Params {
		p := reactivation.Params{
			R0:           rapid.OneOf(rapid.Float64Range(1, 100), rapid.Float64Range(1e-6, 1e6)).Draw(t, "R0"),
			Lambda:       rapid.OneOf(rapid.Float64Range(0, 2), rapid.Float64Range(0, 1000)).Draw(t, "lambda"),
			Alpha:        unitFloat().Draw(t, "alpha"),
			HardnessGain: rapid.OneOf(rapid.Float64Range(0, 2), rapid.Float64Range(0, 1000)).Draw(t, "hardness gain"),
			SoftGain:     unitFloat().Draw(t, "soft gain"),
			DriftRate:    unitFloat().Draw(t, "drift rate"),
			Protection:   unitFloat().Draw(t, "protection"),
			Suppression:  rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 0.999)).Draw(t, "suppression"),
			UpliftMatch:  unitFloat().Draw(t, "uplift match"),
			Novel:        unitFloat().Draw(t, "novel"),
			Context:      rapid.IntRange(1, 4096).Draw(t, "context"),
			MMR:          unitFloat().Draw(t, "mmr"),
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		return p
	})
}

// near says that two numbers agree to a relative tolerance.
func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b))
}
