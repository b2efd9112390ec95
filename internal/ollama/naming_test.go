package ollama

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/reactivation"
)

// Names that cannot be used close the asking for names, and nothing else.
func TestBadNamesKeepNothingElseWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, st := inProcess(t, Options{})
		st.chat = func(_ int, w http.ResponseWriter, _ *http.Request, asked api.ChatRequest) {
			say(w, asked, `{"name": "Dear Esmeralda"}`, "")
		}
		for range badInARow {
			if _, err := s.Name(t.Context(), []string{"river"}, nil); !errors.Is(err, lifecycle.ErrModelAnswer) {
				t.Fatal(err)
			}
		}
		if _, err := s.Name(t.Context(), []string{"river"}, nil); !errors.Is(err, lifecycle.ErrModelAway) {
			t.Errorf("names are asked for still: %v", err)
		}
		st.set(func() { st.chat = nil })
		if _, err := s.Assess(t.Context(), entry); err != nil || s.State().Away != "" {
			t.Errorf("%v, %+v", err, s.State())
		}
	})
}

// counted is a server that is asked for names only. It counts them, and can be said to
// have changed.
type counted struct {
	*Server
	names   atomic.Int64
	mu      sync.Mutex
	changed func(lifecycle.ModelState)
}

func (c *counted) Name(ctx context.Context, words, excerpts []string) (string, error) {
	c.names.Add(1)
	return c.Server.Name(ctx, words, excerpts)
}

func (c *counted) Assess(context.Context, lifecycle.Experience) (lifecycle.Assessment, error) {
	return lifecycle.Assessment{}, lifecycle.ErrModelAway
}

func (c *counted) Narrate(context.Context, string) (string, error) {
	return "", lifecycle.ErrModelAway
}

func (c *counted) Watch(_ context.Context, changed func(lifecycle.ModelState)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed = changed
}

// wake says that the model changed.
func (c *counted) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changed != nil {
		c.changed(c.State())
	}
}

// byLetters embeds by letters, and judges everything alike.
type byLetters struct{}

func (byLetters) ID() string { return "letters/1" }
func (byLetters) Dim() int   { return 32 }
func (byLetters) Embed(_ context.Context, text string) ([]float32, error) {
	v := make([]float32, 32)
	var sum float64
	for _, r := range strings.ToLower(text) {
		v[int(r)%32]++
	}
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v, nil
}

func (byLetters) Assess(context.Context, lifecycle.Experience) (fold.Judgement, error) {
	g, err := reactivation.NewGuna(0.3, 0.3, 0.4)
	return fold.Judgement{Assessor: "letters/1", Intensity: 0.5, Emotion: 0.2, Guna: g}, err
}

// A real server with the tiny model: what it calls a tendency stands in the tendency's
// words, or it is asked a few times and the built-in name stays. SOUL.md holds.
func TestRealServerNamesTendencies(t *testing.T) {
	r := startReal(t, t.TempDir(), "127.0.0.1:0")
	r.models(t)
	s := New(realOptions(r.url))
	defer s.Close()
	m := &counted{Server: s}
	var later atomic.Int64 // seconds
	c := must[*lifecycle.Companion](t)(lifecycle.Open(t.Context(), lifecycle.Options{
		Dir: t.TempDir(), Embedder: byLetters{}, Assessor: byLetters{}, Model: m, Location: time.UTC,
		Now: func() (time.Time, bool) { return time.Now().Add(time.Duration(later.Load()) * time.Second), true },
	}))
	defer c.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // looked at before
	var notes []lifecycle.Note
	for i := range 12 {
		notes = append(notes, lifecycle.Note{Text: fmt.Sprintf("The river and the slow walk, %d.", i), Date: fmt.Sprintf("1911-01-%02d", i+1)})
	}
	if _, err := c.Import(t.Context(), notes, nil); err != nil {
		t.Fatal(err)
	}
	list := must[[]lifecycle.Tendency](t)(c.Vasanas(t.Context()))
	if len(list) != 1 {
		t.Fatalf("%d tendencies", len(list))
	}
	if _, err := s.Name(t.Context(), []string{"river"}, nil); errors.Is(err, lifecycle.ErrModelAway) { // it is known from here on
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	defer func() { cancel(); <-done }()
	const most = 3
	for rounds := 60; rounds > 0; rounds-- {
		later.Add(1200)
		m.wake()
		time.Sleep(time.Second)
		if list = must[[]lifecycle.Tendency](t)(c.Vasanas(t.Context())); list[0].NamedBy != "" {
			break
		}
		if m.names.Load() >= most { // a few rounds more, in which it might be asked again
			rounds = min(rounds, 5)
		}
	}
	n := m.names.Load()
	t.Logf("asked %d times: %q by %q", n, list[0].Name, list[0].NamedBy)
	if n < 1 || n > most || list[0].NamedBy == "" && n != most || list[0].Name == "" {
		t.Errorf("asked %d times: %+v", n, list)
	}
	v, err := c.Verify(t.Context(), true, nil)
	if err != nil || !v.OK {
		t.Errorf("%+v, %v", v, err)
	}
}
