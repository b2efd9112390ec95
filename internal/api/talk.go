package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// talk answers what somebody says: pieces of the answer as they come, and the
// report at the end. A client that leaves ends the answer; the turn is kept.
func (s *server) talk(w http.ResponseWriter, r *http.Request) {
	var q lifecycle.TalkRequest
	if err := read(w, r, &q); err != nil {
		refuse(w, err)
		return
	}
	out := newStream(w)
	// That a piece cannot be written means that the client left; then ctx ends, also
	// where the connection does not tell yet.
	ctx, left := context.WithCancel(r.Context())
	defer left()
	report, err := s.companion.Talk(ctx, q, func(piece string) error {
		if !out.piece(piece) {
			left()
		}
		return ctx.Err()
	})
	out.end(report, err)
}

// piece writes a part of an answer at once, and tells whether that went well.
func (s *stream) piece(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(message{Piece: text})
	return !s.failed
}

// farewell is how long somebody who stopped an answer waits to hear what became of
// the turn. Only tests change it.
var farewell = 5 * time.Second

// Talk says something to the companion and gives each piece of the answer to emit
// as it comes. An error of emit ends the answer; the daemon keeps the turn. So does
// the end of ctx; then the report still comes, or the error that kept the turn from
// being remembered. Where neither came the error is ctx's.
func (c *Client) Talk(ctx context.Context, r lifecycle.TalkRequest, emit func(piece string) error) (lifecycle.TalkReport, error) {
	var report lifecycle.TalkReport
	body, err := json.Marshal(r)
	if err != nil || ctx.Err() != nil {
		return report, cmp.Or(err, ctx.Err())
	}
	asking, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	line := &line{}
	stopped := context.AfterFunc(ctx, func() {
		line.stop()
		time.AfterFunc(farewell, giveUp)
	})
	defer stopped()
	own := c.anew() // a connection that was stopped is good for nothing else
	defer own.http.CloseIdleConnections()
	heard := follower{piece: func(piece string) error {
		if ctx.Err() != nil {
			return nil
		}
		return emit(piece)
	}}
	err = own.ask(line.trace(asking), http.MethodPost, "talk", "application/json", bytes.NewReader(body), func(answer io.Reader) error {
		return heard.follow(answer, &report)
	})
	if err != nil && asking.Err() != nil {
		return report, ctx.Err()
	}
	return report, err
}

// line is a connection on which somebody may say no more and go on listening: the
// daemon takes that for leaving, and answers to the end.
type line struct {
	mu            sync.Mutex
	conn          net.Conn
	sent, stopped bool
}

// trace has a request tell of its connection.
func (l *line) trace(ctx context.Context) context.Context {
	note := func(f func()) {
		l.mu.Lock()
		defer l.mu.Unlock()
		f()
		l.close()
	}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:      func(i httptrace.GotConnInfo) { note(func() { l.conn = i.Conn }) },
		WroteRequest: func(httptrace.WroteRequestInfo) { note(func() { l.sent = true }) },
	})
}

func (l *line) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	l.close()
}

// close ends what is sent, once the request is whole. The caller holds mu.
func (l *line) close() {
	if c, ok := l.conn.(interface{ CloseWrite() error }); ok && l.sent && l.stopped {
		_ = c.CloseWrite() // where the daemon is gone that is told by what is read
	}
}
