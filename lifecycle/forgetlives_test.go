package lifecycle_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/lifecycle/projection"
)

// A forgetting that cannot take the trace of a life away says so, and no rule is made of the
// life all the same: not by a judgement that comes then, and not by one after a restart,
// which does what is left.
func TestAForgettingThatFailsLeavesNoRule(t *testing.T) {
	w := newWorld(t)
	c := w.lived(t)
	w.write(t, c, "The quarrel with Ottokar about the fence.")
	act(t, c, "zigzagwise")
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	distilled(t, c, 1)
	stands := filepath.Join(w.dir, "life", "0000000001.trace", "in the way")
	if err := errors.Join(os.MkdirAll(filepath.Dir(stands), 0o700), os.WriteFile(stands, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Forget(t.Context(), lifecycle.ForgetQuery{Match: "Ottokar"}, nil); err == nil {
		t.Fatal("it is told as done")
	}
	if plantedIn(t, w.dir, "argument way") {
		t.Error("the draft is there")
	}
	if l, err := c.Rate(t.Context(), 1, 1); !errors.Is(err, projection.ErrSettled) {
		t.Errorf("%+v, %v", l, err)
	}
	w.end(t, c)
	c = w.live(t)
	if l, err := c.Life(t.Context(), 1); err != nil || l.State != lives.Dissolved || l.Obligation.Status != lives.Declined || l.Session != 0 {
		t.Errorf("%+v, %v", l, err)
	}
	if k, err := c.Lineage(t.Context()); err != nil || k.Rules != 0 {
		t.Errorf("%+v, %v", k, err)
	}
	if r, err := c.Verify(t.Context(), true, nil); err != nil || !r.OK {
		t.Errorf("%+v, %v", r, err)
	}
}
