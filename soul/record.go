package soul

import (
	"fmt"
	"time"

	"github.com/jivad/jivad/reactivation"
)

// RecordVersion is the form of a Record.
const RecordVersion = 1

// Record is what the trend keeps of one session, for ever. A nil pointer means
// "undefined" (for example no experience in the session) and is drawn as a gap,
// never as 0.
type Record struct {
	Version int       `json:"v"`
	Session int       `json:"session"`
	Date    string    `json:"date,omitempty"`
	Opened  time.Time `json:"opened,omitzero"`
	Closed  time.Time `json:"closed,omitzero"`

	Events      int `json:"events"`
	New         int `json:"new"`
	Reactivated int `json:"reactivated"`
	Soft        int `json:"soft"`
	Suppressed  int `json:"suppressed"`

	// MeanFocus and MeanTheta (the effective threshold) are means over the
	// session's events, in [0,1].
	MeanFocus *float64 `json:"mean_focus"`
	MeanTheta *float64 `json:"mean_theta_eff"`
	// LoadTamas and LoadRajas are how heavy and how stirred up the context was:
	// means over the session's events that met an impression, in [0,1]; 0 without any.
	LoadTamas float64 `json:"load_tamas"`
	LoadRajas float64 `json:"load_rajas"`

	GStore    *Vector `json:"g_store"`
	GAhamkara *Vector `json:"g_ahamkara"`
	// WitnessGap is in [0,2].
	WitnessGap *float64 `json:"witness_gap"`
	// MokshaDistance is in degrees, from 0 to 90.
	MokshaDistance *float64 `json:"moksha_distance_deg"`

	Impressions int `json:"impressions"`
	Vasanas     int `json:"vasanas"`
	Ghosts      int `json:"ghosts"`
	// Kappa is how far the life moved the lineage's weights.
	Kappa float64 `json:"kappa"`
	// Lineage is its version when the session ended; of the last session that of now, which
	// SOUL.md speaks of. Empty where there was none.
	Lineage string `json:"lineage_version,omitempty"`
	// Valence is the mean over the events, unpleasant to pleasant, in [-1,1].
	Valence *float64 `json:"valence"`

	// ByModel and ByBuiltin are the parts of the events that each assessor
	// judged, in [0,1]; both are 0 without events. Assessor is who judged most,
	// empty where that is not known.
	ByModel   float64 `json:"assessed_by_model"`
	ByBuiltin float64 `json:"assessed_by_builtin"`
	Assessor  string  `json:"assessor,omitempty"`
	Latency   Latency `json:"latency"`
}

// Latency figures are milliseconds; nil without measurement.
type Latency struct {
	// Assess is one judgement, Event the way from text to durable record,
	// Close the work at the end of the session.
	AssessP50 *float64 `json:"assess_p50_ms"`
	AssessP95 *float64 `json:"assess_p95_ms"`
	EventP50  *float64 `json:"event_p50_ms"`
	EventP95  *float64 `json:"event_p95_ms"`
	Close     *float64 `json:"close_ms"`
}

// Vector is a Guna as it is written to files.
type Vector struct {
	Tamas  float64 `json:"tamas"`
	Rajas  float64 `json:"rajas"`
	Sattva float64 `json:"sattva"`
}

// NewVector is the Guna as a Vector; nil for the zero Guna.
func NewVector(g reactivation.Guna) *Vector {
	if g == (reactivation.Guna{}) {
		return nil
	}
	v := Vector(g)
	return &v
}

// Guna is the Vector as a Guna; zero for nil.
func (v *Vector) Guna() reactivation.Guna {
	if v == nil {
		return reactivation.Guna{}
	}
	return reactivation.Guna(*v)
}

// Shares are the squares; the bool is false for nil.
func (v *Vector) Shares() (reactivation.Shares, bool) {
	if v == nil {
		return reactivation.Shares{}, false
	}
	return v.Guna().Shares(), true
}

// Check refuses a record with a number that is not finite (ErrSummary).
func (r *Record) Check() error {
	numbers := []float64{r.LoadTamas, r.LoadRajas, r.Kappa, r.ByModel, r.ByBuiltin}
	for _, p := range []*float64{
		r.MeanFocus, r.MeanTheta, r.WitnessGap, r.MokshaDistance, r.Valence,
		r.Latency.AssessP50, r.Latency.AssessP95, r.Latency.EventP50, r.Latency.EventP95, r.Latency.Close,
	} {
		if p != nil {
			numbers = append(numbers, *p)
		}
	}
	for _, v := range []*Vector{r.GStore, r.GAhamkara} {
		if v != nil {
			numbers = append(numbers, v.Tamas, v.Rajas, v.Sattva)
		}
	}
	if !finite(numbers...) {
		return fmt.Errorf("soul: the trend record of session %d holds a number that is not finite (%w); verify the store", r.Session, ErrSummary)
	}
	return nil
}

// sattva is the clarity share of the store, or nil.
func (r *Record) sattva() *float64 {
	s, ok := r.GStore.Shares()
	if !ok {
		return nil
	}
	return &s.Sattva
}
