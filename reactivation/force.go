package reactivation

import "math"

// Force is what an event brings, each part in [0,1].
type Force struct {
	// Intensity I is the raw strength of the experience.
	Intensity float64
	// Novelty N is how unlike all earlier ones it is.
	Novelty float64
	// Emotion E is its emotional charge, whatever the sign.
	Emotion float64
	// Match M is how near it is to the session so far.
	Match float64
}

// Weight is the scalar force W = ‖(I,N,E,M)‖₂ / 2, in [0,1]. Errors:
// ErrNotFinite, ErrRange.
func (f Force) Weight() (float64, error) {
	for _, part := range [...]struct {
		field string
		value float64
	}{
		{"intensity", f.Intensity},
		{"novelty", f.Novelty},
		{"emotion", f.Emotion},
		{"match", f.Match},
	} {
		if err := unit(part.field, part.value); err != nil {
			return 0, err
		}
	}
	sum := float64(f.Intensity*f.Intensity) + float64(f.Novelty*f.Novelty) +
		float64(f.Emotion*f.Emotion) + float64(f.Match*f.Match)
	return clamp01(math.Sqrt(sum) / 2), nil
}

// Blend joins what was measured from the embedding with what the assessor
// judged, α·embedded + (1-α)·judged, all in [0,1]. Without a judgement the
// embedded part stands alone. Errors: ErrNotFinite, ErrRange, ErrParams.
func (p Params) Blend(embedded float64, judged *float64) (float64, error) {
	if err := between("Alpha", p.Alpha, 0, 1, "a number from 0 to 1"); err != nil {
		return 0, err
	}
	if err := unit("embedded part", embedded); err != nil {
		return 0, err
	}
	if judged == nil {
		return embedded, nil
	}
	if err := unit("judged part", *judged); err != nil {
		return 0, err
	}
	return clamp01(float64(p.Alpha*embedded) + float64((1-p.Alpha)**judged)), nil
}
