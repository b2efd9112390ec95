package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jivad/jivad/internal/api"
	"github.com/jivad/jivad/lifecycle"
)

// forgetter forgets as a test wants it to.
type forgetter struct {
	companion
	plan   func(q lifecycle.ForgetQuery) error
	forget func(ctx context.Context) error
	// over is closed when what was begun has ended.
	over chan struct{}
}

func (f *forgetter) PlanForget(_ context.Context, q lifecycle.ForgetQuery) (lifecycle.ForgetPlan, error) {
	return lifecycle.ForgetPlan{Entries: []lifecycle.ForgetEntry{{ID: "0190aaaa"}}}, f.plan(q)
}

func (f *forgetter) Forget(ctx context.Context, q lifecycle.ForgetQuery, _ func(lifecycle.Progress)) (lifecycle.ForgetReceipt, error) {
	if len(q.Entries) == 0 {
		<-f.over
		return lifecycle.ForgetReceipt{}, fmt.Errorf("%w: it names nothing to forget", lifecycle.ErrQuery)
	}
	defer close(f.over)
	return lifecycle.ForgetReceipt{}, f.forget(ctx)
}

// throughDaemon serves a companion and returns a client of it.
func throughDaemon(t *testing.T, c api.Companion) (*api.Client, *http.Server) {
	t.Helper()
	dir, err := os.MkdirTemp("", "jf-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	l, err := api.Listen(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	server := api.NewServer(api.NewHandler(c))
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	client, err := api.Dial(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	return client, server
}

// What a forgetting that came to no receipt says is what became of the entries.
func TestWhatAForgettingThatFailsSays(t *testing.T) {
	missing := fmt.Errorf("no entry has an id that begins or ends with %q: %w", "0190aaaa", lifecycle.ErrNotFound)
	there := func(lifecycle.ForgetQuery) error { return nil }
	for name, try := range map[string]struct {
		// what is done in the midst of it; gone says that the entries are not there
		// when one looks again.
		forget func(ctx context.Context, interrupt func(), server *http.Server) error
		gone   bool
		local  bool
		says   string
		code   int
	}{
		"gone since they were shown": {
			forget: func(context.Context, func(), *http.Server) error { return missing },
			says:   "what was shown has changed meanwhile", code: exitFailed,
		},
		"interrupted": {
			forget: func(ctx context.Context, interrupt func(), _ *http.Server) error {
				interrupt()
				<-ctx.Done()
				return ctx.Err()
			},
			says: "interrupted; nothing was forgotten", code: exitFailed,
		},
		"interrupted too late": {
			forget: func(ctx context.Context, interrupt func(), _ *http.Server) error {
				interrupt()
				<-ctx.Done()
				return nil
			},
			gone: true, says: "it was forgotten already", code: exitFailed,
		},
		"the daemon is gone": {
			forget: func(ctx context.Context, _ func(), server *http.Server) error {
				_ = server.Close()
				<-ctx.Done()
				return ctx.Err()
			},
			says: "whether it was forgotten is not known: look with jivad forget --dry-run", code: exitUnreachable,
		},
		"interrupted, and the daemon is gone": {
			forget: func(ctx context.Context, interrupt func(), server *http.Server) error {
				interrupt()
				<-ctx.Done()
				_ = server.Close() // before whoever asks what became of it is answered
				return ctx.Err()
			},
			says: "whether it was forgotten is not known", code: exitFailed,
		},
		"interrupted without a daemon": {
			forget: func(ctx context.Context, interrupt func(), _ *http.Server) error {
				interrupt()
				return ctx.Err()
			},
			local: true, says: "interrupted; nothing was forgotten", code: exitFailed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			f := &forgetter{over: make(chan struct{})}
			var c companion = f
			var server *http.Server
			if !try.local {
				c, server = throughDaemon(t, f)
			}
			done := false
			f.plan = func(q lifecycle.ForgetQuery) error {
				if done && try.gone && len(q.Entries) > 0 {
					return missing
				}
				return there(q)
			}
			f.forget = func(ctx context.Context) error {
				done = true
				return try.forget(ctx, interrupt, server)
			}
			var out bytes.Buffer
			a := &app{stdout: &out, stderr: &out, flags: flags{quiet: true}}
			err := a.forget(ctx, c, lifecycle.ForgetQuery{Match: "rain"}, true, false)
			if err == nil || !strings.Contains(err.Error(), try.says) || strings.Contains(err.Error(), "0190aaaa") || strings.Contains(err.Error(), "stays remembered") {
				t.Errorf("%v, want one that says %q", err, try.says)
			}
			if code := exitCode(err); code != try.code {
				t.Errorf("code %d, want %d", code, try.code)
			}
			if errors.Is(err, context.Canceled) {
				t.Error("what is told of it would be told otherwise")
			}
		})
	}
}

// Ctrl-C at the question ends it.
func TestTheQuestionCanBeInterrupted(t *testing.T) {
	master, slave, err := openTerminal()
	if err != nil {
		t.Skip(err)
	}
	defer master.Close()
	defer slave.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var out bytes.Buffer
	a := &app{stdin: slave, stdout: &out, stderr: &out}
	answered := make(chan error, 1)
	go func() {
		agreed, err := a.askToForget(ctx, lifecycle.ForgetPlan{Entries: []lifecycle.ForgetEntry{{ID: "0190aaaa"}}})
		if agreed {
			err = errors.New("it was agreed to")
		}
		answered <- err
	}()
	if err := <-answered; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
