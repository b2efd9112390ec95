package claims

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jivad/jivad/gate/evidence"
)

// change finds a claim, has f say what is to be written of it, and writes it.
func (b *Book) change(ctx context.Context, id string, f func(k Kept, now evidence.Moment) (Event, error)) (Kept, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k, err := b.find(id)
	if err != nil {
		return Kept{}, err
	}
	// What is over is written down before anything comes of it: it stays so.
	if _, err := b.sweep(ctx, b.withAncestors(k)); err != nil {
		return Kept{}, err
	}
	now := b.moment()
	e, err := f(b.view(k, now), now)
	if err != nil {
		return b.view(k, now), err
	}
	e.Claim, e.At = k.ID, now
	return b.write(ctx, e)
}

func refused(what, id string, reasons []evidence.Reason) error {
	return &RefusedError{What: "to " + what + " " + id, Reasons: reasons}
}

// AddEvidence adds a root, or looks at one again: a later look at the same thing takes the
// place of the one before. from is the entry that it was taken from, if any. Errors:
// ErrNotFound, ErrAmbiguous; ErrOlder for a look before the one that is known; evidence.ErrForm,
// also for too many; those of the store.
func (b *Book) AddEvidence(ctx context.Context, id string, r evidence.Root, by, from string) (Kept, error) {
	return b.change(ctx, id, func(k Kept, now evidence.Moment) (Event, error) {
		r, err := b.looked(k, r, now)
		if err != nil {
			return Event{}, err
		}
		known := slices.ContainsFunc(k.Roots, func(old evidence.Root) bool { return old.Type == r.Type && old.Source() == r.Source() })
		if !known && len(k.Roots) >= evidence.MostRoots {
			return Event{}, fmt.Errorf("%w: a claim has at most %d roots", evidence.ErrForm, evidence.MostRoots)
		}
		return Event{Kind: Evidence, By: by, From: from, Root: &r}, nil
	})
}

// looked is a look at a source of a claim. Errors: ErrOlder; evidence.ErrForm.
func (b *Book) looked(k Kept, r evidence.Root, now evidence.Moment) (evidence.Root, error) {
	r, err := b.rooted(r, now)
	if err != nil {
		return r, err
	}
	for _, old := range k.Roots {
		if old.Type == r.Type && old.Source() == r.Source() && old.Observed > r.Observed {
			return r, fmt.Errorf("claim %s: %w: %s was looked at later, at %s", k.ID, ErrOlder, old.ID, time.Unix(old.Observed, 0).UTC().Format("2006-01-02T15:04:05Z"))
		}
	}
	return r, nil
}

// Withdraw takes a source of a claim back, in whatever form it is named. What the claim still
// has is looked at again: see [State]. Errors: ErrNotFound, ErrAmbiguous; ErrNoRoot; those of
// the store.
func (b *Book) Withdraw(ctx context.Context, id, root, note, by string) (Kept, error) {
	return b.change(ctx, id, func(k Kept, _ evidence.Moment) (Event, error) {
		source := evidence.Root{ID: b.policy.spoken(root)}.Source()
		i := slices.IndexFunc(k.Roots, func(r evidence.Root) bool { return r.Source() == source })
		if i < 0 {
			return Event{}, fmt.Errorf("claim %s: %w: %q; jivad claims show %s lists those that it has", k.ID, ErrNoRoot, root, k.ID)
		}
		return Event{Kind: Withdrawn, By: by, Text: note, Root: &evidence.Root{ID: k.Roots[i].ID, Type: k.Roots[i].Type}}, nil
	})
}

// Locate notes that the primary source of what was reported was found: it is INFERRED then,
// and its source is the first of its roots. reasoning says how the claim follows from it.
// Errors: as AddEvidence, and evidence.ErrTransition.
func (b *Book) Locate(ctx context.Context, id string, primary evidence.Root, reasoning, by string) (Kept, error) {
	return b.change(ctx, id, func(k Kept, now evidence.Moment) (Event, error) {
		if _, err := evidence.Next(k.Class, k.Was, evidence.Located); err != nil {
			return Event{}, fmt.Errorf("claim %s: %w", k.ID, err)
		}
		primary, err := b.looked(k, primary, now)
		if err != nil {
			return Event{}, err
		}
		if !primary.Type.Qualifies() {
			return Event{}, refused("locate the source of", k.ID, []evidence.Reason{{Code: evidence.TooFewSources, Claim: k.ID, Root: primary.ID, Says: "what an agent remembers, or somebody sums up or signs, is no primary source"}})
		}
		return Event{Kind: Located, By: by, Root: &primary, Text: primary.ID, Reasoning: reasoning, Expires: b.policy.ends(now, b.policy.Classes[evidence.Inferred], 0)}, nil
	})
}

// Replay notes that the reasoning of a claim was gone through again on current evidence.
// Errors: as Locate; ErrRefused where its evidence is not current.
func (b *Book) Replay(ctx context.Context, id, reasoning, by string) (Kept, error) {
	return b.change(ctx, id, func(k Kept, now evidence.Moment) (Event, error) {
		if _, err := evidence.Next(k.Class, k.Was, evidence.Replayed); err != nil {
			return Event{}, fmt.Errorf("claim %s: %w", k.ID, err)
		}
		if r := b.policy.Replayable(&k.Claim, now); len(r) > 0 {
			return Event{}, refused("replay the reasoning of", k.ID, r)
		}
		if reasoning == "" {
			reasoning = k.Provenance.Reasoning
		}
		if reasoning == "" {
			return Event{}, fmt.Errorf("claim %s: %w: say how it follows from its evidence", k.ID, evidence.ErrForm)
		}
		return Event{Kind: Replayed, By: by, Reasoning: reasoning, Expires: b.policy.ends(now, b.policy.Classes[evidence.Inferred], 0)}, nil
	})
}

// Promote verifies a claim, where nothing speaks against it. Errors: ErrNotFound,
// ErrAmbiguous; ErrRefused with all reasons; those of the store.
func (b *Book) Promote(ctx context.Context, id, by string) (Kept, error) {
	return b.change(ctx, id, func(k Kept, now evidence.Moment) (Event, error) {
		if r := b.policy.Promotable(&k.Claim, now); len(r) > 0 {
			return Event{}, refused("promote", k.ID, r)
		}
		return Event{Kind: Promoted, By: by, Sources: k.SourceKeys(), Needed: b.policy.Sources, Expires: b.policy.ends(now, b.policy.Classes[evidence.Verified], 0)}, nil
	})
}

// Doubt puts a claim into quarantine. Errors: as Locate.
func (b *Book) Doubt(ctx context.Context, id, note, by string) (Kept, error) {
	return b.change(ctx, id, func(k Kept, _ evidence.Moment) (Event, error) {
		if _, err := evidence.Next(k.Class, k.Was, evidence.Doubted); err != nil {
			return Event{}, fmt.Errorf("claim %s: %w", k.ID, err)
		}
		return Event{Kind: Doubted, By: by, Text: note}, nil
	})
}

// Unsay notes of claims that the entry that they were taken from does not say them any more. A
// claim that nothing else speaks for is superseded by another one, if that is named; else it
// comes into quarantine. Errors: those of the store.
func (b *Book) Unsay(ctx context.Context, entry string, ids []string, by string, session int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.moment()
	var events []Event
	for _, id := range ids {
		k := b.state.claims[id]
		if k == nil || k.From != entry {
			continue
		}
		e := Event{Kind: Doubted, Claim: id, At: now, Session: session, By: "jivad", From: entry, Text: "the entry that it was taken from was edited, and does not say so"}
		if by != "" && by != id && k.Sources() == 0 && k.Class != evidence.Quarantined {
			e.Kind, e.Other = Superseded, by
		}
		events = append(events, e)
	}
	if len(events) == 0 {
		return nil
	}
	_, err := b.write(ctx, events...)
	return err
}

// Review writes a reviewer's decision: CLEAR, HOLD, REJECT, SUPERSEDE (by other) or
// NEW_EVIDENCE_REOPEN. Errors: as Locate; ErrRefused for who may not review and where new
// evidence is wanted.
func (b *Book) Review(ctx context.Context, id string, decision evidence.Trigger, other, note, by string) (Kept, error) {
	return b.change(ctx, id, func(k Kept, now evidence.Moment) (Event, error) {
		if r := b.policy.MayReview(by); len(r) > 0 {
			return Event{}, refused("review", k.ID, r)
		}
		if !decision.Reviews() && decision != evidence.Replaced {
			return Event{}, fmt.Errorf("%w: %q is no decision of a reviewer: CLEAR, HOLD, REJECT, SUPERSEDE or NEW_EVIDENCE_REOPEN", evidence.ErrForm, decision)
		}
		if decision == evidence.Reopened {
			if r := b.policy.Reopenable(&k.Claim); len(r) > 0 {
				return Event{}, refused("open again", k.ID, r)
			}
		}
		if _, err := evidence.Next(k.Class, k.Was, decision); err != nil {
			return Event{}, fmt.Errorf("claim %s: %w", k.ID, err)
		}
		e := Event{Kind: Reviewed, By: by, Decision: decision, Text: note}
		if decision == evidence.Reopened {
			e.Expires = b.policy.ends(now, b.policy.Classes[evidence.Inferred], 0)
		}
		if decision == evidence.Replaced {
			successor, err := b.another(k, other)
			if err != nil {
				return Event{}, err
			}
			e.Other = successor.ID
		}
		return e, nil
	})
}

// Contest notes that two claims speak against each other. Errors: as AddEvidence.
func (b *Book) Contest(ctx context.Context, id, other, by string) (Kept, error) {
	return b.pair(ctx, Contested, id, other, "", by)
}

// Settle notes that a reviewer looked into what two claims have against each other, and
// that both may stand. Errors: as Review.
func (b *Book) Settle(ctx context.Context, id, other, note, by string) (Kept, error) {
	if r := b.Policy().MayReview(by); len(r) > 0 {
		return Kept{}, refused("settle", id, r)
	}
	return b.pair(ctx, Settled, id, other, note, by)
}

func (b *Book) pair(ctx context.Context, kind Kind, id, other, note, by string) (Kept, error) {
	return b.change(ctx, id, func(k Kept, _ evidence.Moment) (Event, error) {
		o, err := b.another(k, other)
		if err != nil {
			return Event{}, err
		}
		return Event{Kind: kind, By: by, Other: o.ID, Text: note}, nil
	})
}

// another finds a claim that is not this one.
func (b *Book) another(k Kept, id string) (*Kept, error) {
	o, err := b.find(id)
	if err == nil && o.ID == k.ID {
		err = fmt.Errorf("%w: claim %s and itself", evidence.ErrForm, k.ID)
	}
	return o, err
}
