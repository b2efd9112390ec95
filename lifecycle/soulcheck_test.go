package lifecycle

import "context"

// InTheMidst has the worker be between two steps of writing the last SOUL.md once more, when
// the store has what the record of its session has not yet. It goes on once somebody waits for
// it, or nobody does and done is closed.
func (c *Companion) InTheMidst(ctx context.Context, begun chan<- struct{}, done <-chan struct{}) error {
	return c.do(ctx, interactive, func(context.Context) error {
		now, _ := c.record(c.lastClosed())
		before := now
		gap := 1.5
		before.WitnessGap = &gap
		c.keepRecord(before)
		defer c.keepRecord(now)
		close(begun)
		for c.queue.waiting(interactive) == 0 {
			select {
			case <-done:
				return nil
			default:
			}
		}
		return nil
	})
}
