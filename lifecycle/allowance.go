package lifecycle

import (
	"fmt"

	"github.com/jivad/jivad/lifecycle/consent"
)

// Allowance is what the person allowed at some time. What is said then may wait before it is
// taken in: for its answer, for the embedder, for others before it. If leave for it is
// withdrawn meanwhile, its words are dropped, as all words are that are only held in memory.
// The zero one is of no known time.
type Allowance struct{ then *allowed }

// Allowed is what the person allows now.
func (c *Companion) Allowed() Allowance {
	now := c.leave.now()
	return Allowance{&now}
}

// stillAllowed is ErrWithdrawn for a live note that could be kept and read when it was said,
// and cannot be any more. What never could be, and what stands in a file of the person's, of
// which nothing is lost, is taken in as any other is now: without its text.
func (c *Companion) stillAllowed(p *prepared) error {
	own := p.note.Category
	if p.policy != live || p.source != nil || p.allowed.then == nil {
		return nil
	}
	if !p.allowed.then.readable(own, "") || c.leave.now().readable(own, "") {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrWithdrawn, consent.OfEntry(own))
}
