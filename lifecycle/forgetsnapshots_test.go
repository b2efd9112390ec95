package lifecycle_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// What a companion tells after a forgetting does not depend on which snapshots it
// was folded from.
func TestForgettingTellsTheSameFromEverySnapshot(t *testing.T) {
	const entries = 40
	for _, c := range []struct {
		name   string
		forget []int
		open   bool
	}{
		{"the last entry", []int{entries - 1}, false},
		{"the last session", []int{entries - 2, entries - 1}, false},
		{"the session before the last", []int{entries - 4, entries - 3}, false},
		{"one in the middle", []int{17}, false},
		{"the last entry, with a session open", []int{entries - 1}, true},
		{"one of the open session", []int{entries}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.opts.SnapshotEvery = 3
			first := imported(t, w, alike(entries, 1911, 2))
			if c.open {
				w.write(t, first, fmt.Sprintf("The river again, %d.", entries))
			}
			w.opts.KeepOpen = true
			w.end(t, first)
			var told []string
			for _, cached := range []bool{true, false} {
				other := newWorld(t)
				other.clock.set(w.clock.now)
				if err := os.CopyFS(other.dir, os.DirFS(w.dir)); err != nil {
					t.Fatal(err)
				}
				if !cached {
					if err := os.RemoveAll(filepath.Join(other.dir, "cache")); err != nil {
						t.Fatal(err)
					}
				}
				c2 := other.live(t)
				for _, n := range c.forget {
					if r, err := c2.Forget(t.Context(), lifecycle.ForgetQuery{Match: fmt.Sprintf(", %d.", n)}, nil); err != nil || r.Forgotten != 1 {
						t.Fatalf("%+v, %v", r, err)
					}
				}
				told = append(told, tells(t, c2))
				if told[0] == "" {
					t.Fatal("nothing is told")
				}
			}
			a, b := strings.Split(told[0], "\n"), strings.Split(told[1], "\n")
			for i := range min(len(a), len(b)) {
				if a[i] != b[i] {
					t.Errorf("from a snapshot\n%s\nfrom the first event\n%s", a[i], b[i])
				}
			}
			if len(a) != len(b) {
				t.Errorf("%d lines from a snapshot, %d from the first event", len(a), len(b))
			}
		})
	}
}

// tells is all that a companion tells of its character.
func tells(t *testing.T, c *lifecycle.Companion) string {
	t.Helper()
	trend, err := c.Trend(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	tendencies, err := c.Vasanas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	document, err := c.Soul(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	document.Path = ""
	out, err := json.MarshalIndent([]any{trend, tendencies, document}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return digestOf(t, c) + string(out)
}
