package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

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

// A watch tells of a change once. Where the store fails at it, it is tried again,
// and comes to the state of a diary that nothing disturbed.
func TestADiaryThatCouldNotBeTakenInIsTriedAgain(t *testing.T) {
	var text strings.Builder
	entries := map[string]bool{}
	for i := range 9 {
		entry := fmt.Sprintf("Entry %d of the rainy days, with tea.", i)
		entries[entry] = true
		fmt.Fprintf(&text, "# 2026-02-%02d\n\n%s\n\n", i+1, entry)
	}
	digests := map[int64]string{}
	for _, at := range []int64{-1, 1, 4} { // -1 never fails
		synctest.Test(t, func(t *testing.T) {
			left := &atomic.Int64{}
			left.Store(at)
			w := newWorld(t)
			w.opts.Embedder, w.opts.Diary = failsOnce{hashed{64}, entries, left}, filepath.Join(w.dir, "diary")
			if err := os.MkdirAll(w.opts.Diary, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(w.opts.Diary, "a.md"), []byte(text.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			c := w.live(t)
			paths, ended := make(chan string, 1), make(chan error, 1)
			go func() { ended <- c.TakeChanges(t.Context(), paths) }()
			paths <- "a.md"
			time.Sleep(10 * time.Second)
			if n := c.Impressions(); at > 0 && n == len(entries) {
				t.Errorf("failing at %d: all was taken in at once: the test shows nothing", at)
			}
			time.Sleep(time.Minute)
			close(paths)
			if err := <-ended; err == nil {
				t.Error("the watch ended without a word")
			}
			if n := c.Impressions(); n != len(entries) {
				t.Errorf("failing at %d: %d of %d entries after a minute", at, n, len(entries))
			}
			digests[at] = digestOf(t, c)
		})
	}
	if digests[1] != digests[-1] || digests[4] != digests[-1] {
		t.Errorf("states %v", digests)
	}
}
