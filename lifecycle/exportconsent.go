package lifecycle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/export"
	"github.com/jivad/jivad/lifecycle/projection"
)

// leftOut says in the manifest of an export what it does not hold.
var leftOut = []string{
	"lives, and the lineage with the rules that they left: a companion made of this export begins a lineage of its own; jivad backup and jivad restore take them along",
	"claims, with their evidence and what was decided about them: jivad claims list --json gives them in open form, and jivad backup takes them along",
}

// writeConsent writes what the person said of consent, where they said something. It tells
// of how many records, and how many distillates of lives are left out.
func (x *exporting) writeConsent() (said, lessons int, err error) {
	for _, v := range x.moment.Values {
		if strings.HasPrefix(v.Name, projection.PrefixMember) {
			lessons++
		}
		if !strings.HasPrefix(v.Name, projection.PrefixConsent) {
			continue
		}
		if said++; said == 1 {
			x.out.File(export.FileConsent)
		}
		if err := x.out.Line(json.RawMessage(v.Data)); err != nil {
			return said, lessons, err
		}
	}
	return said, lessons, nil
}

// readConsent puts together what was said to the companion that is filled and to the one
// that was exported: the chain of that one holds, and where the other was told of a use,
// whichever allows less. Texts of which this one was told to keep nothing go again, at the
// next start. Error: an [export.Error] where the chain of the export is broken.
func (b *rebuilding) readConsent(store *chitta.Store) error {
	var values []chitta.Value
	err := store.Values(projection.PrefixConsent, func(name string, data []byte) error {
		values = append(values, chitta.Value{Name: name, Data: data})
		return nil
	})
	if err != nil {
		return err
	}
	own, ok := chainAmong(values)
	if !ok {
		return fmt.Errorf("%w: of the companion that the export is to become; make a fresh folder", consent.ErrChain)
	}
	theirs, err := exportedChain(b.from.Consent())
	if err != nil {
		return err
	}
	b.report.ConsentRecords = len(theirs.Records())
	before := theirs.Grid()
	if b.chain = own; b.report.ConsentRecords > 0 {
		now, _ := b.opts.Now()
		b.chain, err = withStricter(theirs, own, sameBeginning(theirs, own), now, "an export was imported: of two answers the one that allows less")
		if err != nil {
			return err
		}
	}
	b.owed = owedSince(b.chain, b.report.ConsentRecords, before)
	b.owed.Opened = nil
	said, grid := allowedBy(own).said, own.Grid()
	for _, k := range consent.Categories() {
		cell := consent.Cell{Category: k, Dimension: consent.Storage}
		if said[cell] && grid.Answer(k, consent.Storage) == consent.Deny && !slices.Contains(b.owed.Plan.Purge, k) {
			b.owed.Plan.Purge = append(b.owed.Plan.Purge, k)
		}
	}
	slices.Sort(b.owed.Plan.Purge)
	b.report.Withdrawn = b.owed.Plan.Purge
	return nil
}

// exportedChain is the chain of the records of an export.
func exportedChain(lines []json.RawMessage) (*consent.Chain, error) {
	var records []consent.Record
	for i, line := range lines {
		var r consent.Record
		err := json.Unmarshal(line, &r)
		if err == nil {
			err = r.Check()
		}
		if err != nil {
			return nil, &export.Error{File: export.FileConsent, Line: i + 1, Err: fmt.Errorf("%w: it is no record of consent", export.ErrLine)}
		}
		records = append(records, r)
	}
	chain, err := consent.Fold(records)
	if err != nil {
		return nil, &export.Error{File: export.FileConsent, Err: fmt.Errorf("%w: %w", export.ErrDamaged, err)}
	}
	return chain, nil
}

// consentValues are the records of the chain, with what is owed for it where texts came
// that it takes away.
func (b *rebuilding) consentValues() (out []chitta.Value, err error) {
	for _, r := range b.chain.Records() {
		data, err := r.Canonical()
		if err != nil {
			return nil, err
		}
		out = append(out, chitta.Value{Name: fmt.Sprintf(projection.PrefixConsent+"%010d", r.Version), Data: data})
	}
	if len(b.owed.Plan.Purge)+len(b.owed.Resting) == 0 {
		return out, nil
	}
	b.report.owes = true
	v, err := b.owed.value()
	return append(out, v), err
}
