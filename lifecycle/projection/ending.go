package projection

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jivad/jivad/internal/atomicfile"
	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/lifecycle/tools"
	"github.com/jivad/jivad/soul/lineage"
)

// Withdraw ends the life that is lived (J-3): write is given its record, to be written in
// the transaction that ends its session. From then on it owes to be distilled (J-4).
// Without a life there is no record.
func (p *Projections) Withdraw(reason string, write func(values []Value) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.living
	if l == nil {
		return write(nil)
	}
	p.tick()
	next := l.life
	if err := next.Withdraw(cmp.Or(l.over, reason), p.stamp()); err != nil {
		return err
	}
	v, err := lifeValue(&next)
	if err != nil {
		return err
	}
	if err := write([]Value{v}); err != nil {
		return err
	}
	p.open[next.Sequence] = &next
	if p.ended != nil { // one whose turn did not come yet; its journal has it
		p.ended.trace.Forget()
		if err := p.ended.journal.Close(); err != nil {
			p.o.Log.Warn("the journal of a life was not closed well", "life", p.ended.life.Sequence, "error", err)
		}
	}
	p.living, p.ended = nil, l
	p.o.Log.Info("a life ended", "life", next.Sequence, "why", next.Reason)
	return nil
}

// kit is what a distillation needs of the manifest, kept with the life.
type kit struct {
	Tools   map[string]distil.Tool `json:"tools"`
	Names   []string               `json:"names,omitempty"`
	ByRules bool                   `json:"by_rules,omitempty"`
	Window  time.Duration          `json:"window_ns"`
}

// Distil does what is due for lives that ended: it drafts them and destroys their traces
// (S-1), settles those that were judged or whose time to be is over, and lets go of them.
// writer, if not nil, words the rules. It tells how many lives there are that wait.
func (p *Projections) Distil(ctx context.Context, writer distil.Writer) (waiting int, err error) {
	p.mu.Lock()
	p.tick()
	var due []int64
	for _, l := range p.sorted() {
		switch {
		case l.Due():
			due = append(due, l.Sequence)
		case l.State != lives.Withdrawn:
		default:
			waiting++
		}
	}
	p.mu.Unlock()
	for _, n := range due {
		failed := p.distil(ctx, n, writer)
		if failed == nil {
			p.mu.Lock()
			if p.open[n] != nil {
				waiting++
			}
			p.mu.Unlock()
			continue
		}
		if ctx.Err() != nil {
			return waiting, ctx.Err()
		}
		err = errors.Join(err, p.fail(ctx, n, failed))
	}
	return waiting, err
}

// fail notes that a distillation failed.
func (p *Projections) fail(ctx context.Context, n int64, failed error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, ok := p.open[n]
	if !ok || l.State != lives.Withdrawn || l.Obligation.Settled() {
		return failed
	}
	next := *l
	if err := next.Fail(failed.Error()); err != nil {
		return errors.Join(failed, err)
	}
	p.o.Log.Warn("a life could not be distilled", "life", n, "try", next.Obligation.Tries, "state", string(next.State), "why", failed)
	*l = next
	return errors.Join(failed, p.put(ctx, l))
}

// distil does the next thing that is due for a life.
func (p *Projections) distil(ctx context.Context, n int64, writer distil.Writer) error {
	p.mu.Lock()
	l, ok := p.open[n]
	if !ok {
		p.mu.Unlock()
		return nil
	}
	life := *l
	p.mu.Unlock()
	if life.Obligation.Status == lives.Owed {
		err := p.drafted(ctx, life, writer)
		p.mu.Lock()
		if _, there := p.open[n]; !there { // it was excised meanwhile
			err = p.destroy(n)
		}
		p.mu.Unlock()
		if err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.settle(ctx, n)
}

// drafted distils a life but for its judgement, and destroys its trace.
func (p *Projections) drafted(ctx context.Context, life lives.Life, writer distil.Writer) error {
	n := life.Sequence
	trace, err := p.traceOf(life)
	if err != nil {
		return err
	}
	defer trace.Forget()
	data, err := p.o.Store.Value(kitName(n))
	var k kit
	if err == nil {
		err = json.Unmarshal(data, &k)
	}
	if err != nil {
		return fmt.Errorf("what life %d was born with: %w", n, err)
	}
	secret, err := secretOf(p.secretPath(n))
	if err != nil {
		return err
	}
	if k.ByRules {
		writer = nil
	}
	d := &distil.Distiller{Tools: k.Tools, Names: k.Names, Secret: secret, Consents: p.mayPersist}
	var out draft
	for i, valence := range []int64{lineage.Million, -lineage.Million} {
		s := lineage.Satisfaction{Valence: valence, Confidence: lineage.Million, Source: lineage.Explicit}
		var rules []lineage.Disposition
		if writer == nil {
			rules, out.Reports[i], err = d.Distil(trace, s)
		} else {
			rules, out.Reports[i], err = d.Write(ctx, writer, trace, s)
		}
		if err != nil {
			return err
		}
		if valence > 0 {
			out.Worked = rules
		} else {
			out.Failed = rules
		}
	}
	mine := distil.Trace{Acts: slices.DeleteFunc(slices.Clone(trace.Acts), func(a distil.Act) bool { return !p.mayPersist(a) })}
	out.Signals = signalsOf(mine)
	return p.keepDraft(ctx, n, k.Window, out)
}

func (p *Projections) keepDraft(ctx context.Context, n int64, window time.Duration, out draft) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, ok := p.open[n]
	if !ok { // it was excised meanwhile
		return p.destroy(n)
	}
	next := *l
	out.only(p.storable) // it may have been withdrawn while a model worded the rules
	report, err := json.Marshal(out.Reports)
	if err != nil {
		return err
	}
	if err := next.Draft(window, report); err != nil {
		return err
	}
	v, err := encode(draftName(n), out)
	if err != nil {
		return err
	}
	if err := p.put(ctx, &next, v, Value{Name: kitName(n)}); err != nil {
		return err
	}
	*l = next
	return p.destroy(n)
}

// traceOf is what happened in a life: what was called, by its journal, and what was seen
// and said, as far as this process knows it, or else as far as the store still has it. Then
// it is partial: of a text there may be a gist, and of what was recalled nothing.
func (p *Projections) traceOf(life lives.Life) (distil.Trace, error) {
	if trace, mine := p.traceInMemory(life.Sequence); mine {
		return trace, nil
	}
	journal, trace, err := distil.OpenJournal(p.journalPath(life.Sequence))
	if err != nil {
		return trace, err
	}
	if err := journal.Close(); err != nil {
		return trace, err
	}
	trace.Partial = true
	if p.o.Seen == nil || life.Session == 0 {
		return trace, nil
	}
	seen, said, err := p.o.Seen(life.Session)
	for _, text := range seen {
		trace.Add(distil.Act{Kind: distil.Seen, Text: text})
	}
	for _, text := range said {
		trace.Add(distil.Act{Kind: distil.Said, Text: text})
	}
	return trace, err
}

// mayPersist tells whether the person lets rules be made of an act (S-1).
func (p *Projections) mayPersist(a distil.Act) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.storable(cmp.Or(ofAct(a.Kind), consent.Operational))
}

// destroy destroys the trace of a life and sees that it is gone (S-1).
func (p *Projections) destroy(n int64) error {
	var err error
	if p.ended != nil && p.ended.life.Sequence == n {
		p.ended.trace.Forget()
		err = p.ended.journal.Destroy()
		p.ended = nil
	}
	return errors.Join(err, distil.DestroyJournal(p.journalPath(n)), distil.DestroyJournal(p.secretPath(n)))
}

// destroyOthers destroys what is there of lives that owe nothing from it, and what a crash
// left in the middle of being written, or of a program that worked.
func (p *Projections) destroyOthers() error {
	if err := atomicfile.RemoveLeftovers(filepath.Join(p.o.Dir, KeyFile)); err != nil {
		return err
	}
	entries, err := os.ReadDir(p.folder())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(p.folder(), e.Name())
		switch {
		case e.IsDir():
			if err := os.RemoveAll(path); err != nil {
				return err
			}
			continue
		case strings.HasPrefix(e.Name(), "."):
			if err := distil.DestroyJournal(path); err != nil {
				return err
			}
			continue
		}
		base, kind, _ := strings.Cut(e.Name(), ".")
		n, bad := strconv.ParseInt(base, 10, 64)
		if bad != nil || kind != "trace" && kind != "secret" {
			continue
		}
		if l, ok := p.open[n]; ok && (l.State.Living() || l.Obligation.Status == lives.Owed) {
			continue
		}
		if err := distil.DestroyJournal(path); err != nil {
			return err
		}
	}
	return nil
}

// gone tells whether nothing is left of a trace.
func (p *Projections) gone(n int64) bool {
	for _, path := range []string{p.journalPath(n), p.secretPath(n)} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// settle ends the obligation of a life that was judged, or whose window is over, and lets
// go of it. p.mu is held.
func (p *Projections) settle(ctx context.Context, n int64) error {
	l, ok := p.open[n]
	if !ok || l.State != lives.Withdrawn && l.State != lives.Quarantined {
		return nil
	}
	if !p.gone(n) {
		if err := p.destroy(n); err != nil {
			return err
		}
	}
	next := *l
	var values []Value
	var merged *lineage.Lineage
	if !next.Obligation.Settled() {
		var err error
		if values, merged, err = p.judge(&next); err != nil || !next.Obligation.Settled() {
			return err
		}
	}
	if err := next.Dissolve(p.gone(n), p.stamp()); err != nil {
		return err
	}
	values = append(values, Value{Name: draftName(n)}, Value{Name: kitName(n)})
	if err := p.put(ctx, &next, values...); err != nil {
		return err
	}
	if merged != nil { // it counts only once it is written
		p.lineage = merged
		p.moved = append(p.moved, merged.Batch(merged.Batches()-1))
	}
	delete(p.open, n)
	p.o.Log.Info("a life was dissolved", "life", n, "obligation", string(next.Obligation.Status))
	return nil
}

// judge weighs a draft by how the principal judged the life (S-2), and merges what it
// leaves. A life that nobody judged stays as it is until its window is over.
func (p *Projections) judge(next *lives.Life) (values []Value, merged *lineage.Lineage, err error) {
	data, err := p.o.Store.Value(draftName(next.Sequence))
	if err != nil {
		return nil, nil, err
	}
	var d draft
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, nil, unreadable(draftName(next.Sequence), err)
	}
	switch err := p.buried(next.ID); {
	case errors.Is(err, ErrTombstone):
		return nil, nil, next.Decline("excised")
	case err != nil:
		return nil, nil, err
	}
	withheld := d.only(p.storable) // consent is asked again: it may be another than then
	s, err := distil.Judge(p.models, distil.Signals{Rating: next.Rating, Values: d.Signals})
	if err != nil {
		return nil, nil, err
	}
	late := next.Obligation.Waited >= next.Obligation.Until
	if s.Confidence == 0 || next.Rating == nil && !late { // a rating stands alone, and may still come
		if !late {
			return nil, nil, nil
		}
		return nil, nil, next.Decline("no signal: nobody judged it")
	}
	rules, report := d.Worked, &d.Reports[0]
	if s.Valence < 0 {
		rules, report = d.Failed, &d.Reports[1]
	}
	rules, refused := admitted(rules, report)
	if refused > 0 {
		if next.Obligation.Report, err = json.Marshal(d.Reports); err != nil {
			return nil, nil, err
		}
	}
	switch {
	case len(rules) > 0:
	case refused > 0:
		return nil, nil, next.Decline(refusedRules)
	case withheld > 0:
		return nil, nil, next.Decline(withdrawnFrom)
	default:
		return nil, nil, next.Decline(noLesson(s.Valence))
	}
	for i := range rules {
		rules[i].Weight = s.Valence
	}
	out := &lineage.Distillate{
		Schema: lineage.Schema, Life: next.ID, Identity: next.Identity, Nonce: next.Nonce, Manifest: next.Manifest, Base: next.Base,
		Dispositions: rules, Satisfaction: s, Polarity: lineage.PolarityOf(s.Valence), Sequence: next.Sequence,
		Consent: p.consents.Head().ID, // by which it is kept, not that of its birth
	}
	if p.key == nil {
		if p.key, err = deviceKey(p.o.Dir); err != nil {
			return nil, nil, err
		}
	}
	if out.ID, err = newIDAfter(p.idsDistilled()...); err != nil {
		return nil, nil, err
	}
	if err := out.Sign(p.key); err != nil {
		return nil, nil, err
	}
	if err := out.Check(); err != nil { // it is no other one at the next try
		p.o.Log.Warn("the lineage does not take in what a life left", "life", next.Sequence, "why", err)
		return nil, nil, next.Decline(refusedRules)
	}
	values, merged, err = p.merge(out)
	if err != nil {
		return nil, nil, err
	}
	digest, err := out.Digest()
	if err != nil {
		return nil, nil, err
	}
	return values, merged, next.Meet(digest)
}

// merge is the lineage with distillates, and the records of it that are to be written. The
// lineage here stays as it is until they are.
func (p *Projections) merge(ds ...*lineage.Distillate) ([]Value, *lineage.Lineage, error) {
	for _, d := range ds {
		if err := p.lineage.Admit(d); err != nil {
			return nil, nil, err
		}
		if err := p.buried(d.Life); err != nil {
			return nil, nil, err
		}
	}
	next := p.lineage.Without()
	b, err := next.Merge(ds...)
	if err != nil || len(b.Members) == 0 {
		return nil, next, err
	}
	v, err := encode(batchName(next.Batches()), b)
	if err != nil {
		return nil, nil, err
	}
	values := []Value{v}
	for _, digest := range b.Members {
		d, _ := next.Member(digest)
		data, err := d.Canonical()
		if err != nil {
			return nil, nil, err
		}
		values = append(values, Value{prefixMember + digest.String(), data})
	}
	return values, next, nil
}

// signalsOf are the signals that a trace gives: said.helped of what the person said,
// task.tools of how the tools did.
func signalsOf(trace distil.Trace) map[string]int64 {
	out := map[string]int64{}
	calls, ok := int64(0), int64(0)
	for _, a := range trace.Acts {
		if a.Kind != distil.Call {
			continue
		}
		calls++
		if a.Outcome == distil.OK {
			ok++
		}
	}
	if calls > 0 {
		out["task.tools"] = (2*ok - calls) * lineage.Million / calls
	}
	if v, said := distil.Helped(trace); said {
		out["said.helped"] = v
	}
	return out
}

// toolsOf are the tools of a life as rules may name them.
func toolsOf(set *tools.Set, grants tools.Grants) (map[string]distil.Tool, error) {
	out := map[string]distil.Tool{}
	if set == nil {
		return out, nil
	}
	for _, o := range tools.Offers(set, grants) {
		var schema struct {
			Properties map[string]struct {
				Enum  []any `json:"enum"`
				Const any   `json:"const"`
			} `json:"properties"`
		}
		if err := json.Unmarshal(o.Parameters, &schema); err != nil {
			return nil, fmt.Errorf("the schema of tool %s: %w", o.Name, err)
		}
		t := distil.Tool{Arguments: map[string][]string{}}
		for name, property := range schema.Properties {
			t.Arguments[name] = []string{}
			for _, v := range append(property.Enum, property.Const) {
				if s, ok := v.(string); ok {
					t.Arguments[name] = append(t.Arguments[name], s)
				}
			}
		}
		out[o.Name] = t
	}
	return out, nil
}
