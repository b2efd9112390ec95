package door

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// wire is a network without a network, for tests whose clock is not real.
type wire struct {
	dialled chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func newWire() *wire { return &wire{dialled: make(chan net.Conn), closed: make(chan struct{})} }

func (w *wire) Accept() (net.Conn, error) {
	select {
	case c := <-w.dialled:
		return c, nil
	case <-w.closed:
		return nil, net.ErrClosed
	}
}

func (w *wire) Close() error   { w.once.Do(func() { close(w.closed) }); return nil }
func (w *wire) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (w *wire) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case w.dialled <- there:
		return here, nil
	case <-w.closed:
		return nil, &net.OpError{Op: "dial", Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// inBubble runs a test with a door before a server, both by HTTP, with a clock that
// only goes on when nobody has anything to do. At its end no goroutine may be left.
func inBubble(t *testing.T, make func() *fake, serve http.HandlerFunc, test func(t *testing.T, d *Door, f *fake, client *http.Client)) {
	synctest.Test(t, func(t *testing.T) {
		f, front, back := make(), newWire(), newWire()
		server := &http.Server{Handler: serve}
		d, err := New(Options{Companion: f, Server: "http://server.example:11434", Recall: 6})
		if err != nil {
			t.Fatal(err)
		}
		d.straight.DialContext = back.dial
		door := &http.Server{Handler: d}
		var serving sync.WaitGroup
		serving.Go(func() { _ = server.Serve(back) })
		serving.Go(func() { _ = door.Serve(front) })
		client := &http.Client{Transport: &http.Transport{DialContext: front.dial}}
		test(t, d, f, client)
		client.CloseIdleConnections()
		_ = door.Close()
		d.Close(context.Background())
		_ = server.Close()
		serving.Wait()
	})
}

// said is what came back: the status, what was read, how that ended, and after what time.
type said struct {
	status int
	body   string
	end    error
	took   time.Duration
}

// says asks the door by HTTP and reads at most so many bytes of the answer; then, or
// after patience, it leaves.
func says(t *testing.T, client *http.Client, path, body string, most int64, patience time.Duration) said {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	began := time.Now()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(r)
	if err != nil {
		return said{end: err, took: time.Since(began)}
	}
	defer response.Body.Close()
	all, err := io.ReadAll(io.LimitReader(response.Body, most))
	return said{response.StatusCode, string(all), err, time.Since(began)}
}
