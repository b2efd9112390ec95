package lifecycle_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// What neither holds the words nor resembles the query more than entries
// resemble each other is not called close.
func TestRecallSaysWhatIsClose(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	for i := range 12 {
		w.write(t, c, fmt.Sprintf("Walked along the river to the old bridge, day %d.", i))
	}
	w.write(t, c, "Toothache.")
	ask := func(text string) []lifecycle.Recalled {
		hits, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		return hits
	}
	if hits := ask("toothache"); len(hits) == 0 || !hits[0].Close || !hits[0].Phrase {
		t.Errorf("%+v", hits)
	}
	if hits := ask("the old bridge by the river"); len(hits) == 0 || !hits[0].Close {
		t.Errorf("%+v", hits)
	}
	for _, h := range ask("qwfp zxcd") {
		if h.Close {
			t.Errorf("%+v", h)
		}
	}
	for _, q := range []lifecycle.RecallQuery{{Text: "x", From: "May"}, {Text: "x", To: "2024-5"}, {Text: "x", From: "2024-06", To: "2024-05-31"}, {Text: "x", From: "2025", To: "2024-05"}} {
		if _, err := c.Recall(t.Context(), q); !errors.Is(err, lifecycle.ErrQuery) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	for _, q := range []lifecycle.RecallQuery{{Text: "x", From: "2024-06", To: "2024"}, {Text: "x", From: "2024", To: "2024"}} {
		if _, err := c.Recall(t.Context(), q); err != nil {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// Checking leaves a companion as it is found.
func TestLookOnlyChangesNothing(t *testing.T) {
	w := newWorld(t)
	w.opts.KeepOpen = true
	c := w.live(t)
	w.write(t, c, "Walked along the river.")
	w.end(t, c)
	soul := filepath.Join(w.opts.Dir, "SOUL.md")
	if err := os.Remove(soul); err != nil {
		t.Fatal(err)
	}
	w.clock.set(at("2026-03-14 08:00")) // the session is of an earlier day
	w.opts.LookOnly = true
	w.opts.Params.Gate.KBase++
	c = w.live(t)
	s, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r, err := c.Verify(t.Context(), true, nil); err != nil || !r.OK {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := c.Doctor(t.Context()); err != nil {
		t.Error(err)
	}
	w.end(t, c)
	if _, err := os.Stat(soul); err == nil {
		t.Error("SOUL.md was written")
	}
	c = w.live(t)
	if again, err := c.Status(t.Context()); err != nil || again.Events != s.Events || again.Session == nil {
		t.Errorf("%+v, before %+v, %v", again, s, err)
	}
}

func TestCategoriesOfConsent(t *testing.T) {
	for _, name := range append(lifecycle.Categories(), "", lifecycle.DefaultCategory) {
		if err := lifecycle.CheckCategory(name); err != nil {
			t.Error(err)
		}
	}
	if err := lifecycle.CheckCategory("Health"); !errors.Is(err, lifecycle.ErrCategory) || !strings.Contains(err.Error(), "health") {
		t.Error(err)
	}
}
