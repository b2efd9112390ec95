package projection

import (
	"context"
	"slices"
	"strings"

	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/lives"
)

// A note is what the person says to a rating, in their words. It stands in the record of the
// life and nowhere else: it is no signal, and nothing is distilled from it. As it may speak
// of anything, it is data of communications, and goes when anything is forgotten.

// RateWith is Rate with a note, which takes the place of the one before; empty for none. It
// is not kept where storing what is said is not allowed.
func (p *Projections) RateWith(ctx context.Context, n, rating int64, note string) (lives.Life, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.storable(consent.Communications) {
		note = ""
	}
	return p.rate(ctx, n, rating, note)
}

// dropNotes takes the notes out of the lives that are held here. p.mu is held.
func (p *Projections) dropNotes() {
	for _, l := range p.open {
		l.Note = ""
	}
	if p.living != nil {
		p.living.life.Note = ""
	}
	if p.unborn != nil {
		p.unborn.Note = ""
	}
}

// unnoted is the record of a life without its note; any other as it is. which says of which
// lives it goes.
func unnoted(v Value, which func(lives.Life) bool) (Value, error) {
	if !strings.HasPrefix(v.Name, prefixLife) || v.Data == nil {
		return v, nil
	}
	l, err := lives.Decode(v.Data)
	if err != nil {
		return v, unreadable(v.Name, err)
	}
	if l.Note == "" || !which(l) {
		return v, nil
	}
	l.Note = ""
	return lifeValue(&l)
}

// purgeNotes takes the notes out of the store, where there are any and what is said may not
// be stored any more.
func (p *Projections) purgeNotes(ctx context.Context, gone []consent.Category) error {
	if !slices.Contains(gone, consent.Communications) {
		return nil
	}
	there := false
	err := p.o.Store.Values(prefixLife, func(name string, data []byte) error {
		l, err := lives.Decode(data)
		there = there || err == nil && l.Note != ""
		return nil
	})
	if err != nil || !there {
		return err
	}
	err = p.o.Store.Rewrite(ctx, func(v Value) ([]byte, error) {
		v, err := unnoted(v, func(lives.Life) bool { return true })
		return v.Data, err
	})
	if err == nil {
		p.dropNotes()
	}
	return err
}

// Unnoted is the record of a life without the person's note; any other as it is.
func Unnoted(v Value) (Value, error) { return unnoted(v, func(lives.Life) bool { return true }) }
