package reactivation

import "errors"

// Params are the parameters of the dynamics. Start from Default.
type Params struct {
	// R0 is the reinforcement at which a fresh depth is 1-1/e; 1e-6 to 1e6.
	R0 float64
	// Lambda λ is how fast depth fades with the logarithm of age; 0 to 1000,
	// 0 for never.
	Lambda float64
	// Alpha α is the part of novelty and match that is measured from the
	// embedding; the rest is the assessor's word; 0 to 1.
	Alpha float64
	// HardnessGain η_h is how fast an impression hardens with the logarithm of
	// its age; 0 to 1000.
	HardnessGain float64
	// SoftGain ε is the reinforcement of a full strike in the noise band; 0 to 1.
	SoftGain float64
	// DriftRate ρ is how far a reactivated character turns to the event's; 0 to 1.
	DriftRate float64
	// Protection σ_p: an impression whose sattva is above it turns only to more
	// sattva; 0 to 1, 1 protects nothing.
	Protection float64
	// Suppression κ_s is the greatest part of its depth that a protected
	// impression loses to one tamasic or rajasic event; 0 (off) to below 1,
	// because no groove is ever erased.
	Suppression float64
	// UpliftMatch is the match from which a sattvic event turns a character at
	// twice the DriftRate; 0 to 1.
	UpliftMatch float64
	// Novel is the novelty from which an event becomes an impression of its
	// own; 0 to 1.
	Novel float64
	// Context k is how many impressions a life is opened with; 1 to 4096.
	Context int
	// MMR λ_mmr weighs relevance (1) against variety (0) in the context; 0 to 1.
	MMR float64
	// BuryBelow is the depth below which an impression is on its way to being
	// buried; 0 (never) to 1.
	BuryBelow float64
	// BuryAfter is how many sessions on end it must stay below; 0 (never) to
	// 1000000.
	BuryAfter int
}

// Default gives the parameters of the specification.
func Default() Params {
	return Params{
		R0: 10, Lambda: 0.35, Alpha: 0.5,
		HardnessGain: 0.35, SoftGain: 0.05, DriftRate: 0.05,
		Protection: 0.6, Suppression: 0.1, UpliftMatch: 0.5,
		Novel: 0.35, Context: 12, MMR: 0.7,
		BuryBelow: 0.04, BuryAfter: 0,
	}
}

// Validate reports every parameter that cannot be used, joined; each is an
// ErrParams that names the field, the value and the range.
func (p Params) Validate() error {
	return errors.Join(
		p.checkR0(),
		between("Lambda", p.Lambda, 0, 1000, "a number from 0 to 1000"),
		between("Alpha", p.Alpha, 0, 1, "a number from 0 to 1"),
		between("HardnessGain", p.HardnessGain, 0, 1000, "a number from 0 to 1000"),
		between("SoftGain", p.SoftGain, 0, 1, "a number from 0 to 1"),
		between("DriftRate", p.DriftRate, 0, 1, "a number from 0 to 1"),
		between("Protection", p.Protection, 0, 1, "a number from 0 to 1"),
		p.checkSuppression(),
		between("UpliftMatch", p.UpliftMatch, 0, 1, "a number from 0 to 1"),
		between("Novel", p.Novel, 0, 1, "a number from 0 to 1"),
		between("Context", float64(p.Context), 1, 4096, "a whole number from 1 to 4096"),
		between("MMR", p.MMR, 0, 1, "a number from 0 to 1"),
		between("BuryBelow", p.BuryBelow, 0, 1, "a number from 0 to 1"),
		between("BuryAfter", float64(p.BuryAfter), 0, 1_000_000, "a whole number from 0 to 1000000"),
	)
}

func (p Params) checkR0() error {
	return between("R0", p.R0, 1e-6, 1e6, "a number from 0.000001 to 1000000")
}

func (p Params) checkSuppression() error {
	return between("Suppression", p.Suppression, 0, belowOne, "a number from 0 to below 1")
}

// checkDepth looks only at what the depth law uses.
func (p Params) checkDepth() error {
	if err := p.checkR0(); err != nil {
		return err
	}
	return between("Lambda", p.Lambda, 0, 1000, "a number from 0 to 1000")
}

func (p Params) checkDrift() error {
	if err := between("DriftRate", p.DriftRate, 0, 1, "a number from 0 to 1"); err != nil {
		return err
	}
	if err := between("Protection", p.Protection, 0, 1, "a number from 0 to 1"); err != nil {
		return err
	}
	return between("UpliftMatch", p.UpliftMatch, 0, 1, "a number from 0 to 1")
}

func between(field string, x, low, high float64, want string) error {
	if x >= low && x <= high {
		return nil
	}
	return refuse("parameter "+field, x, want, ErrParams)
}
