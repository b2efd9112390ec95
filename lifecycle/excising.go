package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/jivad/jivad/lifecycle/projection"
	"github.com/jivad/jivad/soul"
	"github.com/jivad/jivad/soul/lineage"
)

const reasonExcise = "excise"

// PlanExcision tells what an excision of lives would take out of the lineage. names are as
// for projection.Projections.LifeOf.
func (c *Companion) PlanExcision(_ context.Context, names []string, descendants bool) (projection.ExcisionPlan, error) {
	gone, err := c.livesCalled(names)
	if err != nil {
		return projection.ExcisionPlan{}, err
	}
	return c.lives.PlanExcision(gone, descendants)
}

func (c *Companion) livesCalled(names []string) ([]lineage.ID, error) {
	var out []lineage.ID
	var all error
	for _, name := range names {
		life, err := c.lives.LifeOf(name)
		all = errors.Join(all, err)
		out = append(out, life)
	}
	return out, all
}

// Excise takes lives out of the lineage as if they had never been distilled (S-5): chain
// and versions are those without them, and nothing of what they taught is in the data
// folder any more: the store's file is written anew, SOUL.md too, and its versions and the
// backups that knew of it go. The open session, and the life that is lived, end first. Where
// nothing of the lives is left since they were excised before, only what a crash left undone
// then is done, and the record is that of then.
func (c *Companion) Excise(ctx context.Context, names []string, descendants bool, who string) (r projection.ExcisionRecord, err error) {
	gone, err := c.livesCalled(names)
	if err != nil {
		return r, err
	}
	err = c.do(context.WithoutCancel(ctx), interactive, func(context.Context) error {
		if r, err = c.excisedBefore(gone, descendants); err != nil {
			return err
		}
		if r.Number > 0 {
			return c.afterExcision(ctx)
		}
		if c.session().Open {
			if err := c.closeSession(ctx, reasonExcise); err != nil {
				return err
			}
		}
		if err := c.endLife(ctx, reasonExcise); err != nil { // one that has no session
			return err
		}
		var records []sessionRecord
		r, err = c.lives.Excise(ctx, gone, descendants, who, func(without *lineage.Lineage) (values []projection.Value, err error) {
			values, records, err = c.withoutRules(without)
			return values, err
		})
		if err != nil {
			return err
		}
		c.mu.Lock()
		c.records = records
		c.mu.Unlock()
		defer c.backupSoon()
		return c.afterExcision(ctx)
	})
	return r, err
}

// afterExcision removes what was generated from what is excised, and copies of the store.
func (c *Companion) afterExcision(ctx context.Context) error {
	after := context.WithoutCancel(ctx)
	if _, err := c.clearTraces(after); err != nil {
		return fmt.Errorf("excised in the store, but something that was generated from it could not be removed; it is tried again at the next start: %w", err)
	}
	return c.dropCopies(after)
}

// excisedBefore is the record of the excision that took lives out, where nothing of them is
// left to take out; else one without a number. Of several excisions it is the last, with all
// the lives and their distillates.
func (c *Companion) excisedBefore(gone []lineage.ID, descendants bool) (r projection.ExcisionRecord, err error) {
	plan, err := c.lives.PlanExcision(gone, descendants)
	if err != nil || !plan.Done() {
		return r, err
	}
	all, err := c.lives.Excisions()
	var digests []lineage.Digest
	for _, x := range all {
		if slices.ContainsFunc(x.Lives, func(life lineage.ID) bool { return slices.Contains(plan.Lives, life) }) {
			r = x
			digests = append(digests, x.Digests...)
		}
	}
	r.Lives, r.Digests, r.Before, r.After = plan.Lives, digests, plan.Before, plan.After
	return r, err
}

// withoutRules are the records that know of rules which are not in a lineage: those of
// sessions, and SOUL.md of the last one, made anew; and the note of which versions of it
// go.
func (c *Companion) withoutRules(without *lineage.Lineage) (values []projection.Value, records []sessionRecord, err error) {
	there := map[string]bool{"": true, lineage.New(without.Root(), without.Identity()).Head().String(): true}
	for i := range without.Batches() {
		there[without.Batch(i).Version.String()] = true
	}
	c.mu.RLock()
	records = append(records, c.records...)
	c.mu.RUnlock()
	first := 0
	for i := range records {
		if there[records[i].Lineage] {
			continue
		}
		if first == 0 {
			first = records[i].Session
		}
		records[i].Lineage = without.Head().String()
		data, err := json.Marshal(records[i])
		if err != nil {
			return nil, nil, err
		}
		values = append(values, projection.Value{Name: recordName(records[i].Session), Data: data})
	}
	if first == 0 {
		return values, records, nil
	}
	s, err := c.lastSummary()
	if err != nil {
		return nil, nil, err
	}
	s.LineageVersion = records[len(records)-1].Lineage
	s.Rules, s.Unresolved = linesOf(lineage.Render(without.Rules()))
	doc, err := soul.Render(s, c.opts.SoulBytes)
	if err != nil {
		return nil, nil, err
	}
	mark, err := json.Marshal(traces{first})
	if err != nil {
		return nil, nil, err
	}
	return append(values, projection.Value{Name: valueCurrent, Data: doc}, projection.Value{Name: valueTraces, Data: mark}), records, nil
}
