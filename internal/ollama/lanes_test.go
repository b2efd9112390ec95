package ollama

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"

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
		if _, err := s.Chat(t.Context(), hello, nothing); !errors.Is(err, lifecycle.ErrModelAway) {
			t.Fatal(err)
		}
		if s.State().Away == "" || e.State().Away != "" {
			t.Errorf("%+v, %+v", s.State(), e.State())
		}
		must[[]float32](t)(e.Embed(t.Context(), "words"))
	})
}
