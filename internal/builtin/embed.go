package builtin

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/jivad/jivad/gate"
)

// Dim is the dimension of every vector of the built-in embedder.
const Dim = useDim

// embedderID names the map from text to vector: another id means vectors that must not be compared.
const embedderID = "builtin-use-gram/1"

const defaultMaxPieces = 32

// ErrNothingToEmbed is returned for a text that is empty or holds only white space and control characters.
var ErrNothingToEmbed = errors.New("there is nothing to embed: the text is empty or blank; give at least one visible character")

// Options bounds the work done for one text.
type Options struct {
	// MaxPieces is how many pieces of at most 128 tokens (about 100 English words) of one text are
	// read by the sentence encoder; 0 means 32. Of a longer text that many pieces, evenly spaced
	// from the first to the last, stand for the whole. The n-gram half always reads everything.
	MaxPieces int
}

// Embedder turns text into unit vectors of Dim float32. It is safe for concurrent use.
type Embedder struct {
	model     *useModel
	maxPieces int
	scratch   sync.Pool // *scratch
	crew      *crew
}

type scratch struct {
	use  *useScratch
	gram *gramScratch
}

// Parts is what the two halves of the embedder say about a text.
type Parts struct {
	USE    []float32 // sentence encoder, 512 values, unit length; nil where Share is 0: it was not asked
	Gram   []float32 // character n-grams, 512 values, unit length
	Known  float32   // share of the characters that the encoder's vocabulary covers, 0..1
	Fit    float32   // how much the text looks like the encoder's English, 0..1: 0 for Japanese or German, 1 for most English
	Share  float32   // share of the encoder in the squared length of the vector, 0..englishShare
	Tokens int       // tokens of the whole text
}

// The share of the encoder. Measured on diaries in eight languages (TestMeasureBlend): with more
// than englishShare the vector finds fewer entries by their own words, with less it judges the
// similarity of English sentences worse than the encoder alone. Other languages in Latin letters
// are cut into fragments, of which the encoder still makes a little; other scripts it cannot read.
const (
	englishShare = 0.65
	foreignShare = 0.20
	// Known share at which the encoder begins to count, and at which it counts fully.
	knownLow, knownHigh = 0.7, 0.95
	// Characters per token below which a text is foreign, and above which it is English. Entries
	// in German have 1.3–1.8, French 1.7–2.0, Spanish 2.0, English of 1660 2.7–3.1, of 1910 2.7–3.3.
	cutLow, cutHigh = 1.8, 2.4
)

// NewEmbedder makes the built-in embedder. It fails only when the packed model in the binary is damaged.
func NewEmbedder(opts Options) (*Embedder, error) {
	if opts.MaxPieces < 0 {
		return nil, fmt.Errorf("built-in embedder: MaxPieces is %d; give 0 (for %d) or more", opts.MaxPieces, defaultMaxPieces)
	}
	if opts.MaxPieces == 0 {
		opts.MaxPieces = defaultMaxPieces
	}
	m, err := parseUSE(useBlob)
	if err != nil {
		return nil, err
	}
	return &Embedder{model: m, maxPieces: opts.MaxPieces, crew: &crew{most: int32(runtime.GOMAXPROCS(0))}}, nil
}

// ID names this embedder and the version of its vectors.
func (e *Embedder) ID() string { return embedderID }

// Dim is the length of every vector, 512.
func (e *Embedder) Dim() int { return Dim }

// Scale is what suits the spread of these vectors' similarities. It was chosen on three diaries so that
// focus tells their entries apart and some seven to twelve of 256 impressions are woken by one
// (docs/divergence.md, D-16).
func (e *Embedder) Scale() gate.Scale {
	return gate.Scale{Temperature: 0.0375, KBase: 1.7, MinSimilarity: 0.25, NoiseFloor: 0.20}
}

// Embed returns the unit vector of text, the same bits for the same text on the same machine.
// It returns ErrNothingToEmbed for blank text and the context's error when cancelled between pieces.
func (e *Embedder) Embed(ctx context.Context, text string) ([]float32, error) {
	p, err := e.Parts(ctx, text)
	if err != nil {
		return nil, err
	}
	return p.Vector(), nil
}

// Parts returns the two halves of the vector of text and how well the first knows it. Errors are those of Embed.
func (e *Embedder) Parts(ctx context.Context, text string) (Parts, error) {
	text = normalize(text)
	if text == "" {
		return Parts{}, ErrNothingToEmbed
	}
	s, _ := e.scratch.Get().(*scratch)
	if s == nil {
		s = &scratch{use: newUSEScratch(), gram: newGramScratch()}
	}
	defer func() {
		s.use.lattice.shrink()
		e.scratch.Put(s)
	}()
	s.use.crew = e.crew
	e.crew.begin()
	defer e.crew.leave()

	e.model.vocab.tokenize(text, &s.use.lattice, &s.use.toks)
	p := weigh(&s.use.toks)
	p.Gram = make([]float32, Dim)
	gramVector(text, s.gram, p.Gram)
	if p.Share > 0 {
		p.USE = make([]float32, Dim)
		if err := e.sentence(ctx, s.use.toks.ids, s.use, p.USE); err != nil {
			return Parts{}, err
		}
	}
	return p, nil
}

// weigh decides from the tokens alone how much the encoder has to say.
func weigh(toks *tokens) Parts {
	p := Parts{Tokens: len(toks.ids)}
	if toks.runes == 0 {
		return p
	}
	p.Known = float32(toks.known) / float32(toks.runes)
	trust := ramp(p.Known, knownLow, knownHigh)
	p.Fit = trust * ramp(float32(toks.runes)/float32(len(toks.ids)), cutLow, cutHigh)
	p.Share = foreignShare*trust + (englishShare-foreignShare)*p.Fit
	return p
}

// ramp rises from 0 at low to 1 at high.
func ramp(x, low, high float32) float32 { return min(1, max(0, (x-low)/(high-low))) }

// sentence writes the length-weighted mean of the encoder's vectors of the pieces, as a unit vector, into dst.
func (e *Embedder) sentence(ctx context.Context, ids []uint16, s *useScratch, dst []float32) error {
	spans := spread(e.model.vocab.split(ids, useTokens), e.maxPieces)
	var one [useDim]float32
	for _, sp := range spans {
		if err := ctx.Err(); err != nil {
			return err
		}
		e.model.encode(ids[sp.from:sp.to], s, one[:])
		for i, v := range one {
			dst[i] += float32(sp.len()) * v
		}
	}
	unit(dst)
	return nil
}

// spread keeps at most limit spans, evenly spaced, the first and the last among them.
func spread(spans []span, limit int) []span {
	if len(spans) <= limit {
		return spans
	}
	if limit == 1 {
		return spans[:1]
	}
	kept := make([]span, limit)
	for i := range kept {
		kept[i] = spans[i*(len(spans)-1)/(limit-1)]
	}
	return kept
}

// Vector is the vector of the text: the halves superposed in the same 512 places, which works because
// the places of the n-grams are random and so all but orthogonal to the encoder.
func (p *Parts) Vector() []float32 {
	v := make([]float32, Dim)
	a, b := float32(math.Sqrt(float64(p.Share))), float32(math.Sqrt(float64(1-p.Share)))
	for i, g := range p.Gram {
		v[i] = b * g
	}
	for i, u := range p.USE {
		v[i] += a * u
	}
	unit(v)
	return v
}

// unit scales v to length 1; a zero vector becomes the first axis.
func unit(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(float64(x) * float64(x))
	}
	if sum == 0 {
		v[0], sum = 1, 1
	}
	scaleBy(v, float32(1/math.Sqrt(sum)))
}
