package lifecycle

import (
	"bytes"
	"context"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/lifecycle/claims"
	"github.com/jivad/jivad/soul"
)

// unsettled are the claims that SOUL.md tells of among what is unresolved.
func (c *Companion) unsettled() (out []soul.Unsettled) {
	if c.claims == nil || c.leave == nil {
		return nil
	}
	return c.unsettledIn(c.claims)
}

// unsettledIn are those of a book.
func (c *Companion) unsettledIn(b *claims.Book) (out []soul.Unsettled) {
	for _, k := range b.Unsettled(c.claimReadable) {
		u := soul.Unsettled{Class: string(k.Class), Text: k.Text, By: k.Provenance.Source, Contested: k.Against != nil || k.Closed}
		if k.Against != nil {
			u.Against, u.AgainstClass = k.Against.Text, string(k.Against.Class)
		}
		out = append(out, u)
	}
	return out
}

// unsettledMoved tells whether SOUL.md of the last session shows other claims as unresolved
// than there are.
func (c *Companion) unsettledMoved() bool {
	if c.claims == nil || c.opts.LookOnly {
		return false
	}
	last, err := c.lastWritten()
	r, ok := c.record(c.lastClosed())
	if err != nil || !ok {
		return false
	}
	_, rules := c.rulesOf(r.Lineage)
	return !soul.ShowsUnresolved(last, rules, c.unsettled())
}

// hideUnsettled takes the claims out of SOUL.md while a session is open, where one of them
// may not be told any more. The end of the session tells of those that may.
func (c *Companion) hideUnsettled(ctx context.Context) error {
	if !c.session().Open || !c.unsettledMoved() {
		return nil
	}
	last, err := c.lastWritten()
	if err != nil {
		return err
	}
	doc := soul.WithoutClaims(last)
	if bytes.Equal(doc, last) {
		return nil
	}
	if _, err := c.store.Append(ctx, chitta.Batch{Values: []chitta.Value{{Name: valueCurrent, Data: doc}}}); err != nil {
		return err
	}
	c.writeAgain(doc, last)
	return nil
}
