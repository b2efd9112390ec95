package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	ollama "github.com/ollama/ollama/api"

	"github.com/jivad/jivad/internal/api"
	"github.com/jivad/jivad/internal/builtin"
	"github.com/jivad/jivad/internal/config"
	"github.com/jivad/jivad/lifecycle"
)

const judgement = `{"intensity":40,"novelty":70,"emotion":55,"match":50,"tamas":50,"rajas":25,"sattva":25,"valence":-30,` +
	`"category":"health","gist":"A tooth ached all day.","reason":"pain"}`

// scripted is a model server that answers as it is told, and well when it is told
// nothing. It counts what it was asked.
type scripted struct {
	mu     sync.Mutex
	says   []string
	digest string
	asked  int
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	write := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	switch r.URL.Path {
	case "/api/tags":
		write(ollama.ListResponse{Models: []ollama.ListModelResponse{{Name: "m:latest", Model: "m:latest", Digest: s.digest}}})
	case "/api/show":
		write(map[string]any{"capabilities": []string{"completion"}})
	case "/api/chat":
		var asked ollama.ChatRequest
		_ = json.NewDecoder(r.Body).Decode(&asked)
		s.asked++
		says := judgement
		switch {
		case !strings.Contains(string(asked.Format), `"intensity"`):
			says = `{"narrative": "it rained.", "name": "rain"}`
		case len(s.says) > 0:
			says, s.says = s.says[0], s.says[1:]
		}
		write(ollama.ChatResponse{Message: ollama.Message{Role: "assistant", Content: says}, Done: true, DoneReason: "stop"})
	default:
		http.NotFound(w, r)
	}
}

// line writes one line of an answer at once.
func line(w http.ResponseWriter, r ollama.ChatResponse) {
	_ = json.NewEncoder(w).Encode(r)
	_ = http.NewResponseController(w).Flush()
}

// scraped is what /metrics tells, the samples without labels.
func scraped(t *testing.T, h http.Handler) map[string]float64 {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	out := map[string]float64{}
	for lines := bufio.NewScanner(w.Result().Body); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), " "); ok && name != "#" {
			x, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			out[name] = x
		}
	}
	return out
}

// Fallbacks, repairs, failures and judgements made again are counted one by one.
func TestWhatAModelDoesIsCounted(t *testing.T) {
	server := &scripted{digest: strings.Repeat("ab", 32)}
	at := httptest.NewServer(server)
	defer at.Close()
	embedder, err := builtin.NewEmbedder(builtin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	assessor, err := builtin.NewAssessor()
	if err != nil {
		t.Fatal(err)
	}
	o := lifecycle.Options{Dir: t.TempDir(), Embedder: embedder, Assessor: assessor, KeepOpen: true}
	if err := withModels(&o, config.Model{Server: at.URL, Chat: "m", Deadline: time.Minute, Context: 4096}); err != nil {
		t.Fatal(err)
	}
	c, err := lifecycle.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }()
	metrics := api.NewProbes(c, api.OfMeters(c.Meters))
	sees := func(when string, want map[string]float64) {
		t.Helper()
		got := scraped(t, metrics)
		for name, x := range want {
			if v, ok := got[name]; !ok || v != x {
				t.Errorf("%s: %s is %v, %v; want %v", when, name, v, ok, x)
			}
		}
	}
	write := func(text string, says ...string) {
		t.Helper()
		server.mu.Lock()
		server.says = says
		server.mu.Unlock()
		if _, err := c.Write(t.Context(), lifecycle.Note{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	const prose = "What a lovely entry! I would say it is intense."
	write("The first thing that was written on that day.")
	sees("a good answer", map[string]float64{"jivad_model_up": 1, "jivad_model_calls_total": 1, "jivad_model_repairs_total": 0, "jivad_model_failures_total": 0, "jivad_model_fallbacks_total": 0, "jivad_model_owed": 0})
	write("The second thing that was written on that day.", prose, judgement)
	sees("a repaired one", map[string]float64{"jivad_model_calls_total": 3, "jivad_model_repairs_total": 1, "jivad_model_failures_total": 0, "jivad_model_fallbacks_total": 0, "jivad_model_owed": 0})
	write("The third thing that was written on that day.", prose, prose)
	sees("one that is no use", map[string]float64{"jivad_model_calls_total": 5, "jivad_model_repairs_total": 2, "jivad_model_failures_total": 1, "jivad_model_fallbacks_total": 1, "jivad_model_owed": 1})
	var notes []lifecycle.Note
	for i := range 3 {
		notes = append(notes, lifecycle.Note{Text: fmt.Sprintf("Day %d on the ice, and the ponies are tired.", i), Date: fmt.Sprintf("1911-05-%02d", i+1)})
	}
	if _, err := c.Import(t.Context(), notes, nil); err != nil {
		t.Fatal(err)
	}
	sees("history, of which it is not asked", map[string]float64{"jivad_model_calls_total": 5, "jivad_model_fallbacks_total": 4, "jivad_model_owed": 4, "jivad_model_reassessed_total": 0, "jivad_entry_seconds_count": 6})

	done := make(chan error, 1)
	running, stop := context.WithCancel(t.Context())
	go func() { done <- c.Run(running) }()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for deadline := time.After(patience); scraped(t, metrics)["jivad_model_reassessed_total"] < 4; {
		select {
		case <-deadline:
			t.Fatal("entries were not judged again")
		case err := <-done:
			t.Fatalf("the daemon ended: %v", err)
		case <-again.C:
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	sees("judged again", map[string]float64{
		"jivad_model_reassessed_total": 4, "jivad_model_given_up_total": 0, "jivad_model_fallbacks_total": 4, "jivad_model_repairs_total": 2,
		"jivad_model_failures_total": 1, "jivad_model_calls_total": float64(server.asked), "jivad_model_owed": 0, "jivad_entry_seconds_count": 6,
	})
}
