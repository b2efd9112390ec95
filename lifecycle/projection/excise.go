package projection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/soul/lineage"
)

// ErrTombstone: a life was excised, and nothing of it is taken in any more.
var ErrTombstone = errors.New("that life was excised; nothing of it is taken in again")

// ExcisionPlan is what an excision takes out.
type ExcisionPlan struct {
	Lives []lineage.ID `json:"lives"`
	// Digests are their distillates. Descendants are those of lives that were born with
	// their rules, which stay unless they are asked for too; Unknown may be: they were
	// born with a version that this device never had.
	Digests     []lineage.Digest `json:"digests"`
	Descendants []lineage.Digest `json:"descendants"`
	Unknown     []lineage.Digest `json:"unknown"`
	// Waiting are lives of this device that were born with their rules and left nothing in
	// the lineage yet; they stay unless they are asked for too.
	Waiting []lineage.ID `json:"waiting,omitempty"`
	// Already are those of Lives that were excised before, and of which nothing is here.
	Already []lineage.ID `json:"already,omitempty"`
	// Before and After are the versions of the lineage.
	Before lineage.Digest `json:"before"`
	After  lineage.Digest `json:"after"`
}

// Done tells that nothing is left to take out.
func (p ExcisionPlan) Done() bool { return len(p.Lives) > 0 && len(p.Already) == len(p.Lives) }

// ExcisionRecord is kept of an excision: nothing in it is of what went.
type ExcisionRecord struct {
	Number  int              `json:"number"`
	Lives   []lineage.ID     `json:"lives"`
	Digests []lineage.Digest `json:"digests"`
	Before  lineage.Digest   `json:"before"`
	After   lineage.Digest   `json:"after"`
	Who     string           `json:"who"`
	At      lives.Stamp      `json:"at"`
	// Succeeded gives for versions that lives were born with the ones in their place.
	Succeeded map[lineage.Digest]lineage.Digest `json:"succeeded,omitempty"`
}

// tombstone keeps a late or repeated delivery from bringing a life back.
type tombstone struct {
	Excision int         `json:"excision"`
	At       lives.Stamp `json:"at"`
}

func tombstoneName(life lineage.ID) string { return prefixTombstone + life.String() }

// buried tells whether a life was excised (S-5).
func (p *Projections) buried(life lineage.ID) error {
	_, err := p.o.Store.Value(tombstoneName(life))
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("life %s: %w", life, ErrTombstone)
}

// LifeOf finds a life of the lineage or of this device by what a person calls it: its number
// on this device, its id or the beginning of that, or that of its distillate; at least four
// signs. Error: ErrNoLife.
func (p *Projections) LifeOf(called string) (lineage.ID, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var n int64
	if _, err := fmt.Sscanf(called, "%d", &n); err == nil && fmt.Sprint(n) == called {
		if l, err := p.life(n); err == nil {
			return l.ID, nil
		}
	}
	var found []lineage.ID
	if p.lineage != nil && len(called) >= 4 {
		for _, digest := range p.lineage.Members() {
			d, _ := p.lineage.Member(digest)
			fits := strings.HasPrefix(d.Life.String(), called) || strings.HasPrefix(d.ID.String(), called) || strings.HasPrefix(digest.String(), called)
			if fits && !slices.Contains(found, d.Life) {
				found = append(found, d.Life)
			}
		}
	}
	err := p.o.Store.Values(prefixLife, func(name string, data []byte) error { // one that left nothing has no distillate
		l, err := lives.Decode(data)
		if err != nil {
			return unreadable(name, err)
		}
		born := l.State != lives.Avyakrta && l.State != lives.Conceived
		if born && len(called) >= 4 && strings.HasPrefix(l.ID.String(), called) && !slices.Contains(found, l.ID) {
			found = append(found, l.ID)
		}
		return nil
	})
	if err != nil {
		return lineage.ID{}, err
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return lineage.ID{}, fmt.Errorf("%w: %q; jivad lives lists those of this device", ErrNoLife, called)
	}
	return lineage.ID{}, fmt.Errorf("%w: %q is the beginning of several; give more of it", ErrNoLife, called)
}

// PlanExcision tells what an excision would take out; with descendants those too.
func (p *Projections) PlanExcision(gone []lineage.ID, descendants bool) (ExcisionPlan, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.planExcision(gone, descendants)
}

func (p *Projections) planExcision(gone []lineage.ID, descendants bool) (ExcisionPlan, error) {
	plan := ExcisionPlan{Lives: slices.Clone(gone), Digests: []lineage.Digest{}}
	if p.lineage == nil {
		return plan, fmt.Errorf("%w: the lineage is empty", ErrNoLife)
	}
	succeeded, err := p.succeeded()
	if err != nil {
		return plan, err
	}
	plan.Descendants, plan.Unknown = p.lineage.Descendants(succeeded, gone...)
	bearers := slices.Clone(gone)
	for _, digest := range plan.Descendants {
		d, _ := p.lineage.Member(digest)
		bearers = append(bearers, d.Life)
	}
	for _, l := range p.sorted() {
		if l.State != lives.Conceived && !slices.Contains(bearers, l.ID) && p.lineage.Holds(succeeded, l.Base, bearers...) {
			plan.Waiting = append(plan.Waiting, l.ID)
		}
	}
	if descendants {
		plan.Lives = append(bearers, plan.Waiting...)
	}
	slices.SortFunc(plan.Lives, lineage.ID.Compare)
	plan.Lives = slices.Compact(plan.Lives)
	for _, life := range plan.Lives {
		digests := p.lineage.OfLife(life)
		plan.Digests = append(plan.Digests, digests...)
		switch err := p.buried(life); {
		case err != nil && !errors.Is(err, ErrTombstone):
			return plan, err
		case err != nil && len(digests) == 0 && !slices.ContainsFunc(p.sorted(), func(l *lives.Life) bool { return l.ID == life }):
			plan.Already = append(plan.Already, life)
		}
	}
	for _, list := range []*[]lineage.Digest{&plan.Digests, &plan.Descendants, &plan.Unknown} {
		if *list == nil {
			*list = []lineage.Digest{} // not null, in JSON
		}
	}
	plan.Before, plan.After = p.lineage.Head(), p.lineage.Without(plan.Lives...).Head()
	return plan, nil
}

// Excise drops the distillates of lives, so that the lineage is bit for bit the one that
// never had them (S-5). What went is in no byte of the store any more; a record of the
// excision and a tombstone for each life stay. A life that is not distilled yet, waits for
// its judgement or is in quarantine loses its trace and draft, and is over. more are records
// that are made anew because of it, for the lineage as it is then. It waits for no act that
// is under way: of a life that ended nothing more is noted. Errors: lives.ErrIllegal for a
// life that is lived; those of the store; until it returns the store has not changed.
func (p *Projections) Excise(ctx context.Context, gone []lineage.ID, descendants bool, who string, more func(without *lineage.Lineage) ([]Value, error)) (ExcisionRecord, error) {
	p.mu.Lock()
	plan, err := p.planExcision(gone, descendants)
	if err != nil {
		p.mu.Unlock()
		return ExcisionRecord{}, err
	}
	without := p.lineage.Without(plan.Lives...)
	p.mu.Unlock()
	var others []Value
	if more != nil { // it may ask what is known here
		if others, err = more(without); err != nil {
			return ExcisionRecord{}, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lineage.Head() != plan.Before {
		return ExcisionRecord{}, fmt.Errorf("%w: a life was distilled meanwhile; nothing was changed, so ask again", lineage.ErrChain)
	}
	number := 1
	if err := p.o.Store.Values(prefixExcision, func(string, []byte) error { number++; return nil }); err != nil {
		return ExcisionRecord{}, err
	}
	r := ExcisionRecord{Number: number, Lives: plan.Lives, Digests: plan.Digests, Before: plan.Before, After: without.Head(), Who: who, At: p.stamp()}
	if r.Succeeded, err = p.successors(without); err != nil {
		return r, err
	}
	values, err := p.excised(r, without)
	if err != nil {
		return r, err
	}
	values = append(values, others...)
	settled, err := p.declineExcised(plan.Lives)
	if err != nil {
		return r, err
	}
	drop := map[string]bool{}
	for _, digest := range plan.Digests {
		drop[prefixMember+digest.String()] = true
	}
	for _, l := range settled {
		drop[draftName(l.Sequence)], drop[kitName(l.Sequence)] = true, true
		v, err := lifeValue(l)
		if err != nil {
			return r, err
		}
		values = append(values, v)
	}
	err = p.o.Store.Rewrite(ctx, func(v Value) ([]byte, error) {
		if drop[v.Name] || strings.HasPrefix(v.Name, prefixBatch) {
			return nil, nil
		}
		v, err := unnoted(v, func(l lives.Life) bool { return slices.Contains(plan.Lives, l.ID) })
		return v.Data, err
	}, values...)
	if err != nil {
		return r, err
	}
	p.lineage = without
	for _, l := range settled {
		delete(p.open, l.Sequence)
	}
	if p.living != nil {
		p.living.rules = lineage.Render(without.Rules())
	}
	p.o.Log.Info("lives were excised", "lives", len(plan.Lives), "distillates", len(plan.Digests))
	return r, nil
}

// excised are the records of the chain without what went.
func (p *Projections) excised(r ExcisionRecord, without *lineage.Lineage) ([]Value, error) {
	v, err := encode(excisionName(r.Number), r)
	if err != nil {
		return nil, err
	}
	values := []Value{v}
	for i := range without.Batches() {
		v, err := encode(batchName(i+1), without.Batch(i))
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	for _, life := range r.Lives {
		data, err := json.Marshal(tombstone{r.Number, r.At})
		if err != nil {
			return nil, err
		}
		values = append(values, Value{tombstoneName(life), data})
	}
	return values, nil
}

// declineExcised are the lives of this device among those, of which something is still to
// come, as they are when nothing is kept of them. Their traces are destroyed.
func (p *Projections) declineExcised(gone []lineage.ID) (out []*lives.Life, err error) {
	for _, l := range p.sorted() {
		if !slices.Contains(gone, l.ID) {
			continue
		}
		next := *l
		next.Note = ""
		switch {
		case l.State == lives.Withdrawn, l.State == lives.Quarantined:
		case l.State.Living() && p.mine(l.Sequence) == nil: // it broke off, and was not taken up yet
			if err := next.Withdraw(lives.ByCrash, p.stamp()); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("%w: life %d is lived; it is to end before it is excised", lives.ErrIllegal, l.Sequence)
		}
		if err := p.destroy(l.Sequence); err != nil {
			return nil, err
		}
		if !next.Obligation.Settled() {
			if err := next.Decline("excised"); err != nil {
				return nil, err
			}
		}
		if err := next.Dissolve(p.gone(l.Sequence), p.stamp()); err != nil {
			return nil, err
		}
		out = append(out, &next)
	}
	return out, nil
}

// successors are the versions of without in the place of those that lives were born with:
// lives of the lineage, and of this device ones that are not in it yet. Where an excision of
// before put another version in the place of one, it is that which is succeeded.
func (p *Projections) successors(without *lineage.Lineage) (map[lineage.Digest]lineage.Digest, error) {
	succeeded, err := p.succeeded()
	if err != nil {
		return nil, err
	}
	now, kept := lineage.New(without.Root(), lineage.Digest{}).Head(), 0
	took, stays := map[lineage.Digest]lineage.Digest{}, map[lineage.Digest]bool{now: true}
	for i := range p.lineage.Batches() {
		b := p.lineage.Batch(i)
		if slices.ContainsFunc(b.Members, func(d lineage.Digest) bool { _, there := without.Member(d); return there }) {
			now, kept = without.Batch(kept).Version, kept+1
		}
		took[b.Version], stays[now] = now, true
	}
	out := map[lineage.Digest]lineage.Digest{}
	note := func(base lineage.Digest) {
		for next, ok := succeeded[base]; ok; next, ok = succeeded[base] {
			base = next
		}
		if next, ok := took[base]; ok && !stays[base] {
			out[base] = next
		}
	}
	for _, digest := range without.Members() {
		d, _ := without.Member(digest)
		note(d.Base)
	}
	for _, l := range p.sorted() {
		note(l.Base)
	}
	return out, nil
}

// succeeded are the versions in the place of others, by all excisions.
func (p *Projections) succeeded() (map[lineage.Digest]lineage.Digest, error) {
	out := map[lineage.Digest]lineage.Digest{}
	all, err := p.Excisions()
	for _, r := range all {
		for was, is := range r.Succeeded {
			if was != is {
				out[was] = is
			}
		}
	}
	return out, err
}

// Excisions are those that were made, the oldest first.
func (p *Projections) Excisions() ([]ExcisionRecord, error) {
	out := []ExcisionRecord{}
	err := p.o.Store.Values(prefixExcision, func(name string, data []byte) error {
		var r ExcisionRecord
		if err := json.Unmarshal(data, &r); err != nil {
			return unreadable(name, err)
		}
		out = append(out, r)
		return nil
	})
	return out, err
}
