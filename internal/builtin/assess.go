package builtin

import (
	"context"
	_ "embed"
	"math"
	"sync"
	"unicode"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/reactivation"
)

// assessorID names the map from text to judgement; it is recorded with every event.
const assessorID = "builtin-affect/1"

// headsBlob is what train wrote (docs/assessor.md).
//
//go:embed heads.bin
var headsBlob string

// quiet is the strength that an experience is given as nothing is known of it.
const quiet = 0.3

// Assessor judges experience by linear heads on the built-in embedder's
// vectors and by an English lexicon. It is safe for concurrent use and the
// same text and vector always give the same judgement.
type Assessor struct {
	heads  *Heads
	inputs *InputReader
	own    func() (*Embedder, error)
}

// NewAssessor loads the weights; the first text that it judges also loads the
// lexicon. It fails only when the weights in the binary are damaged.
func NewAssessor() (*Assessor, error) {
	heads, err := ParseHeads(headsBlob)
	if err != nil {
		return nil, err
	}
	return NewAssessorOf(heads, NewInputReader()), nil
}

// NewAssessorOf makes an assessor of given weights; train measures with it
// what it has just made.
func NewAssessorOf(heads *Heads, inputs *InputReader) *Assessor {
	return &Assessor{heads: heads, inputs: inputs,
		own: sync.OnceValues(func() (*Embedder, error) { return NewEmbedder(Options{}) })}
}

// ID names this assessor and the version of its judgements.
func (a *Assessor) ID() string { return assessorID }

// Assess judges e by its text and its embedding. An embedding of another
// dimension than Dim is another model's, and an empty one is none: then the
// assessor embeds the text itself, which takes longer. Novelty and Match stay nil.
//
// Errors: ErrNoText, ErrEmbedding (not finite, not of unit length), or the
// context's.
func (a *Assessor) Assess(ctx context.Context, e lifecycle.Experience) (fold.Judgement, error) {
	embedding, err := a.vector(ctx, e.Text, e.Embedding)
	if err != nil {
		return fold.Judgement{}, err
	}
	j, _, err := a.Judge(e.Text, embedding)
	return j, err
}

// Judge is Assess for a vector that has passed CheckEmbedding; it gives the
// shares of tamas, rajas and sattva beside the judgement.
func (a *Assessor) Judge(text string, embedding []float32) (fold.Judgement, [3]float64, error) {
	raw, trust, _ := a.readings(text, embedding)
	m := &a.heads.Mapping
	z := m.Standardise(raw, trust)
	shares := m.Shares(z)
	guna, err := reactivation.NewGuna(math.Sqrt(shares[0]), math.Sqrt(shares[1]), math.Sqrt(shares[2]))
	if err != nil {
		return fold.Judgement{}, shares, err
	}
	return fold.Judgement{
		Assessor:  assessorID,
		Intensity: believe(m.Intensity.Place(RawIntensity(z)), trust),
		Emotion:   believe(m.Emotion.Place(RawEmotion(z)), trust),
		Guna:      guna,
		Valence:   pleasantness(trust*(raw[readValence]-neutral), m.Pleasant),
	}, shares, nil
}

// Affect tells what is read in text, for people to look at. The embedding is
// treated as Assess treats it.
func (a *Assessor) Affect(text string, embedding []float32) (Affect, error) {
	embedding, err := a.vector(context.Background(), text, embedding)
	if err != nil {
		return Affect{}, err
	}
	raw, trust, s := a.readings(text, embedding)
	m := &a.heads.Mapping
	f := Affect{
		Valence:   scaleVAD(raw[readValence]),
		Arousal:   scaleVAD(raw[readArousal]),
		Dominance: scaleVAD(raw[readDominance]),
		Evidence:  trust,
		Words:     s.compound,
	}
	for k := range f.Emotions {
		const soft = 0.08 // a fifth of the outputs' usual range
		f.Emotions[k] = 1 / (1 + math.Exp((m.Threshold[k]-raw[readEmotions+k])/soft))
	}
	return f, nil
}

// neutral is the middle of EmoBank's scale of 1 to 5.
const neutral = 3

func scaleVAD(v float64) float64 { return max(-1, min(1, (v-neutral)/2)) }

// pleasantness places a distance from neutral in (-1,1); usual is where the
// diaries' 95th percentile lies.
func pleasantness(distance, usual float64) float64 {
	if usual <= 0 {
		return 0
	}
	return math.Tanh(distance/usual) + 0 // + 0: never -0
}

// believe moves a strength towards quiet the less is known.
func believe(v, trust float64) float64 {
	return max(0, min(1, quiet+float64(trust*(v-quiet))))
}

func (a *Assessor) vector(ctx context.Context, text string, embedding []float32) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !visible(text) {
		return nil, ErrNoText
	}
	if len(embedding) == Dim {
		return embedding, CheckEmbedding(embedding)
	}
	e, err := a.own()
	if err != nil {
		return nil, err
	}
	return e.Embed(ctx, text)
}

func visible(text string) bool {
	for _, r := range text {
		if !unicode.IsSpace(r) && !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r) {
			return true
		}
	}
	return false
}

// readings gives the raw readings and how far they can be trusted, 0 to 1.
func (a *Assessor) readings(text string, embedding []float32) (raw [Readings]float64, trust float64, s signals) {
	var in [Inputs]float64
	trust, s = a.inputs.read(text, embedding, in[:])
	return RawReadings(a.heads, in[:]), trust, s
}

// RawReadings gives what the mapping reads for the inputs of one text.
func RawReadings(h *Heads, in []float64) (raw [Readings]float64) {
	out := h.Raw(in)
	copy(raw[:], out[:])
	raw[readCompound], raw[readSwing], raw[readShouts] = in[2*Dim], in[2*Dim+1], in[2*Dim+4]
	return raw
}
