package lifecycle

import (
	"context"
	"sync"
	"time"
)

// Who thinks in a life, and with the first of all lives which base model the identity is
// made of (AD-1), is told by the digest of the model. So nobody is born by the bare name of
// one whose server was not asked yet.

const (
	// meetingTime is how long a birth waits for the server to say which model it has.
	meetingTime = 3 * time.Second
	// meetAgain is how long births then go without.
	meetAgain = 30 * time.Second
)

// meeting is held while a birth waits for the server.
type meeting struct {
	mu   sync.Mutex
	last time.Time
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
