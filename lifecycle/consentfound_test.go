package lifecycle_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// What a model finds closes and never opens. What is denied by default only takes nothing
// from the person's own entry; once something was said of the category it holds for what
// was found before too.
func TestAModelOpensNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &wise{digest: "abc"}
		w := newWorld(t)
		w.opts.Model, w.opts.Deadline, w.opts.Now = m, 10*time.Second, func() (time.Time, bool) { return time.Now(), true }
		m.behaves(func(_ context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
			a := verdict(e)
			for _, category := range []string{"health", "location", "operational"} {
				if strings.Contains(e.Text, category) {
					a.Category = category
				}
			}
			return a, nil
		})
		c := w.live(t)
		w.says(t, c, "health.storage=ask")
		write := func(text, category string) string {
			t.Helper()
			r, err := c.Write(t.Context(), lifecycle.Note{Text: text, Category: category})
			if err != nil {
				t.Fatal(err)
			}
			return r.Event
		}
		kept := func(id string, keep lifecycle.Keep) {
			t.Helper()
			if s, err := c.Show(t.Context(), id); err != nil || s.Kept != keep || (s.Text == "") != (keep == lifecycle.KeepNone) {
				t.Errorf("want %s: %+v, %v", keep, s, err)
			}
		}
		kept(write("An operational matter, said the doctor.", "health"), lifecycle.KeepNone)
		kept(write("Of health, and nobody called it so.", ""), lifecycle.KeepNone)
		place := write("A location that nobody asked about.", "")
		walk := write("A walk.", "")
		kept(place, lifecycle.KeepFull)
		kept(walk, lifecycle.KeepFull)
		recalled := func() bool {
			t.Helper()
			hits, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: "A location that nobody asked about."})
			return err == nil && len(hits) > 0 && hits[0].Impression.ID == place
		}
		if !recalled() {
			t.Error("it is not recalled")
		}
		w.says(t, c, "location.access=deny")
		if recalled() {
			t.Error("it is recalled without leave")
		}
		kept(place, lifecycle.KeepFull)
		w.says(t, c, "location.storage=deny")
		kept(place, lifecycle.KeepNone)
		kept(walk, lifecycle.KeepFull)
		kept(write("Another location.", ""), lifecycle.KeepNone)
		if plantedIn(t, w.dir, "a location that nobody") {
			t.Error("it is still somewhere")
		}
	})
}
