package soul

import (
	"errors"
	"fmt"
	"math"

	"github.com/jivad/jivad/reactivation"
)

// AhamkaraRate is how far the identity's character turns to the store's in one
// session.
const AhamkaraRate = 0.02

// Why an embedding was refused; test with errors.Is.
var (
	// ErrZeroVector: an embedding has no direction.
	ErrZeroVector = errors.New("embedding has no direction")
	// ErrNotFinite: an embedding holds NaN or an infinity.
	ErrNotFinite = errors.New("embedding is not finite")
	// ErrDimension: two embeddings have different lengths.
	ErrDimension = errors.New("embeddings have different dimensions")
)

// WitnessGap is 1 − cos between the embedding of the identity narrative and the
// centroid of the session's event embeddings, in [0, 2]. Without events
// (session is empty) it is undefined: nil, and no error. Lengths of the vectors
// do not matter. Errors: ErrZeroVector, ErrNotFinite, ErrDimension.
func WitnessGap(identity, session []float32) (*float64, error) {
	if len(session) == 0 {
		return nil, nil
	}
	if len(identity) != len(session) {
		return nil, fmt.Errorf("soul: witness gap: %w: the identity has %d, the session %d; embed the identity with the session's embedder", ErrDimension, len(identity), len(session))
	}
	identityMax, err := greatest("identity", identity)
	if err != nil {
		return nil, err
	}
	sessionMax, err := greatest("session", session)
	if err != nil {
		return nil, err
	}
	// Scaling by the greatest part keeps the sums of tiny and of huge vectors
	// inside float64.
	var dot, a2, b2 float64
	for i := range identity {
		a, b := float64(identity[i])/identityMax, float64(session[i])/sessionMax
		dot += float64(a * b)
		a2 += float64(a * a)
		b2 += float64(b * b)
	}
	cos := dot / (math.Sqrt(a2) * math.Sqrt(b2))
	gap := min(max(1-cos, 0), 2)
	return &gap, nil
}

func greatest(which string, v []float32) (float64, error) {
	var most float64
	for _, x := range v {
		x := float64(x)
		if !finite(x) {
			return 0, fmt.Errorf("soul: witness gap: the %s's %w; embed it again", which, ErrNotFinite)
		}
		most = max(most, math.Abs(x))
	}
	if most == 0 {
		return 0, fmt.Errorf("soul: witness gap: the %s's %w", which, ErrZeroVector)
	}
	return most, nil
}

// GStore is the character of the store: the direction of Σ influence·G over
// tendencies, or over impressions where there is no tendency yet. Influences
// are finite and 0 or more. With nothing to average it is the zero Guna.
func GStore(gunas []reactivation.Guna, influences []float64) (reactivation.Guna, error) {
	g, _, err := reactivation.MeanGuna(gunas, influences)
	if err != nil {
		return reactivation.Guna{}, fmt.Errorf("soul: character of the store: %w", err)
	}
	return g, nil
}

// Ahamkara is the identity's character after a session: current turned to the
// store's by AhamkaraRate, with the protection (in [0,1]) that impressions
// have. The first session (current is zero) takes the store's; a store without
// character leaves current as it is.
func Ahamkara(current, store reactivation.Guna, protection float64) (reactivation.Guna, error) {
	var none reactivation.Guna
	if store == none {
		return current, nil
	}
	if current == none {
		current = store
	}
	next, err := reactivation.DriftTowards(current, store, AhamkaraRate, protection)
	if err != nil {
		return none, fmt.Errorf("soul: character of the identity: %w", err)
	}
	return next, nil
}

// MokshaDistance is the mean angle of all characters to pure sattva, in degrees
// from 0 to 90, whatever their influence; nil without any.
func MokshaDistance(gunas []reactivation.Guna) *float64 {
	if len(gunas) == 0 {
		return nil
	}
	var sum float64
	for _, g := range gunas {
		sum += g.Angle(reactivation.Sattva())
	}
	mean := sum / float64(len(gunas)) * 180 / math.Pi
	return &mean
}
