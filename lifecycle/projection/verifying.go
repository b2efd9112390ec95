package projection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/soul/lineage"
)

// Verify reads the whole lineage anew: every distillate in its form and signed, every
// version the one that its members lead to (S-3, S-4), no life that was excised (S-5),
// and every life of this device in a state that its steps lead to, each settled once
// (J-4): what it was distilled to is in the lineage, as its own, or was excised. What other
// devices distilled twice, or say of a life of this one, is no fault of it. Every act
// is signed by the device of its life, and there are as many as that did (AD-4); of what it
// was only its digest is left, which the signature is of. It tells how many distillates it
// read.
func (p *Projections) Verify(ctx context.Context) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fresh, err := p.loadLineage()
	if err != nil {
		return 0, err
	}
	all, err := p.verifyLives(ctx, fresh)
	if err != nil {
		return 0, err
	}
	if err := p.verifyActs(ctx, all); err != nil || fresh == nil {
		return 0, err
	}
	if fresh.Head() != p.head() {
		return 0, fmt.Errorf("%w: the lineage is at %s and folds to %s", lineage.ErrChain, p.head(), fresh.Head())
	}
	device := map[lineage.ID]lineage.Key{} // of each life of this device
	for _, l := range all {
		device[l.ID] = l.Device
	}
	var refused error
	for _, digest := range fresh.Members() {
		d, _ := fresh.Member(digest)
		admit := fresh.Admit(d)
		if errors.Is(admit, lineage.ErrForm) || errors.Is(admit, lineage.ErrWeight) || errors.Is(admit, lineage.ErrNoSignal) {
			// All are told, so that all can be taken out.
			refused = errors.Join(refused, fmt.Errorf("life %s left what is not taken in any more: %w; jivad excise %s takes it out", d.Life, admit, d.Life))
			admit = d.CheckSignature()
		}
		if err := errors.Join(admit, p.buried(d.Life)); err != nil {
			return 0, err
		}
		if counts, _ := fresh.Counts(digest); counts != digest && d.Device == device[d.Life] {
			return 0, fmt.Errorf("life %s was distilled more than once", d.Life)
		}
	}
	if refused != nil {
		return 0, refused
	}
	return fresh.Size(), nil
}

// verifyLives reads the lives of this device, by their numbers, and looks for what they were
// distilled to. fresh is nil where there is no lineage.
func (p *Projections) verifyLives(ctx context.Context, fresh *lineage.Lineage) (map[int64]lives.Life, error) {
	excisions, err := p.Excisions()
	if err != nil {
		return nil, err
	}
	excised := map[lineage.Digest][]lineage.ID{}
	for _, r := range excisions {
		for _, digest := range r.Digests {
			excised[digest] = append(excised[digest], r.Lives...)
		}
	}
	all, met := map[int64]lives.Life{}, map[lineage.Digest]int64{}
	err = p.o.Store.Values(prefixLife, func(name string, data []byte) error {
		l, err := lives.Decode(data)
		if err != nil {
			return unreadable(name, err)
		}
		all[l.Sequence] = l
		digest := l.Obligation.Distillate
		if l.Obligation.Status != lives.Met {
			return ctx.Err()
		}
		if other, twice := met[digest]; twice {
			return fmt.Errorf("lives %d and %d were distilled to the same", other, l.Sequence)
		}
		met[digest] = l.Sequence
		var d *lineage.Distillate
		if fresh != nil {
			d, _ = fresh.Member(digest)
		}
		switch {
		case d == nil && slices.Contains(excised[digest], l.ID):
		case d == nil:
			return fmt.Errorf("%w: life %d was distilled to %s, which is not in the lineage and was not excised", lineage.ErrChain, l.Sequence, digest)
		case d.Life != l.ID || d.Sequence != l.Sequence: // the key of the device may be another since
			return fmt.Errorf("%w: life %d was distilled to %s, which is of another life", lineage.ErrChain, l.Sequence, digest)
		}
		return ctx.Err()
	})
	return all, err
}

// verifyActs sees that the acts of lives are signed by the devices of those, and whether
// there are as many as they did.
func (p *Projections) verifyActs(ctx context.Context, all map[int64]lives.Life) error {
	acts := map[int64]int{}
	err := p.o.Store.Values(prefixAct, func(name string, data []byte) error {
		life, number, _ := strings.Cut(strings.TrimPrefix(name, prefixAct), "/")
		n, err := strconv.ParseInt(life, 10, 64)
		l, there := all[n]
		if err != nil || !there {
			return fmt.Errorf("act %s of life %s is of no life that there is", number, life)
		}
		var s signedAct
		if err := json.Unmarshal(data, &s); err != nil {
			return unreadable(name, err)
		}
		if err := lineage.CheckAct(l.Device, l.Identity, l.Nonce, l.Manifest, s.Payload, s.Signature); err != nil {
			return fmt.Errorf("act %s of life %d: %w", number, n, err)
		}
		acts[n]++
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	for n, l := range all {
		if acts[n] != l.Spent.Acts {
			return fmt.Errorf("life %d acted %d times, and %d acts of it are there", n, l.Spent.Acts, acts[n])
		}
	}
	return nil
}
