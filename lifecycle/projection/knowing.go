package projection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/soul/lineage"
)

// Known is what there is to know of the lineage at a glance.
type Known struct {
	// Root is the genesis root, Identity what all projections share (AD-1); Identity is
	// zero before the first birth.
	Root     lineage.ID     `json:"genesis"`
	Identity lineage.Digest `json:"identity,omitzero"`
	Head     lineage.Digest `json:"head"`
	// Device is this device's key; zero where it has none yet.
	Device      lineage.Key `json:"device,omitzero"`
	Distillates int         `json:"distillates"`
	Batches     int         `json:"batches"`
	Rules       int         `json:"rules"`
	Contested   int         `json:"contested"`
	// Converged tells whether the last lives moved next to nothing.
	Converged bool `json:"converged"`
	// Lives is how many there were on this device, Waiting how many of them wait for a
	// judgement, Quarantined how many hold a pin.
	Lives       int64 `json:"lives"`
	Waiting     int   `json:"waiting"`
	Quarantined int   `json:"quarantined"`
	// Missing is what the last birth lacked, where it failed.
	Missing []lives.Lack `json:"missing,omitempty"`
}

// Converged is asked with the last three lives and one hundredth.
const (
	convergedLives     = 3
	convergedThreshold = lineage.Million / 100
)

// Known tells it.
func (p *Projections) Known() Known {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := Known{Root: p.o.Root, Head: p.head(), Lives: p.last}
	if p.key != nil {
		out.Device = publicKey(p.key)
	}
	if p.genesis != nil {
		out.Root, out.Identity = p.genesis.Root, p.genesis.Identity
	}
	if l := p.lineage; l != nil {
		out.Distillates, out.Batches, out.Converged = l.Size(), l.Batches(), l.Converged(convergedLives, convergedThreshold)
		for _, r := range l.Rules() {
			out.Rules++
			if r.Contested {
				out.Contested++
			}
		}
	}
	for _, l := range p.open {
		switch {
		case l.HoldsPin():
			out.Quarantined++
		case l.State == lives.Withdrawn && !l.Obligation.Settled():
			out.Waiting++
		}
	}
	if p.unborn != nil {
		out.Missing = p.unborn.Missing
	}
	return out
}

// AllRules are the rules of the head, in the order of their keys.
func (p *Projections) AllRules() []lineage.Rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rulesAt(p.head())
}

// RenderAt is the text of the rules of a version, as it enters a prompt; of the zero
// version that of the head. Error: lineage.ErrAbsent.
func (p *Projections) RenderAt(version lineage.Digest) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if version == (lineage.Digest{}) {
		version = p.head()
	}
	if !p.knows(version) && version != lineage.New(p.root(), lineage.Digest{}).Head() {
		return "", fmt.Errorf("version %s: %w", version, lineage.ErrAbsent)
	}
	return lineage.Render(p.rulesAt(version)), nil
}

func (p *Projections) root() lineage.ID {
	if p.genesis != nil {
		return p.genesis.Root
	}
	return p.o.Root
}

// TakeMoved gives how far the merges since the last call moved the rules (κ), in
// millionths, and how many got other words.
func (p *Projections) TakeMoved() (momentum int64, rewordings int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.moved {
		momentum += b.Momentum
		rewordings += b.Rewordings
	}
	p.moved = nil
	return momentum, rewordings
}

// Prove proves that a distillate is in the lineage as it is now, or is not.
func (p *Projections) Prove(d lineage.Digest) (lineage.Proof, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lineage == nil {
		return lineage.Proof{}, fmt.Errorf("%w: the lineage is empty", lineage.ErrAbsent)
	}
	return p.lineage.Prove(d), nil
}

// DigestOf finds a distillate by the beginning of its digest or id, or by the life's
// number on this device, also where that was excised; a whole digest is taken as it is, also
// of one that is not there.
func (p *Projections) DigestOf(name string) (lineage.Digest, error) {
	if d, err := lineage.DigestOf(name); err == nil {
		return d, nil
	}
	life, err := p.LifeOf(name)
	if err != nil {
		return lineage.Digest{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	was, err := p.distilledTo(life)
	if err != nil {
		return lineage.Digest{}, err
	}
	if p.lineage != nil {
		if d, found := called(p.lineage, life, name, was); found {
			return d, nil
		}
	}
	if d, err := p.ifExcised(was); err != nil || d != (lineage.Digest{}) {
		return d, err
	}
	return lineage.Digest{}, fmt.Errorf("life %s left nothing in the lineage: %w", name, lineage.ErrAbsent)
}

// called picks of the distillates that name a life the one that is meant: whose own name it
// is, then was, what the life of this device was distilled to, then the one of lowest digest.
func called(l *lineage.Lineage, life lineage.ID, name string, was lineage.Digest) (lineage.Digest, bool) {
	digests := l.OfLife(life)
	if len(digests) == 0 {
		return lineage.Digest{}, false
	}
	for _, digest := range digests {
		d, _ := l.Member(digest)
		if len(name) >= 4 && (strings.HasPrefix(digest.String(), name) || strings.HasPrefix(d.ID.String(), name)) {
			return digest, true
		}
	}
	if slices.Contains(digests, was) {
		return was, true
	}
	return digests[0], true
}

// distilledTo is what a life of this device was distilled to; zero where there is none.
func (p *Projections) distilledTo(life lineage.ID) (was lineage.Digest, err error) {
	err = p.o.Store.Values(prefixLife, func(name string, data []byte) error {
		l, err := lives.Decode(data)
		if err != nil {
			return unreadable(name, err)
		}
		if l.ID == life {
			was = l.Obligation.Distillate
		}
		return nil
	})
	return was, err
}

// ifExcised is that where an excision took it out, else zero.
func (p *Projections) ifExcised(was lineage.Digest) (lineage.Digest, error) {
	if was == (lineage.Digest{}) {
		return was, nil
	}
	all, err := p.Excisions()
	if !slices.ContainsFunc(all, func(r ExcisionRecord) bool { return slices.Contains(r.Digests, was) }) {
		was = lineage.Digest{}
	}
	return was, err
}

// Blame lists who made a rule what it is. Error: lineage.ErrAbsent.
func (p *Projections) Blame(key string) ([]lineage.Share, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lineage == nil {
		return nil, fmt.Errorf("rule %s: %w", key, lineage.ErrAbsent)
	}
	if _, ok := p.lineage.Rule(key); !ok {
		return nil, fmt.Errorf("rule %s: %w", key, lineage.ErrAbsent)
	}
	return p.lineage.Blame(key), nil
}

// Attest says what the lineage is now, signed by this device.
func (p *Projections) Attest(ctx context.Context, tool string) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lineage == nil {
		return nil, fmt.Errorf("%w: there is no lineage before the first life", lineage.ErrAbsent)
	}
	if p.key == nil {
		key, err := deviceKey(p.o.Dir)
		if err != nil {
			return nil, err
		}
		p.key = key
	}
	n := 0
	if err := p.o.Store.Values(prefixExcision, func(string, []byte) error { n++; return nil }); err != nil {
		return nil, err
	}
	return p.lineage.Attest(ctx, p.key, tool, n)
}

// Consent is all that the person said about consent.
func (p *Projections) Consent() (*consent.Chain, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return consent.Fold(p.consents.Records())
}

// Models are the versions of the principal's satisfaction model.
func (p *Projections) Models() distil.Models {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.models
}

// Save writes how long lives have run, so that a restart goes on from there.
func (p *Projections) Save(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tick()
	var values []Value
	for _, l := range p.sorted() {
		if l.State != lives.Withdrawn || p.living != nil && p.living.life.Sequence == l.Sequence {
			continue
		}
		v, err := lifeValue(l)
		if err != nil {
			return err
		}
		values = append(values, v)
	}
	if p.living != nil {
		v, err := lifeValue(&p.living.life)
		if err != nil {
			return err
		}
		values = append(values, v)
	}
	if len(values) == 0 {
		return nil
	}
	return p.o.Store.Put(ctx, values...)
}

// Close leaves the journal of a life for the next start. Withdraw comes first where the
// life is to end.
func (p *Projections) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var err error
	for _, l := range []*living{p.living, p.ended} {
		if l != nil {
			err = errors.Join(err, l.journal.Close())
		}
	}
	p.living, p.ended = nil, nil
	return err
}
