package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// Remote is an Embedder of a server, which may be away. Its Embed then fails at once
// with ErrModelAway, after the first time that this had to be found out.
type Remote interface {
	Embedder
	// State tells how it is; Away also says that another model has its name now.
	State() ModelState
	// Watch calls changed as that of Model does.
	Watch(ctx context.Context, changed func(ModelState))
}

// askNew is how long a server is waited for that only might have another embedder for
// a store which is empty.
const askNew = 10 * time.Second

// agree finds the embedder, once it is known which one the store records, and says what
// is put in force. Where that one made vectors nobody is asked.
func (o *Options) agree(ctx context.Context, id string, dim, impressions int) (chitta.Agreement, error) {
	var err error
	switch {
	case o.LookOnly || impressions > 0:
		err = o.meet(ctx, id, dim)
	default:
		err = o.meetNew(ctx, id, dim)
	}
	if err != nil || o.LookOnly {
		return chitta.Agreement{}, err // who looks leaves the store's own
	}
	return chitta.Agreement{Embedder: o.Embedder.ID(), Dim: o.Embedder.Dim(), Params: &o.Params}, nil
}

// meet gets the embedder of an id and dimension, or the configured one where that is
// another.
func (o *Options) meet(ctx context.Context, id string, dim int) error {
	if o.EmbedderFor == nil {
		return nil
	}
	e, err := o.EmbedderFor(ctx, cmp.Or(id, "none"), dim)
	if err != nil {
		return err
	}
	o.Embedder, o.EmbedderFor = e, nil
	o.scale()
	return nil
}

// meetNew gets the embedder for a store without a vector: the one that the server has
// now, or the one that is recorded while it is away.
func (o *Options) meetNew(ctx context.Context, id string, dim int) error {
	if o.EmbedderFor == nil {
		return nil
	}
	recorded, err := o.EmbedderFor(ctx, cmp.Or(id, "none"), dim)
	known := err == nil && recorded.ID() == id
	asking, stop := ctx, context.CancelFunc(func() {})
	if known {
		asking, stop = context.WithTimeout(ctx, askNew)
	}
	defer stop()
	e, err := o.EmbedderFor(asking, "", 0)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !known:
		return err
	case err != nil:
		e = recorded
	}
	o.Embedder, o.EmbedderFor = e, nil
	o.scale()
	return nil
}

// scale puts the embedder's scale of similarity where the settings say nothing.
func (o *Options) scale() {
	o.Params.Gate = o.Params.Gate.On(scaleOf(o.Embedder))
	if o.Params.Profile == fold.DefaultParams().Profile {
		o.Params.Profile = o.Embedder.ID() // whose scale of similarity the values are for
	}
}

// embed is the vector of an entry. Errors: ErrEmbedderAway where the embedder is away,
// ErrUnjudged where it gave nothing usable for this text.
func (c *Companion) embed(ctx context.Context, text string) ([]float32, error) {
	v, err := c.opts.Embedder.Embed(ctx, text)
	if err == nil {
		err = fold.CheckVector(v, c.opts.Embedder.Dim())
	}
	switch {
	case err == nil:
		return v, nil
	case errors.Is(err, ErrModelAway):
		return nil, fmt.Errorf("not kept: %w: %w", ErrEmbedderAway, err)
	}
	return nil, fmt.Errorf("%w: embed: %w", ErrUnjudged, err)
}

// notAtHand tells that a text has no vector now for no fault of its own: the store is
// of another embedder, or its embedder is away or in trouble.
func notAtHand(err error) bool {
	return errors.Is(err, ErrEmbedder) || errors.Is(err, ErrModelAway) || errors.Is(err, ErrModelAnswer)
}

// embedderState tells how an embedder of a server is, nil for one that cannot be away.
func (c *Companion) embedderState() *ModelState {
	r, ok := c.opts.Embedder.(Remote)
	if !ok {
		return nil
	}
	s := r.State()
	return &s
}

// embedderAway tells that it is known to be away.
func (c *Companion) embedderAway() bool {
	s := c.embedderState()
	return s != nil && s.Away != ""
}

// watchEmbedder looks after an embedder of a server until ctx ends, and has taken in
// what waits for it when it comes back.
func (c *Companion) watchEmbedder(ctx context.Context) {
	r, ok := c.opts.Embedder.(Remote)
	if !ok || c.opts.LookOnly {
		return
	}
	tell := c.comings("the embedder", func() string { return "nothing can be taken in until it is back" })
	r.Watch(ctx, func(s ModelState) {
		tell(s)
		if s.Away == "" {
			select {
			case c.embedderBack <- struct{}{}:
			default:
			}
		}
	})
	<-ctx.Done()
}

// comings gives what tells the log when a model of a server goes away, and what that
// means, and when it comes back.
func (c *Companion) comings(what string, meanwhile func() string) func(ModelState) {
	var mu sync.Mutex
	told := ""
	return func(s ModelState) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case s.Away != "" && told == "":
			c.log.Warn(what+" is away; "+meanwhile(), "model", s.Name, "server", s.Server, "why", s.Away)
		case s.Away == "" && told != "":
			c.log.Info(what+" is back", "model", s.Name, "server", s.Server)
		}
		told = s.Away
	}
}
