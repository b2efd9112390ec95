package projection

import (
	"context"
	"errors"
	"fmt"

	"github.com/jivad/jivad/lifecycle/lives"
)

var (
	// ErrNoLife: there is no such life, or none that can be judged now.
	ErrNoLife = errors.New("no such life")
	// ErrSettled: what is asked for came after the obligation of a life was settled.
	ErrSettled = errors.New("that life is settled")
)

// Rate notes how the person judged a life, in millionths from -1 to 1 (S-2): the one of
// that number, or with 0 the one that is lived now, or else the last that waits for its
// judgement. One that is over is settled by it at once. Errors: ErrNoLife, ErrSettled.
func (p *Projections) Rate(ctx context.Context, n, rating int64) (lives.Life, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rate(ctx, n, rating, "")
}

func (p *Projections) rate(ctx context.Context, n, rating int64, note string) (lives.Life, error) {
	p.tick()
	l, err := p.rateable(n)
	if err != nil {
		return lives.Life{}, err
	}
	next := *l
	if err := next.Rate(rating); err != nil {
		return *l, fmt.Errorf("%w: %w", ErrSettled, err)
	}
	next.Note = note
	if err := p.put(ctx, &next); err != nil {
		return *l, err
	}
	*l = next
	if l.State == lives.Withdrawn && l.Obligation.Status == lives.Drafted {
		if err := p.settle(ctx, l.Sequence); err != nil {
			return *l, err
		}
		return p.life(next.Sequence)
	}
	return next, nil
}

func (p *Projections) rateable(n int64) (*lives.Life, error) {
	if n == 0 && p.living != nil {
		return &p.living.life, nil
	}
	if n == 0 {
		for _, l := range p.sorted() {
			if l.State == lives.Withdrawn && !l.Obligation.Settled() {
				n = l.Sequence
			}
		}
		if n == 0 {
			return nil, fmt.Errorf("%w: none is lived, and none waits for a judgement", ErrNoLife)
		}
	}
	if p.living != nil && p.living.life.Sequence == n {
		return &p.living.life, nil
	}
	if l, ok := p.open[n]; ok {
		return l, nil
	}
	l, err := p.life(n)
	if err != nil {
		return nil, err
	}
	if l.Obligation.Status == lives.Declined {
		return nil, fmt.Errorf("%w: of life %d nothing is kept (%s)", ErrSettled, n, l.Obligation.Why)
	}
	return nil, fmt.Errorf("%w: life %d is %s", ErrSettled, n, l.Says())
}

// life reads a life from the store.
func (p *Projections) life(n int64) (lives.Life, error) {
	data, err := p.o.Store.Value(lifeName(n))
	if errors.Is(err, ErrNotFound) {
		return lives.Life{}, fmt.Errorf("%w: %d", ErrNoLife, n)
	}
	if err != nil {
		return lives.Life{}, err
	}
	l, err := lives.Decode(data)
	if err != nil {
		return l, unreadable(lifeName(n), err)
	}
	return l, nil
}

// Lives gives the lives of this device, the newest first, at most so many.
func (p *Projections) Lives(most int) ([]lives.Life, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tick()
	out := []lives.Life{}
	for n := p.last; n > 0 && len(out) < most; n-- {
		if p.living != nil && p.living.life.Sequence == n {
			out = append(out, p.living.life)
			continue
		}
		if l, ok := p.open[n]; ok {
			out = append(out, *l)
			continue
		}
		l, err := p.life(n)
		if errors.Is(err, ErrNoLife) {
			continue // it was excised
		}
		if err != nil {
			return out, err
		}
		out = append(out, l)
	}
	return out, nil
}

// Release leads a life out of quarantine by the word of the person. Whichever it is, nothing
// is kept of it, and its trace goes: the word says why, and stays in its record. "clear": it
// could not be distilled. "supersede": another life took its place. "discard": it is let go
// of. Errors: ErrNoLife; lives.ErrIllegal.
func (p *Projections) Release(ctx context.Context, n int64, how string) (lives.Life, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, ok := p.open[n]
	if !ok {
		if l, err := p.life(n); err != nil {
			return l, err
		}
		return lives.Life{}, fmt.Errorf("%w: life %d is in no quarantine", lives.ErrIllegal, n)
	}
	next := *l
	var err error
	switch how {
	case "clear":
		err = next.Decline("cleared by the person: it could not be distilled")
	case "supersede":
		err = next.Decline("superseded: another life took its place")
	case "discard":
		err = next.Discard("discarded by the person")
	default:
		return next, fmt.Errorf("%w: a life is cleared, superseded or discarded", lives.ErrIllegal)
	}
	if l.State != lives.Quarantined {
		return *l, fmt.Errorf("%w: life %d is in no quarantine", lives.ErrIllegal, n)
	}
	if err != nil {
		return *l, err
	}
	if err := p.destroy(n); err != nil {
		return *l, err
	}
	if err := next.Dissolve(p.gone(n), p.stamp()); err != nil {
		return *l, err
	}
	if err := p.put(ctx, &next, Value{Name: draftName(n)}, Value{Name: kitName(n)}); err != nil {
		return *l, err
	}
	delete(p.open, n)
	return next, nil
}

// noLesson says why a life that was judged leaves no rule.
func noLesson(valence int64) string {
	if valence < 0 {
		return "no lesson: nothing that it did failed, and nothing was said of what was wrong"
	}
	return "no lesson: it did nothing that a rule could be about"
}
