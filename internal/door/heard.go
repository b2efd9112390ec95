package door

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

const (
	// maxAnswer is how much of an answer is kept, maxLine how long a line of it may
	// be to be understood; both in bytes.
	maxAnswer = 64 << 10
	maxLine   = 1 << 20
)

// heard is an answer that is listened to as it passes.
type heard struct {
	io.ReadCloser
	exchange *exchange
	line     []byte
	// long says that the line was too long to keep.
	long   bool
	answer strings.Builder
	// done: the server said that this was all. failed: it said that it failed.
	done, failed bool
	// cut says that the server ended it: whole as far as HTTP goes, or broken off while the
	// client was still there.
	cut    bool
	closed bool
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	e := h.exchange
	h.take(p[:n])
	h.cut = h.cut || errors.Is(err, io.EOF) || err != nil && e.client.Err() == nil && !e.w.failed.Load()
	if errors.Is(err, io.EOF) {
		// An answer that does not stream may be one line without an end; one that
		// was too long to keep is taken for whole.
		h.done = h.done || h.long
		h.understand()
	}
	return n, err
}

// take looks for ends of lines.
func (h *heard) take(p []byte) {
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		part := p
		if i >= 0 {
			part = p[:i]
		}
		if h.long = h.long || len(h.line)+len(part) > maxLine; !h.long {
			h.line = append(h.line, part...)
		}
		if i < 0 {
			return
		}
		h.understand()
		h.long, p = false, p[i+1:]
	}
}

// understand reads the line that is there.
func (h *heard) understand() {
	var piece struct {
		Message  struct{ Content string }
		Response string
		Done     bool
		Error    string
	}
	if len(h.line) > 0 && json.Unmarshal(h.line, &piece) == nil {
		h.keep(piece.Message.Content + piece.Response)
		h.done = h.done || piece.Done
		h.failed = h.failed || piece.Error != ""
	}
	h.line = h.line[:0]
}

func (h *heard) keep(s string) {
	room := maxAnswer - h.answer.Len()
	if len(s) > room {
		for room > 0 && !utf8.RuneStart(s[room]) {
			room--
		}
		s = s[:room]
	}
	h.answer.WriteString(s)
}

// Close is the end of the answer, or of those who listen to it.
func (h *heard) Close() error {
	err := h.ReadCloser.Close()
	if h.closed {
		return err
	}
	h.closed = true
	e := h.exchange
	left := !h.done && !h.cut && (e.client.Err() != nil || e.w.failed.Load())
	switch {
	case h.failed:
		e.outcome = outcomeFailed
		return err
	case left:
		e.outcome = outcomeLeft
	case !h.done:
		e.outcome = outcomeFailed
	}
	if e.turn != nil && (h.done || left && h.answer.Len() > 0) {
		e.turn.Answered = h.answer.String()
		e.door.turns.add(*e.turn)
	}
	return err
}
