package lifecycle

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/lifecycle/lives"
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
// backups that knew of it go, and what a model said that may have known of it: of any entry,
// and in answers of the sessions since. The open session, and the life that is lived, end
// first. Where nothing of the lives is left since they were excised before, only what a crash
// left undone then is done, and the record is that of then.
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
	s.Voice, s.VoiceBy = "", "" // who said it had read the rules
	s.LineageVersion = records[len(records)-1].Lineage
	s.Rules, s.Unresolved = linesOf(lineage.Render(without.Rules()))
	doc, err := soul.Render(s, c.opts.SoulBytes)
	if err != nil {
		return nil, nil, err
	}
	answers, err := c.firstTold(first, there)
	if err != nil {
		return nil, nil, err
	}
	mark, err := json.Marshal(traces{FirstSession: first, FirstAnswers: answers})
	if err != nil {
		return nil, nil, err
	}
	for _, name := range spokenOfRules {
		values = append(values, projection.Value{Name: name})
	}
	return append(values, projection.Value{Name: valueCurrent, Data: doc}, projection.Value{Name: valueTraces, Data: mark}), records, nil
}

// spokenOfRules are the records that may repeat rules: a model's words of the last session,
// which is not narrated again, and the runs of words of answers and of SOUL.md.
var spokenOfRules = []string{valueVoice, valueNarrate, valueOwnWords, valueOwnSoul}

// firstTold is the first session in which rules may have been told that are not of the
// versions that are there. It is the first whose SOUL.md knows them, or the one after that:
// the last SOUL.md before a judgement is written once more with it. Where the last life of
// that session ended before it, by a crash say, what was answered after that may have been
// told them too.
func (c *Companion) firstTold(first int, there map[string]bool) (int, error) {
	all, err := c.lives.Lives(math.MaxInt)
	if err != nil {
		return 0, err
	}
	all = slices.DeleteFunc(all, func(l lives.Life) bool { return l.Session != first })
	knew := func(l lives.Life) bool { return !there[l.Base.String()] }
	last := func(a, b lives.Life) int { return cmp.Compare(a.Sequence, b.Sequence) }
	if len(all) == 0 || slices.ContainsFunc(all, knew) || slices.Contains(amidst, slices.MaxFunc(all, last).Reason) {
		return first, nil
	}
	return first + 1, nil
}

// amidst are the reasons for which a life ends while its session goes on.
var amidst = []string{lives.ByTTL, lives.ByEvents, lives.ByFailures, lives.ByGap, lives.ByCrash, lives.ByFull, lives.ByMind}

// saidWithRules is the first entry of the sessions in which rules that go were told: what a
// model answered since may speak of them, and what it said of entries (D-24). 0 where they
// were told in none. values are those of withoutRules.
func (c *Companion) saidWithRules(ctx context.Context, values []projection.Value) (since uint64, err error) {
	i := slices.IndexFunc(values, func(v projection.Value) bool { return v.Name == valueTraces && v.Data != nil })
	if i < 0 {
		return 0, nil
	}
	var t traces
	if err := unmarshal(valueTraces, values[i].Data, &t); err != nil || t.FirstAnswers == 0 {
		return 0, err
	}
	since = c.store.Snapshot().Sequence + 1 // nothing was answered in them, perhaps
	err = c.store.Experiences(ctx, func(x chitta.Experience) error {
		if int(x.Session) >= t.FirstAnswers {
			since = min(since, x.Sequence)
		}
		return nil
	})
	return since, err
}
