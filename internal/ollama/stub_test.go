package ollama

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ollama/ollama/api"
)

const (
	chatModel  = "talker"
	embedModel = "embedder:latest"
	digestA    = "aaaaaaaaaaaa0123456789aaaaaaaaaaaa0123456789aaaaaaaaaaaa0123456789aa"
	digestB    = "bbbbbbbbbbbb0123456789bbbbbbbbbbbb0123456789bbbbbbbbbbbb0123456789bb"
	dimension  = 128
)

// stub is a server that answers well, until a test says otherwise.
type stub struct {
	mu     sync.Mutex
	down   bool // connections are refused (in-process only)
	digest string
	absent bool // the models are
	thinks bool
	uses   bool // tools
	remote bool
	// chat and embed answer instead of it where they are set; n counts requests from 1.
	chat, embed func(n int, w http.ResponseWriter, r *http.Request, asked api.ChatRequest)
	counts      map[string]int
	asked       []api.ChatRequest // the last few
}

func newStub() *stub { return &stub{digest: digestA, counts: map[string]int{}} }

func (s *stub) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *stub) count(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[path]
}

// last is the last chat request.
func (s *stub) last() api.ChatRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[len(s.asked)-1]
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var asked api.ChatRequest
	_ = json.Unmarshal(body, &asked) // embed requests have its model too
	s.mu.Lock()
	s.counts[r.URL.Path]++
	n := s.counts[r.URL.Path]
	if r.URL.Path == "/api/chat" {
		s.asked = append(s.asked[max(0, len(s.asked)-3):], asked)
	}
	chat, embed, digest, absent, thinks, uses, remote := s.chat, s.embed, s.digest, s.absent, s.thinks, s.uses, s.remote
	s.mu.Unlock()
	switch {
	case r.URL.Path == "/api/tags":
		list := api.ListResponse{Models: []api.ListModelResponse{}}
		for _, name := range []string{chatModel + ":latest", embedModel} {
			m := api.ListModelResponse{Name: name, Model: name, Digest: digest}
			if remote {
				m.RemoteHost = "https://somewhere.example:443"
			}
			if !absent {
				list.Models = append(list.Models, m)
			}
		}
		reply(w, list)
	case absent:
		fault(w, 404, "model '"+asked.Model+"' not found")
	case r.URL.Path == "/api/show":
		show := map[string]any{"capabilities": []string{"completion"}}
		if thinks {
			show["capabilities"] = []string{"completion", "thinking"}
		}
		if uses {
			show["capabilities"] = []string{"completion", "tools"}
		}
		reply(w, show)
	case r.URL.Path == "/api/chat" && chat != nil:
		chat(n, w, r, asked)
	case r.URL.Path == "/api/chat":
		answerWell(w, asked)
	case r.URL.Path == "/api/embed" && embed != nil:
		embed(n, w, r, asked)
	case r.URL.Path == "/api/embed":
		reply(w, api.EmbedResponse{Model: embedModel, Embeddings: [][]float32{unitVector(dimension)}})
	default:
		http.NotFound(w, r)
	}
}

func unitVector(dim int) []float32 {
	v := make([]float32, dim)
	v[dim/2] = 1
	return v
}

// goodContent is a good answer to what was asked.
func goodContent(asked api.ChatRequest) string {
	switch {
	case len(asked.Messages) == 0:
		return ""
	case strings.Contains(string(asked.Format), `"intensity"`):
		return goodAnswer
	case strings.Contains(string(asked.Format), `"narrative"`):
		return `{"narrative": "There were 12 entries, most of them about the river."}`
	case strings.Contains(string(asked.Format), `"rules"`):
		return `{"rules": [{"exemplar": 1, "guidance": "tool fare, argument way: indexed, in order"}]}`
	case strings.Contains(string(asked.Format), `"name"`):
		return `{"name": "walking by the river"}`
	}
	return "I remember the river."
}

func answerWell(w http.ResponseWriter, asked api.ChatRequest) { say(w, asked, goodContent(asked), "") }

// say answers with content and thinking, in one piece or in words.
func say(w http.ResponseWriter, asked api.ChatRequest, content, thinking string) {
	if asked.Stream == nil || *asked.Stream {
		for _, word := range strings.SplitAfter(content, " ") {
			line(w, api.ChatResponse{Message: api.Message{Role: "assistant", Content: word}})
		}
		content = ""
	}
	end := api.ChatResponse{Message: api.Message{Role: "assistant", Content: content, Thinking: thinking}, Done: true, DoneReason: "stop"}
	end.EvalCount = 7
	line(w, end)
}

func line(w http.ResponseWriter, r api.ChatResponse) {
	b, _ := json.Marshal(r)
	_, _ = w.Write(append(b, '\n'))
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

func reply(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }

func fault(w http.ResponseWriter, status int, message string) {
	w.WriteHeader(status)
	reply(w, map[string]string{"error": message})
}

// RoundTrip serves a request without a network, for tests whose clock is not real.
func (s *stub) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	down := s.down
	s.mu.Unlock()
	if down {
		return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	rec := httptest.NewRecorder()
	s.ServeHTTP(rec, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return rec.Result(), nil
}

// inProcess is a Server before a stub, without a network.
func inProcess(t testing.TB, o Options) (*Server, *stub) {
	t.Helper()
	st := newStub()
	o.Server, o.Chat, o.Embed = "http://stub.example:11434", chatModel, embedModel
	o.HTTP = &http.Client{Transport: st}
	if o.Deadline == 0 {
		o.Deadline = 10 * time.Second
	}
	return New(o), st
}

var errTest = errors.New("a fault that the test made")

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
