package lifecycle_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// Everything that a client may ask for at once, under the race detector.
func TestClientsAtTheSameTime(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	var writing, asking sync.WaitGroup
	done := make(chan struct{})
	for k := range 3 {
		writing.Go(func() {
			for i := range 40 {
				if _, err := c.Write(t.Context(), lifecycle.Note{Text: fmt.Sprintf("entry %c%c of writer %c", 'a'+i%26, 'a'+i/26, 'a'+k)}); err != nil {
					t.Error(err)
				}
				if i%10 == 9 {
					_, _ = c.EndSession(t.Context()) // another may have ended it
				}
			}
		})
	}
	ask := func(f func() error) {
		asking.Go(func() {
			for {
				if err := f(); err != nil {
					t.Error(err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for range 3 {
		ask(func() error {
			_, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: "entry of writer"})
			return err
		})
	}
	ask(func() error {
		r, err := c.Verify(t.Context(), true, nil)
		for _, k := range r.Checks {
			if !k.OK {
				t.Errorf("%s: %s", k.Name, k.Detail)
			}
		}
		return err
	})
	ask(func() error { _, err := c.Status(t.Context()); return err })
	ask(func() error { _, err := c.Doctor(t.Context()); return err })
	ask(func() error { _, err := c.Vasanas(t.Context()); return err })
	ask(func() error { _, err := c.Soul(t.Context(), 0); return err })
	writing.Wait()
	close(done)
	asking.Wait()
}

// counted counts what it is asked.
type counted struct {
	hashed
	asked *atomic.Int64
}

func (e counted) Embed(ctx context.Context, text string) ([]float32, error) {
	e.asked.Add(1)
	return e.hashed.Embed(ctx, text)
}

// The vectors of the identity are the worker's: a verification, which any
// client may ask for meanwhile, makes none.
func TestVerifyEmbedsNothing(t *testing.T) {
	w := newWorld(t)
	asked := new(atomic.Int64)
	w.opts.Embedder = counted{hashed{64}, asked}
	c := w.live(t)
	w.write(t, c, "the first entry of the first session")
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := asked.Load()
	r, err := c.Verify(t.Context(), true, nil)
	if err != nil || !r.OK {
		t.Errorf("verify: %v %v", r.Checks, err)
	}
	if n := asked.Load() - before; n != 0 {
		t.Errorf("%d texts were embedded", n)
	}
}
