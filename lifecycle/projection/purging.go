package projection

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/soul/lineage"
)

// What is kept of a life until it is distilled and judged is data of two kinds: what tools
// were asked and gave is operational, what was said and answered is communications. Each
// is kept only as long as it may be.

// storable tells whether data of a category may be kept. p.mu is held.
func (p *Projections) storable(c consent.Category) bool {
	return p.consents.Check(c, consent.Storage).Answer == consent.Allow
}

// ofAct is the category of what happened in a life; none of a text that was seen, which is
// kept, and goes, with its entry.
func ofAct(kind string) consent.Category {
	switch kind {
	case distil.Call:
		return consent.Operational
	case distil.Said, distil.Told:
		return consent.Communications
	}
	return 0
}

// mayKeep is an act as it may be kept in the trace: of a category without leave only as a
// text that is not to be repeated. That is in memory, and goes with the life.
func (p *Projections) mayKeep(a distil.Act) distil.Act {
	if c := ofAct(a.Kind); !c.Valid() || p.storable(c) {
		return a
	}
	text := a.Text + a.Result
	for _, argument := range a.Arguments {
		text += "\n" + string(argument.Value)
	}
	return distil.Act{Kind: distil.Seen, Text: text}
}

// ofRule are the categories of what a rule was made of, by its key. Which of the tools was
// of use is of what was said and of what was called.
func ofRule(key string) []consent.Category {
	switch {
	case key == "companion.help":
		return []consent.Category{consent.Communications, consent.Operational}
	case strings.HasPrefix(key, "companion."):
		return []consent.Category{consent.Communications}
	}
	return []consent.Category{consent.Operational}
}

// ofSignal is the category of what a signal was read from.
func ofSignal(name string) consent.Category {
	if strings.HasPrefix(name, "said.") {
		return consent.Communications
	}
	return consent.Operational
}

// only leaves in a draft what may be kept, and counts the rules that went, of those that
// would have been: one judgement takes those of a life that went well, the other the others.
func (d *draft) only(may func(consent.Category) bool) (gone int) {
	mayNot := func(r lineage.Disposition) bool {
		return slices.ContainsFunc(ofRule(r.Key), func(c consent.Category) bool { return !may(c) })
	}
	gone = max(count(d.Worked, mayNot), count(d.Failed, mayNot))
	d.Worked, d.Failed = slices.DeleteFunc(d.Worked, mayNot), slices.DeleteFunc(d.Failed, mayNot)
	maps.DeleteFunc(d.Signals, func(name string, _ int64) bool { return !may(ofSignal(name)) })
	return gone
}

// LivesHeld counts what is kept of lives of a category: Acts are what tools were asked, or
// what was said and answered, in traces; Rules those that wait for a judgement.
type LivesHeld struct {
	Category consent.Category `json:"category"`
	Acts     int              `json:"acts"`
	Rules    int              `json:"rules"`
}

// Held counts what is kept of lives of some categories; those of which nothing is are left
// out.
func (p *Projections) Held(of ...consent.Category) ([]LivesHeld, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []LivesHeld
	for _, c := range of {
		h := LivesHeld{Category: c}
		isOf := func(a distil.Act) bool { return ofAct(a.Kind) == c }
		for _, l := range p.sorted() {
			acts, _, err := p.actsOf(l)
			if err != nil {
				h.Acts++ // a journal that cannot be read may hold some
			}
			h.Acts += count(acts, isOf)
			d, there, err := p.draftOf(l.Sequence)
			if err != nil {
				h.Rules++ // as may a draft
			}
			if there {
				h.Rules += d.only(func(other consent.Category) bool { return other != c })
			}
		}
		if h.Acts+h.Rules > 0 {
			out = append(out, h)
		}
	}
	return out, nil
}

func count[T any](all []T, is func(T) bool) (n int) {
	for _, v := range all {
		if is(v) {
			n++
		}
	}
	return n
}

// mine is a life of this process whose trace is in memory, nil for another.
func (p *Projections) mine(n int64) *living {
	for _, l := range []*living{p.living, p.ended} {
		if l != nil && l.life.Sequence == n {
			return l
		}
	}
	return nil
}

// traceInMemory is a copy of the trace of the last life that was lived here, since a
// withdrawal may clear that at any time.
func (p *Projections) traceInMemory(n int64) (distil.Trace, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended == nil || p.ended.life.Sequence != n {
		return distil.Trace{}, false
	}
	return distil.Trace{Acts: slices.Clone(p.ended.trace.Acts), Partial: p.ended.trace.Partial}, true
}

// actsOf is what the trace of a life has, by this process or by its journal, where there
// is one. Error: a journal that cannot be read.
func (p *Projections) actsOf(l *lives.Life) (acts []distil.Act, there bool, err error) {
	if mine := p.mine(l.Sequence); mine != nil {
		return mine.trace.Acts, true, nil
	}
	if _, err := os.Lstat(p.journalPath(l.Sequence)); errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	journal, trace, err := distil.OpenJournal(p.journalPath(l.Sequence))
	if err != nil {
		return nil, true, err
	}
	return trace.Acts, true, journal.Close()
}

// draftOf is what a life was distilled to, while it waits for its judgement.
func (p *Projections) draftOf(n int64) (d draft, there bool, err error) {
	data, err := p.o.Store.Value(draftName(n))
	if errors.Is(err, ErrNotFound) {
		return d, false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &d)
	}
	return d, err == nil, err
}

// Purge destroys what is kept of lives of categories whose storage is denied: in the trace
// of one that is lived, or not distilled yet, and what waits for a judgement, of which no
// byte is left in the store, the signals of how it went with it. A life of which no rule is left then is over. It tells how
// much there was. Done again, it does what is left of it. Errors: those of the store and of
// the disk.
func (p *Projections) Purge(ctx context.Context, gone ...consent.Category) ([]LivesHeld, error) {
	p.mu.Lock()
	gone = slices.DeleteFunc(slices.Clone(gone), func(c consent.Category) bool {
		return p.consents.Check(c, consent.Storage).Answer != consent.Deny
	})
	p.mu.Unlock()
	held, err := p.Held(gone...)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	err = p.purgeNotes(ctx, gone)
	p.mu.Unlock()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tick()
	for _, l := range p.sorted() {
		if err := p.purgeTrace(l, gone); err != nil {
			return nil, err
		}
	}
	return held, p.purgeDrafts(ctx, gone)
}

// purgeTrace writes the trace of a life without some categories. Not all of what happened
// is known then, so nothing is said of it but what was declared.
func (p *Projections) purgeTrace(l *lives.Life, gone []consent.Category) error {
	path := p.journalPath(l.Sequence)
	goes := func(a distil.Act) bool { return slices.Contains(gone, ofAct(a.Kind)) }
	acts, there, err := p.actsOf(l)
	if err != nil { // what it holds cannot be told
		return distil.DestroyJournal(path)
	}
	if !there || !slices.ContainsFunc(acts, goes) {
		return nil
	}
	left := slices.DeleteFunc(slices.Clone(acts), goes)
	mine := p.mine(l.Sequence)
	if mine != nil {
		clear(mine.trace.Acts)
		mine.trace = distil.Trace{Acts: left, Partial: true}
		if err := mine.journal.Destroy(); err != nil {
			return err
		}
	} else if err := distil.DestroyJournal(path); err != nil {
		return err
	}
	journal, _, err := distil.OpenJournal(path)
	if err != nil {
		return err
	}
	for _, a := range left {
		if a.Kind == distil.Call { // all else was never on the disk
			err = errors.Join(err, journal.Append(a))
		}
	}
	if mine != nil {
		mine.journal = journal
		return err
	}
	return errors.Join(err, journal.Close())
}

// purgeDrafts takes rules of some categories out of what waits for a judgement, by writing
// the store anew where there are any.
func (p *Projections) purgeDrafts(ctx context.Context, gone []consent.Category) error {
	drop := map[string]bool{}
	var values []Value
	var over []int64
	for _, l := range p.sorted() {
		d, there, err := p.draftOf(l.Sequence)
		if !there && err == nil {
			continue
		}
		signals := len(d.Signals)
		rules := d.only(func(c consent.Category) bool { return !slices.Contains(gone, c) })
		switch {
		case err == nil && rules == 0 && len(d.Signals) == signals:
			continue
		case err == nil && (rules == 0 || len(d.Worked)+len(d.Failed) > 0):
			v, err := encode(draftName(l.Sequence), d)
			if err != nil {
				return err
			}
			values = append(values, v)
			continue
		}
		next := *l
		if err := errors.Join(p.destroy(l.Sequence), next.Decline(withdrawnFrom), next.Dissolve(p.gone(l.Sequence), p.stamp())); err != nil {
			return err
		}
		v, err := lifeValue(&next)
		if err != nil {
			return err
		}
		values, over = append(values, v), append(over, l.Sequence)
		drop[draftName(l.Sequence)], drop[kitName(l.Sequence)] = true, true
	}
	if len(values) == 0 {
		return nil
	}
	err := p.o.Store.Rewrite(ctx, func(v Value) ([]byte, error) {
		if drop[v.Name] {
			return nil, nil
		}
		return v.Data, nil
	}, values...)
	if err != nil {
		return err
	}
	for _, n := range over {
		delete(p.open, n)
	}
	return nil
}

// withdrawnFrom is why nothing is kept of a life whose rules may not be kept any more.
const withdrawnFrom = "no consent: what its rules were made of may not be kept"
