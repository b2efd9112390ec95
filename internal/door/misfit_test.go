package door

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// misfits are requests with a value of a type that does not belong there.
var misfits = map[string][]string{
	"/api/generate": {
		`{"model":"m","prompt":"Hello","system":[1]}`,
		`{"model":"m","prompt":"Hello","system":{"a":"b"}}`,
		`{"model":"m","prompt":["Hello"],"images":["aGk="]}`,
		`{"model":5,"prompt":"Hello"}`,
		`{"model":"m","prompt":"Hello","raw":"yes"}`,
		`{"model":"m","prompt":"Hello","stream":"no"}`,
		`{"model":"m","prompt":"Hello","suffix":7}`,
		`{"model":"m","prompt":"Hello","images":"aGk="}`,
	},
	"/api/chat": {
		`{"model":"m","messages":[1,{"role":"user","content":"Hello"}]}`,
		`{"model":"m","messages":[{"role":"user","content":"Earlier"},{"role":"user","content":["Hello"]}]}`,
		`{"model":"m","messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":"a","thinking":[]}]}`,
		`{"model":"m","messages":{"role":"user","content":"Hello"}}`,
		`{"model":"m","messages":[{"role":7,"content":"Hello"}]}`,
		`{"model":["m"],"messages":[{"role":"user","content":"Hello"}]}`,
		`{"model":"m","stream":0,"messages":[{"role":"user","content":"Hello"}]}`,
	},
}

// They reach the server as they came, which says what is wrong with them; nothing is woven
// in, and nothing remembered. Without a server that is said here.
func TestWrongTypes(t *testing.T) {
	f := newFake()
	u := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":"json: cannot unmarshal"}`)
	})
	d, s := open(t, f, u.URL)
	alone, without := open(t, f, "")
	for path, bodies := range misfits {
		for _, body := range bodies {
			response, answer := post(t, s.URL+path, body)
			if _, got, _ := u.last(); got != body || response.StatusCode != http.StatusBadRequest || answer != `{"error":"json: cannot unmarshal"}` {
				t.Errorf("%s %s: %d %s, and the server got %s", path, body, response.StatusCode, answer, got)
			}
			var told struct{ Error string }
			if response, answer := post(t, without.URL+path, body); response.StatusCode != http.StatusBadRequest || json.Unmarshal([]byte(answer), &told) != nil || told.Error == "" {
				t.Errorf("%s %s without a server: %d %s", path, body, response.StatusCode, answer)
			}
		}
	}
	d.Close(t.Context())
	alone.Close(t.Context())
	if turns := f.remembered(); len(turns) > 0 || len(f.said) > 0 {
		t.Errorf("remembered %+v, recalled for %q", turns, f.said)
	}
	// What is null is not there, and no misfit.
	_, s = open(t, f, u.URL)
	post(t, s.URL+"/api/generate", `{"model":"m","prompt":"Hello","system":null,"images":null,"stream":null}`)
	if _, got, _ := u.last(); !strings.Contains(got, "recalls 6 of") {
		t.Errorf("with null: %s", got)
	}
}

// A server that sends early hints without end is given up, and none of them is passed on.
func TestEndlessEarlyHints(t *testing.T) {
	noLeak(t)
	f := newFake()
	u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		c, out, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		hint := "HTTP/1.1 103 Early Hints\r\nLink: </" + strings.Repeat("x", 1000) + ">; rel=preload\r\n\r\n"
		if r.URL.Path == "/api/tags" { // a few do no harm
			_, _ = fmt.Fprint(out, hint, hint, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
			_ = out.Flush()
			return
		}
		for range 64 << 10 {
			if _, err := out.WriteString(hint); err != nil {
				return
			}
		}
		_, _ = out.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
		_ = out.Flush()
	})
	d, s := open(t, f, u.URL)
	if response, answer := post(t, s.URL+"/api/tags", ""); response.StatusCode != http.StatusOK || answer != "{}" {
		t.Errorf("a few: %d %s", response.StatusCode, answer)
	}
	response, answer := post(t, s.URL+"/api/chat", hello)
	if response.StatusCode != http.StatusBadGateway || !strings.Contains(answer, "is no answer of an Ollama server") {
		t.Errorf("%d %s", response.StatusCode, answer)
	}
	settle(t, d, "chat", outcomeFailed)
	d.Close(t.Context())
	if turns := f.remembered(); len(turns) > 0 {
		t.Errorf("remembered %+v", turns)
	}
}

// The companion is told why it answers itself, and whether what was said is remembered.
func TestWhyItAnswersItself(t *testing.T) {
	for server, why := range map[string]lifecycle.Silence{"": lifecycle.NoModel, nobody(t): lifecycle.ModelAway} {
		f := newFake()
		_, s := open(t, f, server)
		for body, kept := range map[string]bool{
			hello: true,
			`{"model":"m","messages":[{"role":"user","content":"Rain?"},{"role":"tool","content":"yes"}]}`: false,
		} {
			post(t, s.URL+"/api/chat", body)
			f.mu.Lock()
			if f.silence != why || (f.fate == lifecycle.Becomes) != kept {
				t.Errorf("%s: it is told %q, %q", body, f.silence, f.fate)
			}
			f.mu.Unlock()
		}
	}
}
