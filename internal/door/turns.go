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
	// maxTurns is how many turns may wait to be remembered, waitingTurns how many bytes
	// they may have together.
	maxTurns     = 256
	waitingTurns = 16 << 20
	// handful is how many turns are remembered at a time.
	handful = 32
	// tryAgain is the pause before a turn is tried again that the embedder is away for,
	// or had no usable answer for; the latter is tried so often in all.
	tryAgain    = 5 * time.Second
	mostAnswers = 3
)

// turns remembers what was said, in the order of the answers, and in nobody's way.
type turns struct {
	companion Companion
	log       *slog.Logger
	done      tally
	// ctx is what the work is done under. giveUp ends it; ended is closed when all of it
	// is done.
	ctx    context.Context
	giveUp context.CancelFunc
	ended  chan struct{}
	// closing is done when the daemon ends, which ending says: then nothing waits for an
	// embedder.
	closing context.Context
	ending  context.CancelFunc
	// held is true while the first turn waits for the embedder.
	held atomic.Bool
	// tooLong has the log say of the first turn that is too long to be kept.
	tooLong sync.Once

	mu sync.Mutex
	// change is told of turns that come, and of the end of them.
	change *sync.Cond
	// waits are the turns that are not remembered yet, those that are worked at too;
	// size is how many bytes they have.
	waits  []lifecycle.Turn
	size   int
	closed bool
}

func newTurns(c Companion, log *slog.Logger) *turns {
	t := &turns{companion: c, log: log, ended: make(chan struct{})}
	t.ctx, t.giveUp = context.WithCancel(context.Background())
	t.closing, t.ending = context.WithCancel(context.Background())
	t.change = sync.NewCond(&t.mu)
	go t.work()
	return t
}

// add has a turn remembered, and says what becomes of it. Where too many wait it is lost,
// and counted.
func (t *turns) add(turn lifecycle.Turn) lifecycle.Fate {
	if len(turn.Said) > lifecycle.MaxNote {
		t.done.add("", turnFailed)
		t.tooLong.Do(func() {
			t.log.Warn("a turn of a conversation is not remembered: what was said is longer than 1 MB; others like it are only counted")
		})
		return lifecycle.TooLong
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	size := sizeOf(turn)
	if t.closed || len(t.waits) == maxTurns || t.size+size > waitingTurns {
		t.done.add("", turnDropped)
		t.log.Warn("a turn of a conversation is not remembered: too many wait, or the daemon is stopping")
		if t.closed {
			return lifecycle.Ending
		}
		return lifecycle.NoRoom
	}
	t.waits, t.size = append(t.waits, turn), t.size+size
	t.change.Signal()
	return lifecycle.Becomes
}

// sizeOf is how many bytes a turn has.
func sizeOf(turn lifecycle.Turn) int {
	n := len(turn.Said) + len(turn.Answered)
	for _, text := range turn.Heard {
		n += len(text)
	}
	return n
}

func (t *turns) work() {
	defer close(t.ended)
	// answers is how often the first turn had an answer of no use.
	for answers := 0; ; {
		some := t.next()
		if some == nil {
			return
		}
		again := t.remember(some, &answers)
		if !again {
			answers = 0
			continue
		}
		select {
		case <-t.closing.Done():
		case <-time.After(tryAgain):
		}
	}
}

// next are the turns to remember now, nil when no more come. While the first waits for
// the embedder it is tried alone.
func (t *turns) next() []lifecycle.Turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.waits) == 0 && !t.closed {
		t.change.Wait()
	}
	n := min(len(t.waits), handful)
	if t.held.Load() {
		n = min(n, 1)
	}
	if n == 0 {
		return nil
	}
	return append([]lifecycle.Turn(nil), t.waits[:n]...)
}

// remember has turns become events. The client is gone by then and cannot try again, so
// while the embedder is away the first turn that it is away for waits, and those behind
// it, for as long as the daemon runs. Then again is true.
func (t *turns) remember(some []lifecycle.Turn, answers *int) (again bool) {
	receipts, err := t.companion.RememberAll(t.ctx, some)
	for _, r := range receipts {
		*answers = 0
		t.finished(r, nil)
	}
	switch {
	case err == nil:
		return false
	case t.closing.Err() != nil:
	case errors.Is(err, lifecycle.ErrEmbedderAway):
		t.held.Store(true)
		return true
	case errors.Is(err, lifecycle.ErrModelAnswer) && *answers < mostAnswers-1:
		*answers++
		return true
	}
	t.finished(lifecycle.Receipt{}, err)
	return false
}

// finished takes the first turn off those that wait, and says what became of it.
func (t *turns) finished(receipt lifecycle.Receipt, err error) {
	t.mu.Lock()
	t.size -= sizeOf(t.waits[0])
	t.waits[0] = lifecycle.Turn{}
	t.waits = t.waits[1:]
	t.mu.Unlock()
	t.held.Store(false)
	switch {
	case err == nil && receipt.Duplicate:
		t.done.add("", turnDuplicate)
	case err == nil:
		t.done.add("", turnRemembered)
	case t.ctx.Err() != nil:
		t.done.add("", turnDropped)
	case errors.Is(err, lifecycle.ErrWithdrawn):
		t.done.add("", turnDropped)
		t.log.Info("a turn of a conversation is not remembered: leave for it was withdrawn while it waited")
	case errors.Is(err, lifecycle.ErrEmbedderAway):
		t.done.add("", turnDropped)
		t.log.Warn("a turn of a conversation is not remembered: the daemon stops while the embedder is away", "error", err)
	default:
		t.done.add("", turnFailed)
		t.log.Warn("a turn of a conversation could not be remembered", "error", err)
	}
}

// close waits for what waits until ctx ends, and gives up the rest.
func (t *turns) close(ctx context.Context) {
	t.mu.Lock()
	t.closed = true
	t.change.Signal()
	t.mu.Unlock()
	t.ending()
	defer t.giveUp()
	select {
	case <-t.ended:
	case <-ctx.Done():
		t.log.Warn("the daemon stops before all turns of conversations were remembered", "turns", t.waiting())
	}
}

// waiting is how many turns wait, those that are worked at too.
func (t *turns) waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waits)
}
