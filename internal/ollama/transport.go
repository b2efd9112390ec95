package ollama

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// The most bytes of one response, as sent; of one that tells of a fault, faultBytes.
const (
	answerBytes = 256 << 10
	talkBytes   = 4 << 20
	embedBytes  = 2 << 20
	listBytes   = 8 << 20
	faultBytes  = 64 << 10
)

var (
	errTooMuch  = errors.New("the response is longer than it may be")
	errRedirect = errors.New("the server sends to another address")
)

// exchange is what is seen of one request where the client of the api does not
// tell: it takes a stream that broke off, and an empty fault, for a success.
type exchange struct {
	limit  int64
	status int   // 0 before there is one
	err    error // of reading the response, but for its end
}

type exchangeKey struct{}

// withExchange has what happens to a request under ctx noted.
func withExchange(ctx context.Context, limit int64) (context.Context, *exchange) {
	x := &exchange{limit: limit}
	return context.WithValue(ctx, exchangeKey{}, x), x
}

// guarded is a client that bounds what it reads, and follows no redirection.
func guarded(c *http.Client) *http.Client {
	if c == nil {
		c = &http.Client{Transport: &http.Transport{
			Proxy:                  nil, // what is asked goes to the server of the config and nowhere else
			DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:    10 * time.Second,
			MaxIdleConnsPerHost:    4,
			IdleConnTimeout:        30 * time.Second,
			DisableCompression:     true,
			MaxResponseHeaderBytes: 64 << 10,
		}}
	}
	next := c.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	return &http.Client{
		Transport:     tap{next},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// tap notes what happens to a request in its exchange.
type tap struct{ next http.RoundTripper }

func (t tap) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(r)
	x, ok := r.Context().Value(exchangeKey{}).(*exchange)
	if err != nil || !ok {
		return resp, err
	}
	x.status = resp.StatusCode
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		resp.Body.Close()
		return nil, errRedirect
	}
	left := x.limit
	if resp.StatusCode >= 400 {
		left = faultBytes
	}
	resp.Body = &body{ReadCloser: resp.Body, x: x, left: left}
	return resp, nil
}

// CloseIdleConnections is for http.Client, which looks for it.
func (t tap) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// body reads as much of a response as it may be long.
type body struct {
	io.ReadCloser
	x    *exchange
	left int64
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		// One byte more tells an end from too much.
		var one [1]byte
		n, err := b.ReadCloser.Read(one[:])
		if n > 0 {
			err = errTooMuch
		}
		return 0, b.note(err)
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, b.note(err)
}

func (b *body) note(err error) error {
	if err != nil && !errors.Is(err, io.EOF) {
		b.x.err = err
	}
	return err
}
