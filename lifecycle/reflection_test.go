package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// Without a model a person is reminded of what was written, and not of what was asked.
func TestQuestionsAreNotMemories(t *testing.T) {
	w := newWorld(t)
	w.opts.Retention = lifecycle.Retention{"communications": lifecycle.KeepFull}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w.opts.Now = func() (time.Time, bool) { return now, true }
	w.opts.Running = func() time.Duration { return time.Duration(now.UnixNano()) }
	c := w.live(t)
	ask := func(said string) lifecycle.TalkReport {
		t.Helper()
		r, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: said}, nothing)
		if err != nil {
			t.Fatal(err)
		}
		now = now.Add(24 * time.Hour)
		return r
	}
	ask("How was the walk by the river?")
	if r := ask("How was the walk by the river then?"); !strings.Contains(r.Answer, "brings nothing back. What you said is kept.") || len(r.Recalled) != 0 {
		t.Errorf("a question alone: %q, %+v", r.Answer, r.Recalled)
	}
	ask("My sister walked by the river.")
	if r := ask("Who walked by the river?"); !strings.Contains(r.Answer, "On 2026-03-03 you said to me: “My sister walked by the river.”") || strings.Contains(r.Answer, "How was") {
		t.Errorf("what was said before: %q", r.Answer)
	}
	for i := range 40 {
		ask(fmt.Sprintf("Who walked by the river on day %d?", i))
	}
	w.write(t, c, "A slow walk by the river, and the heron again.")
	for _, said := range []string{"Who walked by the river?", "A slow walk by the river, was it?"} {
		r := ask(said)
		if !strings.Contains(r.Answer, "you wrote: “A slow walk by the river") || strings.Contains(r.Answer, "said to me") || len(r.Recalled) != 1 {
			t.Errorf("%s %q, %+v", said, r.Answer, r.Recalled)
		}
	}
}

// Which it is, no model, one that is away, slow or of no use, is said.
func TestWhyNoModelAnswers(t *testing.T) {
	for want, m := range map[lifecycle.Silence]*speaking{
		lifecycle.NoModel:       nil,
		lifecycle.ModelAway:     {fails: fmt.Errorf("%w: refused", lifecycle.ErrModelAway)},
		lifecycle.ModelUnusable: {fails: fmt.Errorf("%w: it says nothing", lifecycle.ErrModelAnswer)},
		lifecycle.ModelLate:     {fails: fmt.Errorf("%w: it had not answered", lifecycle.ErrModelAnswer)},
	} {
		w := newWorld(t)
		if m != nil {
			w.opts.Model = m
		}
		if want == lifecycle.ModelLate {
			w.opts.Deadline = 1 // any time is longer
		}
		r, err := w.live(t).Talk(t.Context(), lifecycle.TalkRequest{Said: "Are you there?"}, nothing)
		if err != nil || !strings.HasPrefix(r.Answer, string(want)) || r.By != lifecycle.ByReflection {
			t.Errorf("%s: %+v, %v", want, r, err)
		}
	}
}

// What is said to be kept is kept before it is said.
func TestKeptBeforeItIsSaid(t *testing.T) {
	c := newWorld(t).live(t)
	_, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: "Are you there?"}, func(piece string) error {
		if s, err := c.Status(t.Context()); err != nil || s.Entries != 1 || !strings.Contains(piece, "What you said is kept.") {
			t.Errorf("%d entries, %v at %q", s.Entries, err, piece)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
