package builtin

import "math"

// What the mapping reads: the outputs of the heads, then three word signals.
const (
	readValence = iota
	readArousal
	readDominance
	readEmotions                           // the first of Emotions
	readSwing    = readEmotions + Emotions // how strongly the words speak
	readCompound = readSwing + 1           // which way
	readShouts   = readSwing + 2           // exclamation marks
	// Readings is their number.
	Readings = readSwing + 3
)

// ReadingName names reading k, 0 to Readings-1; out of range it is empty.
func ReadingName(k int) string {
	switch {
	case k == readValence:
		return "valence"
	case k == readArousal:
		return "arousal"
	case k == readDominance:
		return "dominance"
	case k == readSwing:
		return "swing of the words"
	case k == readCompound:
		return "compound of the words"
	case k == readShouts:
		return "exclamation marks"
	}
	return EmotionName(k - readEmotions)
}

// Reading is one text as the mapping sees it: each reading as its distance
// from the diaries' mean in their standard deviations, softly held within ±3.
type Reading [Readings]float64

// Range is where the diaries' 5th, 50th and 95th percentile of a quantity lie.
type Range struct{ Low, Middle, High float64 }

// Place gives 0.1, 0.5 and 0.9 at the three percentiles and stays inside (0,1)
// beyond them: a logistic curve with its own steepness on either side.
func (r Range) Place(v float64) float64 {
	const steep = 2.1972245773362196 // ln 9, the logit of 0.9
	d, room := v-r.Middle, r.High-r.Middle
	if d < 0 {
		room = r.Middle - r.Low
	}
	if room <= 0 {
		return 0.5
	}
	return 1 / (1 + math.Exp(-steep*d/room))
}

// Mapping turns readings into a judgement. All of it is measured by the
// program in train; docs/assessor.md has the formulas.
type Mapping struct {
	// Center and Spread are mean and standard deviation on the diaries.
	Center, Spread [Readings]float64
	// Threshold is the output from which an emotion counts as heard, where its
	// F1 is greatest.
	Threshold [Emotions]float64
	// Guna weighs the readings for tamas, rajas and sattva; the last is the constant.
	Guna [3][Readings + 1]float64
	// Sharpness multiplies the three scores before they become shares.
	Sharpness float64
	// Intensity and Emotion place the two strengths on the diaries' range.
	Intensity, Emotion Range
	// Pleasant is the valence (distance from neutral) of the diaries' 95th percentile.
	Pleasant float64
}

const mappingValues = 2*Readings + Emotions + 3*(Readings+1) + 1 + 6 + 1

// values lists every value in the order of the file.
func (m *Mapping) values() []*float64 {
	v := make([]*float64, 0, mappingValues)
	for i := range m.Center {
		v = append(v, &m.Center[i])
	}
	for i := range m.Spread {
		v = append(v, &m.Spread[i])
	}
	for i := range m.Threshold {
		v = append(v, &m.Threshold[i])
	}
	for g := range m.Guna {
		for i := range m.Guna[g] {
			v = append(v, &m.Guna[g][i])
		}
	}
	return append(v, &m.Sharpness,
		&m.Intensity.Low, &m.Intensity.Middle, &m.Intensity.High,
		&m.Emotion.Low, &m.Emotion.Middle, &m.Emotion.High, &m.Pleasant)
}

// Standardise gives the reading of a text from its raw values. Trust, 0 to 1,
// pulls all of it towards the diaries' mean: where nothing is known, that is
// the honest guess. Exclamation marks alone are plain in every script.
func (m *Mapping) Standardise(raw [Readings]float64, trust float64) (z Reading) {
	const reach = 3
	for i, v := range raw {
		if m.Spread[i] <= 0 {
			continue
		}
		z[i] = reach * math.Tanh((v-m.Center[i])/m.Spread[i]/reach)
		if i != readShouts {
			z[i] *= trust
		}
	}
	return z
}

// Shares gives the shares of tamas, rajas and sattva: above 0, with the sum 1.
func (m *Mapping) Shares(z Reading) (shares [3]float64) {
	top := math.Inf(-1)
	for g := range shares {
		sum := m.Guna[g][Readings]
		for i, v := range z {
			sum += float64(m.Guna[g][i] * v)
		}
		shares[g] = float64(m.Sharpness * sum)
		top = max(top, shares[g])
	}
	var total float64
	for g := range shares {
		shares[g] = math.Exp(shares[g] - top)
		total += shares[g]
	}
	for g := range shares {
		shares[g] /= total
	}
	return shares
}

// RawIntensity is how hard an experience strikes, unplaced: mostly how far it
// is from calm, then how far from neutral, how strong its words and how loud.
func RawIntensity(z Reading) float64 {
	return float64(0.6*z[readArousal]) + float64(0.3*math.Abs(z[readValence])) +
		float64(0.3*z[readSwing]) + float64(0.2*z[readShouts])
}

// RawEmotion is the emotional charge whatever its sign, unplaced: how far from
// neutral feeling and words are, and how strong the strongest emotion.
func RawEmotion(z Reading) float64 {
	strongest := z[readEmotions]
	for _, v := range z[readEmotions : readEmotions+Emotions] {
		strongest = max(strongest, v)
	}
	return float64(0.5*math.Abs(z[readValence])) + float64(0.3*math.Abs(z[readCompound])) +
		float64(0.3*z[readSwing]) + float64(0.3*strongest)
}
