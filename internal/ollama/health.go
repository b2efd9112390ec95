package ollama

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

const (
	firstPause = time.Second
	lastPause  = time.Minute
	// badInARow is how many answers that cannot be used close a lane.
	badInARow = 5
)

// scope is what an absence is one of.
type scope int

const (
	ofServer scope = iota
	ofModel
	ofLane
)

// lane is one kind of question to one model, and whether it may be asked now. One
// that is closed lets a single question through when its pause is over; that opens
// it, or makes the pause longer.
type lane struct {
	s     *Server
	what  string // the kind of question, for people
	model *model
	slots chan struct{}

	why         string // empty while it is open
	scope       scope
	loads       bool
	since, next time.Time
	pauses      int // since the last good answer
	streak      int // answers that could not be used, since the last that could
	probing     bool
}

// pass is the leave to ask one question.
type pass struct {
	lane  *lane
	probe bool
}

// error is ErrModelAway with why.
func (l *lane) error(why string) error {
	return fmt.Errorf("%w: %s on %s: %s", lifecycle.ErrModelAway, l.model.name, l.s.shown, why)
}

// away is an error while nobody is let through.
func (l *lane) away() error {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if l.shut() {
		return l.error(l.why)
	}
	return nil
}

// shut tells whether the next question is refused. The caller holds mu.
func (l *lane) shut() bool {
	return l.why != "" && (l.probing || l.s.o.Now().Before(l.next))
}

// enter gives a pass; the caller returns it by leave.
func (l *lane) enter() (*pass, error) {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if l.shut() {
		return nil, l.error(l.why)
	}
	p := &pass{lane: l, probe: l.why != ""}
	if p.probe {
		l.probing = true
	}
	return p, nil
}

// enterToLook gives a pass to look, which costs the server little: also in a pause, but
// for one that only a question ends. It is nil where there is nothing to look for.
func (l *lane) enterToLook() *pass {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if l.shut() && (l.loads || l.probing) {
		return nil
	}
	p := &pass{lane: l, probe: l.why != ""}
	l.probing = p.probe
	return p
}

func (p *pass) leave() {
	p.lane.s.mu.Lock()
	defer p.lane.s.mu.Unlock()
	if p.probe {
		p.lane.probing = false
	}
}

// good notes an answer that can be used.
func (p *pass) good() {
	s := p.lane.s
	s.mu.Lock()
	defer s.mu.Unlock()
	p.lane.streak, p.lane.pauses = 0, 0
	p.lane.open()
}

// seen notes that what was away is there, as far as can be told without a question:
// the next pause still is longer than the last, should it come to one.
func (p *pass) seen() {
	s := p.lane.s
	s.mu.Lock()
	defer s.mu.Unlock()
	p.lane.open()
}

// open opens a lane that was answered on, and the others that were closed for what is
// over with that. The caller holds mu.
func (l *lane) open() {
	opened := false
	for _, other := range l.s.lanes() {
		over := other == l || other.scope == ofServer || other.scope == ofModel && other.model == l.model
		if other.why == "" || !over {
			continue
		}
		other.why, other.since, other.next = "", time.Time{}, time.Time{}
		other.streak = min(other.streak, badInARow-1) // one more closes it again
		opened = true
	}
	if opened {
		l.s.tell()
	}
}

// gone closes the lane, and those that the absence is one of.
func (p *pass) gone(a *absence) {
	s := p.lane.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lanes() {
		if l != p.lane && (a.scope == ofModel && l.model != p.lane.model || l.why != "") {
			continue
		}
		l.model.met = false // which one comes back is to be seen
		if l == p.lane && l.why != "" && !p.probe {
			continue // asked before it was closed: that is known by now
		}
		l.close(a)
	}
	s.tell()
}

// bad notes an answer that cannot be used.
func (p *pass) bad() {
	s, l := p.lane.s, p.lane
	s.mu.Lock()
	defer s.mu.Unlock()
	l.streak++
	if l.why == "" && l.streak < badInARow || l.why != "" && !p.probe {
		return
	}
	a := &absence{why: fmt.Sprintf("%d answers in a row could not be used", l.streak), scope: ofLane, loads: true}
	if l.why != "" { // it was a probe: what it was closed for may be over, it is not well
		a.why, a.scope, a.loads = l.why, l.scope, l.loads
	}
	l.close(a)
	s.tell()
}

// close closes a lane for a pause. The caller holds mu.
func (l *lane) close(a *absence) {
	now := l.s.o.Now()
	if l.why == "" {
		l.since = now
	}
	l.why, l.scope, l.loads = a.why, a.scope, a.loads
	l.next = now.Add(pause(l.pauses))
	l.pauses++
}

// pause is how long a lane is closed after n pauses without a good answer between:
// doubled each time, up to lastPause, and up to a fifth shorter by chance, so that
// several devices do not come back at once.
func pause(n int) time.Duration {
	d := lastPause
	if n < 6 {
		d = min(lastPause, firstPause<<n)
	}
	return d - time.Duration(rand.Int64N(int64(d)/5+1))
}

func (s *Server) lanes() []*lane { return []*lane{s.judge, s.naming, s.talk, s.embedding} }

// tell wakes those who watch. The caller holds mu.
func (s *Server) tell() {
	close(s.changed)
	s.changed = make(chan struct{})
}
