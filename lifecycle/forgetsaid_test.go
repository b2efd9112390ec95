package lifecycle_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// What is said beside other entries by who knew of a forgotten one goes with it: a
// model's summary, whenever it was made, and the answers that came later. So does what
// is said after the forgetting by who was told before.
func TestForgettingTakesWhatOthersSaid(t *testing.T) {
	w := newWorld(t)
	m := &wise{digest: "abc"}
	w.opts.Model = m
	m.behaves(func(_ context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
		a := verdict(e)
		a.Gist, a.Reason = "again the quokka", "it danced"
		return a, nil
	})
	w.opts.Retention = lifecycle.Retention{"communications": lifecycle.KeepFull}
	c := w.live(t)
	remember := func(said, answered string, told *uint64) string {
		r, err := c.Remember(t.Context(), lifecycle.Turn{Said: said, Answered: answered, By: "x", Told: told})
		if err := errors.Join(err, c.Judged(t.Context())); err != nil {
			t.Fatal(err)
		}
		return r.Event
	}
	before := remember("Good morning.", "It is a fine one.", nil)
	w.write(t, c, "The quokka danced on the wall.")
	plain := w.write(t, c, "A second plain entry.").Event
	after := remember("What do you recall?", "The quokka that danced.", nil)
	if hit, err := c.Show(t.Context(), after); err != nil || !strings.Contains(hit.Answer, "quokka") || !strings.Contains(hit.Summary, "quokka") {
		t.Fatalf("%+v, %v", hit, err)
	}
	woven, err := c.Weave(t.Context(), "quokka", 3)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Forget(t.Context(), lifecycle.ForgetQuery{Match: "quokka danced on"}, nil)
	if err != nil || r.Forgotten != 1 || len(r.Left.Files) != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	late := remember("And then?", "The quokka again.", woven.Told)
	for id, answer := range map[string]string{before: "It is a fine one.", plain: "", after: "", late: ""} {
		hit, err := c.Show(t.Context(), id)
		if err != nil || hit.Answer != answer || hit.Text == "" || id != late && hit.Summary+hit.Reason != "" || hit.Assessor != "wise:1@abc" {
			t.Errorf("%+v, %v", hit, err)
		}
	}
	if v, err := c.Verify(t.Context(), true, nil); err != nil || !v.OK {
		t.Errorf("%+v, %v", v, err)
	}
}
