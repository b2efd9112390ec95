package api

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// stoppable talks until it is stopped, and then says what became of the turn, as the
// companion does.
type stoppable struct {
	*fake
	begun  chan struct{}
	report lifecycle.TalkReport
	failed error
}

func (s *stoppable) Talk(ctx context.Context, _ lifecycle.TalkRequest, emit func(string) error) (lifecycle.TalkReport, error) {
	if err := emit("One"); err != nil {
		return lifecycle.TalkReport{}, err
	}
	close(s.begun)
	<-ctx.Done()
	_ = emit(" late")
	return s.report, s.failed
}

// Whoever stops an answer hears what became of the turn: that it was remembered, or
// why it was not. Nothing more of the answer comes.
func TestWhatBecameOfAStoppedAnswer(t *testing.T) {
	for name, failed := range map[string]error{"kept": nil, "not kept": lifecycle.ErrDamaged} {
		t.Run(name, func(t *testing.T) {
			s := &stoppable{fake: &fake{}, begun: make(chan struct{}), report: talkReport, failed: failed}
			_, client := serve(t, s)
			ctx, stop := context.WithCancel(t.Context())
			go func() { <-s.begun; stop() }()
			heard := ""
			report, err := client.Talk(ctx, lifecycle.TalkRequest{Said: "x"}, func(p string) error { heard += p; return nil })
			if !errors.Is(err, failed) || failed == nil && (err != nil || !reflect.DeepEqual(report, talkReport)) {
				t.Errorf("%+v, %v", report, err)
			}
			if heard != "One" && heard != "" {
				t.Errorf("heard %q", heard)
			}
			// The client is good for more.
			if _, err := client.Status(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// Where the daemon does not say in time what became of it, that is not made up. An
// answer that is not wanted any more is not asked for.
func TestAStoppedAnswerIsNotWaitedForWithoutEnd(t *testing.T) {
	defer func(before time.Duration) { farewell = before }(farewell)
	farewell = 50 * time.Millisecond
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	asked := make(chan struct{}, 8)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			go func() {
				b := make([]byte, 1)
				if n, _ := c.Read(b); n > 0 {
					asked <- struct{}{}
				}
			}()
		}
	}()
	client, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	go func() { <-asked; stop() }()
	none := func(string) error { return nil }
	if _, err := client.Talk(ctx, lifecycle.TalkRequest{Said: "x"}, none); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want Canceled", err)
	}
	if _, err := client.Talk(ctx, lifecycle.TalkRequest{Said: "x"}, none); !errors.Is(err, context.Canceled) || len(asked) > 0 {
		t.Errorf("%v, and it was asked %d times", err, len(asked))
	}
}
