package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jivad/jivad/gate/evidence"
	"github.com/jivad/jivad/lifecycle/claims"
	"github.com/jivad/jivad/lifecycle/tools"
)

// An act of medium or high consequence passes the gate of evidence. Of high consequence, or
// what the policy says, a person says yes to each single act: the call waits for that, and
// no answer in time is a no. What waits is kept nowhere.

// PendingAct is an act that waits for a person's yes.
type PendingAct struct {
	ID          int                  `json:"id"`
	Tool        string               `json:"tool"`
	Consequence evidence.Consequence `json:"consequence"`
	// Arguments are those that the model gave.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// RestsOn are the statements that it rests on, Claims the ids of their claims.
	RestsOn []string `json:"rests_on,omitempty"`
	Claims  []string `json:"claims,omitempty"`
	// Seconds are left to answer.
	Seconds float64 `json:"seconds_left"`
}

// asking are the acts that wait.
type asking struct {
	mu    sync.Mutex
	last  int
	waits []*waiting
}

type waiting struct {
	PendingAct
	until  time.Time // by a clock that only goes forward
	answer chan bool
	// held says what came of a yes: nil where it holds.
	held chan error
}

// GateAct tells what the gate says of the use of a tool now, and does nothing. arguments is
// an object of JSON, or empty. Error: ErrQuery.
func (c *Companion) GateAct(ctx context.Context, tool, consequence string, arguments json.RawMessage) (GateDecision, error) {
	known := []string{"low", "medium", "high"}
	if consequence != "" && !slices.Contains(known, consequence) {
		return GateDecision{}, fmt.Errorf("%w: the consequence is %.32q, and is one of low, medium and high", ErrQuery, consequence)
	}
	if consequence == "" {
		consequence = c.consequenceOf(tool)
	}
	if !slices.Contains(known, consequence) {
		return GateDecision{}, fmt.Errorf("%w: no tool of this name is declared in the manifest, so say what could come of it: low, medium or high", ErrQuery)
	}
	d, err := c.gate(ctx, tools.Proposal{Tool: tool, Consequence: tools.Consequence(consequence), Arguments: arguments}, false)
	if errors.Is(err, claims.ErrUnread) {
		return d, c.claimsUnread()
	}
	if err != nil {
		return d, fmt.Errorf("%w: %w", ErrQuery, err)
	}
	return d, nil
}

// consequenceOf is that of a tool of the manifest; empty where there is none.
func (c *Companion) consequenceOf(tool string) string {
	m, err := c.readManifest()
	if err != nil {
		return ""
	}
	for _, d := range m.Tools {
		if d.Name == tool {
			return string(d.Consequence)
		}
	}
	return ""
}

func (c *Companion) gate(ctx context.Context, q tools.Proposal, yes bool) (GateDecision, error) {
	return c.claims.Gate(ctx, claims.Use{
		Tool: q.Tool, Consequence: evidence.Consequence(q.Consequence), Arguments: q.Arguments, Authorised: true, Yes: yes, Allowed: c.claimReadable,
	})
}

// gated is the gate as the checkpoint of a life asks it: what was granted and consented to
// has passed that before.
func (c *Companion) gated(ctx context.Context, q tools.Proposal, yes bool) tools.Verdict {
	d, err := c.gate(ctx, q, yes)
	if err != nil {
		c.log.Warn("an act could not be judged, and is refused", "error", err)
		if errors.Is(err, claims.ErrUnread) {
			return tools.Verdict{Answer: tools.Deny, Reasons: []string{c.claimsUnread().Error()}}
		}
		return tools.Verdict{Answer: tools.Deny, Reasons: []string{"the policy of evidence cannot be used"}}
	}
	if d.Verdict == evidence.Allow {
		return tools.Verdict{Answer: tools.Allow}
	}
	out := tools.Verdict{Answer: tools.Deny}
	if d.Ask {
		out.Answer = tools.AskFirst
	}
	for _, r := range d.Reasons {
		if r.Code != evidence.NeedsPerson || d.Ask {
			says := string(r.Code) + ": " + r.Says
			if r.Claim != "" {
				says = "claim " + r.Claim + " " + says
			}
			out.Reasons = append(out.Reasons, says)
		}
	}
	return out
}

// ask waits for a person's yes to an act, as long as the policy says. ctx ends it too.
func (c *Companion) ask(ctx context.Context, q tools.Proposal) bool {
	d, err := c.gate(ctx, q, false)
	if err != nil || !d.Ask {
		return false
	}
	patience := c.claims.Policy().Asking
	w := &waiting{
		PendingAct: PendingAct{Tool: q.Tool, Consequence: d.Consequence, Arguments: slices.Clone(q.Arguments), RestsOn: d.RestsOn, Claims: d.Claims},
		until:      time.Now().Add(patience), answer: make(chan bool, 1), held: make(chan error, 1),
	}
	c.asking.mu.Lock()
	if c.asking.last == 0 { // numbers of before a restart mean nothing now
		c.asking.last = 100 * (1 + rand.IntN(90))
	}
	c.asking.last++
	w.ID = c.asking.last
	c.asking.waits = append(c.asking.waits, w)
	c.asking.mu.Unlock()
	defer func() {
		c.asking.mu.Lock()
		defer c.asking.mu.Unlock()
		c.asking.waits = slices.DeleteFunc(c.asking.waits, func(o *waiting) bool { return o == w })
	}()
	c.log.Info("an act waits for a person's yes: jivad claims pending", "id", w.ID, "tool", w.Tool)
	patient := time.NewTimer(patience)
	defer patient.Stop()
	select {
	case yes := <-w.answer:
		if !yes {
			return false
		}
		err := c.stillHolds(ctx, q, d)
		w.held <- err
		if err != nil {
			c.log.Info("an act is judged otherwise than when it was asked for, so the yes does not hold", "id", w.ID, "tool", w.Tool)
		}
		return err == nil
	case <-patient.C:
		c.log.Info("nobody answered in time, which is a no", "id", w.ID, "tool", w.Tool)
	case <-ctx.Done():
	case <-c.ending.Done():
	}
	w.held <- fmt.Errorf("%w: it waits no more, which is a no", ErrRefused) // a yes may have come just now
	return false
}

// stillHolds sees that an act is judged as it was when it was asked for. Error: ErrRefused,
// with the reasons; that of the gate.
func (c *Companion) stillHolds(ctx context.Context, q tools.Proposal, asked GateDecision) error {
	now, err := c.gate(ctx, q, false)
	switch {
	case err != nil:
		return c.claimError(err)
	case !now.Ask && now.Verdict != evidence.Allow:
		reasons := []string{}
		for _, r := range now.Reasons {
			if r.Code != evidence.NeedsPerson {
				reasons = append(reasons, string(r.Code)+": "+r.Says)
			}
		}
		return fmt.Errorf("%w: it was judged once more: %s", ErrRefused, strings.Join(slices.Compact(reasons), "; "))
	case !slices.Equal(now.RestsOn, asked.RestsOn) || !slices.Equal(now.Claims, asked.Claims):
		return fmt.Errorf("%w: it rests on other claims than when it was asked for", ErrRefused)
	}
	return nil
}

// PendingActs are the acts that wait for a person's yes, the oldest first.
func (c *Companion) PendingActs(context.Context) ([]PendingAct, error) {
	c.asking.mu.Lock()
	defer c.asking.mu.Unlock()
	out := []PendingAct{}
	for _, w := range c.asking.waits {
		w.Seconds = max(0, time.Until(w.until).Seconds())
		out = append(out, w.PendingAct)
	}
	return out, nil
}

// AnswerAct says yes or no to an act that waits. It is judged once more before it is done.
// Errors: ErrNotFound where it waits no more; ErrRefused, with the reasons, where the yes does
// not hold any more: then it is not done.
func (c *Companion) AnswerAct(ctx context.Context, id int, yes bool) (PendingAct, error) {
	w := c.answered(id, yes)
	if w == nil {
		return PendingAct{}, fmt.Errorf("%w: no act %s waits; it may have been answered, or its time is over, which is a no", ErrNotFound, strconv.Itoa(id))
	}
	if !yes {
		return w.PendingAct, nil
	}
	select {
	case err := <-w.held:
		if err != nil {
			err = fmt.Errorf("act %d, %s, is not done: %w", id, w.Tool, err)
		}
		return w.PendingAct, err
	case <-ctx.Done():
		return w.PendingAct, ctx.Err()
	case <-c.ending.Done():
		return w.PendingAct, fmt.Errorf("%w: act %d, %s, is not done: the daemon ends", ErrRefused, id, w.Tool)
	}
}

// answered hands the answer to an act that waits; nil where none does.
func (c *Companion) answered(id int, yes bool) *waiting {
	c.asking.mu.Lock()
	defer c.asking.mu.Unlock()
	for _, w := range c.asking.waits {
		if w.ID != id || time.Now().After(w.until) {
			continue
		}
		select {
		case w.answer <- yes:
			return w
		default: // answered already
		}
	}
	return nil
}
