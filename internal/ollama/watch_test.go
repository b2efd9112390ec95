package ollama

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/jivad/jivad/lifecycle"
)

// watched runs f in a bubble, with what Watch told so far.
func watched(t *testing.T, prepare func(*stub), f func(t *testing.T, s *Server, st *stub, told func() []lifecycle.ModelState)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, st := inProcess(t, Options{})
		prepare(st)
		ctx, cancel := context.WithCancel(t.Context())
		var all []lifecycle.ModelState
		s.Watch(ctx, func(m lifecycle.ModelState) { all = append(all, m) })
		f(t, s, st, func() []lifecycle.ModelState { synctest.Wait(); return all })
		cancel()
	})
}

func TestServerComesLater(t *testing.T) {
	watched(t, func(st *stub) { st.down = true }, func(t *testing.T, s *Server, st *stub, told func() []lifecycle.ModelState) {
		if all := told(); len(all) != 1 || all[0].Away == "" || all[0].Digest != "" || all[0].Next.IsZero() {
			t.Fatalf("%+v", all)
		}
		time.Sleep(60 * time.Second)
		st.set(func() { st.down = false })
		time.Sleep(awayEvery + 10*time.Second)
		all := told()
		if len(all) != 2 || all[1].Away != "" || all[1].Digest != digestA {
			t.Fatalf("%+v", all)
		}
		must[lifecycle.Assessment](t)(s.Assess(t.Context(), entry))
		if n := st.count("/api/chat"); n != 1 {
			t.Errorf("looking asked the model %d times", n-1)
		}
	})
}

func TestModelIsRemovedAndComesBackAsAnother(t *testing.T) {
	watched(t, func(*stub) {}, func(t *testing.T, s *Server, st *stub, told func() []lifecycle.ModelState) {
		if all := told(); len(all) != 1 || all[0].Digest != digestA {
			t.Fatalf("%+v", all)
		}
		st.set(func() { st.absent = true })
		if _, err := s.Assess(t.Context(), entry); !errors.Is(err, lifecycle.ErrModelAway) || !strings.Contains(err.Error(), "ollama pull") {
			t.Errorf("%v", err)
		}
		if all := told(); len(all) != 2 || all[1].Away == "" {
			t.Fatalf("what a question found out is not told: %+v", all)
		}
		st.set(func() { st.absent, st.digest = false, digestB })
		time.Sleep(lookEvery)
		all := told()
		if last := all[len(all)-1]; last.Away != "" || last.Digest != digestB {
			t.Fatalf("%+v", all)
		}
		if a := must[lifecycle.Assessment](t)(s.Assess(t.Context(), entry)); !strings.Contains(a.Judgement.Assessor, "@bbbbbbbbbbbb") {
			t.Errorf("judged by %s", a.Judgement.Assessor)
		}
	})
}

func TestAnotherModelUnderTheName(t *testing.T) {
	watched(t, func(*stub) {}, func(t *testing.T, s *Server, st *stub, told func() []lifecycle.ModelState) {
		e := must[*Embedder](t)(s.Embedder(t.Context()))
		if e.ID() != "ollama/"+embedModel+"@aaaaaaaaaaaa" || e.Dim() != dimension {
			t.Errorf("%s, %d", e.ID(), e.Dim())
		}
		told()
		// Also between two looks the store gets no vector of another.
		st.set(func() { st.digest = digestB })
		if _, err := e.Embed(t.Context(), "words"); !errors.Is(err, lifecycle.ErrModelAway) || !strings.Contains(err.Error(), "jivad reembed") {
			t.Errorf("the store gets a vector of another model: %v", err)
		}
		if state := e.State(); !strings.Contains(state.Away, "jivad reembed") {
			t.Errorf("%+v", state)
		}
		time.Sleep(lookEvery + time.Second)
		if all := told(); len(all) != 2 || all[1].Digest != digestB || all[1].Away != "" {
			t.Fatalf("%+v", all)
		}
		before := st.count("/api/embed")
		if _, err := e.Embed(t.Context(), "words"); !errors.Is(err, lifecycle.ErrModelAway) || st.count("/api/embed") != before {
			t.Errorf("the store gets vectors of another model: %v", err)
		}
		if other := must[*Embedder](t)(s.Embedder(t.Context())); other.ID() != "ollama/"+embedModel+"@bbbbbbbbbbbb" {
			t.Errorf("%s", other.ID())
		}
	})
}

// That there is memory again shows only where the model is loaded; looking at a list
// does not do.
func TestMemoryComesBack(t *testing.T) {
	full := func(_ int, w http.ResponseWriter, _ *http.Request, _ api.ChatRequest) {
		fault(w, 500, "model requires more system memory (5 GiB) than is available (2 GiB)")
	}
	watched(t, func(st *stub) { st.chat = full }, func(t *testing.T, s *Server, st *stub, told func() []lifecycle.ModelState) {
		if all := told(); len(all) != 1 || all[0].Away != "" {
			t.Fatalf("%+v", all)
		}
		if _, err := s.Assess(t.Context(), entry); !errors.Is(err, lifecycle.ErrModelAway) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		all := told()
		if len(all) != 2 || all[1].Away == "" {
			t.Fatalf("it came and went: %+v", all)
		}
		if n := st.count("/api/chat"); n > 20 {
			t.Errorf("%d requests in ten minutes", n)
		}
		st.set(func() { st.chat = nil })
		time.Sleep(lastPause)
		if all := told(); len(all) != 3 || all[2].Away != "" {
			t.Fatalf("%+v", all)
		}
		if req := st.last(); len(req.Messages) != 0 || req.KeepAlive.Duration <= 0 {
			t.Errorf("it was loaded by %+v", req)
		}
	})
}

// A server that is well is looked at once a minute, and nothing is told.
func TestWellIsQuiet(t *testing.T) {
	watched(t, func(*stub) {}, func(t *testing.T, s *Server, st *stub, told func() []lifecycle.ModelState) {
		time.Sleep(time.Hour)
		if all := told(); len(all) != 1 {
			t.Errorf("%+v", all)
		}
		if n := st.count("/api/tags"); n > 2*62 {
			t.Errorf("%d looks", n)
		}
		if n := st.count("/api/chat") + st.count("/api/embed"); n != 0 {
			t.Errorf("%d questions", n)
		}
	})
}
