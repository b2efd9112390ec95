package reactivation

import "math"

// belowOne is the greatest float64 below 1: as deep as an impression can be.
const belowOne = 1 - 0x1p-53

// maxRatio bounds R/R0 where e^(-R/R0) is needed, so that it stays a normal
// number. Depth has been belowOne since 37.
const maxRatio = 700

// Depth is how deep an impression is now,
//
//	D(R,t) = (1 - e^(-R/R0)) / (1 + λ·ln(1+t)),
//
// for reinforcement r ≥ 0 and age t ≥ 0 in sessions, both finite. It rises
// with r and falls with t, is 0 for r = 0 only, and never reaches 1: where
// rounding would, it stays at the greatest number below. Errors: ErrNotFinite,
// ErrRange, ErrParams.
func (p Params) Depth(r, t float64) (float64, error) {
	if err := p.checkDepth(); err != nil {
		return 0, err
	}
	if err := positive("reinforcement", r); err != nil {
		return 0, err
	}
	if err := positive("age", t); err != nil {
		return 0, err
	}
	return p.depth(r, t), nil
}

// depth is Depth for values that were checked.
func (p Params) depth(r, t float64) float64 { return p.faded(p.saturation(r), r, t) }

// faded is the depth at age t of what is so saturated when fresh.
func (p Params) faded(saturation, r, t float64) float64 {
	d := saturation / (1 + p.fading(t))
	if d == 0 && r > 0 {
		return math.SmallestNonzeroFloat64
	}
	return d
}

// saturation is 1 - e^(-R/R0), without the cancellation at small R, below 1.
func (p Params) saturation(r float64) float64 {
	return min(-expm1(-p.ratio(r)), belowOne)
}

// ratio is R/R0, bounded.
func (p Params) ratio(r float64) float64 { return min(r/p.R0, maxRatio) }

// fading is λ·ln(1+t).
func (p Params) fading(t float64) float64 {
	return float64(p.Lambda * log1p(t))
}

// Reinforcement is the inverse of the depth law at age 0: the R of which the
// fresh depth is the one given, -R0·ln(1-depth). Depth lies in [0,1). Errors:
// ErrNotFinite, ErrRange, ErrParams.
func (p Params) Reinforcement(depth float64) (float64, error) {
	if err := p.checkR0(); err != nil {
		return 0, err
	}
	if !(depth >= 0 && depth < 1) {
		return 0, refuse("depth", depth, "a number from 0 to below 1")
	}
	return float64(p.R0 * -log1p(-depth)), nil
}

// Hardness is how strongly an impression of age t resists a strike,
//
//	H_d = 1 + η_h·ln(1+t),
//
// 1 or more, for t ≥ 0 sessions. Errors: ErrNotFinite, ErrRange, ErrParams.
func (p Params) Hardness(t float64) (float64, error) {
	if err := p.checkHardness(); err != nil {
		return 0, err
	}
	if err := positive("age", t); err != nil {
		return 0, err
	}
	return p.hardness(t), nil
}

func (p Params) checkHardness() error {
	return between("HardnessGain", p.HardnessGain, 0, 1000, "a number from 0 to 1000")
}

func (p Params) hardness(t float64) float64 {
	return 1 + float64(p.HardnessGain*log1p(t))
}
