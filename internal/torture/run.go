package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"time"
)

// outcome is what came of one round.
type outcome struct {
	Round int    `json:"round"`
	Deed  string `json:"deed"`
	Fault string `json:"fault"`
	How   string `json:"how"`
	// Hit tells that the target was running when kill -9 came.
	Hit          bool      `json:"hit"`
	Acknowledged int       `json:"acknowledged"`
	Failures     []failure `json:"failures,omitempty"`
	Seconds      float64   `json:"seconds"`
	// Kept is the folder of a round that failed.
	Kept string `json:"kept,omitempty"`
}

// failure is one thing that is not as it must be.
type failure struct {
	Kind string `json:"kind"`
	What string `json:"what"`
}

// plan is what a whole run does.
type plan struct {
	// rounds is how many, 0 as many as minutes give time for.
	rounds  int
	minutes float64
	// from is the number of the first round.
	from   int
	deeds  []deed
	faults []fault
	// sweep is a kill before every durable call of every deed, once, instead.
	sweep bool
	told  func(outcome)
}

// run runs rounds until there are enough, the time is over or ctx ends.
func (l *lab) run(ctx context.Context, p plan) ([]outcome, error) {
	if p.sweep {
		return l.sweep(ctx, p)
	}
	ends := time.Now().Add(time.Duration(p.minutes * float64(time.Minute)))
	var out []outcome
	before := map[pair]int{}
	for i := 0; ; i++ {
		if p.rounds > 0 && i >= p.from+p.rounds || p.rounds == 0 && time.Now().After(ends) || ctx.Err() != nil {
			return out, nil
		}
		pair, err := l.pair(p, i)
		if err != nil {
			return out, err
		}
		turn := before[pair]
		before[pair]++
		if i < p.from {
			continue
		}
		o, err := l.round(ctx, i, turn, pair)
		if ctx.Err() != nil {
			return out, nil
		}
		if err != nil {
			return out, fmt.Errorf("round %d, %s under %s: %w", i, pair.deed.name, pair.fault.name, err)
		}
		out = append(out, o)
		p.told(o)
	}
}

// sweep kills every deed before each of its durable calls.
func (l *lab) sweep(ctx context.Context, p plan) (out []outcome, err error) {
	i := slices.IndexFunc(p.faults, func(f fault) bool { return f.name == "kill-call" })
	if i < 0 || l.noTraps != nil {
		return nil, fmt.Errorf("kill-call cannot be had: %w", l.noTraps)
	}
	p.faults = p.faults[i : i+1]
	deck := l.deck(p)
	for d := range deck {
		if slices.Contains(deck[:d], deck[d]) {
			continue // its weight
		}
		ref, err := l.reference(ctx, deck[d].deed)
		for turn := 0; err == nil && turn <= len(ref.calls) && ctx.Err() == nil; turn++ {
			var o outcome
			if o, err = l.round(ctx, len(out), turn, deck[d]); err == nil {
				out = append(out, o)
				p.told(o)
			}
		}
		if ctx.Err() != nil {
			return out, nil
		}
		if err != nil {
			return out, fmt.Errorf("%s: %w", deck[d].deed.name, err)
		}
	}
	return out, nil
}

// pair is a deed and what happens to it.
type pair struct {
	deed  *deed
	fault *fault
}

// deck is every pair that can be had here, as often as its weight says.
func (l *lab) deck(p plan) []pair {
	if l.cards != nil {
		return l.cards
	}
	var out []pair
	for f := range p.faults {
		fault := &p.faults[f]
		if fault.lacks != nil && fault.lacks(l) != nil {
			continue
		}
		for d := range p.deeds {
			deed := &p.deeds[d]
			if deed.verb != "" && !l.verbs[deed.verb] || deed.trapped && l.noTraps != nil || fault.fits != nil && !fault.fits(deed) {
				continue
			}
			weight := max(1, fault.weight)
			if deed.weight > 0 {
				weight = max(1, weight*deed.weight/2)
			}
			for range weight {
				out = append(out, pair{deed, fault})
			}
		}
	}
	l.cards = out
	return out
}

// pair is that of a round: decks of all pairs, each shuffled anew.
func (l *lab) pair(p plan, number int) (pair, error) {
	n := len(l.deck(p))
	if n == 0 {
		return pair{}, errors.New("no deed and fault that go together can be had here")
	}
	if turn := number / n; l.dealt == nil || l.turn != turn {
		l.dealt, l.turn = slices.Clone(l.deck(p)), turn
		rng := rand.New(rand.NewPCG(l.seed, ^uint64(turn))) //nolint:gosec // to be repeated, not to be secret
		rng.Shuffle(n, func(i, j int) { l.dealt[i], l.dealt[j] = l.dealt[j], l.dealt[i] })
	}
	return l.dealt[number%n], nil
}

// order is a shuffle of the calls of a deed.
func (l *lab) order(deed string, turn, n int) []int {
	h := uint64(turn)
	for _, c := range []byte(deed) {
		h = h*131 + uint64(c)
	}
	return rand.New(rand.NewPCG(l.seed, h)).Perm(n) //nolint:gosec // to be repeated, not to be secret
}

// round does one deed under one fault.
func (l *lab) round(ctx context.Context, number, turn int, p pair) (outcome, error) {
	d, f := p.deed, p.fault
	ref, err := l.reference(ctx, d)
	if err != nil {
		return outcome{}, err
	}
	began := time.Now()
	r, err := l.newRound(ctx, number, d, f)
	if err != nil {
		return outcome{}, err
	}
	defer func() { _ = r.acks.Close() }()
	defer r.unmount()
	r.turn = turn
	r.how = f.plan(r, ref)
	if f.before != nil {
		if err := f.before(ctx, r); err != nil {
			return outcome{}, err
		}
	}
	err = r.disturb(ctx)
	if ctx.Err() != nil {
		return outcome{}, ctx.Err()
	}
	if err != nil {
		r.failBy(kindHarness, "the deed", err)
	}
	if f.after != nil {
		if err := f.after(ctx, r); err != nil {
			return outcome{}, err
		}
	}
	if err := r.check(ctx, ref); err != nil {
		return outcome{}, err
	}
	r.How = r.how
	r.Seconds = time.Since(began).Seconds()
	if len(r.Failures) > 0 {
		r.Kept = r.dir
		if r.mounted { // what is on it is to be looked at later
			return r.outcome, copyFolder(r.data, r.data+".kept")
		}
		return r.outcome, nil
	}
	r.unmount()
	return r.outcome, os.RemoveAll(r.dir)
}

func (r *round) unmount() {
	if r.mounted {
		r.mounted = false
		_ = exec.Command("umount", "-l", r.data).Run()
	}
}

// reference runs a deed undisturbed: once to measure it, once to learn its durable
// calls.
func (l *lab) reference(ctx context.Context, d *deed) (*reference, error) {
	if ref := l.refs[d.name]; ref != nil {
		return ref, nil
	}
	ref := &reference{swept: map[int]bool{}}
	for _, trapping := range []bool{false, true} {
		if trapping && l.noTraps != nil {
			continue
		}
		r, err := l.newRound(ctx, -1, d, nil)
		if err != nil {
			return nil, err
		}
		if trapping {
			r.decide = func(call) verdict { return verdict{} }
		}
		if err := errors.Join(r.disturb(ctx), r.said); err != nil {
			return nil, fmt.Errorf("%s, undisturbed: %w", d.name, err)
		}
		if trapping {
			ref.calls = r.trap.seen()
		} else if err := l.measure(ctx, r, ref); err != nil {
			return nil, fmt.Errorf("%s, undisturbed: %w", d.name, err)
		}
		if err := errors.Join(r.acks.Close(), os.RemoveAll(r.dir)); err != nil {
			return nil, err
		}
		if len(r.Failures) > 0 {
			return nil, fmt.Errorf("%s, undisturbed: %+v", d.name, r.Failures)
		}
	}
	l.refs[d.name] = ref
	return ref, nil
}

// measure takes the length of an undisturbed round, and what it comes to.
func (l *lab) measure(ctx context.Context, r *round, ref *reference) (err error) {
	ref.length, ref.changes = r.length, r.changes
	if ref.bytes, err = sizeOf(r.data); err != nil {
		return err
	}
	dm, err := l.daemon(ctx, r.data, r.spec(false))
	if err != nil {
		return err
	}
	defer dm.kill()
	r.client = dm.client
	if ref.contents, err = r.settle(ctx); err != nil {
		return err
	}
	b, err := l.base(ctx, r.deed.base)
	if err != nil || len(goneFrom(b.contents, ref.contents)) == 0 || r.deed.name == "forget-writing" || r.deed.keeps {
		return err
	}
	never, err := l.base(ctx, "never")
	if err == nil && never.digest != ref.digest {
		err = fmt.Errorf("%s comes to state %.12s; a companion that never had what is forgotten has %.12s", r.deed.name, ref.digest, never.digest)
	}
	return err
}

func sortedKeys(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }
