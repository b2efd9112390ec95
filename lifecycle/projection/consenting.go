package projection

import (
	"context"

	"github.com/jivad/jivad/lifecycle/consent"
)

// Consenting is something that the person is about to say of consent.
type Consenting struct {
	Record        consent.Record
	Before, After consent.Grid
}

// Consider works out what saying something of consent would do, and says nothing. Errors:
// those of consent.Chain.Next.
func (p *Projections) Consider(who, why string, changes []consent.Change) (Consenting, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.consider(who, why, changes)
}

func (p *Projections) consider(who, why string, changes []consent.Change) (Consenting, error) {
	id, err := newID()
	if err != nil {
		return Consenting{}, err
	}
	now, trusted := p.o.Now()
	c := Consenting{Before: p.consents.Grid()}
	c.Record, err = p.consents.Next(consent.Said{ID: id, Who: who, Why: why, When: now, ClockTrusted: trusted, Changes: changes})
	if err != nil {
		return c, err
	}
	c.After, err = c.Before.With(c.Record.Changes...)
	return c, err
}

// Say says something of consent, and writes with it, in the same transaction, what owed
// gives: what is to be done for it. It is durable when it returns. Errors: those of
// consent.Chain.Next and of owed; nothing was said then.
func (p *Projections) Say(ctx context.Context, who, why string, changes []consent.Change, owed func(Consenting) ([]Value, error)) (Consenting, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, err := p.consider(who, why, changes)
	if err != nil {
		return c, err
	}
	data, err := c.Record.Canonical()
	if err != nil {
		return c, err
	}
	values, err := owed(c)
	if err != nil {
		return c, err
	}
	if err := p.o.Store.Put(ctx, append(values, Value{consentName(c.Record.Version), data})...); err != nil {
		return c, err
	}
	return c, p.consents.Append(c.Record)
}
