package lifecycle

import (
	"context"
	"errors"
	"sync"
	"time"
)

// A model answers one question after the other, so whoever speaks to it would wait behind
// whatever it is asked in between. What can wait is asked only while nobody is to be
// answered, and a question under way gives way as soon as somebody is: it is asked again
// later, and that is no failed try.

// errGaveWay: a question was ended since somebody is to be answered.
var errGaveWay = errors.New("it gave way to somebody who waits for an answer")

// longestTalk is how long one conversation keeps what can wait waiting: the server of a
// client that never leaves may never answer.
const longestTalk = 10 * time.Minute

// leisure are the questions under way that can wait.
type leisure struct {
	mu   sync.Mutex
	last int
	ends map[int]func()
}

func (l *leisure) add(end func()) (remove func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ends == nil {
		l.ends = map[int]func(){}
	}
	l.last++
	n := l.last
	l.ends[n] = end
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.ends, n)
	}
}

// giveWay ends them all.
func (l *leisure) giveWay() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, end := range l.ends {
		end()
	}
}

// errTakenBack: what a question holds may not be asked about any more.
var errTakenBack = errors.New("what it holds was forgotten, edited or buried, or may not be read any more")

// leisurely asks a question that can wait, with the time for an answer that the settings
// say. Where it had to give way the error is errGaveWay. may is asked last of all whether
// the words of the question, which may have waited, can still be sent; where they cannot
// nothing is, and the error is errTakenBack.
func (c *Companion) leisurely(ctx context.Context, may func() bool, ask func(ctx context.Context) error) error {
	within, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer c.leisure.add(func() { end(errGaveWay) })()
	if c.talking.Load() > 0 { // somebody came before it could be told
		return errGaveWay
	}
	if !may() { // what takes words back is a talk, so this is still so while it asks
		return errTakenBack
	}
	asking, stop := c.patiently(within)
	defer stop()
	err := ask(asking)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(within), errGaveWay) {
		return errGaveWay
	}
	return err
}

// Talking says that somebody waits for a model's answer, until done is called: as long
// the model is asked for nothing that can wait, and leaves off what it was asked before.
func (c *Companion) Talking() (done func()) {
	c.talking.Add(1)
	over := sync.OnceFunc(func() { c.talking.Add(-1) })
	late := time.AfterFunc(longestTalk, over)
	c.leisure.giveWay()
	return func() {
		late.Stop()
		over()
	}
}

// readNow tells of what was read just now whether it may still be sent: while nothing was
// forgotten, and nothing was said about consent, since.
func (c *Companion) readNow() (may func() bool) {
	generation, leave := c.store.Meta().Generation, c.leave.is.Load()
	return func() bool { return c.store.Meta().Generation == generation && c.leave.is.Load() == leave }
}

// atLeisure waits until nothing that somebody waits for is to be done.
func (c *Companion) atLeisure(ctx context.Context) error {
	for c.queue.length() > 0 || c.talking.Load() > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return ctx.Err()
}
