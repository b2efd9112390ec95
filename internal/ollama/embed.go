package ollama

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/ollama/ollama/api"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/prompt"
)

// ErrNoText: there is nothing in a text that could be embedded.
var ErrNoText = errors.New("the text has no letters to embed")

const (
	// embedRunes is the most of a text that is sent to be embedded; usualReads how
	// many tokens a model is taken to read that does not say it.
	embedRunes, usualReads = 16_000, 512
	// leastDim and mostDim are how long a vector may be.
	leastDim, mostDim = 8, 16384
	// unit is how far from 1 the length of a vector may be.
	unit = 0.01
)

// Embedder is the model of Options.Embed as lifecycle.Remote: one model, by its
// digest. When another one answers to the name, it is away.
type Embedder struct {
	s      *Server
	id     string
	digest string // or the beginning of it; empty where any will do
	dim    int
}

var _ lifecycle.Remote = (*Embedder)(nil)

// EmbedderFor is the embedder of a store that records one of an id and dimension, and
// asks nobody: the server may be away. Where the id is of another model it is the
// configured one, which has the id "ollama/NAME" and the dimension 0 as long as nobody
// was asked, and does not embed.
func (s *Server) EmbedderFor(id string, dim int) *Embedder {
	named := nameOf(s.embed)
	digest, ok := strings.CutPrefix(id, named+"@")
	if !ok || dim < leastDim || dim > mostDim {
		return &Embedder{s: s, id: named}
	}
	if digest == unknownDigest {
		digest = ""
	}
	return &Embedder{s: s, id: id, digest: digest, dim: dim}
}

// State tells how it is. That another model has its name is an absence too.
func (e *Embedder) State() lifecycle.ModelState {
	out := e.s.stateOf(e.s.embedding)
	if out.Away == "" && out.Digest != "" && !strings.HasPrefix(out.Digest, e.digest) {
		out.Away = otherModel
	}
	return out
}

// Watch looks after it as Server.Watch does, and tells State.
func (e *Embedder) Watch(ctx context.Context, changed func(lifecycle.ModelState)) {
	go e.s.watch(ctx, []*lane{e.s.embedding}, e.State, changed)
}

const otherModel = "another model has its name now than the one that embedded the store; jivad reembed takes the new one"

// Embedder asks the server which model embeds, and how long its vectors are.
// Errors: ErrModelAway, ErrModelAnswer, or ctx's.
func (s *Server) Embedder(ctx context.Context) (*Embedder, error) {
	v, err := s.vector(ctx, "word", 0, "")
	if err != nil {
		return nil, err
	}
	return &Embedder{s: s, id: s.idOf(s.embed), digest: s.digestNow(s.embed), dim: len(v)}, nil
}

// ID is "ollama/NAME@DIGEST", with the first twelve digits of the digest.
func (e *Embedder) ID() string { return e.id }

// Dim is the length of every vector.
func (e *Embedder) Dim() int { return e.dim }

// Embed gives a fresh unit vector. Of a long text only the beginning is read: as much
// as the model reads. Errors: ErrNoText, ErrModelAway, ErrModelAnswer, or ctx's.
func (e *Embedder) Embed(ctx context.Context, text string) ([]float32, error) {
	if e.dim == 0 {
		return nil, e.s.embedding.error("nobody asked it yet how long its vectors are")
	}
	v, err := e.s.vector(ctx, text, e.dim, e.digest)
	if err == nil {
		return v, nil
	}
	var other *stop
	if errors.Is(err, lifecycle.ErrModelAnswer) && errors.As(e.s.same(e.digest), &other) {
		err = other.err // found out after the answer
	}
	return nil, err
}

// vector asks for the vector of a text, of dim numbers where dim is not 0, by the
// model of a digest where that is given.
func (s *Server) vector(ctx context.Context, text string, dim int, digest string) ([]float32, error) {
	if !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsSymbol(r) || unicode.IsPunct(r)
	}) {
		return nil, ErrNoText
	}
	text, _ = prompt.Clip(text, embedRunes)
	text = prompt.Neutral(text)
	var out []float32
	err := s.ask(ctx, s.embedding, embedBytes, func(ctx context.Context, _ *exchange, before *flaw) error {
		if err := s.same(digest); err != nil {
			return err
		}
		if before != nil && before.long {
			text, _ = prompt.Clip(text, s.surelyReads()) // the server cut it, and had miscounted
		}
		r, err := s.client.Embed(ctx, &api.EmbedRequest{Model: s.o.Embed, Input: text, KeepAlive: s.keepAlive(), Options: s.options()})
		if err != nil {
			return err
		}
		if out, err = checkedVector(r.Embeddings, dim); err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// surelyReads is how many code points the model that embeds reads, were each of them
// four tokens.
func (s *Server) surelyReads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.embed.reads > 0 {
		return max(1, s.embed.reads/4)
	}
	return usualReads / 4
}

// same ends an item where another model than that of a digest answers to the name.
func (s *Server) same(digest string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !strings.HasPrefix(s.embed.digest, digest) {
		return &stop{err: s.embedding.error(otherModel)}
	}
	return nil
}

// checkedVector is the one vector of an answer, brought to unit length from very near
// it. Errors are *flaw.
func checkedVector(all [][]float32, dim int) ([]float32, error) {
	if len(all) != 1 {
		return nil, &flaw{wrong: fmt.Sprintf("%d vectors for one text", len(all))}
	}
	v := all[0]
	switch {
	case len(v) == 0:
		return nil, &flaw{wrong: "an empty vector"}
	case dim != 0 && len(v) != dim:
		return nil, &flaw{wrong: fmt.Sprintf("a vector of %d numbers, not of %d", len(v), dim)}
	case len(v) < leastDim || len(v) > mostDim:
		return nil, &flaw{wrong: fmt.Sprintf("a vector of %d numbers, not of %d to %d", len(v), leastDim, mostDim)}
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	length := math.Sqrt(sum)
	if !(math.Abs(length-1) <= unit) { // so that NaN is refused
		return nil, &flaw{wrong: "a vector that is not of unit length"}
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / length)
	}
	return v, nil
}
