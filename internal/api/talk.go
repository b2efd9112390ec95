package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

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

// Talk says something to the companion and gives each piece of the answer to emit
// as it comes. An error of emit, or the end of ctx, ends the answer; the daemon
// keeps the turn.
func (c *Client) Talk(ctx context.Context, r lifecycle.TalkRequest, emit func(piece string) error) (lifecycle.TalkReport, error) {
	var report lifecycle.TalkReport
	body, err := json.Marshal(r)
	if err != nil {
		return report, err
	}
	err = c.ask(ctx, http.MethodPost, "talk", "application/json", bytes.NewReader(body), func(answer io.Reader) error {
		err := hear(answer, emit, &report)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	})
	return report, err
}

// hear reads the pieces of an answer until the report.
func hear(answer io.Reader, emit func(piece string) error, report *lifecycle.TalkReport) error {
	lines := bufio.NewScanner(answer)
	lines.Buffer(make([]byte, 0, 4<<10), maxLine)
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return fmt.Errorf("the daemon answered something that is not JSON: %w", err)
		}
		switch {
		case m.Problem != nil:
			return m.Problem
		case m.Report != nil:
			return json.Unmarshal(m.Report, report)
		case m.Piece != "":
			if err := emit(m.Piece); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, errors.Join(errCut, lines.Err()))
}
