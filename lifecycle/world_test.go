package lifecycle_test

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/reactivation"
)

// hashed is an embedder of words by their hashes: quick, and good enough for
// everything that is not about meaning. The real one is tested on real diaries.
type hashed struct{ dim int }

func (h hashed) ID() string { return "hashed/1" }
func (h hashed) Dim() int   { return h.dim }
func (h hashed) Embed(ctx context.Context, text string) ([]float32, error) {
	v := make([]float64, h.dim)
	v[0] = 0.5
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
	for _, w := range words {
		f := fnv.New64a()
		f.Write([]byte(w))
		s := f.Sum64()
		v[s%uint64(h.dim)] += 1 - 2*float64(s>>63)
	}
	var n float64
	for _, x := range v {
		n += x * x
	}
	out := make([]float32, h.dim)
	for i, x := range v {
		out[i] = float32(x / math.Sqrt(n))
	}
	return out, ctx.Err()
}

// plainJudge judges by the length of the text, so that judgements differ.
type plainJudge struct{}

func (plainJudge) ID() string { return "plain/1" }
func (plainJudge) Assess(_ context.Context, e lifecycle.Experience) (fold.Judgement, error) {
	x := float64(len(e.Text)%17) / 17
	g, err := reactivation.NewGuna(0.2+x, 0.5, 1-x)
	return fold.Judgement{Assessor: "plain/1", Intensity: 0.3 + x/2, Emotion: x, Guna: g, Valence: x - 0.5}, err
}

// wallClock is a clock that a test sets.
type wallClock struct {
	mu    sync.Mutex
	now   time.Time
	start time.Time
	ran   time.Duration
}

// set has time pass until t; jump sets the clock alone.
func (c *wallClock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ran += t.Sub(c.now)
	c.now = t
}
func (c *wallClock) jump(t time.Time) { c.mu.Lock(); defer c.mu.Unlock(); c.now = t }
func (c *wallClock) running() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ran + time.Since(c.start)
}
func (c *wallClock) read() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now, true
}

func at(s string) time.Time {
	t, err := time.ParseInLocation("2006-01-02 15:04", s, time.UTC)
	if err != nil {
		panic(err)
	}
	return t
}

type world struct {
	dir   string
	clock *wallClock
	opts  lifecycle.Options
	// open are the companions that were opened.
	open []*lifecycle.Companion
}

func newWorld(t testing.TB) *world {
	w := &world{dir: t.TempDir(), clock: &wallClock{now: at("2026-03-10 08:00"), start: time.Now()}}
	w.opts = lifecycle.Options{
		Dir: w.dir, Embedder: hashed{64}, Assessor: plainJudge{}, Location: time.UTC, Now: w.clock.read, Running: w.clock.running, SnapshotEvery: 20,
	}
	return w
}

// live opens the companion; it is checked and closed when the test ends.
func (w *world) live(t testing.TB) *lifecycle.Companion {
	t.Helper()
	c, err := lifecycle.Open(t.Context(), w.opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.end(t, c) })
	w.open = append(w.open, c)
	return c
}

// end checks the companion and closes it; it may be called more than once.
func (w *world) end(t testing.TB, c *lifecycle.Companion) {
	t.Helper()
	if _, err := c.Status(context.Background()); err == nil {
		r, err := c.Verify(context.Background(), true, nil)
		if err != nil && !errors.Is(err, chitta.ErrClosed) {
			t.Errorf("verify: %v", err)
		}
		for _, k := range r.Checks {
			if !k.OK {
				t.Errorf("verify %s: %s", k.Name, k.Detail)
			}
		}
	}
	if err := c.Close(context.Background()); err != nil {
		t.Errorf("close: %v", err)
	}
}

func (w *world) write(t testing.TB, c *lifecycle.Companion, text string) lifecycle.Receipt {
	t.Helper()
	r, err := c.Write(t.Context(), lifecycle.Note{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func digestOf(t testing.TB, c *lifecycle.Companion) string {
	t.Helper()
	s, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.StateDigest
}

// shared finds a file of the shared data, or skips the test.
func shared(t testing.TB, path ...string) string {
	t.Helper()
	root := os.Getenv("JIVAD_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "shared")
	}
	full := filepath.Join(append([]string{root}, path...)...)
	if _, err := os.Stat(full); errors.Is(err, os.ErrNotExist) {
		t.Skipf("skipped: the shared data is not here (%s)", full)
	}
	return full
}
