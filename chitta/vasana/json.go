package vasana

import (
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/jivad/jivad/reactivation"
)

// record is a Vasana as JSON: IDs in their usual written form.
type record struct {
	ID           string      `json:"id"`
	Name         string      `json:"name"`
	Members      []uint32    `json:"members"`
	Keys         []uuid.UUID `json:"keys"`
	Guna         guna        `json:"guna"`
	Coherence    float64     `json:"coherence"`
	Hardness     float64     `json:"hardness"`
	Influence    float64     `json:"influence"`
	FirstSession int         `json:"first_session"`
	LastSession  int         `json:"last_session"`
}

type guna struct {
	Tamas  float64 `json:"tamas"`
	Rajas  float64 `json:"rajas"`
	Sattva float64 `json:"sattva"`
}

// MarshalJSON writes the tendency with the IDs of its members as UUIDs.
func (v Vasana) MarshalJSON() ([]byte, error) {
	r := record{
		ID: v.ID, Name: v.Name, Members: v.Members, Keys: make([]uuid.UUID, len(v.Keys)),
		Guna: guna(v.Guna), Coherence: v.Coherence, Hardness: v.Hardness, Influence: v.Influence,
		FirstSession: v.FirstSession, LastSession: v.LastSession,
	}
	for i, key := range v.Keys {
		r.Keys[i] = key
	}
	return json.Marshal(r)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (v *Vasana) UnmarshalJSON(data []byte) error {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return fmt.Errorf("vasana: read a tendency from JSON: %w", err)
	}
	*v = Vasana{
		ID: r.ID, Name: r.Name, Members: r.Members, Keys: make([][16]byte, len(r.Keys)),
		Guna: reactivation.Guna(r.Guna), Coherence: r.Coherence, Hardness: r.Hardness, Influence: r.Influence,
		FirstSession: r.FirstSession, LastSession: r.LastSession,
	}
	for i, key := range r.Keys {
		v.Keys[i] = key
	}
	return nil
}
