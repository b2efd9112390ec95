package reactivation

import "math"

// FaintAge is the least whole age, in sessions, at which an impression of
// reinforcement r that is left alone is less deep than below, in [0,1]:
//
//	D(R,t) < b  ⇔  t > exp(((1 - e^(-R/R0))/b - 1)/λ) - 1.
//
// The closed form only tells where to look. What is returned is the age at which
// Depth itself, to its last bit, falls below; at equality it does not yet. ok is
// false where that takes more than 2^32-1 sessions. Errors: ErrNotFinite,
// ErrRange, ErrParams.
func (p Params) FaintAge(r, below float64) (age uint32, ok bool, err error) {
	if err := p.checkDepth(); err != nil {
		return 0, false, err
	}
	if err := positive("reinforcement", r); err != nil {
		return 0, false, err
	}
	if err := unit("depth", below); err != nil {
		return 0, false, err
	}
	age, ok = p.faintAge(r, below)
	return age, ok, nil
}

func (p Params) faintAge(r, below float64) (uint32, bool) {
	const oldest = math.MaxUint32
	fresh := p.saturation(r)
	faint := func(t uint64) bool { return p.faded(fresh, r, float64(t)) < below }
	switch {
	case faint(0):
		return 0, true
	case below == 0 || p.Lambda == 0:
		return 0, false // nothing is below 0, and without fading nothing changes
	}
	x := (fresh/below - 1) / p.Lambda
	const beyond = 23 // e^23 is more than twice the oldest age
	if x > beyond {
		return 0, false
	}
	// From the closed form outwards until low is not faint and high is, then
	// inwards: two looks as a rule.
	low, high := uint64(0), min(oldest, uint64(1/exp(-x)))
	for step := uint64(1); !faint(high); step *= 2 {
		if high == oldest {
			return 0, false
		}
		low, high = high, min(oldest, high+step)
	}
	for step := uint64(1); low == 0 && high > step; step *= 2 {
		if at := high - step; faint(at) {
			high = at
		} else {
			low = at
		}
	}
	for high-low > 1 {
		if middle := low + (high-low)/2; faint(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return uint32(high), true
}
