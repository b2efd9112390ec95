package main

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/jivad/jivad/internal/api"
	"github.com/jivad/jivad/lifecycle"
)

// TestADaemonThatDoesNotAnswerHangs: whatever a round asks, it comes to an end.
func TestADaemonThatDoesNotAnswerHangs(t *testing.T) {
	socket := filepath.Join(shortDir(t), "s")
	// Connections wait in its queue, as those of a daemon without a file to spare.
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	daemon, err := api.Dial(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	c := &client{daemon, 20 * time.Millisecond}
	for name, ask := range map[string]func(context.Context) error{
		"status":      func(ctx context.Context) error { _, err := c.Status(ctx); return err },
		"sessions":    func(ctx context.Context) error { _, err := c.Sessions(ctx); return err },
		"end session": func(ctx context.Context) error { _, err := c.EndSession(ctx); return err },
		"write":       func(ctx context.Context) error { _, err := c.Write(ctx, lifecycle.Note{Text: "Rain."}); return err },
		"import": func(ctx context.Context) error {
			_, err := c.Import(ctx, []lifecycle.Note{{Text: "Rain."}}, nil)
			return err
		},
		"plan":   func(ctx context.Context) error { _, err := c.PlanForget(ctx, everything()); return err },
		"forget": func(ctx context.Context) error { _, err := c.Forget(ctx, everything(), nil); return err },
		"show":   func(ctx context.Context) error { _, err := c.Show(ctx, "0000"); return err },
		"verify": func(ctx context.Context) error { _, err := c.Verify(ctx, true, nil); return err },
	} {
		t.Run(name, func(t *testing.T) {
			// One that hangs in spite of it ends the test, as another error.
			ctx, cancel := context.WithTimeout(t.Context(), patience/6)
			defer cancel()
			if err := ask(ctx); !errors.Is(err, errHangs) {
				t.Errorf("%v, want that it hangs", err)
			}
		})
	}
	// That somebody else gave it up is not its hanging.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Status(ctx); err == nil || errors.Is(err, errHangs) {
		t.Errorf("%v", err)
	}
}
