package reactivation

import "math"

// Impression is what a strike needs to know of one impression.
type Impression struct {
	// Reinforcement R, finite and 0 or more; a new impression has 1.
	Reinforcement float64
	// Age in sessions since the last activation, finite and 0 or more.
	Age float64
	// Guna is the impression's character.
	Guna Guna
}

func (i Impression) check() error {
	if err := positive("reinforcement", i.Reinforcement); err != nil {
		return err
	}
	if err := positive("age", i.Age); err != nil {
		return err
	}
	return i.Guna.Check()
}

// Outcome is what a strike above the threshold left.
type Outcome struct {
	// Reinforcement R' to keep.
	Reinforcement float64
	// Depth is what the depth law gives for R' now: at age 0 after a
	// reactivation, at the unchanged age after a suppression.
	Depth float64
	// Snap is the force that got through, in [0,1], before hardness; 0 after a
	// suppression.
	Snap float64
	// Guna is the character to keep.
	Guna Guna
	// Reset says that the impression was activated: its age is now 0.
	Reset bool
	// Suppressed says that a protected impression lost depth instead (D-4):
	// neither its age nor its character changed.
	Suppressed bool
}

// Collide is the meeting of an event with an impression that it is similar
// enough to (similarity ≥ θ_eff): snap-back and drift,
//
//	snap = (W·(1-D)·r)²      H = H_d·stiffness
//	D'   = D + (1-D)·snap/H  R' = -R0·ln(1-D')    age' = 0
//
// or, when an event whose tamas or rajas share exceeds its sattva share meets
// an impression with sattva above the protection, suppression in its place,
//
//	D'   = D·(1 - κ_s·W·(1-r))   at the same age and character.
//
// Stiffness is 1 + η_R·L_R of the session (gate.Params.Stiffness), 1 or more.
// A reactivation never lowers the depth; a reactivation without force (W or r
// is 0) keeps the depth and restarts the clock. Errors: ErrNotFinite, ErrRange,
// ErrGuna, ErrParams.
func (p Params) Collide(i Impression, e Stimulus, stiffness float64) (Outcome, error) {
	if err := p.checkCollide(i, e, stiffness); err != nil {
		return Outcome{}, err
	}
	if p.suppresses(i.Guna, e.Guna) {
		return p.suppress(i, e), nil
	}
	guna, err := p.drift(i.Guna, e)
	if err != nil {
		return Outcome{}, err
	}
	snap := p.snap(i, e)
	r := p.deepen(i, snap/float64(p.hardness(i.Age)*stiffness))
	return Outcome{
		Reinforcement: r,
		Depth:         p.depth(r, 0),
		Snap:          snap,
		Guna:          guna,
		Reset:         true,
	}, nil
}

func (p Params) checkCollide(i Impression, e Stimulus, stiffness float64) error {
	if err := p.checkDepth(); err != nil {
		return err
	}
	if err := p.checkHardness(); err != nil {
		return err
	}
	if err := p.checkDrift(); err != nil {
		return err
	}
	if err := p.checkSuppression(); err != nil {
		return err
	}
	if err := i.check(); err != nil {
		return err
	}
	if err := e.check(); err != nil {
		return err
	}
	if !(stiffness >= 1 && stiffness <= math.MaxFloat64) {
		return refuse("stiffness", stiffness, "a finite number, 1 or more")
	}
	return nil
}

// snap is (W·fade·r)², with fade = 1-D.
func (p Params) snap(i Impression, e Stimulus) float64 {
	reach := e.Weight * p.fade(i) * i.Guna.Resonance(e.Guna)
	return float64(reach * reach)
}

// fade is 1 - D, written so that it does not cancel when D is near 1:
// with u = 1 + λ·ln(1+t),  1 - (1-e^(-x))/u = (λ·ln(1+t) + e^(-x)) / u.
func (p Params) fade(i Impression) float64 {
	fading := p.fading(i.Age)
	return (fading + exp(-p.ratio(i.Reinforcement))) / (1 + fading)
}

// deepen gives R' for a strike that closes the part q of the gap 1-D:
// 1-D' = (1-D)·(1-q), hence R' = -R0·(ln(1-D) + ln(1-q)). Both terms have the
// same sign, so nothing cancels.
func (p Params) deepen(i Impression, q float64) float64 {
	now := p.depth(i.Reinforcement, i.Age)
	r := i.Reinforcement
	if p.fading(i.Age) > 0 { // otherwise ln(1-D) is -R/R0, and R needs no way round
		r = float64(p.R0 * -p.logFade(i, now))
	}
	r = min(r+float64(p.R0*-log1p(-min(q, belowOne))), math.MaxFloat64)
	// The depth law rounds on its way back. Where that would lose a last digit,
	// climb until the reactivation has not lowered the depth.
	for step := math.Nextafter(r, math.Inf(1)) - r; p.depth(r, 0) < now; step *= 2 {
		r += step
	}
	return r
}

// logFade is ln(1-D), from whichever of D and 1-D is the smaller.
func (p Params) logFade(i Impression, depth float64) float64 {
	if depth > 0.5 {
		return log(p.fade(i))
	}
	return log1p(-depth)
}

// suppresses says whether an event holds this character down (D-4).
func (p Params) suppresses(g, event Guna) bool {
	return p.Suppression > 0 && g.Sattva > p.Protection &&
		(event.Tamas > event.Sattva || event.Rajas > event.Sattva)
}

// suppress lowers the depth by the factor 1 - κ_s·W·(1-r) at the same age. The
// age's divisor is the same on both sides, so it is enough that the saturation
// f falls by that factor: R' = -R0·ln(1 - f·factor).
func (p Params) suppress(i Impression, e Stimulus) Outcome {
	r := i.Reinforcement
	factor := 1 - float64(p.Suppression*e.Weight*(1-i.Guna.Resonance(e.Guna)))
	if factor < 1 && r > 0 {
		lower := float64(p.R0 * -log1p(-float64(p.saturation(r)*factor)))
		// No groove is erased, not even where the numbers end.
		r = min(r, max(lower, math.SmallestNonzeroFloat64))
	}
	return Outcome{
		Reinforcement: r,
		Depth:         p.depth(r, i.Age),
		Guna:          i.Guna,
		Suppressed:    true,
	}
}

// Soften is a strike in the noise band, below the threshold and above the
// floor: the new reinforcement R + ε·W·r. Age and character stay. Errors:
// ErrNotFinite, ErrRange, ErrGuna, ErrParams.
func (p Params) Soften(i Impression, e Stimulus) (float64, error) {
	if err := between("SoftGain", p.SoftGain, 0, 1, "a number from 0 to 1"); err != nil {
		return 0, err
	}
	if err := i.check(); err != nil {
		return 0, err
	}
	if err := e.check(); err != nil {
		return 0, err
	}
	return i.Reinforcement + float64(p.SoftGain*e.Weight*i.Guna.Resonance(e.Guna)), nil
}
