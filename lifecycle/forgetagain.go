package lifecycle

import (
	"context"
	"fmt"

	"github.com/jivad/jivad/chitta"
)

// forgetAgain takes out at the start what was forgotten before an older copy of
// the store was put in its place. Until it is done it is tried at every start.
func (c *Companion) forgetAgain(ctx context.Context) error {
	again, err := c.store.ToForget()
	if err != nil || again.Nothing() {
		return err
	}
	if c.opts.LookOnly {
		c.problem("entries that were forgotten came back with an older copy of the store; the next start forgets them again")
		return nil
	}
	planned, err := c.store.PlanExcision(ctx, nil, again)
	if err != nil {
		return err
	}
	goes := map[uint64]bool{}
	for _, e := range planned.Events {
		goes[e.Sequence] = true
	}
	var chosen []ForgetEntry
	err = c.store.Experiences(ctx, func(x chitta.Experience) error {
		if goes[x.Sequence] {
			chosen = append(chosen, ForgetEntry{ID: formatID(x.ID), Date: x.Date, Source: x.Source, Session: int(x.Session), seq: x.Sequence})
		}
		return nil
	})
	if err != nil {
		return err
	}
	r, err := c.takeOut(ctx, chosen, nil, again, nil)
	if err != nil {
		return fmt.Errorf("forget again what was forgotten before the store was restored: %w", err)
	}
	if r.Forgotten > 0 {
		c.log.Info("entries that came back with an older copy of the store were forgotten again", "entries", r.Forgotten)
	}
	return nil
}
