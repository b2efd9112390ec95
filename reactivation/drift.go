package reactivation

// Stimulus is an event as an impression meets it.
type Stimulus struct {
	// Weight W is the event's force, in [0,1]; see Force.Weight.
	Weight float64
	// Match M is how near the event is to the session so far, in [0,1].
	Match float64
	// Guna is the character of the event.
	Guna Guna
}

func (e Stimulus) check() error {
	if err := unit("weight of the event", e.Weight); err != nil {
		return err
	}
	if err := unit("match of the event", e.Match); err != nil {
		return err
	}
	return e.Guna.Check()
}

// Drift is the character of a reactivated impression after an event:
//
//	rule 1   sattva above the protection, and the event has less:  unchanged
//	else     turned to the event's character by ρ;
//	rule 2   by 2ρ (at most all the way) when the event is sattvic,
//	         its sattva share above both others, and M ≥ UpliftMatch.
//
// The sattva of a protected character never falls. Errors: ErrNotFinite,
// ErrRange, ErrGuna, ErrParams.
func (p Params) Drift(g Guna, e Stimulus) (Guna, error) {
	if err := p.checkDrift(); err != nil {
		return Guna{}, err
	}
	if err := g.Check(); err != nil {
		return Guna{}, err
	}
	if err := e.check(); err != nil {
		return Guna{}, err
	}
	return p.drift(g, e)
}

// drift is Drift for values that were checked.
func (p Params) drift(g Guna, e Stimulus) (Guna, error) {
	rate := p.DriftRate
	if sattvic(e.Guna) && e.Match >= p.UpliftMatch {
		rate = min(2*rate, 1)
	}
	return turn(g, e.Guna, rate, p.Protection)
}

// sattvic says that clarity has the greatest share, alone.
func sattvic(g Guna) bool { return g.Sattva > g.Tamas && g.Sattva > g.Rajas }

// DriftTowards turns a character to a target at a rate in [0,1], under the
// same protection in [0,1] as Drift and without its uplift. It is how the
// identity (ahamkara) follows the store. Errors: ErrNotFinite, ErrRange, ErrGuna.
func DriftTowards(g, target Guna, rate, protection float64) (Guna, error) {
	if err := unit("drift rate", rate); err != nil {
		return Guna{}, err
	}
	if err := unit("protection", protection); err != nil {
		return Guna{}, err
	}
	if err := g.Check(); err != nil {
		return Guna{}, err
	}
	if err := target.Check(); err != nil {
		return Guna{}, err
	}
	return turn(g, target, rate, protection)
}

func turn(g, target Guna, rate, protection float64) (Guna, error) {
	if g == target || rate == 0 || g.Sattva > protection && target.Sattva < g.Sattva {
		return g, nil
	}
	// (1-ρ)·g + ρ·target is g + ρ·(target-g) without its cancellation; no part
	// can come out negative.
	keep := 1 - rate
	next, err := NewGuna(
		float64(keep*g.Tamas)+float64(rate*target.Tamas),
		float64(keep*g.Rajas)+float64(rate*target.Rajas),
		float64(keep*g.Sattva)+float64(rate*target.Sattva),
	)
	if err != nil {
		return Guna{}, err
	}
	// On the way to a target with no less sattva, sattva does not fall (the arc
	// bulges upwards). If the last digit did, it was rounding: stay.
	if target.Sattva >= g.Sattva && next.Sattva < g.Sattva {
		return g, nil
	}
	return next, nil
}
