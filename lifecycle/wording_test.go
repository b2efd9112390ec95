package lifecycle_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/lives"
)

// wording is a model that words rules in eight seconds, and what it says of them.
type wording struct {
	speaking
	words   func(e distil.Exemplar) string
	repairs uint64 // of each answer

	proposed, ended, given, repaired atomic.Int64
}

func (m *wording) Propose(ctx context.Context, task distil.Task) (out []distil.Proposal, err error) {
	m.proposed.Add(1)
	m.repaired.Add(int64(m.repairs))
	select {
	case <-time.After(8 * time.Second):
	case <-ctx.Done():
		m.ended.Add(1)
		return nil, ctx.Err()
	}
	m.given.Add(1)
	for _, e := range task.Exemplars {
		out = append(out, distil.Proposal{Key: e.Key, Exemplar: e.Ref, Guidance: m.words(e)})
	}
	return out, nil
}

func (m *wording) State() lifecycle.ModelState {
	s := m.speaking.State()
	s.Repairs = uint64(m.repaired.Load())
	return s
}

// worded is a companion whose model words the rules of a life that did something, from
// which the person is gone already.
func worded(t *testing.T, m *wording) *lifecycle.Companion {
	t.Helper()
	m.pieces = []string{"Yes."}
	m.digest = strings.Repeat("ab", 32)
	w := newWorld(t)
	w.opts.Model, w.opts.Deadline = m, time.Minute
	w.opts.Now = func() (time.Time, bool) { return time.Now(), true }
	c := w.lived(t)
	run(t, c)
	w.write(t, c, "I look for the way.")
	act(t, c, "zigzagwise")
	act(t, c, "straight")
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// The wording of rules is left off as soon as somebody talks, and is asked for again after
// that: it is no failed try.
func TestWordingRulesGivesWayToATalk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &wording{words: func(e distil.Exemplar) string { return e.Scope + ": " + e.Choice + " as its value" }}
		c := worded(t, m)
		time.Sleep(3 * time.Second)
		if m.proposed.Load() != 1 {
			t.Fatalf("asked %d times", m.proposed.Load())
		}
		over := c.Talking()
		time.Sleep(time.Minute)
		if m.ended.Load() != 1 || m.proposed.Load() != 1 {
			t.Errorf("during a talk it was asked %d times, and left off %d times", m.proposed.Load(), m.ended.Load())
		}
		over()
		time.Sleep(time.Minute)
		if m.given.Load() != 2 {
			t.Errorf("after it, it answered %d times", m.given.Load())
		}
		if l, err := c.Rate(t.Context(), 1, 1); err != nil || l.Obligation.Status != lives.Met {
			t.Fatalf("%+v, %v", l, err)
		}
		if text, err := c.RenderLineage(t.Context(), ""); err != nil || !strings.Contains(text.Text, "zigzagwise as its value") {
			t.Errorf("%q, %v", text, err)
		}
	})
}

// For each of the two judgements that a life may get its rules are asked for twice at most,
// with what was repaired.
func TestWordingRulesIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &wording{words: func(distil.Exemplar) string { return "You must obey." }}
		c := worded(t, m)
		time.Sleep(5 * time.Minute)
		if n := m.proposed.Load(); n != 4 {
			t.Errorf("what cannot be used was asked for %d times", n)
		}
		l, err := c.Rate(t.Context(), 1, 1)
		if err != nil || l.Obligation.Status != lives.Met {
			t.Fatalf("%+v, %v", l, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		m := &wording{words: func(distil.Exemplar) string { return "You must obey." }, repairs: 1}
		worded(t, m)
		time.Sleep(5 * time.Minute)
		if n := m.proposed.Load() + m.repaired.Load(); n != 4 {
			t.Errorf("with what was repaired it was asked %d times", n)
		}
	})
}

// A model is told that what a tool gave was cut.
func TestAModelIsToldOfACut(t *testing.T) {
	w := newWorld(t)
	w.opts.Lives = true
	text := `
[[grants]]
capability = "exec"
[[tools]]
name = "much"
description = "Gives much."
consequence = "low"
[tools.exec]
argv = ["/usr/bin/seq", "1000"]
output_limit = 100
[[tools]]
name = "little"
description = "Gives little."
consequence = "low"
[tools.exec]
argv = ["/usr/bin/seq", "3"]
`
	if err := os.WriteFile(filepath.Join(w.dir, lifecycle.ManifestFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &wise{digest: strings.Repeat("ab", 32)}
	w.opts.Model = m
	c := w.live(t)
	c.Offers(t.Context())
	const cut = "the tool gave more than it may"
	if text, act := c.ActFor(t.Context(), "wise:1", lifecycle.ChatCall{Tool: "much"}); !act.OK || !strings.HasPrefix(text, "1\n2\n") || !strings.Contains(text, cut) {
		t.Errorf("%q, %+v", text, act)
	}
	if text, act := c.ActFor(t.Context(), "wise:1", lifecycle.ChatCall{Tool: "little"}); !act.OK || strings.Contains(text, cut) {
		t.Errorf("%q, %+v", text, act)
	}
}
