package door

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/jivad/jivad/lifecycle"
)

// maxTurns is how many turns may wait to be remembered.
const maxTurns = 256

// turns remembers what was said, one at a time and in the order of the answers, and
// in nobody's way.
type turns struct {
	companion Companion
	log       *slog.Logger
	queue     chan lifecycle.Turn
	done      tally
	// giveUp ends the work on what waits; ended is closed when all of it is done.
	giveUp context.CancelFunc
	ended  chan struct{}

	mu     sync.Mutex
	closed bool
}

func newTurns(c Companion, log *slog.Logger) *turns {
	ctx, cancel := context.WithCancel(context.Background())
	t := &turns{companion: c, log: log, queue: make(chan lifecycle.Turn, maxTurns), giveUp: cancel, ended: make(chan struct{})}
	go t.work(ctx)
	return t
}

// add has a turn remembered. Where too many wait it is lost, and counted.
func (t *turns) add(turn lifecycle.Turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		select {
		case t.queue <- turn:
			return
		default:
		}
	}
	t.done.add("", turnDropped)
	t.log.Warn("a turn of a conversation is not remembered: too many wait, or the daemon is stopping")
}

func (t *turns) work(ctx context.Context) {
	defer close(t.ended)
	for turn := range t.queue {
		if ctx.Err() != nil {
			t.done.add("", turnDropped)
			continue
		}
		receipt, err := t.companion.Remember(ctx, turn)
		switch {
		case err == nil && receipt.Duplicate:
			t.done.add("", turnDuplicate)
		case err == nil:
			t.done.add("", turnRemembered)
		case errors.Is(err, context.Canceled) && ctx.Err() != nil:
			t.done.add("", turnDropped)
		default:
			t.done.add("", turnFailed)
			t.log.Warn("a turn of a conversation could not be remembered", "error", err)
		}
	}
}

// close waits for what is in the queue until ctx ends, and gives up the rest.
func (t *turns) close(ctx context.Context) {
	t.mu.Lock()
	if !t.closed {
		t.closed = true
		close(t.queue)
	}
	t.mu.Unlock()
	defer t.giveUp()
	select {
	case <-t.ended:
	case <-ctx.Done():
		t.log.Warn("the daemon stops before all turns of conversations were remembered", "turns", len(t.queue)+1)
	}
}
