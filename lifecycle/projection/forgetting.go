package projection

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/lives"
)

// byForgetting is why nothing is kept of a life whose session lost an entry.
const byForgetting = "an entry of it was forgotten"

// toCut is what a forgetting owes of lives once the store is the new one. It is written
// with that, so that a crash, or a disk that cannot be written, only delays it.
type toCut struct {
	// Lost are those whose sessions lost an entry, Lived those that went on then, of
	// which what was done before is taken out.
	Lost  []int64 `json:"lost,omitempty"`
	Lived []int64 `json:"lived,omitempty"`
}

// Forgetting says how a store is rewritten in which entries are forgotten. lost tells the
// sessions that lose one, by their number of before; number is what a session is called
// then, 0 where it goes. each is asked of every record, and gives what stays of it, or false
// for nothing: a life of such a session that waits, for its distillation or its judgement or
// in quarantine, leaves nothing, and its draft goes in the same transaction. owed is put
// beside them, for Forgotten, or the next start, to do the rest.
func (p *Projections) Forgetting(lost func(n int) bool, number func(n int) int) (each func(Value) (Value, bool, error), owed []Value, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	cut, err := p.owedCut() // of one before, that is not done yet
	if err != nil {
		return nil, nil, err
	}
	drop, now := map[string]bool{}, p.stamp()
	for _, l := range p.sorted() {
		switch {
		case l.State.Living() && (p.mine(l.Sequence) != nil || !lost(l.Session)):
			cut.Lived = append(cut.Lived, l.Sequence)
		case lost(l.Session):
			cut.Lost = append(cut.Lost, l.Sequence)
			drop[draftName(l.Sequence)], drop[kitName(l.Sequence)] = true, true
		}
	}
	if len(cut.Lost)+len(cut.Lived) > 0 {
		v, err := encode(nameCut, cut)
		if err != nil {
			return nil, nil, err
		}
		owed = append(owed, v)
	}
	return func(v Value) (Value, bool, error) {
		if drop[v.Name] || v.Name == nameCut {
			return v, false, nil
		}
		if !strings.HasPrefix(v.Name, prefixLife) {
			return v, true, nil
		}
		l, err := lives.Decode(v.Data)
		if err != nil {
			return v, false, unreadable(v.Name, err)
		}
		if slices.Contains(cut.Lost, l.Sequence) {
			if err := forgo(&l, now); err != nil {
				return v, false, err
			}
		}
		l.Session, l.Note = number(l.Session), "" // it may speak of what is forgotten
		v, err = lifeValue(&l)
		return v, true, err
	}, owed, nil
}

// forgo settles a life of which something is still to come with nothing kept. One that
// broke off ends first.
func forgo(l *lives.Life, now lives.Stamp) error {
	if l.State.Living() {
		if err := l.Withdraw(lives.ByCrash, now); err != nil {
			return err
		}
	}
	if l.State != lives.Withdrawn && l.State != lives.Quarantined || l.Obligation.Settled() {
		return nil
	}
	return l.Decline(byForgetting)
}

// Forgotten cuts what is there of the life that is lived, and drops what waits for a
// distillation or a judgement, or is in quarantine, of lives whose sessions lost an entry:
// their rules may be of it. number is what a session is called now, 0 where it is gone; lost
// takes the number of before. That nothing is kept of them is written before anything else.
func (p *Projections) Forgotten(ctx context.Context, lost func(n int) bool, number func(n int) int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropNotes()
	cut, err := p.owedCut()
	if err != nil {
		return err
	}
	for _, l := range p.sorted() {
		if lost(l.Session) && (!l.State.Living() || p.mine(l.Sequence) == nil) {
			cut.Lost = append(cut.Lost, l.Sequence)
		} else if l.State.Living() {
			cut.Lived = append(cut.Lived, l.Sequence)
		}
		l.Session = number(l.Session)
	}
	return p.cut(ctx, cut)
}

// owedCut is what a forgetting left owed.
func (p *Projections) owedCut() (cut toCut, err error) {
	data, err := p.o.Store.Value(nameCut)
	if errors.Is(err, ErrNotFound) {
		return cut, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &cut)
	}
	if err != nil {
		return cut, unreadable(nameCut, err)
	}
	return cut, nil
}

// cutOwed does it, before anything else is done for a life.
func (p *Projections) cutOwed(ctx context.Context) error {
	cut, err := p.owedCut()
	if err != nil || len(cut.Lost)+len(cut.Lived) == 0 {
		return err
	}
	if err := errors.Join(p.forgoAll(ctx, cut.Lost), p.destroyOthers()); err != nil {
		return err
	}
	return p.cut(ctx, cut)
}

// forgoAll writes that nothing is kept of lives. They are dissolved once their traces are
// gone.
func (p *Projections) forgoAll(ctx context.Context, lost []int64) error {
	var values []Value
	for _, n := range lost {
		l := p.open[n]
		if l == nil {
			continue
		}
		next := *l
		if err := forgo(&next, p.stamp()); err != nil {
			return err
		}
		v, err := lifeValue(&next)
		if err != nil {
			return err
		}
		values = append(values, v, Value{Name: draftName(n)}, Value{Name: kitName(n)})
		*l = next
	}
	if len(values) == 0 {
		return nil
	}
	return p.o.Store.Put(ctx, values...)
}

// cut does what is owed. p.mu is held.
func (p *Projections) cut(ctx context.Context, cut toCut) error {
	if err := p.forgoAll(ctx, cut.Lost); err != nil {
		return err
	}
	var all error
	for _, n := range cut.Lived {
		if p.open[n] != nil {
			all = errors.Join(all, p.cutTrace(n))
		}
	}
	for _, n := range cut.Lost {
		if p.open[n] != nil {
			all = errors.Join(all, p.settle(ctx, n))
		}
	}
	if all != nil {
		return all
	}
	if _, err := p.o.Store.Value(nameCut); errors.Is(err, ErrNotFound) {
		return nil
	}
	return p.o.Store.Put(ctx, Value{Name: nameCut})
}

// cutTrace takes out what a life did and met; where it is lived here it goes on with an
// empty journal.
func (p *Projections) cutTrace(n int64) error {
	mine := p.mine(n)
	if mine == nil {
		return distil.DestroyJournal(p.journalPath(n))
	}
	mine.trace.Forget()
	mine.trace.Partial = true
	gone := mine.journal.Destroy()
	journal, _, err := distil.OpenJournal(p.journalPath(n))
	if err != nil {
		return errors.Join(gone, err)
	}
	mine.journal = journal
	return gone
}
