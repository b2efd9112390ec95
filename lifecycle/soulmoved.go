package lifecycle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/jivad/jivad/chitta"
)

// A life is distilled and judged when its session is over, so what it taught is not in the
// SOUL.md that the end of the session wrote. Once the lineage has moved that SOUL.md is
// written once more, as the one of the same session. How far it moved is told by the next
// end. So it is with claims that come to be in quarantine or contested, or are no longer.

// soulMoved writes the SOUL.md of the last session once more where the lineage has moved
// since, or what is unsettled of claims. While a session is open the next end writes it. It
// runs on the worker, or while there is none.
func (c *Companion) soulMoved(ctx context.Context) {
	if err := c.soulOfHead(ctx); err != nil && ctx.Err() == nil {
		c.log.Warn("SOUL.md has not yet the rules that were learned last, or what is unsettled of claims; the next end of a session writes it", "error", err)
	}
}

// soulMovedSoon has the worker do that, and waits for it.
func (c *Companion) soulMovedSoon(ctx context.Context, l line) {
	if !c.lineageMoved() && !c.unsettledMoved() {
		return
	}
	err := c.do(ctx, l, func(ctx context.Context) error { c.soulMoved(ctx); return nil })
	if err != nil && ctx.Err() == nil {
		c.log.Warn("SOUL.md has not yet the rules that were learned last, or what is unsettled of claims", "error", err)
	}
}

// lineageMoved tells whether SOUL.md of the last session speaks of an earlier version of
// the lineage.
func (c *Companion) lineageMoved() bool {
	if c.lives == nil || c.opts.LookOnly {
		return false
	}
	k := c.lives.Known()
	r, ok := c.record(c.lastClosed())
	return ok && k.Batches > 0 && r.Lineage != k.Head.String()
}

func (c *Companion) soulOfHead(ctx context.Context) error {
	moved := c.lineageMoved()
	if !moved && !c.unsettledMoved() {
		return nil
	}
	names, err := c.modelNames()
	if err != nil {
		return err
	}
	s, err := c.lastSummaryWith(names)
	if errors.Is(err, errNotNow) {
		return nil
	}
	if err != nil {
		return err
	}
	last, err := c.lastWritten()
	if err != nil {
		return err
	}
	r, _ := c.record(s.Session)
	if moved {
		r.Lineage = c.lives.Known().Head.String()
		s.Identity, s.LineageVersion = c.identityText(r.Lineage), r.Lineage
		s.Rules, s.Unresolved = c.rulesOf(r.Lineage)
		if n := len(s.Trend); n > 0 {
			s.Trend[n-1].Lineage = r.Lineage
		}
	}
	doc, values, err := c.soulOf(s, last)
	if err != nil {
		return err
	}
	if !moved && bytes.Equal(doc, last) {
		return nil
	}
	if moved {
		data, err := json.Marshal(r)
		if err != nil {
			return err
		}
		values = append(values, chitta.Value{Name: recordName(r.Session), Data: data})
	}
	if _, err := c.store.Append(ctx, chitta.Batch{Values: values}); err != nil {
		return err
	}
	if moved {
		c.keepRecord(r)
	}
	c.writeAgain(doc, last)
	return nil
}
