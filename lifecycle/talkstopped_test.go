package lifecycle_test

import (
	"context"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// leaving is an embedder during whose work somebody leaves, once.
type leaving struct {
	hashed
	leave func()
}

func (l *leaving) Embed(ctx context.Context, text string) ([]float32, error) {
	if leave := l.leave; leave != nil {
		l.leave = nil
		leave()
	}
	return l.hashed.Embed(ctx, text)
}

// Somebody who stops an answer before its first word has said something all the same:
// it is remembered, once.
func TestAnAnswerThatIsStoppedBeforeItBegins(t *testing.T) {
	w := newWorld(t)
	e := &leaving{hashed: hashed{64}}
	w.opts.Embedder = e
	c := w.live(t)
	w.write(t, c, "A slow walk by the river.")
	for name, begin := range map[string]func(stop func()){
		"before it was asked":   func(stop func()) { stop() },
		"while it is recalling": func(stop func()) { e.leave = stop },
	} {
		ctx, stop := context.WithCancel(t.Context())
		begin(stop)
		r, err := c.Talk(ctx, lifecycle.TalkRequest{Said: "I left, " + name + "."}, func(string) error {
			t.Errorf("%s: it is answered", name)
			return nil
		})
		if err != nil || r.Receipt == nil || !r.Receipt.Created || r.Answer != "" || r.Recalled == nil {
			t.Errorf("%s: %+v, %v", name, r, err)
			continue
		}
		if hit, err := c.Show(t.Context(), r.Receipt.Event); err != nil || hit.Text != "I left, "+name+"." {
			t.Errorf("%s: %+v, %v", name, hit, err)
		}
		stop()
	}
	if s, err := c.Status(t.Context()); err != nil || s.Entries != 3 {
		t.Errorf("%d entries, %v", s.Entries, err)
	}
	gone, stop := context.WithCancel(t.Context())
	stop()
	if _, err := c.Talk(gone, lifecycle.TalkRequest{Said: "Not this.", Forget: true}, func(string) error { return nil }); err == nil {
		t.Error("a turn that is not kept is said to have gone well")
	}
}
