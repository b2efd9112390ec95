package lifecycle_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// failsOnce cannot embed the identity one time: the end of a session fails.
type failsOnce struct {
	hashed
	entries map[string]bool
	left    *atomic.Int64
}

var errOnce = errors.New("the disk had a bad moment")

func (e failsOnce) Embed(ctx context.Context, text string) ([]float32, error) {
	if !e.entries[strings.TrimSpace(text)] && e.left.Add(-1) == 0 {
		return nil, errOnce
	}
	return e.hashed.Embed(ctx, text)
}

// An import that fails in the midst remembers nothing of the days behind: run
// again, it comes to the same state as one that nothing disturbed.
func TestABrokenImportGoesOnWhereItBroke(t *testing.T) {
	list := days(12)
	want := digestOf(t, imported(t, newWorld(t), list))
	entries := map[string]bool{}
	for _, n := range list {
		entries[n.Text] = true
	}
	for _, at := range []int64{1, 2, 5, 9} {
		left := &atomic.Int64{}
		left.Store(at)
		w := newWorld(t)
		w.opts.Embedder = failsOnce{hashed{64}, entries, left}
		c := w.live(t)
		if _, err := c.Import(t.Context(), list, nil); !errors.Is(err, errOnce) {
			t.Fatalf("failing at %d: %v", at, err)
		}
		w.end(t, c)
		if n := lastDay(t, w, list); n {
			t.Errorf("failing at %d: the last day was remembered before those in the midst", at)
		}
		c = w.live(t)
		if _, err := c.Import(t.Context(), list, nil); err != nil {
			t.Fatal(err)
		}
		if digestOf(t, c) != want {
			t.Errorf("failing at %d, and run again: another state", at)
		}
	}
}

// lastDay tells whether the last entry of a list is remembered.
func lastDay(t *testing.T, w *world, list []lifecycle.Note) bool {
	t.Helper()
	c := w.live(t)
	defer w.end(t, c)
	last := list[len(list)-1]
	plan, err := c.PlanForget(t.Context(), lifecycle.ForgetQuery{From: last.Date})
	if err != nil {
		t.Fatal(err)
	}
	return len(plan.Entries) > 0
}
