package claims

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jivad/jivad/gate/evidence"
)

// Sweep writes down which claims are over, and how many, and drops what instruments said long
// ago and took back. With a clock that cannot be trusted it does nothing: they count as over,
// and need not be.
func (b *Book) Sweep(ctx context.Context) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, err := b.sweep(ctx, maps.Values(b.state.claims))
	if err == nil {
		err = b.drop(ctx)
	}
	return n, err
}

func (b *Book) sweep(ctx context.Context, these func(func(*Kept) bool)) (int, error) {
	now := b.moment()
	if !now.Trusted || b.frozen.Load() {
		return 0, nil
	}
	var events []Event
	for k := range these {
		if k.Over(now) {
			events = append(events, Event{Kind: Expired, Claim: k.ID, At: now, By: "jivad"})
		}
	}
	slices.SortFunc(events, func(a, c Event) int { return strings.Compare(a.Claim, c.Claim) })
	events = slices.CompactFunc(events, func(a, c Event) bool { return a.Claim == c.Claim })
	for part := range slices.Chunk(events, 256) {
		if _, err := b.write(ctx, part...); err != nil {
			return 0, err
		}
	}
	return len(events), nil
}

// withAncestors are claims and all that they follow from.
func (b *Book) withAncestors(these ...*Kept) func(func(*Kept) bool) {
	return func(yield func(*Kept) bool) {
		for _, k := range these {
			if !yield(k) {
				return
			}
			if len(k.Previous) == 0 {
				continue
			}
			for _, p := range b.state.ancestors(k.ID) {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// someToDrop is how many claims are dropped at once at least: the store is not rewritten for
// each.
const someToDrop = 32

// drop takes out the claims that an instrument alone made and that were superseded longer ago
// than the policy keeps them, with all records of them. What another claim follows from
// stays. One record says how many there were.
func (b *Book) drop(ctx context.Context) error {
	now := b.moment()
	if !now.Trusted || b.frozen.Load() || b.policy.KeepSuperseded == 0 {
		return nil
	}
	away := map[string]bool{}
	for id, k := range b.state.claims {
		if k.Class == evidence.Superseded && strings.HasPrefix(k.Provenance.Source, ofInstrument) && len(b.state.after[id]) == 0 &&
			k.Changed.Unix+int64(b.policy.KeepSuperseded/time.Second) <= now.Unix {
			away[id] = true
		}
	}
	if len(away) < someToDrop {
		return nil
	}
	values, err := b.recordsOf(away)
	if err != nil {
		return err
	}
	e := Event{Form: Form, Kind: Dropped, At: now, By: "jivad", Count: b.state.Dropped + len(away), Seq: max(b.state.Last, b.floor) + 1}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if b.state.droppedIn > 0 {
		values = append(values, Value{Name: nameOf(b.state.droppedIn)})
	}
	if err := b.store.Put(ctx, append(values, Value{nameOf(e.Seq), data})...); err != nil {
		return err
	}
	return b.reload(context.WithoutCancel(ctx))
}

// recordsOf are the records of claims, to be removed; not those by which they took the place
// of another one, which stays superseded.
func (b *Book) recordsOf(ids map[string]bool) (out []Value, err error) {
	err = b.store.Values(Prefix, func(name string, data []byte) error {
		e, err := decode(0, data)
		if err == nil && (ids[e.Claim] || ids[e.Other] && (e.Kind == Contested || e.Kind == Settled)) {
			out = append(out, Value{Name: name})
		}
		return err
	})
	return out, err
}

// Dropped is how many claims of instruments were dropped so far.
func (b *Book) Dropped() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state.Dropped
}

// Now is the time as claims are held against it.
func (b *Book) Now() evidence.Moment {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.moment()
}
