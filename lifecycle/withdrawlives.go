package lifecycle

import (
	"context"
	"errors"
	"fmt"

	"github.com/jivad/jivad/chitta"
)

// purgeLives destroys what is kept of lives of the categories. That is first: it is what a
// life goes on writing.
func (c *Companion) purgeLives(ctx context.Context, o *owedWithdrawal) error {
	held, err := c.lives.Purge(ctx, o.Plan.Purge...)
	if err != nil {
		return fmt.Errorf("what is kept of lives: %w", err)
	}
	for _, h := range held {
		d := o.doneFor(h.Category)
		d.Acts, d.Rules = d.Acts+h.Acts, d.Rules+h.Rules
	}
	return nil
}

// owesCopies tells whether copies of the store are to be removed, since they hold what was
// taken out of it of lives.
func (c *Companion) owesCopies() (bool, error) {
	_, err := c.store.Value(valueCopies)
	if errors.Is(err, chitta.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
