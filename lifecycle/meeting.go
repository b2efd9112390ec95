package lifecycle

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/lifecycle/manifest"
	"github.com/jivad/jivad/lifecycle/projection"
	"github.com/jivad/jivad/lifecycle/tools"
)

// Who thinks in a life, and with the first of all lives which base model the identity is
// made of (AD-1), is told by the digest of the model. So nobody is born by the bare name of
// one whose server was not asked yet.

const (
	// meetingTime is how long a birth waits for the server to say which model it has.
	meetingTime = 3 * time.Second
	// meetAgain is how long births then go without.
	meetAgain = 30 * time.Second
	// trustedFor is how long a look is trusted by those who would have a model act.
	trustedFor = 5 * time.Second
)

// meeting is held while somebody waits for the server. last is when a birth looked at it,
// next when it is looked at again before a model is told of tools.
type meeting struct {
	mu         sync.Mutex
	last, next time.Time
}

// unmet tells of a model of which nobody knows yet whether it is there.
func unmet(s ModelState) bool { return s.Away == "" && s.Digest == "" && !s.Met }

// meetModel looks at the model's server, where it is not known yet which model it has, for
// meetingTime at most. Where that says nothing the birth goes without, as if it were away.
func (c *Companion) meetModel(ctx context.Context) {
	if c.opts.Model == nil || !unmet(c.opts.Model.State()) {
		return
	}
	c.meeting.mu.Lock()
	defer c.meeting.mu.Unlock()
	if !unmet(c.opts.Model.State()) || !c.meeting.last.IsZero() && time.Since(c.meeting.last) < meetAgain {
		return
	}
	looking, stop := context.WithTimeout(ctx, meetingTime)
	defer stop()
	lookAt(looking, c.opts.Model)
	c.meeting.last = time.Now()
}

// seeModel looks at the model's server where that was not done lately, for meetingTime at
// most: another model may be under the name since.
func (c *Companion) seeModel(ctx context.Context) {
	c.meeting.mu.Lock()
	defer c.meeting.mu.Unlock()
	if time.Now().Before(c.meeting.next) {
		return
	}
	looking, stop := context.WithTimeout(ctx, meetingTime)
	defer stop()
	s, _ := lookAt(looking, c.opts.Model)
	if ctx.Err() != nil {
		return
	}
	c.meeting.next = time.Now().Add(trustedFor)
	if looking.Err() != nil || s.Away != "" {
		c.meeting.next = time.Now().Add(meetAgain)
	}
}

// mindOf names the model that answers under a name, as lives name who thinks in them; empty
// where that is not known, or it is another than the configured one.
func (c *Companion) mindOf(model string) string {
	if c.opts.Model == nil {
		return ""
	}
	s := c.opts.Model.State()
	if !manifest.SameModel(model, s.Name) || !s.Met && (s.Digest == "" || s.Away != "") {
		return ""
	}
	return projection.MindOf(s.Name, s.Digest)
}

// estranged tells whether the life that is lived is to end since the model that is there is
// another one than thinks in it; see projection.Projections.Estranged.
func (c *Companion) estranged(toAnswer bool) bool {
	return c.opts.Model != nil && c.lives.Estranged(c.chatFor, toAnswer)
}

// OffersTo are the tools that a model may be told of that is to answer somebody, by its
// name: those of the life, where it is that model which thinks in it (J-1). A life in which
// another one thinks, or that is over, ends before, and the next is born with the model that
// is there: so it is asked before Weave, that the answer has the rules of its own life.
func (c *Companion) OffersTo(ctx context.Context, model string) []tools.Offer {
	if !c.opts.Lives || c.opts.Model == nil || !manifest.SameModel(model, c.opts.Model.State().Name) {
		return nil
	}
	c.seeModel(ctx)
	if c.estranged(true) || c.perhapsOver() {
		if err := c.do(ctx, interactive, c.endBeforeAnswer); err != nil && ctx.Err() == nil {
			c.problem(fmt.Sprintf("a life that is over, or in which another model thinks, could not be ended; it is tried again: %v", err))
		}
	}
	offers := c.Offers(ctx)
	if !c.lives.ThoughtBy(c.mindOf(model)) {
		return nil
	}
	return offers
}

// perhapsOver tells of a life that may be over by its own bounds: whether it is, the worker
// knows, which knows the day of the session.
func (c *Companion) perhapsOver() bool {
	l, ok := c.lives.Living()
	if !ok {
		return false
	}
	nextDay := c.lifeDay(l, c.opts.DayStartsAt) != c.today()
	if at, ok := c.lives.RollAt(); ok {
		now, _ := c.opts.Now()
		nextDay = nextDay || c.lifeDay(l, at) != localDay(now, c.opts.Location, at)
	}
	return c.lives.Over(nextDay) != ""
}

// endBeforeAnswer ends a life that is over, or in which another model thinks than is to
// answer.
func (c *Companion) endBeforeAnswer(ctx context.Context) error {
	if !c.estranged(true) {
		return c.endIfOver(ctx)
	}
	if s := c.session(); s.Open && c.livesIn(int(s.Number)) {
		return c.withdraw(ctx, lives.ByMind)
	}
	return c.endLife(ctx, lives.ByMind)
}
