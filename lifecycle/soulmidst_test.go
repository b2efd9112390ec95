package lifecycle_test

import (
	"context"
	"testing"
)

// A SOUL.md that the worker is just about to write once more is not taken for one that comes
// out differently: it is looked at again when that is done.
func TestVerifyInTheMidstOfAWriting(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	w.write(t, c, "A slow walk by the river.")
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	begun, done, over := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() { over <- c.InTheMidst(context.WithoutCancel(t.Context()), begun, done) }()
	<-begun
	r, err := c.Verify(t.Context(), false, nil)
	close(done)
	if err != nil || !r.OK {
		t.Errorf("%+v, %v", r.Checks, err)
	}
	if err := <-over; err != nil {
		t.Error(err)
	}
}
