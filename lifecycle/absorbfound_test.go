package lifecycle_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/lives"
)

// mature is a companion that may be absorbed as soon as it is allowed: of four lives, whose
// entries a model found to be of a category.
func mature(t *testing.T, w *world, found, gist string, write func(c *lifecycle.Companion, n int)) *lifecycle.Companion {
	t.Helper()
	m := &wise{digest: "d1"}
	m.answer = func(_ context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
		a := verdict(e)
		a.Category, a.Gist = found, gist
		return a, nil
	}
	w.opts.Model = m
	c := w.lived(t)
	for n := 1; n <= 4; n++ {
		write(c, n)
		act(t, c, "zigzagwise")
		if _, err := c.EndSession(t.Context()); err != nil {
			t.Fatal(err)
		}
		until(t, func() bool {
			l, err := c.Rate(t.Context(), 0, 1)
			return err == nil && l.Obligation.Status == lives.Met
		})
	}
	return c
}

// An entry is exported only where training is allowed, and reading, of what the person set
// and of what a model found it to be of.
func TestAbsorbAsksForWhatWasFound(t *testing.T) {
	w := newWorld(t)
	c := mature(t, w, "health", "Pain told briefly.", func(c *lifecycle.Companion, n int) {
		w.write(t, c, fmt.Sprintf("Day %d of a long aching back again.", n))
	})
	w.says(t, c, "*.training=allow", "health.training=allow", "health.storage=allow", "health.access=allow")
	for _, step := range []struct {
		says   string
		allows bool
	}{
		{"health.training=allow", true},
		{"health.training=deny", false},
		{"health.training=allow", true},
		{"health.access=deny", false},
		{"health.access=allow", true},
		{"behavioural.access=deny", false},
		{"behavioural.access=allow", true},
		{"behavioural.training=deny", false},
		{"behavioural.training=allow", true},
		{"health.storage=ask", false},
	} {
		w.says(t, c, step.says)
		out, err := c.Absorb(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if told := strings.Contains(string(out.Data), "Pain"); told != step.allows || step.allows != (out.Gists == 4) || out.Rules == 0 {
			t.Errorf("%s: %+v\n%s", step.says, out, out.Data)
		}
		if !step.allows && step.says != "health.storage=ask" && out.Withheld != 4 {
			t.Errorf("%s: %+v", step.says, out)
		}
	}
}

// A rule that has a name of the manifest, which may be younger than it, is not exported.
func TestAbsorbLeavesOutRulesWithNames(t *testing.T) {
	w := newWorld(t)
	c := mature(t, w, "behavioural", "Calm work.", func(c *lifecycle.Companion, n int) {
		w.write(t, c, fmt.Sprintf("Day %d of work.", n))
	})
	w.says(t, c, "*.training=allow")
	before, err := c.Absorb(t.Context())
	if err != nil || !strings.Contains(string(before.Data), "zigzagwise") {
		t.Fatalf("%+v %v", before, err)
	}
	named := searching + "[distillation]\nnames = [\"Zigzagwise\"]\n"
	if err := os.WriteFile(filepath.Join(w.dir, lifecycle.ManifestFile), []byte(named), 0o600); err != nil {
		t.Fatal(err)
	}
	after, err := c.Absorb(t.Context())
	if err != nil || strings.Contains(string(after.Data), "zigzagwise") || after.Leaked != before.Leaked+1 || after.Rules != before.Rules-1 {
		t.Errorf("%+v %v\n%s", after, err, after.Data)
	}
}
