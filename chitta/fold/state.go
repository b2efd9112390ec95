package fold

import (
	"slices"

	"github.com/jivad/jivad/gate"
	"github.com/jivad/jivad/reactivation"
)

// Samskara is one impression: what an experience left behind. Its depth is
// never stored; it is computed from Reinforcement and the sessions since Last.
type Samskara struct {
	ID  ID
	Key Key
	// Sequence is the log position of the event that created it.
	Sequence uint64
	// Reinforcement is the effective number of activations, ≥ 0 (D-1).
	Reinforcement float64
	// Peak is the greatest depth ever reached, in [0,1).
	Peak float64
	Guna reactivation.Guna
	// Born and Last are the sessions of creation and of the last activation.
	Born, Last uint32
	// Activations counts full reactivations.
	Activations uint32
	// BuryAt is the session at whose end the impression is buried unless it is
	// lifted before that session begins; 0 means never.
	BuryAt uint32
	// Buried impressions have lost their text and the link to their source. They
	// keep everything else, can still be woken, and stay buried.
	Buried bool
	// Unplaced impressions have no vector under the embedder in force: they keep
	// depth and character and take no part in similarity.
	Unplaced bool
}

// Link is an event that left no impression of its own, with the impressions
// that it acted on, so that a search still finds it.
type Link struct {
	ID       ID
	Key      Key
	Sequence uint64
	// Acted are impression indices, ascending.
	Acted []uint32
}

// Session is the running account of the open session, or of the one closed last.
type Session struct {
	Number uint32
	Date   string
	Open   bool

	Events, Created, Reactivated, Soft, Suppressed uint32
	// Gated counts the events that met at least one impression; the sums of
	// Focus, Theta (effective), Inertia and Reactivity run over those.
	Gated                             uint32
	Focus, Theta, Inertia, Reactivity float64
	// Weight and Valence are summed over all events.
	Weight, Valence float64
	// Sum adds the embeddings of the session's events; its direction is their
	// centroid. It is empty where the embedder changed since.
	Sum []float64
	// Context lists the impressions assembled for this session: the greatest
	// influences at its opening, then those that it reactivated, in that order.
	Context []uint32
}

// State is everything that the events so far amount to.
type State struct {
	// Sequence is the last event folded; it is no part of the digest.
	Sequence uint64
	Embedder string
	Dim      int
	Params   Params
	Session  Session
	// Impressions and the rows of Vectors run in step, in order of creation.
	Impressions []Samskara
	Vectors     *Matrix
	Links       []Link
	// VectorDigest chains SHA-256 over the rows of Vectors.
	VectorDigest [32]byte
}

// NewState returns the state before the first event.
func NewState() *State {
	return &State{Params: firstParams(), Vectors: NewMatrix(0)}
}

// Clone returns an independent copy; whole blocks of vectors are shared, since
// rows never change.
func (s *State) Clone() *State {
	c := *s
	c.Impressions = slices.Clone(s.Impressions)
	c.Links = slices.Clone(s.Links)
	c.Session.Sum = slices.Clone(s.Session.Sum)
	c.Session.Context = slices.Clone(s.Session.Context)
	c.Vectors = s.Vectors.Prefix(s.Vectors.Len())
	return &c
}

// Age is the number of sessions since impression i was last active.
func (s *State) Age(i int) float64 { return float64(s.age(i)) }

func (s *State) age(i int) uint32 {
	return s.Session.Number - min(s.Impressions[i].Last, s.Session.Number)
}

// Depth is the depth of impression i now, in [0,1); its influence is the same number.
func (s *State) Depth(i int) (float64, error) {
	return s.Params.Reactivation.Depth(s.Impressions[i].Reinforcement, s.Age(i))
}

// Load is the inertia and reactivity of the session's assembled context.
func (s *State) Load() (gate.Load, error) {
	w := make([]gate.Weighted, 0, len(s.Session.Context))
	for _, i := range s.Session.Context {
		d, err := s.Depth(int(i))
		if err != nil {
			return gate.Load{}, err
		}
		sh := s.Impressions[i].Guna.Shares()
		w = append(w, gate.Weighted{Depth: d, Tamas: sh.Tamas, Rajas: sh.Rajas})
	}
	return gate.LoadOf(w)
}

// Centroid is the direction of the session's events as a unit vector, or nil
// for a session without events.
func (s *Session) Centroid() []float32 {
	n := norm64(s.Sum)
	if s.Events == 0 || n == 0 {
		return nil
	}
	c := make([]float32, len(s.Sum))
	for i, x := range s.Sum {
		c[i] = float32(x / n)
	}
	return c
}
