package projection

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"time"

	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/lifecycle/manifest"
	"github.com/jivad/jivad/lifecycle/tools"
	"github.com/jivad/jivad/soul/lineage"
)

// Birth sees that a life is lived: where none is, one is conceived, everything that it
// declares is looked for, and it is ready, or all that it lacks is said and kept (J-1).
// Errors: an [UnbornError]; those of the store and the disk.
func (p *Projections) Birth(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.living != nil {
		return nil
	}
	if err := p.makeFolder(); err != nil {
		return err
	}
	if p.key == nil {
		key, err := deviceKey(p.o.Dir)
		if err != nil {
			return err
		}
		p.key = key
	}
	m, faults := p.o.Manifest()
	l, err := p.conceive(ctx, m, faults == nil)
	if err != nil {
		return err
	}
	var born manifest.Born
	var missing []manifest.Missing
	if faults != nil {
		missing = []manifest.Missing{{Invariant: string(lives.J1), Code: manifest.Faulty, What: faults.Error(), Mend: "mend manifest.toml"}}
	} else {
		born, missing = p.resolve(ctx, m)
	}
	if len(missing) > 0 {
		err = p.unbear(ctx, l, lacksOf(missing))
	} else {
		err = p.bear(ctx, l, m, born)
	}
	if err != nil && p.open[l.Sequence] == l { // it is no life of now; the next try is conceived in its place
		delete(p.open, l.Sequence)
		p.unborn = l
	}
	return err
}

// conceive writes the life that is to be born. One that could not be is conceived again.
func (p *Projections) conceive(ctx context.Context, m manifest.Manifest, readable bool) (*lives.Life, error) {
	next := lives.Life{Sequence: p.last + 1}
	if p.unborn != nil {
		next.Sequence = p.unborn.Sequence
	}
	before, err := p.lastID()
	if err != nil {
		return nil, err
	}
	if next.ID, err = newIDAfter(before...); err != nil {
		return nil, err
	}
	if next.Nonce, err = newNonce(); err != nil {
		return nil, err
	}
	next.Device, next.Manifest, next.Bounds = publicKey(p.key), lineage.Digest{}, lives.Bounds{}
	if readable {
		if next.Manifest, err = m.Digest(); err != nil {
			return nil, err
		}
		next.Bounds = boundsOf(m, p.o.Idle)
	}
	next.Consent = p.consents.Head().ID
	l, err := lives.Conceive(next, p.stamp())
	if err != nil {
		return nil, err
	}
	if err := p.put(ctx, &l); err != nil {
		return nil, err
	}
	p.last, p.unborn = max(p.last, l.Sequence), nil
	p.open[l.Sequence] = &l
	return &l, nil
}

func boundsOf(m manifest.Manifest, idle time.Duration) lives.Bounds {
	b := lives.Bounds{
		TTL: m.Life.TTL, Idle: m.Life.Idle, MaxEvents: m.Life.MaxEvents, MaxFailures: m.Life.MaxFailures, WitnessGap: m.Life.WitnessGap,
	}
	if b.Idle == 0 {
		b.Idle = idle
	}
	return b
}

// found is all that is there, with what is known here.
func (p *Projections) found(ctx context.Context, m manifest.Manifest) manifest.Found {
	f := p.o.Found(ctx, m)
	f.LineageKnows, f.Head = p.knows, p.head()
	for _, l := range p.sorted() {
		if l.HoldsPin() {
			f.Quarantined = append(f.Quarantined, l.Base)
		}
	}
	f.Uncovered = p.consents.Uncovered(m.Scope())
	return f
}

// Identity is the code of a first life that waits for the model that the identity is made of.
const Identity manifest.Code = "identity"

// resolve holds a manifest against what is there. Of the model of the first of all lives the
// identity is made, once and for ever (AD-1): so where one is named, in the manifest or the
// config, none stands in for it then, and the life waits.
func (p *Projections) resolve(ctx context.Context, m manifest.Manifest) (manifest.Born, []manifest.Missing) {
	f := p.found(ctx, m)
	born, missing := m.Resolve(f)
	mind, ok := m.Mind(f.Chat)
	if p.genesis != nil || m.Substrate.ChatName(f.Chat.Configured) == "" || !ok || !mind.Builtin {
		return born, missing
	}
	return manifest.Born{}, append([]manifest.Missing{{
		Invariant: manifest.J1, Code: Identity,
		What: "the first life waits for its model, of which the identity is made, once and for ever: " + mind.Why,
		Mend: "start the server, with that model; or name no chat model, neither in the config nor in the manifest, to have the identity made of the built-in one",
	}}, missing...)
}

// knows tells of a version that the lineage had.
func (p *Projections) knows(version lineage.Digest) bool {
	if version == p.head() {
		return true
	}
	for i := range p.batches() {
		if p.lineage.Batch(i).Version == version {
			return true
		}
	}
	return false
}

func (p *Projections) batches() int {
	if p.lineage == nil {
		return 0
	}
	return p.lineage.Batches()
}

// head is the version of the lineage; before its genesis that of an empty one of this
// root.
func (p *Projections) head() lineage.Digest {
	if p.lineage == nil {
		return lineage.New(p.o.Root, lineage.Digest{}).Head()
	}
	return p.lineage.Head()
}

// lacksOf is what is missing, as a life keeps it.
func lacksOf(missing []manifest.Missing) (lacks []lives.Lack) {
	for _, m := range missing {
		lacks = append(lacks, lives.Lack{Invariant: lives.J1, Code: string(m.Code), What: m.What, Mend: m.Mend})
	}
	return lacks
}

// unbear is the end of a birth that failed.
func (p *Projections) unbear(ctx context.Context, l *lives.Life, lacks []lives.Lack) error {
	if err := l.Settle(lacks, "", p.stamp()); err != nil {
		return err
	}
	if err := p.put(ctx, l); err != nil {
		return err
	}
	delete(p.open, l.Sequence)
	p.unborn = l
	p.o.Log.Warn("the next life cannot be born", "missing", len(lacks))
	return &UnbornError{lacks}
}

// unwritable is what lacks where what a life does cannot be written down.
func unwritable(folder string, err error) []lives.Lack {
	return []lives.Lack{{
		Invariant: lives.J1, Code: "journal", What: "what the life will do cannot be written down: " + err.Error(),
		Mend: "see what stands in the way in " + folder + ", and take it out",
	}}
}

// bear is the end of one that did not. The journal is opened first, so that no life is
// ready of which nothing could be written down. What the lineage began with, and the first
// record of consent, are written with the first of all lives.
func (p *Projections) bear(ctx context.Context, l *lives.Life, m manifest.Manifest, born manifest.Born) (err error) {
	if _, err := secretOf(p.secretPath(l.Sequence)); err != nil {
		return p.unbear(ctx, l, unwritable(p.folder(), err))
	}
	journal, trace, err := distil.OpenJournal(p.journalPath(l.Sequence))
	if err != nil {
		return errors.Join(p.unbear(ctx, l, unwritable(p.folder(), err)), distil.DestroyJournal(p.secretPath(l.Sequence)))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, journal.Destroy(), distil.DestroyJournal(p.secretPath(l.Sequence)))
		}
	}()
	values, commit, err := p.beginnings(m, born)
	if err != nil {
		return err
	}
	began := commit()
	l.Identity, l.Consent, l.Base = began.genesis.Identity, began.consents.Head().ID, born.Base
	if err := l.Settle(nil, mindOf(born.Chat), p.stamp()); err != nil {
		return err
	}
	declared, err := toolsOf(born.Set, born.Grants)
	if err != nil {
		return err
	}
	k, err := encode(kitName(l.Sequence), kit{
		Tools: declared, Names: m.Distillation.Names, ByRules: m.Distillation.WrittenBy == manifest.Rules,
		Window: began.models.Window(),
	})
	if err != nil {
		return err
	}
	if err := p.put(ctx, l, append(values, k)...); err != nil {
		return err
	}
	p.genesis, p.lineage, p.consents, p.models = began.genesis, began.lineage, began.consents, began.models
	p.living = &living{
		life: *l, birth: born, m: m, rules: lineage.Render(p.rulesAt(born.Base)), journal: journal, trace: trace, quiet: time.Now(),
		runner: tools.Runner{Workplace: p.folder(), Publisher: p.o.Publisher},
	}
	p.open[l.Sequence] = &p.living.life
	p.o.Log.Info("a life is born", "life", l.Sequence, "mind", l.Mind, "tools", len(born.Set.Names()))
	return nil
}

// beginning is what a birth leaves of what all lives share.
type beginning struct {
	genesis  *genesis
	lineage  *lineage.Lineage
	consents *consent.Chain
	models   distil.Models
}

// beginnings mints the lineage where there is none, says the default of consent where
// nothing was said, and notes a satisfaction model that changed.
func (p *Projections) beginnings(m manifest.Manifest, born manifest.Born) (values []Value, commit func() beginning, err error) {
	b := beginning{p.genesis, p.lineage, p.consents, p.models}
	if b.genesis == nil {
		g := genesis{Root: p.o.Root, Base: baseOf(born.Chat), Model: mindOf(born.Chat), Minted: p.stamp()}
		g.Identity = lineage.Identity(g.Base, g.Root)
		v, err := encode(nameGenesis, g)
		if err != nil {
			return nil, nil, err
		}
		values = append(values, v)
		b.genesis, b.lineage = &g, lineage.New(g.Root, g.Identity)
	}
	if b.consents.Head().Version == 0 {
		r, err := p.firstConsent()
		if err != nil {
			return nil, nil, err
		}
		data, err := r.Canonical()
		if err != nil {
			return nil, nil, err
		}
		values = append(values, Value{consentName(r.Version), data})
		if b.consents, err = consent.Fold([]consent.Record{r}); err != nil {
			return nil, nil, err
		}
	}
	next, err := b.models.Append(m.Distillation.Satisfaction)
	if err != nil {
		return nil, nil, err
	}
	if len(next) > len(b.models) {
		v, err := encode(nameSatisfaction, next)
		if err != nil {
			return nil, nil, err
		}
		values = append(values, v)
		b.models = next
	}
	return values, func() beginning { return b }, nil
}

// firstConsent says what the default allows, so that what is kept by it has a record.
func (p *Projections) firstConsent() (consent.Record, error) {
	grid := consent.Default()
	var changes []consent.Change
	for _, c := range consent.Categories() {
		for _, d := range consent.Dimensions() {
			if grid.Answer(c, d) == consent.Allow {
				changes = append(changes, consent.Change{Cell: consent.Cell{Category: c, Dimension: d}, Answer: consent.Allow})
			}
		}
	}
	id, err := newID()
	if err != nil {
		return consent.Record{}, err
	}
	now, trusted := p.o.Now()
	return p.consents.Next(consent.Said{ID: id, Who: "jivad", Why: "the defaults of a new companion", When: now, ClockTrusted: trusted, Changes: changes})
}

// rulesAt are the rules of a version of the lineage.
func (p *Projections) rulesAt(version lineage.Digest) []lineage.Rule {
	if p.lineage == nil {
		return nil
	}
	if version == p.lineage.Head() {
		return p.lineage.Rules()
	}
	at, ok := p.lineage.At(version)
	if !ok {
		return nil
	}
	return at.Rules()
}

// put writes a life.
func (p *Projections) put(ctx context.Context, l *lives.Life, more ...Value) error {
	v, err := lifeValue(l)
	if err != nil {
		return err
	}
	return p.o.Store.Put(ctx, append(more, v)...)
}

// Builtin names the model in the program itself.
const Builtin = "builtin"

// mindOf names who thinks in a life.
func mindOf(c manifest.BornChat) string {
	switch {
	case c.Builtin:
		return Builtin
	}
	return MindOf(c.Name, c.Digest)
}

// baseOf is the digest of the base model that an identity is made of (AD-1): as its server
// tells it, else of its name.
func baseOf(c manifest.BornChat) lineage.Digest {
	if d, err := lineage.DigestOf(strings.TrimPrefix(c.Digest, "sha256:")); err == nil && !c.Builtin {
		return d
	}
	return sha256.Sum256([]byte("jivad/base/1\x00" + mindOf(c)))
}
