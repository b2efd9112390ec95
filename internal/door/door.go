// Package door is an Ollama server to its clients: it stands before the real one and
// weaves a companion's memory into what is said to its models.
//
// A [Door] passes every request on and streams the answer back unchanged. Into
// /api/chat and /api/generate it puts who the companion is and what is recalled, and
// once the answer has passed, what was said becomes an event. Where no server
// answers, it speaks for itself as far as that is honest.
package door

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/tools"
)

// Companion is what the door needs of one.
type Companion interface {
	Weave(ctx context.Context, said string, recall int) (lifecycle.Woven, error)
	// Allowed is what the person allows now, for a turn that is said now.
	Allowed() lifecycle.Allowance
	RememberAll(ctx context.Context, turns []lifecycle.Turn) ([]lifecycle.Receipt, error)
	Reflect(ctx context.Context, said string, why lifecycle.Silence, f lifecycle.Fate) (string, error)
	// Talking says that a model is to answer somebody now, until done is called.
	Talking() (done func())
	// OffersTo are the tools that a model may be told of, by its name. The life that it answers
	// in may begin with that, so it is asked before Weave. ActFor does what it asks for, and
	// gives what it is told.
	OffersTo(ctx context.Context, model string) []tools.Offer
	ActFor(ctx context.Context, model string, call lifecycle.ChatCall) (string, lifecycle.TalkAct)
}

// Options are what a door is made of.
type Options struct {
	Companion Companion
	// Server is the address of the real server, such as http://127.0.0.1:11434;
	// empty means none.
	Server string
	// Recall is how many impressions are woven in.
	Recall int
	// Health answers /healthz, /readyz and /metrics; nil leaves them to the server.
	Health http.Handler
	// Log gets what goes wrong, without what was said; nil is none.
	Log *slog.Logger
}

// Door serves clients of Ollama. Its address should stand behind a guard against
// other web pages, which hands what it does not let in to [Door.Refuse].
type Door struct {
	opts   Options
	server *url.URL
	proxy  *httputil.ReverseProxy
	turns  *turns
	away   away
	// straight is the way to the server without what the door does between.
	straight again
	capable  capable
	inside   inside
	// mark is on every request that is passed on, so that a server that is this door
	// is noticed.
	mark     string
	opened   time.Time
	requests tally
	calls    tally
	// held is how many bytes of large requests are held, small how many of the first
	// megabyte of any.
	held, small atomic.Int64
}

// Bounds.
const (
	// maxBody is the most that a request of JSON may have, in bytes. heldBodies is the
	// most that all of them together may have at a time beyond smallBody of each, so that
	// large ones keep no small one out; heldSmall the most of what is within.
	maxBody    = 32 << 20
	smallBody  = 1 << 20
	heldBodies = 64 << 20
	heldSmall  = 64 << 20
	// bodyTimeout is how long such a request may take to arrive, chunkTimeout how
	// long a client may take to send or to take the next piece of anything.
	bodyTimeout  = 5 * time.Minute
	chunkTimeout = 30 * time.Second
	// maxHead is the most that the head of an answer of the server may have, in bytes, with
	// those that come before it.
	maxHead = 1 << 20
	// weaveTimeout is when a request goes on without memory.
	weaveTimeout = 2 * time.Second
	// reflectTimeout bounds an answer of the companion's own.
	reflectTimeout = 30 * time.Second
	// leaveTimeout is how long a door that closes waits for requests to end.
	leaveTimeout = 5 * time.Second
)

// New makes a door. Close it, so that no turn is lost.
func New(o Options) (*Door, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d := &Door{opts: o, mark: rand.Text(), opened: time.Now().UTC(), inside: inside{empty: make(chan struct{})}, turns: newTurns(o.Companion, o.Log)}
	d.capable.ending, d.capable.end = context.WithCancel(context.Background())
	if o.Server != "" {
		var err error
		if d.server, err = url.Parse(o.Server); err != nil || d.server.Host == "" {
			return nil, fmt.Errorf("the address of the model server %q is none; it must be one such as http://127.0.0.1:11434", o.Server)
		}
	}
	d.straight = again{&http.Transport{
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		DisableCompression:  true,
		MaxIdleConnsPerHost: 16,
		IdleConnTimeout:     30 * time.Second,

		MaxResponseHeaderBytes: maxHead,
	}}
	d.proxy = &httputil.ReverseProxy{
		Transport:      acting{d.straight},
		FlushInterval:  -1, // every piece as it comes
		Rewrite:        d.rewrite,
		ModifyResponse: d.answered,
		ErrorHandler:   d.unanswered,
		ErrorLog:       slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	return d, nil
}

// Close lets no request in any more, and waits until those that are on their way have
// been answered and the turns that wait are remembered, or ctx ends. Their clients should
// be gone before.
func (d *Door) Close(ctx context.Context) {
	d.turns.ending() // what waits is remembered meanwhile
	leaving, cancel := context.WithTimeout(ctx, leaveTimeout)
	defer cancel()
	d.inside.close(leaving)
	d.turns.close(ctx)
	d.capable.close()
	d.straight.CloseIdleConnections()
}

const (
	headerMemory = "X-Jivad-Memory"
	headerMark   = "X-Jivad-Door"
)

// ServeHTTP answers one request.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if d.opts.Health != nil {
		switch r.URL.Path {
		case "/healthz", "/readyz", "/metrics":
			d.opts.Health.ServeHTTP(w, r)
			return
		}
	}
	e := &exchange{door: d, w: newPaced(w), endpoint: endpointOf(r.URL.Path), outcome: outcomePassed, client: r.Context(), came: time.Now()}
	defer func() { d.requests.add(e.endpoint, e.outcome) }()
	if !d.inside.enter() {
		e.refuse(http.StatusServiceUnavailable, "jivad is stopping; try again when it runs")
		return
	}
	defer d.inside.leave()
	if r.Header.Get(headerMark) == d.mark {
		e.refuse(http.StatusLoopDetected, "model.server is the address of this door; set it to that of an Ollama server")
		return
	}
	off := strings.EqualFold(r.Header.Get(headerMemory), "off")
	if !speaks(e.endpoint) || r.Method != http.MethodPost {
		r.Body = e.w.pace(r.Body)
		if !strings.HasPrefix(r.URL.Path, "/api/blobs/") { // parts of models, which are never held here
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		}
		e.forward(r)
		return
	}
	defer e.release()
	if !e.take(r) {
		return
	}
	if (e.endpoint == "chat" || e.endpoint == "generate") && e.ask.object != nil {
		e.weave(r.Context(), off)
	}
	e.forward(r)
}

// Refuse answers what a guard does not let in.
func (d *Door) Refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	d.requests.add(endpointOf(r.URL.Path), outcomeRefused)
	complain(w, status, why)
}

// endpoints are told apart in the counts; all others are "other".
var endpoints = map[string]string{
	"/": "root", "/api/chat": "chat", "/api/generate": "generate", "/api/show": "show", "/api/tags": "tags",
	"/api/version": "version", "/api/embed": "embed", "/api/embeddings": "embeddings", "/api/ps": "ps", "/api/pull": "pull",
}

func endpointOf(path string) string {
	if e, ok := endpoints[path]; ok {
		return e
	}
	return "other"
}

// speaks tells whether requests to an endpoint name a model that may carry the
// suffix, and so are read.
func speaks(endpoint string) bool {
	switch endpoint {
	case "chat", "generate", "show", "embed", "embeddings":
		return true
	}
	return false
}
