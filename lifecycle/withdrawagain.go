package lifecycle

import (
	"context"
	"fmt"

	"github.com/jivad/jivad/lifecycle/projection"
	"github.com/jivad/jivad/soul/lineage"
)

// What was taken away before an older copy of the store was put in its place is taken
// away again at the start, before anybody is answered: texts for which leave was withdrawn,
// and what excised lives had left.

// owedWithdrawals are those of which something is left to do, the oldest first.
func (c *Companion) owedWithdrawals() (list []owedWithdrawal, err error) {
	err = c.store.Values(prefixWithdrawing, func(name string, data []byte) error {
		var o owedWithdrawal
		err := unmarshal(name, data, &o)
		list = append(list, o)
		return err
	})
	return list, err
}

// takeUpWithdrawals does what is left of withdrawals. It is tried at every start. Error:
// texts that came back with an older copy of the store could not be taken out of it.
func (c *Companion) takeUpWithdrawals(ctx context.Context) error {
	list, err := c.owedWithdrawals()
	if err != nil {
		c.problem(fmt.Sprintf("what is owed to a withdrawal of consent cannot be read: %v", err))
		return nil
	}
	for _, o := range list {
		if c.opts.LookOnly {
			if err := c.leaveUnread(ctx, o); err != nil {
				return err
			}
			continue
		}
		if o = c.carryOut(ctx, o, nil); o.Restored && !o.Rewritten && len(o.Left()) > 0 {
			return fmt.Errorf("texts for which consent was withdrawn came back with an older copy of the store, and could not be taken out again: %s; mend that and start again", whyNotDone(o))
		}
	}
	return nil
}

// leaveUnread keeps the texts that a withdrawal owes to destroy from being read.
func (c *Companion) leaveUnread(ctx context.Context, o owedWithdrawal) error {
	if o.Restored {
		c.problem("texts for which consent was withdrawn came back with an older copy of the store; the next start destroys them again")
	} else {
		c.problem("a withdrawal of consent is not finished; the next start goes on with it")
	}
	if o.Rewritten {
		return nil
	}
	gone, err := c.entriesWhere(ctx, o.UpTo, o.goes)
	if c.leave.going == nil {
		c.leave.going = map[uint64]bool{}
	}
	for _, e := range gone {
		c.leave.going[e.seq] = true
	}
	return err
}

func whyNotDone(o owedWithdrawal) string {
	for _, d := range o.Done {
		if d.Failure != "" {
			return d.Failure
		}
	}
	return "it was broken off"
}

// owesTexts tells whether texts are in the store that a restore or an import brought and
// the next start destroys.
func (c *Companion) owesTexts() (bool, error) {
	list, err := c.owedWithdrawals()
	for _, o := range list {
		if o.Restored && !o.Rewritten {
			return true, err
		}
	}
	return false, err
}

// exciseAgain takes out at the start what lives had left that were excised before an older
// copy of the store was put in its place. Until it is done it is tried at every start.
func (c *Companion) exciseAgain(ctx context.Context) error {
	gone, owed, err := c.lives.ToExcise()
	if err != nil || !owed {
		return err
	}
	if c.opts.LookOnly {
		c.problem("rules of excised lives came back with an older copy of the store; the next start takes them out again")
		return nil
	}
	if c.session().Open {
		if err := c.closeSession(ctx, reasonExcise); err != nil {
			return err
		}
	}
	var records []sessionRecord
	err = c.lives.ExciseAgain(ctx, gone, "jivad restore", func(without *lineage.Lineage) (values []projection.Value, err error) {
		values, records, err = c.withoutRules(without)
		return values, err
	})
	if err != nil {
		return fmt.Errorf("take out again what was excised before the store was restored: %w", err)
	}
	c.mu.Lock()
	c.records = records
	c.mu.Unlock()
	if _, err := c.clearTraces(ctx); err != nil {
		return err
	}
	return c.dropCopies(ctx)
}
