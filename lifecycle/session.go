package lifecycle

import (
	"context"
	"fmt"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/chitta/vasana"
)

// life is what the worker knows of the open session beside the store.
type life struct {
	graph *vasana.Graph
	// ageing and digester carry on what did not change since the session before.
	ageing   fold.Ageing
	digester fold.Digester
	// opened is when the session was opened, zero when an earlier process did; began is
	// when it was taken up here, by the time that the program has run.
	opened time.Time
	began  time.Duration
	// policy is how the last note found its session; active is when it came.
	policy policy
	active time.Time
	// edited says that an earlier entry changed since the last withdrawal.
	edited bool
	left   handedOn
	// eventTimes and judgeTimes are latencies of this session's notes.
	eventTimes, judgeTimes []time.Duration
	terms                  termCache
	// lines are the identity's lines of the last withdrawals.
	lines       map[string]embedded
	withdrawals int
}

// touch notes that an entry was folded.
func (l *life) touch(p *prepared) {
	l.policy, l.active = p.policy, time.Now()
	const most = 4096
	if len(l.eventTimes) < most {
		l.eventTimes = append(l.eventTimes, time.Since(p.began))
		l.judgeTimes = append(l.judgeTimes, p.judged)
	}
}

// session is the running account of the open session, or of the one closed last.
func (c *Companion) session() (s fold.Session) {
	_ = c.store.View(func(st *fold.State) error {
		s = st.Session
		s.Sum, s.Context = nil, nil // shared with the fold; nobody here needs them
		return nil
	})
	return s
}

// ensureSession sees that the session that a note belongs to is open. It ends
// another one first, and returns what opens the new one, to be written together
// with the note.
func (c *Companion) ensureSession(ctx context.Context, p *prepared) (b chitta.Batch, err error) {
	day := p.day
	if p.policy == live {
		day = c.today()
	}
	s := c.session()
	if s.Open {
		is := s.Date
		if p.policy == live && c.life.policy == live {
			is = c.sessionDay(s)
		}
		if is == day {
			return b, nil
		}
		reason := reasonRoll
		if p.policy == history || c.life.policy == history {
			reason = reasonImport
		}
		if err := c.closeSession(ctx, reason); err != nil {
			return b, err
		}
	}
	number := s.Number + 1
	if p.policy == history && s.Number > 0 && s.Date == day && c.mayContinue(int(s.Number)) {
		number = s.Number // the rest of a day whose first part came earlier
	}
	if b.Values, err = c.birth(); err != nil {
		return b, err
	}
	if number > s.Number { // with the embedder at hand: the entry was embedded
		owed, err := c.identityOwed(ctx, int(s.Number))
		if err != nil {
			return b, err
		}
		b.Values = append(b.Values, owed...)
	}
	c.sweepClaims(ctx)
	now, _ := c.opts.Now()
	c.life.began = c.readClock()
	c.life.opened, c.life.eventTimes, c.life.judgeTimes = now.UTC().Truncate(time.Second), nil, nil
	b.Entries = []chitta.Entry{{Body: fold.SessionOpened{Number: number, Date: day}}}
	return b, nil
}

// Reasons for which a session ends.
const (
	reasonEnd      = "end"
	reasonIdle     = "idle"
	reasonRoll     = "roll"
	reasonStop     = "stop"
	reasonImport   = "import"
	reasonRecovery = "recovery"
	reasonReembed  = "reembed"
)

// mayContinue tells whether a closed session of history may be taken up again:
// one that a person ended may not, nor one of before a change of embedder.
func (c *Companion) mayContinue(number int) bool {
	changed := false
	_ = c.store.View(func(s *fold.State) error { changed = s.Session.Events > 0 && s.Session.Centroid() == nil; return nil })
	if changed {
		return false
	}
	r, ok := c.record(number)
	return ok && (r.Reason == reasonImport || r.Reason == reasonRecovery || r.Reason == reasonStop)
}

// EndSession withdraws the open session now, and ends the life that is lived. A life that
// has no session, since nothing was kept in it, ends by itself: the report then has the
// number 0. Error: ErrNoSession where there is neither.
func (c *Companion) EndSession(ctx context.Context) (SessionReport, error) {
	var open bool
	var alone []int64
	err := c.do(ctx, interactive, func(ctx context.Context) error {
		s := c.session()
		open = s.Open
		if l, ok := c.lives.Living(); ok && !(open && l.Session == int(s.Number)) {
			alone = []int64{l.Sequence}
		}
		return c.closeSession(ctx, reasonEnd)
	})
	if err != nil {
		return SessionReport{}, err
	}
	if !open {
		return SessionReport{Reason: reasonEnd, Lives: alone}, nil
	}
	r, err := c.Session(ctx, 0)
	r.Lives = append(r.Lives, alone...)
	return r, err
}

// closeSession withdraws the open session. Where the person ends it, or a stop, a life
// ends with it that has no session, or another one.
func (c *Companion) closeSession(ctx context.Context, reason string) error {
	open := c.session().Open
	if open {
		if err := c.withdraw(ctx, reason); err != nil {
			return err
		}
	}
	_, alone := c.lives.Living()
	switch {
	case alone && (reason == reasonEnd || reason == reasonStop):
		return c.endLife(ctx, reason)
	case !open:
		return ErrNoSession
	}
	return nil
}

// takeUp looks at a session that was open when the last process ended: one of
// today goes on, an older one is withdrawn now.
func (c *Companion) takeUp(ctx context.Context) error {
	c.life.began = c.readClock()
	s := c.session()
	if !s.Open {
		return nil
	}
	if s.Date == c.today() {
		c.life.active = time.Now()
		return nil
	}
	return c.withdraw(ctx, reasonRecovery)
}

// watchClock ends live sessions that are idle or whose day is over.
func (c *Companion) watchClock(ctx context.Context) {
	tick := time.NewTicker(min(time.Minute, max(time.Second, c.opts.Idle/4)))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		c.sweepClaims(ctx)
		err := c.do(ctx, interactive, c.endIfOver)
		if err != nil && ctx.Err() == nil {
			c.problem(fmt.Sprintf("the session could not be ended: %v", err))
			c.log.Error("end of session", "error", err)
		}
	}
}

func (c *Companion) endIfOver(ctx context.Context) error {
	s := c.session()
	if reason := c.overBy(); reason != "" {
		if s.Open && c.livesIn(int(s.Number)) {
			return c.withdraw(ctx, reason)
		}
		return c.endLife(ctx, reason)
	}
	if !s.Open || c.life.policy == history {
		return nil
	}
	switch {
	case c.sessionDay(s) != c.today():
		return c.withdraw(ctx, reasonRoll)
	case time.Since(c.life.active) >= c.opts.Idle: // monotonic: clock jumps do not count
		return c.withdraw(ctx, reasonIdle)
	}
	return nil
}
