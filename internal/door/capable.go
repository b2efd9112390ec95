package door

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// capableTime is how long it is believed what a model can do, and failTime that it could
	// not be told; showTimeout is how long the server is asked for that.
	capableTime = 5 * time.Minute
	failTime    = 30 * time.Second
	showTimeout = 2 * time.Second
	// mostKnown bounds the models that are remembered, mostLooks those that are asked for
	// at a time.
	mostKnown = 256
	mostLooks = 4
)

// capable remembers which models use tools. A look that fails is remembered too: the next
// one is made behind an answer, and nobody waits for it.
type capable struct {
	mu      sync.Mutex
	known   map[string]ability
	looking map[string]chan struct{}
	// slow is until when nobody waits for a model that is not known either, since the
	// server did not answer.
	slow   time.Time
	closed bool
	looks  sync.WaitGroup
	// ending ends the looks that are made.
	ending context.Context
	end    context.CancelFunc
}

var errNotShown = errors.New("the server does not say what the model can do")

type ability struct {
	tools, failed bool
	until         time.Time
}

// usesTools tells whether a model can be told of tools; what is not known is asked for.
// ctx ends the wait, not the look.
func (d *Door) usesTools(ctx context.Context, model string) bool {
	c := &d.capable
	c.mu.Lock()
	a, now := c.known[model], time.Now()
	if now.Before(a.until) {
		c.mu.Unlock()
		return a.tools
	}
	done := c.looking[model]
	if done == nil && !c.closed && len(c.looking) < mostLooks {
		done = make(chan struct{})
		if c.looking == nil {
			c.looking = map[string]chan struct{}{}
		}
		c.looking[model] = done
		c.looks.Go(func() { d.look(model, done) })
	}
	waits := done != nil && !a.failed && !now.Before(c.slow)
	c.mu.Unlock()
	if !waits {
		return false
	}
	select {
	case <-done:
	case <-ctx.Done():
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[model].tools
}

// look asks the server, and notes what it says.
func (d *Door) look(model string, done chan struct{}) {
	ctx, cancel := context.WithTimeout(d.capable.ending, showTimeout)
	defer cancel()
	tools, answered, err := d.shown(ctx, model)
	c := &d.capable
	c.mu.Lock()
	defer c.mu.Unlock()
	a := ability{tools: tools, until: time.Now().Add(capableTime)}
	if err != nil {
		a = ability{failed: true, until: time.Now().Add(failTime)}
	}
	if !answered {
		c.slow = a.until
	}
	c.keep(model, a)
	delete(c.looking, model)
	close(done)
}

// know notes what a model can do.
func (c *capable) know(model string, a ability) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(model, a)
}

func (c *capable) keep(model string, a ability) {
	if c.known == nil || len(c.known) >= mostKnown {
		c.known = map[string]ability{}
	}
	c.known[model] = a
}

// shown is what the server says of a model; answered tells whether it says anything.
func (d *Door) shown(ctx context.Context, model string) (tools, answered bool, err error) {
	body := []byte(`{"model":` + string(quoted(model)) + `}`)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.server.JoinPath("/api/show").String(), bytes.NewReader(body))
	if err != nil {
		return false, true, err
	}
	r.Header.Set(headerMark, d.mark)
	response, err := d.straight.RoundTrip(r)
	if err != nil {
		return false, false, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return false, true, errNotShown
	}
	var said struct{ Capabilities []string }
	if err := json.NewDecoder(io.LimitReader(response.Body, maxBody)).Decode(&said); err != nil {
		return false, ctx.Err() == nil, err
	}
	return slices.Contains(said.Capabilities, "tools"), true, nil
}

// close ends the looks that are made, and makes no more.
func (c *capable) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end()
	c.looks.Wait()
}
