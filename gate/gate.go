// Package gate is the threshold that an impression must clear to be
// reactivated: it follows the focus of the moment and the load of the session.
//
// Params.Read takes the similarities of an event to its nearest impressions
// and gives a Reading; Reading.Fires and Reading.Soft then sort them. The load
// of the session's context comes from LoadOf. All functions are pure, sums run
// in the order given, and the same input gives the same bits on every processor.
package gate

import (
	"fmt"
	"math"
)

// cosineTolerance is how far beyond ±1 a cosine may lie before it is refused;
// the dot product of two float32 unit vectors may be that far out. It is then
// taken for ±1.
const cosineTolerance = 1e-6

// Load is what the assembled context weighs on a session, each part in [0,1]:
// inertia (tamas) raises the threshold, reactivity (rajas) stiffens impressions.
type Load struct{ Inertia, Reactivity float64 }

// Weighted is one impression of the context: its depth in [0,1], and the
// tamas and rajas shares (squares) of its character, each in [0,1] and
// together at most 1.
type Weighted struct{ Depth, Tamas, Rajas float64 }

// LoadOf is the depth-weighted mean of the shares. Without impressions, or
// without depth, the load is zero. Errors: ErrNotFinite, ErrRange.
func LoadOf(context []Weighted) (Load, error) {
	var deepest float64
	for i, w := range context {
		if err := w.check(); err != nil {
			return Load{}, fmt.Errorf("impression %d of %d: %w", i+1, len(context), err)
		}
		deepest = max(deepest, w.Depth)
	}
	if deepest == 0 {
		return Load{}, nil
	}
	var total, inertia, reactivity float64
	for _, w := range context {
		weight := w.Depth / deepest // keeps the faintest depths from vanishing in the products
		total += weight
		inertia += float64(weight * w.Tamas)
		reactivity += float64(weight * w.Rajas)
	}
	return Load{Inertia: min(inertia/total, 1), Reactivity: min(reactivity/total, 1)}, nil
}

func (w Weighted) check() error {
	if err := unit("depth", w.Depth); err != nil {
		return err
	}
	if err := unit("tamas share", w.Tamas); err != nil {
		return err
	}
	if err := unit("rajas share", w.Rajas); err != nil {
		return err
	}
	if sum := w.Tamas + w.Rajas; sum > 1+1e-8 { // two shares of one unit vector
		return refuse("sum of the tamas and rajas shares", sum, "at most 1")
	}
	return nil
}

func (l Load) check() error {
	if err := unit("inertia of the load", l.Inertia); err != nil {
		return err
	}
	return unit("reactivity of the load", l.Reactivity)
}

// Reading is what the gate made of one event's similarities.
type Reading struct {
	// N is how many similarities there were.
	N int
	// Mean μ and Deviation σ (of the population) of the similarities.
	Mean, Deviation float64
	// Entropy of the softmax over ln N, and Focus = 1 - Entropy; both in [0,1].
	Entropy, Focus float64
	// K is the number of deviations above the mean (k_eff).
	K float64
	// Theta θ is the threshold before load, Effective θ_eff after it; both in
	// [MinSimilarity, 1].
	Theta, Effective float64
	// Floor is where the noise band below Effective begins.
	Floor float64
}

// Fires says whether an impression of similarity s is reactivated: s ≥ θ_eff.
// With no similarities read, and for NaN, nothing fires.
func (r Reading) Fires(s float64) bool { return r.N > 0 && s >= r.Effective }

// Soft says whether s lies in the noise band, floor ≤ s < θ_eff, where an
// impression is reinforced softly.
func (r Reading) Soft(s float64) bool { return r.N > 0 && s >= r.Floor && s < r.Effective }

// Read computes focus and threshold from the cosines of an event to its
// nearest impressions, at most Candidates of them, and the session's load:
//
//	p = softmax(s/τ)   entropy = -Σ p·ln p / ln n   focus = 1 - entropy
//	θ = μ + k_eff·σ, held in [MinSimilarity, 1]
//	θ_eff = θ + η_T·excess(L_T)·(1-θ)    excess(L) = max(0, (L - balance)/(1 - balance))
//	floor = max(NoiseFloor, μ + ½·(θ_eff - μ))
//
// With one similarity the focus is 1 and σ is 0. With none the Reading is of
// an empty store: focus 0, all three thresholds 1, nothing fires. Errors:
// ErrNotFinite, ErrRange, ErrParams.
func (p Params) Read(similarities []float64, load Load) (Reading, error) {
	if err := p.Validate(); err != nil {
		return Reading{}, err
	}
	if err := load.check(); err != nil {
		return Reading{}, err
	}
	n := len(similarities)
	if n > p.Candidates {
		return Reading{}, refuse("number of similarities", float64(n), fmt.Sprintf("at most Candidates (%d), the nearest ones", p.Candidates))
	}
	greatest := -1.0
	for i, s := range similarities {
		if !(math.Abs(s) <= 1+cosineTolerance) {
			return Reading{}, fmt.Errorf("similarity %d of %d: %w", i+1, n, refuse("cosine", s, "a number from -1 to 1"))
		}
		greatest = max(greatest, cosine(s))
	}
	if n == 0 {
		return Reading{Theta: 1, Effective: 1, Floor: 1}, nil
	}

	r := Reading{N: n}
	r.Mean, r.Deviation = spread(similarities, greatest)
	r.Entropy = p.entropy(similarities, greatest)
	r.Focus = 1 - r.Entropy
	r.K = p.deviations(r.Focus)
	r.Theta = min(max(r.Mean+float64(r.K*r.Deviation), p.MinSimilarity), 1)
	r.Effective = min(r.Theta+float64(p.InertiaGain*p.excess(load.Inertia)*(1-r.Theta)), 1)
	r.Floor = min(max(p.NoiseFloor, r.Mean+(r.Effective-r.Mean)/2), r.Effective)
	return r, nil
}

func cosine(s float64) float64 { return min(max(s, -1), 1) }

// spread gives mean and population deviation. Both are taken from the greatest
// value, so that equal similarities have exactly that mean and no deviation.
func spread(similarities []float64, greatest float64) (mean, deviation float64) {
	n := float64(len(similarities))
	var sum float64
	for _, s := range similarities {
		sum += cosine(s) - greatest
	}
	mean = greatest + sum/n
	var squares float64
	for _, s := range similarities {
		d := cosine(s) - mean
		squares += float64(d * d)
	}
	return mean, math.Sqrt(squares / n)
}

// entropy of softmax(s/τ), divided by its greatest value ln n; 0 for n = 1.
// With z = (s-greatest)/τ and Z = Σ e^z, ln p is z - ln Z, so that
// -Σ p·ln p = ln Z - Σ z·e^z / Z: no logarithm of a vanishing p.
func (p Params) entropy(similarities []float64, greatest float64) float64 {
	if len(similarities) < 2 {
		return 0
	}
	var partition, weighted float64
	for _, s := range similarities {
		z := (cosine(s) - greatest) / p.Temperature
		e := exp(z)
		partition += e
		weighted += float64(z * e)
	}
	h := (log(partition) - weighted/partition) / log(float64(len(similarities)))
	return min(max(h, 0), 1)
}

// deviations is k_eff (decision D-2).
func (p Params) deviations(focus float64) float64 {
	if p.Mode == Literal {
		return float64(p.KBase * (1.5 - focus))
	}
	return float64(p.KBase * (0.5 + focus))
}

// excess is the part of a load beyond what a balanced context has, in [0,1].
func (p Params) excess(load float64) float64 {
	return min(max((load-p.Balance)/(1-p.Balance), 0), 1)
}

// Stiffness is 1 + η_R·excess(L_R): by how much a reactive session hardens
// every impression; 1 or more. A reactivity outside [0,1] counts as the nearer
// end, one that is not a number as 0.
func (p Params) Stiffness(load Load) float64 {
	if !(load.Reactivity > 0) || !(p.ReactivityGain > 0) {
		return 1
	}
	return 1 + float64(p.ReactivityGain*p.excess(min(load.Reactivity, 1)))
}
