package door

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

const (
	// maxTurns is how many turns may wait to be remembered.
	maxTurns = 256
	// tryAgain is the pause before a turn is tried again that the embedder is away for,
	// or had no usable answer for; the latter is tried so often in all.
	tryAgain    = 5 * time.Second
	mostAnswers = 3
)

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
	// closing is closed when no more turns come: then none waits for an embedder.
	closing chan struct{}
	// held is true while the first turn waits for the embedder.
	held atomic.Bool

	mu     sync.Mutex
	closed bool
}

func newTurns(c Companion, log *slog.Logger) *turns {
	ctx, cancel := context.WithCancel(context.Background())
	t := &turns{companion: c, log: log, queue: make(chan lifecycle.Turn, maxTurns), giveUp: cancel, ended: make(chan struct{}), closing: make(chan struct{})}
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
		receipt, err := t.remember(ctx, turn)
		switch {
		case err == nil && receipt.Duplicate:
			t.done.add("", turnDuplicate)
		case err == nil:
			t.done.add("", turnRemembered)
		case errors.Is(err, context.Canceled) && ctx.Err() != nil:
			t.done.add("", turnDropped)
		case errors.Is(err, lifecycle.ErrEmbedderAway):
			t.done.add("", turnDropped)
			t.log.Warn("a turn of a conversation is not remembered: the daemon stops while the embedder is away", "error", err)
		default:
			t.done.add("", turnFailed)
			t.log.Warn("a turn of a conversation could not be remembered", "error", err)
		}
	}
}

// remember has a turn become an event. The client is gone by then and cannot try again,
// so while the embedder is away the turn waits here, and those behind it, for as long as
// the daemon runs.
func (t *turns) remember(ctx context.Context, turn lifecycle.Turn) (lifecycle.Receipt, error) {
	defer t.held.Store(false)
	for answers := 0; ; {
		receipt, err := t.companion.Remember(ctx, turn)
		switch {
		case errors.Is(err, lifecycle.ErrEmbedderAway):
			t.held.Store(true)
		case errors.Is(err, lifecycle.ErrModelAnswer) && answers < mostAnswers-1:
			answers++
		default:
			return receipt, err
		}
		select {
		case <-t.closing:
			return receipt, err
		case <-time.After(tryAgain):
		}
	}
}

// close waits for what is in the queue until ctx ends, and gives up the rest.
func (t *turns) close(ctx context.Context) {
	t.mu.Lock()
	if !t.closed {
		t.closed = true
		close(t.queue)
		close(t.closing)
	}
	t.mu.Unlock()
	defer t.giveUp()
	select {
	case <-t.ended:
	case <-ctx.Done():
		t.log.Warn("the daemon stops before all turns of conversations were remembered", "turns", len(t.queue)+1)
	}
}

// waiting is how many turns wait.
func (t *turns) waiting() int {
	if t.held.Load() {
		return len(t.queue) + 1
	}
	return len(t.queue)
}
