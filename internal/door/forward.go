package door

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/tools"
)

const (
	// dialTimeout is how long the server's address is tried. Where that took longer
	// than slowDial, nobody waits for it again during pause.
	dialTimeout = 2 * time.Second
	slowDial    = 250 * time.Millisecond
	pause       = 10 * time.Second
)

// away says until when the server is not tried, because it took long to find that
// it is not there.
type away struct {
	mu    sync.Mutex
	until time.Time
}

func (a *away) now() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Now().Before(a.until)
}

func (a *away) after(took time.Duration) {
	if took < slowDial {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.until = time.Now().Add(pause)
}

// exchange is one request on its way.
type exchange struct {
	door     *Door
	w        *paced
	endpoint string
	outcome  string
	// client ends when the client leaves.
	client context.Context
	ask    ask
	talk   conversation
	// misfit says that the request has values of types that the server does not take.
	misfit bool
	// off says that the client wants no memory.
	off bool
	// turn is what is to be remembered, nil for nothing.
	turn *lifecycle.Turn
	// held is how many bytes of the body have a share of the door's memory.
	held int
	// offers are the tools of the companion that were put into the request.
	offers []tools.Offer
	// sent is what is being sent of it, nil where it was not read.
	sent *handed
	// came is when the request did, began when the server was asked.
	came, began time.Time
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	e, _ := ctx.Value(exchangeKey{}).(*exchange)
	return e
}

// forward passes the request on, or answers it where no server does.
func (e *exchange) forward(r *http.Request) {
	if e.door.server == nil || e.door.away.now() {
		e.alone()
		return
	}
	if e.ask.body != nil {
		r.Body, r.ContentLength = e.body(), int64(len(e.ask.body))
		r.GetBody = func() (io.ReadCloser, error) { return e.body(), nil }
	}
	e.began = time.Now()
	if e.endpoint == "chat" || e.endpoint == "generate" {
		defer e.door.opts.Companion.Talking()()
	}
	e.door.proxy.ServeHTTP(e.w, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, e)))
}

// rewrite makes a request of the door's one to the server.
func (d *Door) rewrite(p *httputil.ProxyRequest) {
	p.SetURL(d.server)
	e := exchangeOf(p.In.Context())
	if e.ask.body != nil {
		p.Out.GetBody, p.Out.TransferEncoding = p.In.GetBody, nil
		p.Out.Header.Del("Accept-Encoding") // the answer is listened to
	}
	p.Out.Header.Del(headerMemory)
	p.Out.Header.Del("Origin") // looked at already
	p.Out.Header.Set(headerMark, d.mark)
}

// untraced is the context of a request without what is to be told of its progress: the
// answers before an answer (103 Early Hints) are then left out by the transport, which
// holds all of them together to maxHead, and not passed on without end.
type untraced struct{ context.Context }

func (u untraced) Value(key any) any {
	if _, own := key.(exchangeKey); own {
		return u.Context.Value(key)
	}
	return nil
}

// again is a transport that tries a second time, on a new connection, where one of
// before turns out to be dead: the server was stopped or started anew meanwhile. Only
// requests that were read are, which to ask twice does no harm.
type again struct{ *http.Transport }

func (a again) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.WithContext(untraced{r.Context()})
	if r.GetBody == nil {
		return a.Transport.RoundTrip(r)
	}
	reused := false
	trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { reused = c.Reused }}
	response, err := a.Transport.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
	if err == nil || !reused || r.Context().Err() != nil {
		return response, err
	}
	a.CloseIdleConnections()
	if r.Body, err = r.GetBody(); err != nil {
		return nil, err
	}
	return a.Transport.RoundTrip(r)
}

// answered sees an answer of the server before it passes.
func (d *Door) answered(r *http.Response) error {
	e := exchangeOf(r.Request.Context())
	e.handedOn()
	for name := range r.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			r.Header.Del(name) // who may read this is the door's to say
		}
	}
	if r.StatusCode >= http.StatusInternalServerError {
		e.outcome = outcomeFailed
	}
	if r.StatusCode == http.StatusOK && (e.endpoint == "chat" || e.endpoint == "generate") {
		r.Body = &heard{ReadCloser: r.Body, exchange: e}
	}
	return nil
}

// unanswered is called when the server gave no answer.
func (d *Door) unanswered(_ http.ResponseWriter, r *http.Request, err error) {
	e := exchangeOf(r.Context())
	var tooLarge *http.MaxBytesError
	var dial *net.OpError
	switch {
	case e.client.Err() != nil:
		e.outcome = outcomeLeft
	case errors.As(err, &tooLarge):
		e.badBody(err)
	case errors.As(err, &dial) && dial.Op == "dial":
		d.away.after(time.Since(e.began))
		e.alone()
	default:
		e.outcome = outcomeFailed
		complain(e.w, http.StatusBadGateway, "the model server at "+d.server.String()+" did not answer: "+noAnswer(err))
	}
}

// noAnswer says why, without words of the server: they may be anything.
func noAnswer(err error) string {
	var late net.Error
	switch {
	case errors.As(err, &late) && late.Timeout():
		return "it took too long"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "it closed the connection"
	}
	return "what it sent is no answer of an Ollama server; see to it that model.server is the address of one"
}

// refuse answers a request that is not passed on.
func (e *exchange) refuse(status int, why string) {
	e.outcome = outcomeRefused
	complain(e.w, status, why)
}

// complain answers with an error as Ollama does.
func complain(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	body, _ := json.Marshal(map[string]string{"error": why})
	_, _ = w.Write(body)
}

// paced is a writer that gives its client a time for every piece, and none for the
// whole.
type paced struct {
	http.ResponseWriter
	control *http.ResponseController
	failed  atomic.Bool
}

func newPaced(w http.ResponseWriter) *paced {
	return &paced{ResponseWriter: w, control: http.NewResponseController(w)}
}

// Unwrap is for http.ResponseController.
func (p *paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *paced) Write(b []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(chunkTimeout)) // not every writer has one
	n, err := p.ResponseWriter.Write(b)
	if err != nil {
		p.failed.Store(true)
	}
	return n, err
}

// FlushError is for http.ResponseController.
func (p *paced) FlushError() error {
	err := p.control.Flush()
	if err != nil {
		p.failed.Store(true)
	}
	return err
}

// pace gives a client a time for every piece of a request.
func (p *paced) pace(body io.ReadCloser) io.ReadCloser { return &pacedBody{body, p.control} }

type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
}

func (b *pacedBody) Read(p []byte) (int, error) {
	_ = b.control.SetReadDeadline(time.Now().Add(chunkTimeout)) // not every writer has one
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		_ = b.control.SetReadDeadline(time.Time{}) // else it would end the answer
	}
	return n, err
}
