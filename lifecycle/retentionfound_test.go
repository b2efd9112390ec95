package lifecycle_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// A model that finds an entry to be of a stricter category has less of it kept, at once
// or when it judges again; it never has more kept.
func TestAModelHasLessKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &wise{away: "starting"}
		w := newWorld(t)
		w.opts.Model, w.opts.Deadline, w.opts.Now = m, 10*time.Second, func() (time.Time, bool) { return time.Now(), true }
		w.opts.Retention = lifecycle.Retention{"health": lifecycle.KeepNone, "financial": lifecycle.KeepGist}
		m.behaves(func(_ context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
			a := verdict(e)
			for _, category := range []string{"health", "financial", "operational"} {
				if strings.Contains(e.Text, category) {
					a.Category = category
				}
			}
			return a, nil
		})
		c := w.live(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- c.Run(ctx) }()
		defer func() { cancel(); <-done }()
		want := map[string]lifecycle.Keep{}
		write := func(when string) {
			for text, keep := range map[string]lifecycle.Keep{
				"health, a tooth":                        lifecycle.KeepNone,
				"financial: the bank of 123456789 wrote": lifecycle.KeepGist,
				"operational, the roof":                  lifecycle.KeepFull,
				"a walk, and nothing else":               lifecycle.KeepFull,
			} {
				want[w.write(t, c, when+" "+text+".").Event] = keep
			}
			r, err := c.Write(t.Context(), lifecycle.Note{Text: when + " operational, said the doctor.", Category: "health"})
			if err != nil {
				t.Fatal(err)
			}
			want[r.Event] = lifecycle.KeepNone
		}
		write("Before:")
		m.is("", "abc")
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		write("Then:")
		for id, keep := range want {
			hit, err := c.Show(t.Context(), id)
			if err != nil || hit.Kept != keep || keep == lifecycle.KeepNone && hit.Text+hit.Summary != "" || strings.Contains(hit.Text+hit.Summary, "123456789") {
				t.Errorf("%s, %+v, %v", keep, hit, err)
			}
		}
		if v, err := c.Verify(t.Context(), true, nil); err != nil || !v.OK {
			t.Errorf("%+v, %v", v, err)
		}
	})
}
