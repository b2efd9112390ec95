package projection

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/lifecycle/manifest"
	"github.com/jivad/jivad/soul/lineage"
)

// Life gives a life of this device by its number, counted from 1; with 0 the newest.
// Error: ErrNoLife.
func (p *Projections) Life(n int64) (lives.Life, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tick()
	if n == 0 {
		n = p.last
	}
	if p.living != nil && p.living.life.Sequence == n {
		return p.living.life, nil
	}
	if l, ok := p.open[n]; ok {
		return *l, nil
	}
	if n < 1 {
		return lives.Life{}, fmt.Errorf("%w: none was lived yet", ErrNoLife)
	}
	return p.life(n)
}

// Prospect is what a birth would come to now.
type Prospect struct {
	Manifest manifest.Manifest
	// Born is what the life would begin with, zero where something is missing.
	Born    manifest.Born
	Missing []manifest.Missing
	// Mind names the model that would think in it, as in a life.
	Mind   string
	Bounds lives.Bounds
}

// Prospect holds the manifest against what is there, as a birth does (J-1). It makes the
// folder that tools work in, where there are some, and changes nothing else. Error: that of
// reading the manifest.
func (p *Projections) Prospect(ctx context.Context) (Prospect, error) {
	m, err := p.o.Manifest()
	if err != nil {
		return Prospect{}, err
	}
	if len(m.Tools) > 0 {
		if err := p.makeFolder(); err != nil {
			p.o.Log.Warn("the folder that tools work in could not be made", "error", err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	out := Prospect{Manifest: m, Bounds: boundsOf(m, p.o.Idle)}
	out.Born, out.Missing = p.resolve(ctx, m)
	if len(out.Missing) == 0 {
		out.Mind = mindOf(out.Born.Chat)
	}
	return out, nil
}

// VersionOf finds a version of the lineage by its digest or the beginning of that, at
// least four digits; empty is the head. A whole digest is taken as it is, also of one that
// the lineage never had. Error: lineage.ErrAbsent.
func (p *Projections) VersionOf(name string) (lineage.Digest, error) {
	if d, err := lineage.DigestOf(name); err == nil {
		return d, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if name == "" {
		return p.head(), nil
	}
	const least = 4
	had := []lineage.Digest{lineage.New(p.root(), lineage.Digest{}).Head()}
	for i := range p.batches() {
		had = append(had, p.lineage.Batch(i).Version)
	}
	var found []lineage.Digest
	for _, d := range had {
		if len(name) >= least && strings.HasPrefix(d.String(), name) && !slices.Contains(found, d) {
			found = append(found, d)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return lineage.Digest{}, fmt.Errorf("version %q: %w", name, lineage.ErrAbsent)
	}
	return lineage.Digest{}, fmt.Errorf("version %q: %w: several begin so; give more of it", name, lineage.ErrAbsent)
}

// Invite gives the text of an invitation to the lineage, signed by this device; hub is the
// address of a broker, empty for none. Errors: lineage.ErrAbsent before the first birth;
// ErrKey.
func (p *Projections) Invite(hub string) (string, lineage.Invitation, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.genesis == nil {
		return "", lineage.Invitation{}, fmt.Errorf("%w: there is no lineage to invite to before the first life", lineage.ErrAbsent)
	}
	if p.key == nil {
		key, err := deviceKey(p.o.Dir)
		if err != nil {
			return "", lineage.Invitation{}, err
		}
		p.key = key
	}
	v := lineage.Invitation{Root: p.genesis.Root, Base: p.genesis.Base, Device: publicKey(p.key), Hub: hub}
	text, err := lineage.Invite(v, p.key)
	return text, v, err
}

// Members gives distillates of the lineage; those that are not there are left out. They
// must not be changed.
func (p *Projections) Members(digests ...lineage.Digest) []*lineage.Distillate {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []*lineage.Distillate
	for _, digest := range digests {
		if p.lineage == nil {
			break
		}
		if d, ok := p.lineage.Member(digest); ok {
			out = append(out, d)
		}
	}
	return out
}

// Guidance gives the sentences of all distillates that are kept, and of what waits for a
// judgement. Errors: those of the store.
func (p *Projections) Guidance() ([]string, error) {
	var out []string
	add := func(rules []lineage.Disposition) {
		for _, r := range rules {
			out = append(out, r.Guidance)
		}
	}
	err := p.o.Store.Values(prefixMember, func(name string, data []byte) error {
		d, err := kept(name, data)
		if err != nil {
			return err
		}
		add(d.Dispositions)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = p.o.Store.Values(prefixDraft, func(name string, data []byte) error {
		var d draft
		if err := json.Unmarshal(data, &d); err != nil {
			return unreadable(name, err)
		}
		add(d.Worked)
		add(d.Failed)
		return nil
	})
	return out, err
}

// Kept counts the distillates of a set that the store still has, by looking there.
func (p *Projections) Kept(digests []lineage.Digest) (n int, err error) {
	err = p.o.Store.Values(prefixMember, func(name string, _ []byte) error {
		if d, err := lineage.DigestOf(strings.TrimPrefix(name, prefixMember)); err == nil && slices.Contains(digests, d) {
			n++
		}
		return nil
	})
	return n, err
}
