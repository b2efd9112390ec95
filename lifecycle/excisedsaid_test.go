package lifecycle_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/lifecycle/tools"
)

// echoing is a model that repeats the rules that it is told of, in all that it says.
type echoing struct{ scripted }

func (m *echoing) Chat(ctx context.Context, messages []lifecycle.ChatMessage, offers []tools.Offer, emit func(string) error) (lifecycle.ChatEnd, error) {
	const rule = "tool search, argument way: prefer zigzagwise"
	if strings.Contains(messages[0].Content, rule) {
		return lifecycle.ChatEnd{}, emit("I was told: " + rule + ".")
	}
	return m.scripted.Chat(ctx, messages, offers, emit)
}

func (m *echoing) Assess(ctx context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
	a, err := m.scripted.Assess(ctx, e)
	if strings.Contains(e.Soul, "zigzagwise") {
		a.Gist, a.Reason = "One prefers zigzagwise.", "It is zigzagwise."
	}
	return a, err
}

// holding are the files of a data folder that hold some words, but for the manifest.
func holding(t *testing.T, w *world, words string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == lifecycle.ManifestFile {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(words)) {
			out = append(out, d.Name())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What a model said that knew the rules of an excised life goes with them, as with what is
// forgotten (D-24): its answers since, and what it said of entries. Answers of before stay.
func TestExcisionReachesWhatWasSaid(t *testing.T) {
	w := newWorld(t)
	m := &echoing{scripted{wise: wise{digest: digestA}}}
	w.opts.Model = m
	w.opts.Retention = lifecycle.Retention{"communications": lifecycle.KeepFull, "behavioural": lifecycle.KeepFull}
	c := w.lived(t)
	asked(t, c, "Where is it?")
	endAndRate := func() {
		t.Helper()
		if _, err := c.EndSession(t.Context()); err != nil {
			t.Fatal(err)
		}
		until(t, func() bool {
			l, err := c.Rate(t.Context(), 0, 1)
			return err == nil && l.Obligation.Status == lives.Met
		})
	}
	endAndRate()
	if r := asked(t, c, "And where is the other one?"); !strings.Contains(r.Answer, "zigzagwise") {
		t.Fatalf("%+v", r)
	}
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.write(t, c, "I go on by myself.")
	if held := holding(t, w, "It is zigzagwise."); len(held) == 0 {
		t.Fatal("nothing was said of an entry")
	}
	r, err := c.ExciseLives(t.Context(), lifecycle.ExcisionRequest{Lives: []string{"1"}})
	if err != nil || len(r.Files) > 0 || r.Elsewhere > 0 {
		t.Errorf("%+v %v", r, err)
	}
	if held := holding(t, w, "zigzagwise"); len(held) > 0 {
		t.Errorf("it is still in %q", held)
	}
	for _, stays := range []string{"It is there.", "And where is the other one?", "I go on by myself."} {
		if held := holding(t, w, stays); !slices.Contains(held, "chitta.db") {
			t.Errorf("%q is gone: %q", stays, held)
		}
	}
}

// As long as the SOUL.md of before an excision could not be replaced, models are told the one
// of after it.
func TestTheOldSoulIsToldToNobody(t *testing.T) {
	w := newWorld(t)
	m := &echoing{scripted{wise: wise{digest: digestA}}}
	w.opts.Model = m
	w.opts.SoulPath = filepath.Join(t.TempDir(), "SOUL.md")
	c := w.lived(t)
	asked(t, c, "Where is it?")
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool {
		l, err := c.Rate(t.Context(), 0, 1)
		return err == nil && l.Obligation.Status == lives.Met
	})
	if err := os.Remove(w.opts.SoulPath); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(w.opts.SoulPath, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ExciseLives(t.Context(), lifecycle.ExcisionRequest{Lives: []string{"1"}}); err == nil {
		t.Fatal("SOUL.md was replaced")
	}
	told, err := c.Weave(t.Context(), "And now?", 0)
	if err != nil || !strings.Contains(told.System, "SOUL.md") || strings.Contains(told.System, "zigzagwise") {
		t.Errorf("%v\n%s", err, told.System)
	}
}
