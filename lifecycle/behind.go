package lifecycle

import (
	"context"
	"errors"
	"sync"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// turnBehind is a turn of a talk that is kept, and that the model is still to judge.
// Its words are held in memory, since of a talk the store may keep the gist only.
type turnBehind struct {
	seq  uint64
	key  fold.Key
	note Note
	// own is the share of its words that are the companion's own, in [0,1].
	own float64
	// owes says that a record in the store asks for the judgement too, wordless that
	// the store keeps nothing of its text.
	owes, wordless bool
}

// judgingBehind are the turns whose judgement goes on behind the talk, the oldest first.
type judgingBehind struct {
	mu    sync.Mutex
	waits []turnBehind
	size  int // bytes of their texts
	// idle is closed when nothing waits any more; nil while nothing does.
	idle chan struct{}
}

// mostBehind is how many turns may wait, bytesBehind how many bytes they may have.
const (
	mostBehind  = 256
	bytesBehind = 4 << 20
)

// judgeBehind has the model judge a turn that is kept, when nobody waits for anything.
// Where it cannot, or the companion is closed before, the judgement of the built-in
// assessor stays, or what the store records as owed is judged later.
func (c *Companion) judgeBehind(t turnBehind) {
	b := &c.behind
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waits) == mostBehind || b.size+len(t.note.Text) > bytesBehind || c.ending.Err() != nil {
		c.counts.fallbacks.Add(1)
		return
	}
	b.waits, b.size = append(b.waits, t), b.size+len(t.note.Text)
	if b.idle == nil {
		b.idle = make(chan struct{})
		c.workers.Go(c.judgeAllBehind)
	}
}

// Judged waits until no turn of a talk waits for its judgement, or ctx ends.
func (c *Companion) Judged(ctx context.Context) error {
	c.behind.mu.Lock()
	idle := c.behind.idle
	c.behind.mu.Unlock()
	if idle == nil {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Companion) judgeAllBehind() {
	for {
		t, ok := c.behind.first()
		if !ok {
			return
		}
		if !c.judgeOneBehind(c.ending, t) {
			c.counts.fallbacks.Add(1)
		}
		c.behind.settled()
		c.reassessSoon() // what waited for it goes on, and it is owed where it was not judged
	}
}

// first is the turn to be judged next; where there is none the work is over.
func (b *judgingBehind) first() (turnBehind, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waits) == 0 {
		close(b.idle)
		b.idle = nil
		return turnBehind{}, false
	}
	return b.waits[0], true
}

func (b *judgingBehind) settled() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.size -= len(b.waits[0].note.Text)
	b.waits[0] = turnBehind{}
	b.waits = b.waits[1:]
}

// has tells whether the entry at seq waits here.
func (b *judgingBehind) has(seq uint64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.waits {
		if b.waits[i].seq == seq {
			return true
		}
	}
	return false
}

// any tells whether something waits.
func (b *judgingBehind) any() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waits) > 0
}

// unrecorded counts those that wait of which the store records nothing.
func (b *judgingBehind) unrecorded() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.waits {
		if !b.waits[i].owes {
			n++
		}
	}
	return n
}

// judgeOneBehind asks the model about a turn, anew where it had to give way to a talk, and
// writes what it says. It tells whether that is settled.
func (c *Companion) judgeOneBehind(ctx context.Context, t turnBehind) bool {
	for ctx.Err() == nil {
		if c.atLeisure(ctx) != nil {
			return false
		}
		settled, again := c.tryBehind(ctx, t)
		if settled || !again {
			return settled
		}
	}
	return false
}

func (c *Companion) tryBehind(ctx context.Context, t turnBehind) (settled, again bool) {
	select {
	case c.inHand <- struct{}{}:
		defer func() { <-c.inHand }()
	case <-ctx.Done():
		return false, false
	}
	x, there := c.stillThere(t)
	if !there || t.owes && !c.isOwed(t.seq) {
		return true, false // taken back meanwhile, or judged already
	}
	told := c.store.Meta().Generation
	a, err := c.askAbout(ctx, t, x)
	if errors.Is(err, errTakenBack) {
		return true, false
	}
	if err != nil {
		again = errors.Is(err, errGaveWay) && ctx.Err() == nil
		if !again {
			c.log.Debug("the model did not judge what was said in a talk", "error", err)
		}
		return false, again
	}
	done := []judged{{owed: owed{seq: t.seq}, key: t.key, told: told, assessment: &a, wordless: t.wordless}}
	ahead, err := c.foldAhead(ctx, done)
	if err != nil {
		c.log.Warn("a judgement is folded when it is written", "error", err)
	}
	err = c.do(context.WithoutCancel(ctx), backlog, func(ctx context.Context) error { return c.settleAll(ctx, done, ahead) })
	if err != nil {
		c.log.Warn("a judgement of what was said in a talk could not be written", "error", err)
	}
	return err == nil, false
}

// stillThere is the entry of a turn, where it says what it said then and may be read.
func (c *Companion) stillThere(t turnBehind) (fold.Experienced, bool) {
	x, _, there := c.stillSays(t.seq, t.key)
	return x, there
}

// stillSays is the entry at seq with what is kept of it, where it is the wording of key,
// is not buried, and may be read. Of one of which nothing was kept the text is empty.
func (c *Companion) stillSays(seq uint64, key fold.Key) (fold.Experienced, chitta.Text, bool) {
	x, t, err := c.wordingOf(seq)
	if errors.Is(err, ErrNotFound) && x.Key == key && !c.buried(seq) {
		err = nil
	}
	return x, t, err == nil && x.Key == key && c.mayRead(seq, x, t)
}

// takeBack drops the words of the turns that may not be asked about any more. They are
// settled in their turn.
func (c *Companion) takeBack() {
	b := &c.behind
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.waits {
		if _, there := c.stillThere(b.waits[i]); !there {
			b.size -= len(b.waits[i].note.Text)
			b.waits[i].note = Note{}
		}
	}
}

// askAbout asks the model for its judgement of a turn, which is the entry x.
func (c *Companion) askAbout(ctx context.Context, t turnBehind, x fold.Experienced) (Assessment, error) {
	soul, _ := c.context(&prepared{policy: history})
	e := Experience{Text: t.note.Text, Embedding: x.Embedding, Date: t.note.Date, Soul: soul, Session: c.earlierThan(t.seq)}
	var a Assessment
	may := func() bool { _, there := c.stillThere(t); return there }
	err := c.leisurely(ctx, may, func(asking context.Context) (err error) {
		if a, err = c.opts.Model.Assess(asking, e); err == nil {
			err = checkAssessment(a)
		}
		return err
	})
	a.Judgement = lessened(a.Judgement, t.own)
	return a, err
}

// isOwed tells whether the store records that the model is to judge an entry.
func (c *Companion) isOwed(seq uint64) (there bool) {
	_ = c.store.Values(owedName(seq), func(string, []byte) error { there = true; return nil })
	return there
}
