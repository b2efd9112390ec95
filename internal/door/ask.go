package door

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// object is a JSON object with its members in order, so that what is not touched
// goes on as it came.
type object []member

type member struct {
	key   string
	value json.RawMessage
}

// parseObject takes an object apart; nil is what is none. What follows it is left out:
// the server does not look at it either.
func parseObject(body []byte) object {
	d := json.NewDecoder(bytes.NewReader(body))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	out := object{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil
		}
		key, ok := t.(string)
		if !ok {
			return nil
		}
		m := member{key: key}
		if d.Decode(&m.value) != nil {
			return nil
		}
		out = append(out, m)
	}
	if _, err := d.Token(); err != nil {
		return nil
	}
	return out
}

// find gives the place of a member, or -1. As in the server, letters may be small or
// not, and the last of a name counts.
func (o object) find(key string) int {
	for i := len(o) - 1; i >= 0; i-- {
		if strings.EqualFold(o[i].key, key) {
			return i
		}
	}
	return -1
}

// get reads a member; one that is missing, or of another kind, leaves value alone.
func (o object) get(key string, value any) {
	if i := o.find(key); i >= 0 {
		_ = json.Unmarshal(o[i].value, value)
	}
}

func (o object) text(key string) (s string) { o.get(key, &s); return s }

// set puts a member in the place of the one of that name, or at the end.
func (o *object) set(key string, value json.RawMessage) {
	if i := o.find(key); i >= 0 {
		(*o)[i].value = value
		return
	}
	*o = append(*o, member{key, value})
}

// remove takes all members of a name out.
func (o *object) remove(key string) {
	*o = slices.DeleteFunc(*o, func(m member) bool { return strings.EqualFold(m.key, key) })
}

func (o object) bytes() []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(quoted(m.key))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// quoted is a text in JSON.
func quoted(s string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text can always be
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

var (
	// noMemory at the end of a model's name, or before its tag, asks for the model without
	// memory. It can stand in a tag, so that every client takes it for a name.
	noMemory = regexp.MustCompile(`(?i)\s*-nomemory\s*(:|$)`)
	// perhaps is what else may be meant so: then there is no memory either, and the name
	// stays as it is.
	perhaps = regexp.MustCompile(`(?i)no[-_\s]?memory`)
)

// withoutMemory takes the suffix off a model's name; off says that it, or what may be
// meant for it, was there.
func withoutMemory(name string) (model string, off bool) {
	if !perhaps.MatchString(name) {
		return name, false
	}
	if model = noMemory.ReplaceAllString(name, "$1"); model != name {
		model = strings.TrimSpace(model)
	}
	return model, true
}

// ask is a request that was read.
type ask struct {
	body []byte
	// object is the body taken apart, nil where it is no object.
	object object
	// model is its name without the suffix; off says that it had it.
	model string
	off   bool
}

// take reads the body of a request, and takes the suffix off the model's name. The share
// of memory that it has is given back by release. Where it is not ok the client was told.
func (e *exchange) take(r *http.Request) (ok bool) {
	var body bytes.Buffer
	in := http.MaxBytesReader(e.w.ResponseWriter, r.Body, maxBody)
	for piece := make([]byte, 32<<10); ; {
		next := time.Now().Add(chunkTimeout)
		if last := e.came.Add(bodyTimeout); last.Before(next) {
			next = last
		}
		_ = e.w.control.SetReadDeadline(next) // not every writer has one
		n, err := in.Read(piece)
		body.Write(piece[:n])
		if !e.hold(n) {
			e.refuse(http.StatusServiceUnavailable, "too many large requests at a time; try again")
			return false
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			e.badBody(err)
			return false
		}
	}
	_ = e.w.control.SetReadDeadline(time.Time{}) // else it would end the answer
	e.ask.body = body.Bytes()
	e.ask.object = parseObject(e.ask.body)
	for _, key := range []string{"model", "name"} { // the name that clients of old use
		full := e.ask.object.text(key)
		model, off := withoutMemory(full)
		e.ask.off = e.ask.off || off
		if model != full {
			e.ask.object.set(key, quoted(model))
			e.ask.body = e.ask.object.bytes()
		}
		if e.ask.model == "" {
			e.ask.model = model
		}
	}
	return true
}

// hold takes a share of the memory for n more bytes, and tells whether there was one.
func (e *exchange) hold(n int) bool {
	within := max(0, min(n, smallBody-e.held))
	e.held += n
	small, large := e.door.small.Add(int64(within)), e.door.held.Add(int64(n-within))
	return small <= heldSmall && (n == within || large <= heldBodies)
}

// release gives the share of the memory back.
func (e *exchange) release() {
	within := min(e.held, smallBody)
	e.door.small.Add(int64(-within))
	e.door.held.Add(int64(within - e.held))
	e.held = 0
}

// handed is a body on its way to the server. It lets go of it at its end.
type handed struct {
	mu   sync.Mutex
	rest []byte
}

func (h *handed) Read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := copy(p, h.rest)
	if h.rest = h.rest[n:]; len(h.rest) > 0 {
		return n, nil
	}
	h.rest = nil
	return n, io.EOF
}

func (h *handed) Close() error { return nil }

// done tells whether all of it was read.
func (h *handed) done() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rest == nil
}

// body is what is sent to the server, once more where that is tried again.
func (e *exchange) body() io.ReadCloser {
	e.sent = &handed{rest: e.ask.body}
	return e.sent
}

// handedOn lets go of the request once the server has it.
func (e *exchange) handedOn() {
	if e.sent != nil && e.sent.done() {
		e.ask.body, e.ask.object, e.talk.messages = nil, nil, nil
		e.release()
	}
}

// badBody tells a client that its request could not be read.
func (e *exchange) badBody(err error) {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		e.refuse(http.StatusRequestEntityTooLarge, "the request is too large: it may have 32 MB")
		return
	}
	e.refuse(http.StatusBadRequest, "the request did not arrive whole")
}
