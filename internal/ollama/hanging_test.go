package ollama

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// fixed is an embedder that is never away.
type fixed struct{}

func (fixed) ID() string { return "fixed/1" }
func (fixed) Dim() int   { return 64 }
func (fixed) Embed(_ context.Context, text string) ([]float32, error) {
	v := make([]float32, 64)
	v[len(text)%64] = 1
	return v, nil
}

// judgedBy is a companion that a server judges for, with the deadline of both.
func judgedBy(t *testing.T, s *Server) *lifecycle.Companion {
	t.Helper()
	c := must[*lifecycle.Companion](t)(lifecycle.Open(t.Context(), lifecycle.Options{
		Dir: t.TempDir(), Embedder: fixed{}, Assessor: evenJudge{}, Model: s, Deadline: s.o.Deadline, Location: time.UTC, Idle: 1000 * time.Hour,
	}))
	t.Cleanup(func() {
		if err := c.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return c
}

// A server that never answers is waited for a few times, by a clock that is real, and not
// by each entry.
func TestEntriesDoNotWaitForAServerThatHangs(t *testing.T) {
	st := newStub()
	st.chat = hang
	front := httptest.NewServer(st)
	defer front.Close()
	s := New(Options{Server: front.URL, Chat: chatModel, Deadline: 400 * time.Millisecond})
	defer s.Close()
	c := judgedBy(t, s)
	for i := range 3 * badInARow {
		must[lifecycle.Receipt](t)(c.Write(t.Context(), lifecycle.Note{Text: strings.Repeat("So it goes. ", i+1)}))
	}
	state := must[lifecycle.Status](t)(c.Status(t.Context())).Model
	if state.Away == "" || state.Fallbacks != 3*badInARow || state.Calls > 2*badInARow {
		t.Errorf("%+v", state)
	}
}
