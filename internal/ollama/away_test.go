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

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/reactivation"
)

const recorded = "ollama/" + embedModel + "@aaaaaaaaaaaa"

// The embedder of a store is known without asking anybody; that of another store is
// not, and embeds nothing.
func TestEmbedderOfAStore(t *testing.T) {
	s, st := inProcess(t, Options{})
	st.down = true
	e := s.EmbedderFor(recorded, dimension)
	if e.ID() != recorded || e.Dim() != dimension || e.State().Away != "" || e.State().Digest != "" {
		t.Errorf("%s, %d, %+v", e.ID(), e.Dim(), e.State())
	}
	if _, err := e.Embed(t.Context(), "words"); !errors.Is(err, lifecycle.ErrModelAway) || e.State().Away == "" {
		t.Errorf("%v, %+v", err, e.State())
	}
	for name, of := range map[string]struct {
		id  string
		dim int
	}{
		"another name":   {"ollama/embedder:2@aaaaaaaaaaaa", dimension},
		"the built-in":   {"builtin-use-gram/1", 512},
		"nothing":        {"none", 0},
		"no dimension":   {recorded, 0},
		"too many":       {recorded, mostDim + 1},
		"no digest mark": {"ollama/" + embedModel, dimension},
	} {
		e := s.EmbedderFor(of.id, of.dim)
		if e.ID() != "ollama/"+embedModel || e.Dim() != 0 {
			t.Errorf("%s: %s, %d", name, e.ID(), e.Dim())
		}
		if _, err := e.Embed(t.Context(), "words"); !errors.Is(err, lifecycle.ErrModelAway) {
			t.Errorf("%s: %v", name, err)
		}
	}
	st.set(func() { st.down = false })
	s, st = inProcess(t, Options{})
	st.digest = "short" // the server tells no digest
	if e := must[*Embedder](t)(s.Embedder(t.Context())); e.ID() != "ollama/"+embedModel+"@unknown" {
		t.Errorf("%s", e.ID())
	}
	e = s.EmbedderFor("ollama/"+embedModel+"@unknown", dimension)
	if v, err := e.Embed(t.Context(), "words"); err != nil || len(v) != dimension || e.ID() != "ollama/"+embedModel+"@unknown" {
		t.Errorf("%d, %v", len(v), err)
	}
}

// A server that has too much to do is found out once, one that hangs a few times; then the
// answer is "away" at once.
func TestEmbeddingDoesNotWaitTwice(t *testing.T) {
	busy := func(_ int, w http.ResponseWriter, _ *http.Request, _ api.ChatRequest) { fault(w, 503, "busy") }
	t.Run("busy", func(t *testing.T) { waitsFor(t, busy, 1, lifecycle.ErrModelAway, 0) })
	t.Run("hangs", func(t *testing.T) { waitsFor(t, hang, badInARow, lifecycle.ErrModelAnswer, badInARow*10*time.Second) })
}

// waitsFor sees that a server which does wrong is asked so often, with that error and for
// so long, and not once more.
func waitsFor(t *testing.T, wrong func(int, http.ResponseWriter, *http.Request, api.ChatRequest), times int, kind error, long time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		s, st := inProcess(t, Options{Deadline: 10 * time.Second})
		st.embed = wrong
		e := s.EmbedderFor(recorded, dimension)
		first := time.Now()
		for range times {
			if _, err := e.Embed(t.Context(), "words"); !errors.Is(err, kind) {
				t.Fatal(err)
			}
		}
		if time.Since(first) != long || st.count("/api/embed") != times || e.State().Away == "" {
			t.Errorf("after %v and %d requests: %+v", time.Since(first), st.count("/api/embed"), e.State())
		}
		began, asked := time.Now(), st.count("/api/embed")
		for range 100 {
			if _, err := e.Embed(t.Context(), "words"); !errors.Is(err, lifecycle.ErrModelAway) {
				t.Fatal(err)
			}
		}
		if time.Since(began) != 0 || st.count("/api/embed") != asked {
			t.Errorf("a hundred answers took %v and %d requests", time.Since(began), st.count("/api/embed")-asked)
		}
	})
}

// evenJudge judges everything alike.
type evenJudge struct{}

func (evenJudge) ID() string { return "even/1" }
func (evenJudge) Assess(context.Context, lifecycle.Experience) (fold.Judgement, error) {
	g, err := reactivation.NewGuna(0.3, 0.3, 0.4)
	return fold.Judgement{Assessor: "even/1", Intensity: 0.5, Emotion: 0.5, Guna: g}, err
}

// companionOf is a companion whose embedder is at a server.
func companionOf(t *testing.T, s *Server, dir string) (*lifecycle.Companion, error) {
	t.Helper()
	return lifecycle.Open(t.Context(), lifecycle.Options{
		Dir: dir, Assessor: evenJudge{}, Location: time.UTC, Workers: 1, Idle: 1000 * time.Hour,
		EmbedderFor: func(ctx context.Context, id string, dim int) (lifecycle.Embedder, error) {
			if id == "" {
				return s.Embedder(ctx)
			}
			return s.EmbedderFor(id, dim), nil
		},
	})
}

// The companion is there before its server, and all the same when that comes a minute
// later, loses the model, has another under the name, and the right one again. Nobody
// starts anything anew.
func TestTheServerComesAfterTheCompanion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, st := inProcess(t, Options{})
		dir := t.TempDir()
		st.down = true
		if _, err := companionOf(t, s, dir); !errors.Is(err, lifecycle.ErrModelAway) {
			t.Fatalf("a new store without the server: %v", err)
		}
		s, _ = inProcess(t, Options{})
		c := must[*lifecycle.Companion](t)(companionOf(t, s, dir))
		must[lifecycle.Receipt](t)(c.Write(t.Context(), lifecycle.Note{Text: "Before."}))
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}

		s, st = inProcess(t, Options{})
		st.down = true
		c = must[*lifecycle.Companion](t)(companionOf(t, s, dir))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		is := func(what, away string) {
			t.Helper()
			synctest.Wait()
			status := must[lifecycle.Status](t)(c.Status(t.Context()))
			if status.Embedder != recorded || status.Dim != dimension || (away == "") != (status.EmbedderState.Away == "") || !strings.Contains(status.EmbedderState.Away, away) {
				t.Errorf("%s: %s, %+v", what, status.Embedder, status.EmbedderState)
			}
			asked := st.count("/api/embed")
			_, err := c.Write(t.Context(), lifecycle.Note{Text: "While it is so: " + what})
			if away == "" && err != nil || away != "" && (!errors.Is(err, lifecycle.ErrEmbedderAway) || !strings.Contains(err.Error(), away) || st.count("/api/embed") != asked) {
				t.Errorf("%s: %v, %d requests", what, err, st.count("/api/embed")-asked)
			}
		}
		is("before the server", "nothing answers there")
		time.Sleep(60 * time.Second)
		st.set(func() { st.down = false })
		time.Sleep(awayEvery + time.Second)
		is("a minute later", "")
		st.set(func() { st.absent = true })
		time.Sleep(lookEvery + time.Second)
		is("the model is removed", "ollama pull")
		st.set(func() { st.absent, st.digest = false, digestB })
		time.Sleep(lookEvery + time.Second)
		is("another has its name", "jivad reembed")
		st.set(func() { st.digest = digestA })
		time.Sleep(lookEvery + time.Second)
		is("the right one again", "")
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if status := must[lifecycle.Status](t)(c.Status(t.Context())); status.Entries != 3 {
			t.Errorf("%d entries", status.Entries)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// The same with a real server, which is stopped and started.
func TestRealServerComesAfterTheCompanion(t *testing.T) {
	dir, store := t.TempDir(), t.TempDir()
	r := startReal(t, dir, "127.0.0.1:0")
	r.create(t, realEmbed, "glove-sif-20k-q8.gguf")
	o := realOptions(r.url)
	o.Chat = ""
	s := New(o)
	c := must[*lifecycle.Companion](t)(companionOf(t, s, store))
	must[lifecycle.Receipt](t)(c.Write(t.Context(), lifecycle.Note{Text: "A walk by the river."}))
	id := must[lifecycle.Status](t)(c.Status(t.Context())).Embedder
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Close()
	r.stop()

	s = New(o)
	defer s.Close()
	c = must[*lifecycle.Companion](t)(companionOf(t, s, store))
	defer func() {
		if err := c.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	wait := func(what string, away bool) {
		t.Helper()
		for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
			status := must[lifecycle.Status](t)(c.Status(t.Context()))
			if m := status.EmbedderState; (m.Away != "") == away && (away || m.Digest != "") && status.Embedder == id {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s: not in two minutes", what)
			}
		}
	}
	wait("before the server", true)
	if _, err := c.Write(t.Context(), lifecycle.Note{Text: "Too early."}); !errors.Is(err, lifecycle.ErrEmbedderAway) {
		t.Errorf("%v", err)
	}
	if hits, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: "river"}); err != nil || len(hits) != 1 {
		t.Errorf("%+v, %v", hits, err)
	}
	r = startReal(t, dir, strings.TrimPrefix(r.url, "http://"))
	wait("started", false)
	must[lifecycle.Receipt](t)(c.Write(t.Context(), lifecycle.Note{Text: "In time."}))
	if err := r.client.Delete(t.Context(), &api.DeleteRequest{Model: realEmbed}); err != nil {
		t.Fatal(err)
	}
	wait("removed", true)
	r.create(t, realEmbed, "glove-sif-20k-q8.gguf")
	wait("made again", false)
	must[lifecycle.Receipt](t)(c.Write(t.Context(), lifecycle.Note{Text: "And again."}))
}
