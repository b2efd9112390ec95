package lifecycle

import (
	"context"
	"fmt"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// absent stands for the embedder of a store that the configured one is not. It
// cannot embed, so that what only looks at such a store goes without meaning.
type absent struct {
	id         string
	dim        int
	configured Embedder
}

func (a absent) ID() string { return a.id }
func (a absent) Dim() int   { return a.dim }

// Embed fails with ErrEmbedder and says what to do.
func (a absent) Embed(context.Context, string) ([]float32, error) {
	return nil, fmt.Errorf("%w; jivad reembed computes all vectors anew",
		chitta.OtherEmbedder("its vectors", a.id, a.dim, a.configured.ID(), a.configured.Dim()))
}

// foreignProblem says whose vectors a store has that the configured embedder has not
// made, and what to do; empty where it has.
func (c *Companion) foreignProblem() string {
	a, ok := c.opts.Embedder.(absent)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%v; it is only looked at, and recall goes by words, until jivad reembed has computed all vectors anew, or the embedder of before is configured again",
		chitta.OtherEmbedder("the store's vectors", a.id, a.dim, a.configured.ID(), a.configured.Dim()))
}

// atHand is the configured embedder where it is the store's, else what stands for
// the store's.
func atHand(store *chitta.Store, configured Embedder) Embedder {
	e := configured
	_ = store.View(func(s *fold.State) error {
		if len(s.Impressions) > 0 && (s.Embedder != e.ID() || s.Dim != e.Dim()) {
			e = absent{s.Embedder, s.Dim, configured}
		}
		return nil
	})
	return e
}
