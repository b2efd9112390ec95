package ollama

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/jivad/jivad/lifecycle"
)

// A server that has too much to do to talk is not kept from embedding: what is written
// meanwhile is not refused.
func TestTooMuchToTalkEmbedsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, st := inProcess(t, Options{})
		st.chat = func(_ int, w http.ResponseWriter, _ *http.Request, _ api.ChatRequest) { fault(w, 503, "server busy") }
		e := must[*Embedder](t)(s.Embedder(t.Context()))
		if _, err := s.Chat(t.Context(), hello, nil, nothing); !errors.Is(err, lifecycle.ErrModelAway) {
			t.Fatal(err)
		}
		if s.State().Away == "" || e.State().Away != "" {
			t.Errorf("%+v, %+v", s.State(), e.State())
		}
		must[[]float32](t)(e.Embed(t.Context(), "words"))
	})
}

// Talks that break off close talking, and that is told though judging goes on.
func TestTalksThatBreakOffAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, st := inProcess(t, Options{})
		st.chat = func(_ int, w http.ResponseWriter, _ *http.Request, asked api.ChatRequest) {
			if len(asked.Format) > 0 {
				answerWell(w, asked)
				return
			}
			line(w, api.ChatResponse{Message: api.Message{Role: "assistant", Content: "I remember"}})
		}
		for range badInARow {
			if _, err := s.Chat(t.Context(), hello, nil, nothing); !errors.Is(err, lifecycle.ErrModelAnswer) {
				t.Fatal(err)
			}
		}
		if _, err := s.Chat(t.Context(), hello, nil, nothing); !errors.Is(err, lifecycle.ErrModelAway) {
			t.Errorf("%v", err)
		}
		must[lifecycle.Assessment](t)(s.Assess(t.Context(), entry))
		state := s.State()
		if state.Away != "" || state.Failures != badInARow || len(state.Closed) != 1 || state.Closed[0].What != "talking" || state.Closed[0].Why == "" || state.Closed[0].Next.IsZero() {
			t.Errorf("%+v", state)
		}
		st.set(func() { st.chat = nil })
		time.Sleep(lastPause)
		if _, err := s.Chat(t.Context(), hello, nil, nothing); err != nil || len(s.State().Closed) > 0 {
			t.Errorf("%v, %+v", err, s.State())
		}
	})
}
