package fold

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jivad/jivad/gate"
	"github.com/jivad/jivad/reactivation"
)

// Params are all numbers that the dynamics depend on. A change of any of them
// is an event, so that a replay uses the values that held then.
type Params struct {
	// Profile names where the similarity-scale values come from, e.g. an embedder.
	Profile      string              `json:"profile"`
	Reactivation reactivation.Params `json:"reactivation"`
	Gate         gate.Params         `json:"gate"`
}

// DefaultParams returns the defaults of the specification.
func DefaultParams() Params {
	return Params{Profile: "default", Reactivation: reactivation.Default(), Gate: gate.Default()}
}

// firstParams are in force before the first ParamsChanged, and what an event of
// an earlier program leaves out has its value from here: nothing was buried then.
func firstParams() Params {
	p := DefaultParams()
	p.Reactivation.BuryBelow, p.Reactivation.BuryAfter = 0, 0
	return p
}

// Validate reports every parameter that is out of its range.
func (p Params) Validate() error {
	var profile error
	if len(p.Profile) > 128 {
		profile = fmt.Errorf("profile: %d bytes, at most 128", len(p.Profile))
	}
	return errors.Join(profile, p.Reactivation.Validate(), p.Gate.Validate())
}

// encode writes the parameters so that they read back to the same bits: JSON
// numbers are the shortest decimals that do.
func (p Params) encode() []byte {
	b, err := json.Marshal(p)
	if err != nil { // only non-finite numbers fail, and Validate refused those
		return nil
	}
	return b
}

func decodeParams(b []byte) (Params, error) {
	p := firstParams()
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, fmt.Errorf("parameters: %w", err)
	}
	return p, p.Validate()
}
