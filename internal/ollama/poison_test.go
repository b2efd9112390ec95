package ollama

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/jivad/jivad/lifecycle"
)

// An entry that the model dies of is asked about a bounded number of times, and the
// others are judged, though it comes before them in the same session and the model dies
// of it there too.
func TestAnEntryThatTheModelDiesOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, st := inProcess(t, Options{})
		st.down = true
		c := judgedBy(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- c.Run(ctx) }()
		defer func() { cancel(); <-done }()
		for _, text := range []string{"Poison.", "A second plain entry.", "A third, plain as well."} {
			must[lifecycle.Receipt](t)(c.Write(t.Context(), lifecycle.Note{Text: text}))
		}
		asks := 0
		st.set(func() {
			st.down = false
			st.chat = func(_ int, w http.ResponseWriter, _ *http.Request, asked api.ChatRequest) {
				if len(asked.Messages) > 1 && strings.Contains(asked.Messages[1].Content, "Poison") {
					if _, entry, _ := strings.Cut(asked.Messages[1].Content, "The entry to judge"); strings.Contains(entry, "Poison") {
						asks++
					}
					fault(w, 500, "CUDA error: out of memory")
					return
				}
				answerWell(w, asked)
			}
		})
		time.Sleep(4 * time.Hour)
		synctest.Wait()
		m := must[lifecycle.Status](t)(c.Status(t.Context())).Model
		if m.Reassessed != 2 || m.Owed != 0 || m.GivenUp != 1 || asks != 5 || m.Away != "" {
			t.Errorf("%+v, asked %d times about the one", m, asks)
		}
	})
}
