package lifecycle_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/lives"
)

// Answers of a session that went on without a life after a crash were told the rules of the
// head; they go with those, though the life of the session was born before.
func TestExcisionReachesAnswersAfterACrash(t *testing.T) {
	w := newWorld(t)
	w.opts.Model = &echoing{scripted{wise: wise{digest: digestA}}}
	w.opts.Retention = lifecycle.Retention{"communications": lifecycle.KeepFull, "behavioural": lifecycle.KeepFull}
	asked(t, w.lived(t), "Where is it?")
	v := newWorld(t)
	v.dir = filepath.Join(v.dir, "after")
	if err := os.CopyFS(v.dir, os.DirFS(w.dir)); err != nil {
		t.Fatal(err)
	}
	v.opts = w.opts
	v.opts.Dir = v.dir
	c := v.livedFrom(t, strings.ReplaceAll(searching, "/usr/bin/test", "/nowhere/test"))
	until(t, func() bool {
		l, err := c.Rate(t.Context(), 1, 1)
		return err == nil && l.Obligation.Status == lives.Met
	})
	if r := asked(t, c, "And where is the other one?"); !strings.Contains(r.Answer, "zigzagwise") {
		t.Fatalf("%+v", r)
	}
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ExciseLives(t.Context(), lifecycle.ExcisionRequest{Lives: []string{"1"}}); err != nil {
		t.Fatal(err)
	}
	if held := holding(t, v, "zigzagwise"); len(held) > 0 {
		t.Errorf("it is still in %q", held)
	}
}
