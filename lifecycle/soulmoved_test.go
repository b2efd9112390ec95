package lifecycle_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/soul"
)

// What a life taught is in SOUL.md of its own session as soon as it is judged, a rule that
// is contested by it among what is unresolved; it is the same version, and the same when
// written again, also after a start, and after one that a crash kept from being written.
func TestSoulHasWhatWasLearnedLast(t *testing.T) {
	w := newWorld(t)
	c := w.lived(t)
	w.write(t, c, "I look for the way.")
	act(t, c, "zigzagwise")
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, versions := soulOf(t, w), versionsOf(t, c)
	if l, err := c.Rate(t.Context(), 1, 1); err != nil || l.Obligation.Status != lives.Met { // afterwards
		t.Fatalf("%+v %v", l, err)
	}
	first := soulOf(t, w)
	learned(t, first, 1, "tool search, argument way: prefer zigzagwise", "Nothing.")
	if n := versionsOf(t, c); n != versions {
		t.Errorf("%d versions were %d", n, versions)
	}
	asWritten(t, c)
	w.end(t, c)
	if err := os.WriteFile(filepath.Join(w.dir, "SOUL.md"), []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	c = w.live(t)
	if s, err := c.Status(t.Context()); err != nil || soulOf(t, w) != first || strings.Contains(strings.Join(s.Problems, " "), "edited") {
		t.Errorf("%q, %v", s.Problems, err)
	}

	w.write(t, c, "Another day of looking.")
	act(t, c, "straight")
	if _, err := c.Rate(t.Context(), 0, -1); err != nil { // while it is lived
		t.Fatal(err)
	}
	if soulOf(t, w) != first {
		t.Error("SOUL.md was written while a session is open")
	}
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	learned(t, soulOf(t, w), 2, "", ", or not?")
	asWritten(t, c)
}

func versionsOf(t *testing.T, c *lifecycle.Companion) int {
	t.Helper()
	list, err := c.SoulVersions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// learned sees that SOUL.md of a session names a rule, and what is unresolved.
func learned(t *testing.T, doc string, session int, rule, unresolved string) {
	t.Helper()
	h, err := soul.ParseHeader([]byte(doc))
	_, rest, found := strings.Cut(doc, "## Unresolved")
	if err != nil || h.Session != session || !found || !strings.Contains(doc, rule) || !strings.Contains(rest, unresolved) {
		t.Errorf("%+v, %v:\n%s", h, err, doc)
	}
}
