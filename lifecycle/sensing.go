package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/lifecycle/claims"
	"github.com/jivad/jivad/lifecycle/projection"
)

// Claims come from instruments too: from sensors that speak on topics, and from tools whose
// results are readings. Nothing of what they say is kept, but whether a statement of the
// policy holds by it.

// sensing is what is known of the policy and of the instruments beside the claims.
type sensing struct {
	// reading is held while the policy is read.
	reading sync.Mutex

	mu sync.Mutex
	// problem is why evidence.toml cannot be used; empty where it can.
	problem string
	// unread are the instruments whose last words were no reading.
	unread map[string]unread
}

// unread is why what an instrument said was no reading, and how often that was since it
// gave one.
type unread struct {
	why   string
	times int
}

// checkPolicy sees that the categories of a policy are known. Error: ErrPolicy.
func checkPolicy(p claims.Policy) error {
	for _, in := range p.Instruments {
		if err := CheckCategory(in.Category); err != nil {
			return fmt.Errorf("%s: %w: instrument %q: %w", PolicyFile, ErrPolicy, in.ID, err)
		}
	}
	return nil
}

// ReadPolicy reads evidence.toml anew: what it says holds from now on. Where it cannot be
// used, the policy of before stays, and status says so until it is mended. Error: ErrPolicy.
func (c *Companion) ReadPolicy() error {
	c.sensing.reading.Lock()
	defer c.sensing.reading.Unlock()
	policy, err := readPolicy(c.opts.Dir)
	if err == nil {
		err = checkPolicy(policy)
	}
	if err != nil {
		says := err.Error()
		if c.claims.Policy().Unusable == nil {
			says += "; the policy of before stays"
		}
		c.sensing.mu.Lock()
		defer c.sensing.mu.Unlock()
		c.sensing.problem = says
		return err
	}
	c.claims.SetPolicy(policy)
	c.sensing.mu.Lock()
	defer c.sensing.mu.Unlock()
	c.sensing.problem = ""
	for id := range c.sensing.unread {
		if !slices.ContainsFunc(policy.Instruments, func(in claims.Instrument) bool { return in.ID == id }) {
			delete(c.sensing.unread, id)
		}
	}
	return nil
}

// SensorTopics are the topics that instruments of the policy speak on, each once.
func (c *Companion) SensorTopics() []string { return c.claims.Policy().Topics() }

// Sensed takes in what came on a topic, as a reading of each instrument of the policy that
// speaks there. What came and is no reading is counted, and told in the status, without
// what it was. Of categories that may not be kept nothing is. Errors: those of the store.
func (c *Companion) Sensed(ctx context.Context, topic string, payload []byte) error {
	seen, err := c.claims.Message(ctx, topic, payload, int(c.session().Number), c.claimReadable)
	return c.sensed(seen, err)
}

// resulted takes in what came of a tool, where the policy has it read an instrument. Only
// the whole of what a tool gave that did what it should is a reading. That it cannot be kept
// takes nothing from the act.
func (c *Companion) resulted(ctx context.Context, tool string, out projection.Acted) {
	if !out.OK || out.Truncated {
		return
	}
	seen, err := c.claims.Result(ctx, tool, []byte(out.Text), int(c.session().Number), c.claimReadable)
	if err := c.sensed(seen, err); err != nil {
		c.log.Warn("what a tool read could not be kept as a claim", "error", err)
	}
}

// sensed notes which instruments gave a reading. It gives the errors of the store.
func (c *Companion) sensed(seen []claims.Observed, err error) error {
	c.sensing.mu.Lock()
	defer c.sensing.mu.Unlock()
	for _, o := range seen {
		if o.Unread == "" {
			delete(c.sensing.unread, o.Instrument)
			continue
		}
		was := c.sensing.unread[o.Instrument]
		if was.times == 0 {
			c.log.Warn("what an instrument said is no reading; status tells why", "instrument", o.Instrument)
		}
		if c.sensing.unread == nil {
			c.sensing.unread = map[string]unread{}
		}
		c.sensing.unread[o.Instrument] = unread{why: o.Unread, times: was.times + 1}
	}
	if errors.Is(err, claims.ErrReading) {
		return nil
	}
	return err
}

// sensingProblems are for the status: what is wrong with the policy, and which instruments
// give no reading.
func (c *Companion) sensingProblems() (out []string) {
	c.sensing.mu.Lock()
	defer c.sensing.mu.Unlock()
	for _, u := range c.sensing.unread {
		times := "once"
		if u.times > 1 {
			times = fmt.Sprintf("%d times", u.times)
		}
		out = append(out, fmt.Sprintf("%s (%s); see %s", u.why, times, PolicyFile))
	}
	slices.Sort(out)
	if c.sensing.problem != "" {
		out = append([]string{c.sensing.problem}, out...)
	}
	out = append(out, c.undeclared()...)
	if err := c.claimsUnread(); err != nil {
		says := err.Error()
		if errors.Is(err, chitta.ErrDamaged) { // the store tells which record, and what to do
			says = claims.ErrUnread.Error() + "; " + begunAnew
		}
		out = append([]string{says}, out...)
	}
	return out
}

// undeclared tells which tools evidence.toml speaks of that are not in the manifest: what it
// says of them holds for nothing.
func (c *Companion) undeclared() (out []string) {
	m, err := c.readManifest()
	if err != nil {
		return nil // that is told with the manifest
	}
	known := map[string]bool{}
	for _, t := range m.Tools {
		known[t.Name] = true
	}
	tell := func(tool, what string) {
		if tool != "" && !known[tool] {
			out = append(out, fmt.Sprintf("%s: %s, and the manifest declares no tool of the name %q; mend the name there, or in %s", PolicyFile, what, tool, ManifestFile))
		}
	}
	p := c.claims.Policy()
	for _, a := range p.Acts {
		tell(a.Tool, "it says what the use of a tool rests on")
	}
	for _, in := range p.Instruments {
		tell(in.Tool, fmt.Sprintf("a tool reads instrument %q", in.ID))
	}
	return out
}
