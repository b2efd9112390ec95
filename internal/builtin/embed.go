package builtin

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
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
	// MaxPieces is how many pieces of at most 128 tokens (about 90 English words) of one text are
	// read by the sentence encoder; 0 means 32. Of a longer text that many pieces, evenly spaced
	// from the first to the last, stand for the whole. The n-gram half always reads everything.
	MaxPieces int
}

// Embedder turns text into unit vectors of Dim float32. It is safe for concurrent use.
type Embedder struct {
	model     *useModel
	maxPieces int
	scratch   sync.Pool // *scratch
}

type scratch struct {
	use  *useScratch
	gram *gramScratch
}

// Parts is what the two halves of the embedder say about a text.
type Parts struct {
	USE    []float32 // sentence encoder, 512 values, unit length
	Gram   []float32 // character n-grams, 512 values, unit length
	Known  float32   // share of the characters that the encoder's vocabulary covers, 0..1
	Fit    float32   // how well the encoder fits the text, 0 (not at all) .. 1 (English)
	Tokens int       // tokens of the whole text
}

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
	return &Embedder{model: m, maxPieces: opts.MaxPieces}, nil
}

// ID names this embedder and the version of its vectors.
func (e *Embedder) ID() string { return embedderID }

// Dim is the length of every vector, 512.
func (e *Embedder) Dim() int { return Dim }

// Embed returns the unit vector of text, the same bits for the same text on the same machine.
// It returns ErrNothingToEmbed for blank text and the context's error when cancelled between pieces.
func (e *Embedder) Embed(ctx context.Context, text string) ([]float32, error) {
	p, err := e.Parts(ctx, text)
	if err != nil {
		return nil, err
	}
	return p.blend(), nil
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
	defer e.scratch.Put(s)

	halves := make([]float32, 2*Dim)
	p := Parts{USE: halves[:Dim:Dim], Gram: halves[Dim:]}
	e.model.vocab.tokenize(text, &s.use.lattice, &s.use.toks)
	toks := &s.use.toks
	p.Tokens = len(toks.ids)
	p.Known = float32(toks.known) / float32(max(1, toks.runes))
	p.Fit = p.Known
	if err := e.sentence(ctx, toks.ids, s.use, p.USE); err != nil {
		return Parts{}, err
	}
	gramVector(text, s.gram, p.Gram)
	return p, nil
}

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

// blend joins the halves: the share of either is a share of the squared length.
func (p *Parts) blend() []float32 {
	v := make([]float32, Dim)
	a := float32(math.Sqrt(float64(p.Fit)))
	b := float32(math.Sqrt(float64(1 - p.Fit)))
	for i := range v {
		v[i] = a*p.USE[i] + b*p.Gram[i]
	}
	unit(v)
	return v
}

// unit scales v to length 1; a zero vector becomes the first axis.
func unit(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		v[0], sum = 1, 1
	}
	scaleBy(v, float32(1/math.Sqrt(sum)))
}
