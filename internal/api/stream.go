package api

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// message is one line of the answer to long work: progress, a piece of what is said
// or a part of a file, and at the end either the report or the problem.
type message struct {
	Piece    string                `json:"piece,omitempty"`
	Part     *lifecycle.ExportPart `json:"part,omitempty"`
	Progress *lifecycle.Progress   `json:"progress,omitempty"`
	Report   json.RawMessage       `json:"report,omitempty"`
	Problem  *Problem              `json:"problem,omitempty"`
}

const (
	// progressEvery is the least pause between two lines of progress.
	progressEvery = 200 * time.Millisecond
	// lineTimeout is how long a client may take to read a line.
	lineTimeout = 30 * time.Second
)

// stream writes the lines of an answer.
type stream struct {
	mu      sync.Mutex
	w       http.ResponseWriter
	control *http.ResponseController
	last    time.Time
	failed  bool
}

func newStream(w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")
	control := http.NewResponseController(w)
	// The request has arrived whole. Its time limit would end the work: the
	// server reads on, to notice when the client leaves.
	_ = control.SetReadDeadline(time.Time{})
	return &stream{w: w, control: control}
}

// progress writes how far the work is, unless it did so just before.
func (s *stream) progress(p lifecycle.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); now.Sub(s.last) >= progressEvery || p.Done == p.Total {
		s.last = now
		s.write(message{Progress: &p})
	}
}

// end writes what came of the work.
func (s *stream) end(report any, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.write(message{Problem: problemOf(err)})
		return
	}
	raw, err := json.Marshal(report)
	if err != nil {
		s.write(message{Problem: problemOf(err)})
		return
	}
	s.write(message{Report: raw})
}

// write sends one line at once; after a failure the client is gone and the rest is
// moot.
func (s *stream) write(m message) {
	s.put(m)
	if !s.failed {
		s.failed = s.control.Flush() != nil
	}
}

// put adds one line, which may wait for others.
func (s *stream) put(m message) {
	if s.failed {
		return
	}
	line, err := json.Marshal(m)
	if err == nil {
		_ = s.control.SetWriteDeadline(time.Now().Add(lineTimeout)) // not every writer has one
		_, err = s.w.Write(append(line, '\n'))
	}
	s.failed = err != nil
}

// maxLine bounds one line of a stream: the longest note with every byte escaped.
const maxLine = 6*lifecycle.MaxNote + 64<<10

// errCut: a stream ended before it said how the work ended.
var errCut = errors.New("the daemon went away in the middle of the work; what was remembered stays remembered")

// follower takes what comes before the report; what it has nothing for is left out.
// An error of piece or part ends the following.
type follower struct {
	progress func(lifecycle.Progress)
	piece    func(string) error
	part     func(lifecycle.ExportPart) error
	// cut is the error of a stream that ends without a report, errCut where it is nil.
	cut error
}

// follow reads the lines of an answer until the report.
func (f follower) follow(body io.Reader, report any) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 4<<10), maxLine)
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return fmt.Errorf("the daemon answered something that is not JSON: %w", err)
		}
		var err error
		switch {
		case m.Problem != nil:
			return m.Problem
		case m.Report != nil:
			return json.Unmarshal(m.Report, report)
		case m.Piece != "" && f.piece != nil:
			err = f.piece(m.Piece)
		case m.Part != nil && f.part != nil:
			err = f.part(*m.Part)
		case m.Progress != nil && f.progress != nil:
			f.progress(*m.Progress)
		}
		if err != nil {
			return err
		}
	}
	cut := fmt.Errorf("%w: %w", ErrUnreachable, cmp.Or(f.cut, errCut))
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%w: %w", cut, err)
	}
	return cut
}
