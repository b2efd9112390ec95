package distil

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jivad/jivad/soul/lineage"
)

// JudgementWindow is how long after a life a rating counts, where the principal wrote
// nothing else.
const JudgementWindow = 24 * time.Hour

// mostSignals and longestWindow bound a satisfaction model.
const (
	mostSignals   = 64
	longestWindow = 30 * 24 * time.Hour
)

// Weights are what the principal writes, as TOML: how much each signal says of how
// content they are.
//
//	implicit = false
//	judgement_window = "24h"
//	[signals]
//	"said.helped" = 1.0
//	"task.done" = 0.5
//	"seen.asked_again" = -0.5
type Weights struct {
	// Implicit switches on the signals seen.*, which nobody spoke.
	Implicit bool `toml:"implicit"`
	// Window is how long after the life a rating counts; 0 for JudgementWindow.
	Window time.Duration `toml:"judgement_window"`
	// Signals are weights in [-1, 1] by name: said.* is what the person says, task.* what a
	// check that they wrote says of the outcome, seen.* what is inferred from what they do.
	Signals map[string]float64 `toml:"signals"`
}

// SatisfactionModel is a version of the weights, never changed once it is recorded. Its
// fields are in the order of their names, so that its JSON is its canonical form.
type SatisfactionModel struct {
	Implicit bool `json:"implicit"`
	// Previous is the digest of the version before, zero for the first.
	Previous lineage.Digest `json:"previous"`
	// Signals have weights in millionths, by rising name.
	Signals []SignalWeight `json:"signals"`
	// Version counts from 1.
	Version int64 `json:"version"`
	// Window is in seconds.
	Window int64 `json:"window"`
}

// SignalWeight is the weight of one signal in millionths.
type SignalWeight struct {
	Name   string `json:"name"`
	Weight int64  `json:"weight"`
}

// Digest is the SHA-256 of the canonical form.
func (m SatisfactionModel) Digest() lineage.Digest {
	data, err := json.Marshal(m)
	if err != nil {
		panic(err) // numbers and plain names always are JSON
	}
	return sha256.Sum256(append([]byte("jivad/satisfaction/1\x00"), data...))
}

// Name is how a judgement names the version that it was computed by.
func (m SatisfactionModel) Name() string { return fmt.Sprintf("%d/%s", m.Version, m.Digest()) }

// Models are the versions of a satisfaction model, oldest first. They are only appended to.
type Models []SatisfactionModel

// Append gives the chain with a version more; where the weights are those of the last one
// it stays as it is. Error: ErrModel, naming the signal.
func (ms Models) Append(w Weights) (Models, error) {
	next := SatisfactionModel{Implicit: w.Implicit, Version: int64(len(ms)) + 1, Window: int64(w.Window / time.Second)}
	if w.Window == 0 {
		next.Window = int64(JudgementWindow / time.Second)
	}
	if w.Window%time.Second != 0 {
		return nil, fmt.Errorf("%w: judgement_window is in whole seconds", ErrModel)
	}
	for _, name := range slices.Sorted(maps.Keys(w.Signals)) {
		weight := w.Signals[name]
		if math.IsNaN(weight) || weight < -1 || weight > 1 {
			return nil, fmt.Errorf("%w: the weight of %q is from -1 to 1", ErrModel, name)
		}
		next.Signals = append(next.Signals, SignalWeight{name, int64(math.Round(weight * lineage.Million))})
	}
	if err := next.check(); err != nil {
		return nil, err
	}
	if n := len(ms); n > 0 {
		next.Previous = ms[n-1].Digest()
		same := next
		same.Version, same.Previous = ms[n-1].Version, ms[n-1].Previous
		if same.Digest() == ms[n-1].Digest() {
			return ms, nil
		}
	}
	return append(slices.Clip(ms), next), nil
}

var signalName = regexp.MustCompile(`^(said|task|seen)\.[a-z][a-z0-9_]{0,47}$`)

func (m SatisfactionModel) check() error {
	if m.Window < 0 || m.Window > int64(longestWindow/time.Second) {
		return fmt.Errorf("%w: judgement_window is from 0 to %d days", ErrModel, longestWindow/(24*time.Hour))
	}
	if len(m.Signals) > mostSignals {
		return fmt.Errorf("%w: it has %d signals; at most %d", ErrModel, len(m.Signals), mostSignals)
	}
	for i, s := range m.Signals {
		switch {
		case !signalName.MatchString(s.Name):
			return fmt.Errorf("%w: a signal is said.NAME, task.NAME or seen.NAME in small letters, not %.40q", ErrModel, s.Name)
		case s.Weight < -lineage.Million || s.Weight > lineage.Million:
			return fmt.Errorf("%w: the weight of %q is from -1 to 1", ErrModel, s.Name)
		case i > 0 && m.Signals[i-1].Name >= s.Name:
			return fmt.Errorf("%w: its signals are not in order, each once", ErrModel)
		}
	}
	return nil
}

// Window is the judgement window of the newest version.
func (ms Models) Window() time.Duration {
	if len(ms) == 0 {
		return JudgementWindow
	}
	return time.Duration(ms[len(ms)-1].Window) * time.Second
}

// Check tells whether it is a chain: every version valid, counted, and upon the one
// before. That the last one is as it was tells the name of it in a judgement. Error:
// ErrModel, naming the version.
func (ms Models) Check() error {
	var previous lineage.Digest
	for i, m := range ms {
		if m.Version != int64(i)+1 || m.Previous != previous {
			return fmt.Errorf("%w: version %d does not follow the one before; it was changed, or one is missing", ErrModel, i+1)
		}
		if err := m.check(); err != nil {
			return fmt.Errorf("version %d: %w", i+1, err)
		}
		previous = m.Digest()
	}
	return nil
}

// Signals are what is known of how a life went. They never leave the device: of them
// only the judgement is told.
type Signals struct {
	// Rating is what the person rated, in [-Million, Million]; nil where they did not.
	Rating *int64
	// After is how long after the end of the life they did; below 0, by a clock that was
	// set, counts as 0.
	After time.Duration
	// Values are the signals by name, in [-Million, Million].
	Values map[string]int64
}

// Judge computes how the principal judged a life, by the newest version of their model;
// nil where they wrote none. A rating that came in time stands alone. Else the mean of
// the signals said.* and task.*, weighted, the confidence being the share of the weights
// that were heard from; and only where there are none, and the principal switched it on,
// that of the signals seen.*, at 0.3 of it. A confidence of 0 says that nobody judged.
// Errors: ErrSignal, without the value; ErrLate for a rating out of the window, beside
// the judgement without it.
func Judge(models Models, s Signals) (lineage.Satisfaction, error) {
	m := SatisfactionModel{Window: int64(JudgementWindow / time.Second)}
	name := ""
	if n := len(models); n > 0 {
		m = models[n-1]
		name = m.Name()
	}
	for _, signal := range slices.Sorted(maps.Keys(s.Values)) {
		if v := s.Values[signal]; v < -lineage.Million || v > lineage.Million {
			return lineage.Satisfaction{}, fmt.Errorf("%w: %.40q is from -1 to 1", ErrSignal, signal)
		}
	}
	var late error
	if s.Rating != nil {
		if *s.Rating < -lineage.Million || *s.Rating > lineage.Million {
			return lineage.Satisfaction{}, fmt.Errorf("%w: a rating is from -1 to 1", ErrSignal)
		}
		if window := time.Duration(m.Window) * time.Second; s.After > window {
			late = fmt.Errorf("%w: a rating counts for %s after the end of a life", ErrLate, window)
		} else {
			return lineage.Satisfaction{Valence: *s.Rating, Confidence: lineage.Million, Source: lineage.Explicit}, nil
		}
	}
	out := lineage.Satisfaction{Source: lineage.Explicit, Model: name}
	out.Valence, out.Confidence = m.mean(s.Values, func(name string) bool { return !strings.HasPrefix(name, "seen.") })
	if out.Confidence == 0 && m.Implicit {
		valence, confidence := m.mean(s.Values, func(name string) bool { return strings.HasPrefix(name, "seen.") })
		if confidence = confidence * lineage.ImplicitConfidence / lineage.Million; confidence > 0 {
			out.Valence, out.Confidence, out.Source = valence, confidence, lineage.Implicit
		}
	}
	return out, late
}

// mean is Σw·x / Σ|w| over the signals that there are, and what share of all weights
// those have.
func (m SatisfactionModel) mean(values map[string]int64, of func(string) bool) (valence, confidence int64) {
	var sum, heard, all int64
	for _, s := range m.Signals {
		if !of(s.Name) {
			continue
		}
		size := max(s.Weight, -s.Weight)
		all += size
		if v, found := values[s.Name]; found {
			sum += s.Weight * v
			heard += size
		}
	}
	if heard == 0 {
		return 0, 0
	}
	return rounded(sum, heard), max(1, heard*lineage.Million/all)
}

// rounded divides, half away from zero; b is above 0.
func rounded(a, b int64) int64 {
	if a < 0 {
		return -rounded(-a, b)
	}
	return (a + b/2) / b
}
