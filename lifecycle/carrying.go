package lifecycle

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/lifecycle/projection"
	"github.com/jivad/jivad/soul/lineage"
)

// carrying is what a restore has a copy take over from the store that it replaces, before
// it has that one's name: what the person said of consent since, with what is to be taken
// away for it, and the lives. A crash leaves the old store, or the new one that knows.
type carrying struct {
	dir string
	// back has texts come back that were taken away; what was said holds all the same.
	back bool
	now  time.Time
	out  *RestoreReport
}

func (c *carrying) carry(_ context.Context, own chitta.Held, others []chitta.Held, present bool) (out chitta.Carried, err error) {
	if err := c.consent(own, others, &out); err != nil {
		return out, err
	}
	more, err := claimsCarried(own, others)
	if err != nil {
		return out, err
	}
	out.Values = append(out.Values, more...)
	var theirs [][]projection.Value
	for _, o := range others {
		theirs = append(theirs, projectionValues(o.Values))
	}
	here := func(n int64) bool {
		for _, kind := range []string{"trace", "secret"} {
			if _, err := os.Lstat(filepath.Join(c.dir, "life", fmt.Sprintf("%010d.%s", n, kind))); err == nil {
				return true
			}
		}
		return false
	}
	t, err := projection.Carry(projectionValues(own.Values), theirs, present, here, lives.At(c.now, false))
	if err != nil {
		return out, err
	}
	for _, v := range t.Values {
		out.Values = append(out.Values, chitta.Value(v))
	}
	c.out.Lives, c.out.Excised, c.out.LivesLeft, c.out.LivesCut = t.Newer, t.Excised, t.Aside, t.Cut
	return out, nil
}

func projectionValues(values []chitta.Value) []projection.Value {
	out := make([]projection.Value, len(values))
	for i, v := range values {
		out[i] = projection.Value(v)
	}
	return out
}

// consent has the copy know what the person said since, and owe what that takes away.
func (c *carrying) consent(own chitta.Held, others []chitta.Held, out *chitta.Carried) error {
	before, ok := chainAmong(own.Values)
	if !ok { // as if nothing had been said
		before, _ = consent.Fold(nil)
	}
	chain, from := before, len(before.Records())
	for _, o := range others {
		theirs, ok := chainAmong(o.Values)
		if !ok {
			continue
		}
		common := sameBeginning(before, theirs)
		news := len(theirs.Records()) - common
		if news > 0 && (chain == before || news > len(chain.Records())-from) {
			chain, from = theirs, common
		}
	}
	out.Found = findings(others)
	if chain == before {
		return nil
	}
	// Of two courses the answers that allow less hold.
	chain, err := withStricter(chain, before, from, c.now, "a backup was restored: of two answers the one that allows less")
	if err != nil {
		return err
	}
	c.out.ConsentRecords = len(chain.Records()) - from
	for n := len(chain.Records()) + 1; n <= len(before.Records()); n++ {
		out.Values = append(out.Values, chitta.Value{Name: fmt.Sprintf(projection.PrefixConsent+"%010d", n)})
	}
	for _, r := range chain.Records() {
		data, err := r.Canonical()
		if err != nil {
			return err
		}
		out.Values = append(out.Values, chitta.Value{Name: fmt.Sprintf(projection.PrefixConsent+"%010d", r.Version), Data: data})
	}
	for _, o := range others {
		for _, v := range o.Values {
			if strings.HasPrefix(v.Name, prefixWithdrawn) { // what was done then
				out.Values = append(out.Values, v)
			}
		}
	}
	owed := owedSince(chain, from, before.Grid())
	if c.back {
		owed.Plan.Purge = []consent.Category{}
	} else if len(owed.Plan.Purge) > 0 {
		owed.Entries = wordless(own, others)
	}
	c.count(own, owed)
	if owed.asksForSomething() {
		v, err := owed.value()
		if err != nil {
			return err
		}
		out.Values = append(out.Values, v)
	}
	return nil
}

// findings are what texts were found to be of, by the stores that a copy takes over from.
func findings(others []chitta.Held) map[fold.ID]string {
	found := map[fold.ID]string{}
	for _, o := range others {
		for _, e := range o.Entries {
			if e.Found != "" {
				found[e.ID] = e.Found
			}
		}
	}
	return found
}

// count tells of what the copy has that is to be taken away.
func (c *carrying) count(own chitta.Held, owed owedWithdrawal) {
	for _, e := range own.Entries {
		if e.Text && owed.goes(categorised{id: e.ID, own: e.Category, found: e.Found}) {
			c.out.ToWithdraw++
		}
	}
	c.out.Withdrawn = owed.Plan.Purge
	c.out.owes = owed.asksForSomething()
}

// chainAmong reads what was said of consent; false where that cannot be read.
func chainAmong(values []chitta.Value) (*consent.Chain, bool) {
	var records []consent.Record
	for _, v := range values {
		if !strings.HasPrefix(v.Name, projection.PrefixConsent) {
			continue
		}
		r, err := consent.ParseRecord(v.Data)
		if err != nil {
			return nil, false
		}
		records = append(records, r)
	}
	chain, err := consent.Fold(records)
	return chain, err == nil
}

// sameBeginning is how many records two chains begin with in common.
func sameBeginning(a, b *consent.Chain) int {
	one, other := a.Records(), b.Records()
	n := 0
	for n < min(len(one), len(other)) {
		d, err := one[n].Digest()
		e, err2 := other[n].Digest()
		if err != nil || err2 != nil || d != e {
			break
		}
		n++
	}
	return n
}

// withStricter is a chain with a further record where another that it has the first records
// in common with allows less by what was said in it since: then that holds.
func withStricter(chain, other *consent.Chain, common int, now time.Time, why string) (*consent.Chain, error) {
	said := map[consent.Cell]bool{}
	for _, r := range other.Records()[common:] {
		for _, change := range r.Changes {
			said[change.Cell] = true
		}
	}
	var changes []consent.Change
	grid, theirs := chain.Grid(), other.Grid()
	for _, cell := range consent.Cells() {
		if a := theirs.Answer(cell.Category, cell.Dimension); said[cell] && a < grid.Answer(cell.Category, cell.Dimension) {
			changes = append(changes, consent.Change{Cell: cell, Answer: a})
		}
	}
	if len(changes) == 0 {
		return chain, nil
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	r, err := chain.Next(consent.Said{ID: lineage.ID(id), Who: "jivad", Why: why, When: now, Changes: changes})
	if err != nil {
		return nil, err
	}
	return consent.Fold(append(chain.Records(), r))
}

// owedSince is what the records of a chain from one on ask for in a store that was kept by
// a grid of before, and has no entry that came after one of them.
func owedSince(chain *consent.Chain, from int, before consent.Grid) owedWithdrawal {
	o := owedWithdrawal{}
	after := chain.Grid()
	o.Plan = consent.PlanOf(before, after)
	o.Restored, o.Version, o.Record = true, chain.Head().Version, chain.Head().ID
	grid := before
	for _, r := range chain.Records()[from:] {
		next, err := grid.With(r.Changes...)
		if err != nil {
			continue // a chain has none
		}
		o.Plan.Purge = append(o.Plan.Purge, consent.PlanOf(grid, next).Purge...)
		for _, change := range r.Changes {
			if change.Dimension == consent.Storage && change.Answer == consent.Deny {
				o.Plan.Purge = append(o.Plan.Purge, change.Category)
			}
		}
		grid = next
	}
	slices.Sort(o.Plan.Purge)
	o.Plan.Purge = slices.Compact(o.Plan.Purge)
	for _, k := range consent.Categories() {
		less, more := false, false
		for _, d := range []consent.Dimension{consent.Storage, consent.Access} {
			was, is := before.Answer(k, d), after.Answer(k, d)
			less, more = less || is < was, more || is > was
		}
		switch {
		case slices.Contains(o.Plan.Purge, k):
		case less:
			o.Resting = append(o.Resting, k)
		case more:
			o.Opened = append(o.Opened, k)
		}
	}
	return o
}

// wordless are the entries whose texts a copy has and the others have not any more: they
// went with what was withdrawn, though the copy may not know that they were of it.
func wordless(own chitta.Held, others []chitta.Held) []string {
	gone := map[fold.ID]bool{}
	for _, o := range others {
		for _, e := range o.Entries {
			if !e.Text {
				gone[e.ID] = true
			}
		}
	}
	var out []string
	for _, e := range own.Entries {
		if e.Text && gone[e.ID] {
			out = append(out, formatID(e.ID))
		}
	}
	return out
}
