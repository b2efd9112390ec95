package lifecycle

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jivad/jivad/gate/evidence"
	"github.com/jivad/jivad/lifecycle/claims"
	"github.com/jivad/jivad/lifecycle/prompt"
)

// propose makes claims of what a model took from the entry at seq, once that is durable:
// reports, whatever the model makes of them, for nobody located their source. It was told
// of the entry when the store had been written anew so often. An entry gives claims once,
// those of but apart, and while it is no older than a report is fresh; not what may not be
// kept or read, and not what the companion said itself. What is not in the words that are
// kept of the entry is left out. It runs on the worker, and nothing that goes wrong takes
// from the entry. It gives the ids of the claims that it made.
func (c *Companion) propose(ctx context.Context, seq uint64, a Assessment, told uint64, but ...string) (made []string) {
	if len(a.Claims) == 0 || told != c.store.Meta().Generation || c.claims.Unread() != nil {
		return nil
	}
	x, t, err := c.wordingOf(seq)
	if err != nil || t.Body == "" || t.Own > 0 || !c.mayRead(seq, x, t) || !c.recent(x.Date) {
		return nil
	}
	category, from, source := c.leave.now().settled(x.Category, t.Found), formatID(x.ID), "diary"
	if strings.HasPrefix(x.Source, sourceChat) {
		source = "chat"
	}
	if !c.claimReadable(category) || c.claims.TakenFrom(from, but...) {
		return nil
	}
	for _, p := range a.Claims[:min(len(a.Claims), prompt.Claims)] {
		if err := prompt.CheckClaim(p.Subject, p.Text, t.Body); err != nil {
			c.log.Debug("a statement that a model took from an entry is left out", "event", seq, "why", err)
			continue
		}
		k, err := c.claims.Assert(ctx, claims.Draft{
			Text: p.Text, Subject: p.Subject, Class: evidence.Reported, Agent: a.Judgement.Assessor, Source: source,
			From: from, Category: category, Session: int(c.session().Number),
		})
		if err != nil {
			c.log.Warn("what a model took from an entry could not be kept as a claim", "event", seq, "error", err)
			continue
		}
		made = append(made, k.ID)
	}
	return made
}

// proposeAnew is propose for an entry that was edited. Claims that were taken from it and that
// its words do not say any more are superseded by the first that is taken from it now, or come
// into quarantine where there is none: the person decides.
func (c *Companion) proposeAnew(ctx context.Context, seq uint64, a Assessment, told uint64) {
	x, t, err := c.wordingOf(seq)
	if err != nil || c.claims.Unread() != nil {
		return
	}
	from := formatID(x.ID)
	unsaid := c.claims.Unsaid(from, func(subject, text string) bool { return prompt.CheckClaim(subject, text, t.Body) == nil })
	by := ""
	if made := c.propose(ctx, seq, a, told, unsaid...); len(made) > 0 {
		by = made[0]
	}
	if err := c.claims.Unsay(ctx, from, unsaid, by, int(c.session().Number)); err != nil {
		c.problem(fmt.Sprintf("claims that were taken from an entry before it was edited are still there; see jivad claims list: %v", err))
	}
}

// recent tells of the day of an entry whether a report of it would still be fresh.
func (c *Companion) recent(date string) bool {
	day, err := time.Parse(time.DateOnly, date)
	today, bad := time.Parse(time.DateOnly, c.today())
	if err != nil || bad != nil {
		return false
	}
	fresh := c.claims.Policy().Classes[evidence.Reported]
	age := today.Sub(day)
	return age >= 0 && (fresh == 0 || age <= fresh)
}
