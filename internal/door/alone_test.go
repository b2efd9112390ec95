package door

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"

	"github.com/jivad/jivad/lifecycle"
)

// nobody is an address at which nothing listens.
func nobody(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

func clientOf(t *testing.T, s *httptest.Server) *api.Client {
	t.Helper()
	base, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return api.NewClient(base, http.DefaultClient)
}

// Ollama's own client understands the companion where no server answers, none being
// set or none being there.
func TestAlone(t *testing.T) {
	for name, server := range map[string]string{"none set": "", "none there": nobody(t)} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			d, s := open(t, f, server)
			c, ctx := clientOf(t, s), t.Context()

			if err := c.Heartbeat(ctx); err != nil {
				t.Errorf("heartbeat: %v", err)
			}
			if v, err := c.Version(ctx); err != nil || v == "" {
				t.Errorf("version %q, %v", v, err)
			}
			models, err := c.List(ctx)
			if err != nil || len(models.Models) != 1 || models.Models[0].Name != "jivad:latest" || len(models.Models[0].Digest) != 64 || models.Models[0].ModifiedAt.IsZero() {
				t.Errorf("models %+v, %v", models, err)
			}
			for _, name := range []string{"jivad", "jivad:latest", "jivad:latest-nomemory"} {
				if info, err := c.Show(ctx, &api.ShowRequest{Model: name}); err != nil || len(info.Capabilities) != 1 || info.ModelInfo == nil {
					t.Errorf("show %s: %+v, %v", name, info, err)
				}
			}

			var pieces []string
			var last api.ChatResponse
			chat := &api.ChatRequest{Model: "qwen3:0.6b", Messages: []api.Message{{Role: "user", Content: "How was the week?"}}}
			err = c.Chat(ctx, chat, func(r api.ChatResponse) error {
				pieces, last = append(pieces, r.Message.Content), r
				return nil
			})
			if err != nil || strings.Join(pieces, "") != "You said: How was the week?" || len(pieces) < 4 {
				t.Errorf("chat %q, %v", pieces, err)
			}
			if !last.Done || last.DoneReason != "stop" || last.Model != "jivad" || last.Message.Role != "assistant" || last.CreatedAt.IsZero() {
				t.Errorf("the last piece is %+v", last)
			}
			if turn, want := f.turn(t), (lifecycle.Turn{Said: "How was the week?", Answered: "You said: How was the week?", By: "builtin-reflection/1", Source: "chat:door"}); !same(turn, want) {
				t.Errorf("remembered %+v, want %+v", turn, want)
			}

			whole, calls := false, 0
			err = c.Generate(ctx, &api.GenerateRequest{Model: "jivad", Prompt: "And today?", Stream: &whole}, func(r api.GenerateResponse) error {
				if calls++; r.Response != "You said: And today?" || !r.Done || r.Model != "jivad" {
					t.Errorf("generate %+v", r)
				}
				return nil
			})
			if err != nil || calls != 1 {
				t.Errorf("generate in one: %d pieces, %v", calls, err)
			}
			if turn := f.turn(t); turn.Said != "And today?" {
				t.Errorf("remembered %+v", turn)
			}

			reason := ""
			err = c.Generate(ctx, &api.GenerateRequest{Model: "jivad"}, func(r api.GenerateResponse) error { reason = r.DoneReason; return nil })
			if err != nil || reason != "load" {
				t.Errorf("load: %q, %v", reason, err)
			}
			reason = ""
			err = c.Chat(ctx, &api.ChatRequest{Model: "jivad"}, func(r api.ChatResponse) error { reason = r.DoneReason; return nil })
			if err != nil || reason != "load" {
				t.Errorf("load by chat: %q, %v", reason, err)
			}

			for what, try := range map[string]struct{ path, body string }{
				"another model": {"/api/show", `{"model":"qwen3:0.6b"}`},
				"embed":         {"/api/embed", `{"model":"e","input":"x"}`},
				"pull":          {"/api/pull", `{"model":"e"}`},
				"other":         {"/v1/chat/completions", `{}`},
				"off":           {"/api/chat", `{"model":"jivad:latest-nomemory","messages":[{"role":"user","content":"Hello"}]}`},
				"a schema":      {"/api/chat", `{"model":"jivad","format":{"type":"object"},"messages":[{"role":"user","content":"Hello"}]}`},
				"json":          {"/api/generate", `{"model":"jivad","format":"json","prompt":"Hello"}`},
				"code":          {"/api/generate", `{"model":"jivad","prompt":"func","suffix":"}"}`},
				"a chore":       {"/api/chat", `{"model":"jivad","messages":[{"role":"user","content":"### Task:\nx<chat_history>"}]}`},
				"a picture":     {"/api/chat", `{"model":"jivad","messages":[{"role":"user","images":["aGk="]}]}`},
			} {
				response, answer := post(t, s.URL+try.path, try.body)
				var told struct{ Error string }
				if response.StatusCode != http.StatusServiceUnavailable || json.Unmarshal([]byte(answer), &told) != nil || !strings.Contains(told.Error, "model.server") {
					t.Errorf("%s: %d %s", what, response.StatusCode, answer)
				}
			}
			settle(t, d, "chat", outcomeReflected)
			settle(t, d, "chat", outcomeUnavailable)
			d.Close(ctx)
			if turns := f.remembered(); len(turns) != 2 {
				t.Errorf("remembered %+v, want two turns", turns)
			}
		})
	}
}

// A server that comes is used at the next request.
func TestAServerThatComesIsUsed(t *testing.T) {
	address := nobody(t)
	f := newFake()
	_, s := open(t, f, address)
	const body = `{"model":"m","messages":[{"role":"user","content":"Hello"}]}`
	if _, answer := post(t, s.URL+"/api/chat", body); !strings.Contains(answer, `"model":"jivad"`) {
		t.Fatalf("answer %s", answer)
	}
	l, err := net.Listen("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Skip("the port is taken by somebody else meanwhile")
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, chatAnswer) })}
	go func() { _ = server.Serve(l) }()
	if _, answer := post(t, s.URL+"/api/chat", body); answer != chatAnswer {
		t.Errorf("answer %s", answer)
	}
	_ = server.Close()
	if _, answer := post(t, s.URL+"/api/chat", body); !strings.Contains(answer, `"model":"jivad"`) {
		t.Errorf("gone again: %s", answer)
	}
}

func TestHealthIsAnsweredHere(t *testing.T) {
	d, err := New(Options{Companion: newFake(), Health: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "health "+r.URL.Path)
	})})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close(t.Context())
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		w := httptest.NewRecorder()
		d.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Body.String() != "health "+path {
			t.Errorf("%s: %s", path, w.Body)
		}
	}
	w := httptest.NewRecorder()
	d.Refuse(w, httptest.NewRequest(http.MethodGet, "/api/tags", nil), http.StatusForbidden, "no")
	if w.Code != http.StatusForbidden || w.Body.String() != `{"error":"no"}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if got := d.Requests(); len(got) != 1 || got[0] != (Count{Endpoint: "tags", Outcome: outcomeRefused, N: 1}) {
		t.Errorf("counted %v", got)
	}
}
