package claims

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jivad/jivad/gate/evidence"
)

// Observed is what came of a reading.
type Observed struct {
	// Instrument is the one that was read, Unread why what came was no reading of it; empty
	// where it was.
	Instrument, Unread string
	// Claim is the one that it speaks for; empty where the instrument's contrary has no text.
	Claim string
	// Written tells that something was written: within one window a reading says nothing new.
	Written bool
	// Contested is a claim that it speaks against.
	Contested string
}

// Topics are those that instruments speak on, each once.
func (p Policy) Topics() (out []string) {
	seen := map[string]bool{}
	for _, in := range p.Instruments {
		for _, topic := range in.spokenOn() {
			if !seen[topic] {
				seen[topic] = true
				out = append(out, topic)
			}
		}
	}
	return out
}

// Message takes in what came on a topic: a reading of each instrument that speaks there.
// What came is data: nothing of it is kept, but whether a statement of the policy holds.
// session is that of now. allowed, if not nil, tells whether claims of a category may be
// kept; those of others are not. Errors: ErrReading; those of the store.
func (b *Book) Message(ctx context.Context, topic string, payload []byte, session int, allowed func(category string) bool) (out []Observed, err error) {
	return b.readings(ctx, func(in *Instrument) bool {
		return slices.Contains(in.spokenOn(), topic) && (allowed == nil || allowed(in.Category))
	}, payload, session)
}

// Result takes in what a tool gave, where the policy says that the tool reads an instrument;
// see [Book.Message].
func (b *Book) Result(ctx context.Context, tool string, payload []byte, session int, allowed func(category string) bool) (out []Observed, err error) {
	return b.readings(ctx, func(in *Instrument) bool {
		return in.Tool == tool && tool != "" && (allowed == nil || allowed(in.Category))
	}, payload, session)
}

func (b *Book) readings(ctx context.Context, of func(*Instrument) bool, payload []byte, session int) (out []Observed, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unread != nil { // status tells it once
		return nil, nil
	}
	for i := range b.policy.Instruments {
		in := &b.policy.Instruments[i]
		if !of(in) {
			continue
		}
		holds, wrong := in.holds(payload)
		if wrong != nil {
			err = errors.Join(err, wrong)
			out = append(out, Observed{Instrument: in.ID, Unread: wrong.Error()})
			continue
		}
		o, wrong := b.observe(ctx, in, holds, session)
		if wrong != nil {
			return out, wrong
		}
		o.Instrument = in.ID
		out = append(out, o)
	}
	return out, err
}

// observe writes what a reading says. It adds to the claim that says so already, or makes
// one, as a report. What the same instrument alone said before is superseded by what it says
// now; what others saw as well is contested, each claim of it. An instrument that says one
// thing and the other more often than [mostTurns] times in its window is not to be believed:
// what it alone said comes into quarantine, and nothing more is taken of it in that window.
func (b *Book) observe(ctx context.Context, in *Instrument, holds bool, session int) (Observed, error) {
	text, contrary := in.Text, in.Otherwise
	if !holds {
		text, contrary = in.Otherwise, in.Text
	}
	now := b.moment()
	root, err := b.rooted(in.root(now.Unix), now)
	if err != nil {
		return Observed{}, err
	}
	against := b.currents(contrary)
	if Statement(text) == "" && len(against) == 0 {
		return Observed{}, nil
	}
	turn := b.turn(in, holds)
	switch {
	case turn.wild, turn.again && !now.Trusted:
		return Observed{}, nil
	case turn.n > mostTurns:
		turn.wild = true
		return b.distrust(ctx, in, session, append(against, b.currents(text)...))
	}
	if Statement(text) == "" {
		text = "not so: " + in.Text // the contrary of what is believed has to have words
	}
	var out Observed
	var events []Event
	k, stale := b.current(text), ""
	if k != nil && own(k, in) && (k.Over(now) || k.Class == evidence.Stale) {
		k, stale = nil, k.ID // what it says now is said anew
	}
	switch {
	case k == nil:
		e, err := b.asserted(Draft{
			Text: text, Subject: in.Subject, Agent: in.ID, Source: ofInstrument + in.ID, Category: in.Category,
			Session: session, Consequence: evidence.Consequence(in.Consequence), Roots: []evidence.Root{root},
		}, now)
		if err != nil {
			return out, err
		}
		out.Claim, events = e.Claim, append(events, e)
	default:
		out.Claim = k.ID
		kind, expires := Evidence, int64(0)
		if slices.ContainsFunc(k.Roots, func(r evidence.Root) bool { return r.Type == root.Type && r.Source() == root.Source() }) {
			kind, expires = Renewed, b.policy.ends(now, b.policy.Classes[evidence.Reported], 0)
		}
		if !k.has(root) && (kind == Evidence || now.Trusted) {
			events = append(events, Event{Kind: kind, Claim: k.ID, At: now, Session: session, By: in.ID, Category: in.Category, Root: &root, Expires: expires})
		}
	}
	if stale != "" {
		events = append(events, Event{Kind: Superseded, Claim: stale, At: now, Session: session, By: in.ID, Other: out.Claim})
	}
	for _, a := range against {
		kind := Contested
		if own(a, in) {
			kind = Superseded
		} else {
			out.Contested = a.ID
		}
		if k == nil || !contested(k, a) {
			events = append(events, Event{Kind: kind, Claim: a.ID, At: now, Session: session, By: in.ID, Other: out.Claim})
		}
	}
	if len(events) == 0 {
		return out, nil
	}
	out.Written = true
	_, err = b.write(ctx, events...)
	return out, err
}

// ofInstrument begins the source of what an instrument says.
const ofInstrument = "instrument "

// mostTurns is how often an instrument may say the contrary of what it said, in its window.
const mostTurns = 4

// turns are what an instrument said in its window, by a clock that only goes forward.
type turns struct {
	since time.Time
	holds bool
	n     int
	// again says that it said so before, wild that it is not believed in this window.
	again, wild bool
}

// turn notes what an instrument says.
func (b *Book) turn(in *Instrument, holds bool) *turns {
	t := b.turns[in.ID]
	if t == nil || time.Since(t.since) >= in.window {
		if b.turns == nil {
			b.turns = map[string]*turns{}
		}
		t = &turns{since: time.Now(), holds: holds}
		b.turns[in.ID] = t
		return t
	}
	t.again = t.holds == holds
	if !t.again {
		t.n++
	}
	t.holds = holds
	return t
}

// distrust puts what an instrument alone said into quarantine.
func (b *Book) distrust(ctx context.Context, in *Instrument, session int, claims []*Kept) (out Observed, err error) {
	var events []Event
	now := b.moment()
	for _, k := range claims {
		if own(k, in) {
			events = append(events, Event{Kind: Doubted, Claim: k.ID, At: now, Session: session, By: in.ID, Text: "it said one thing and the other, again and again"})
			out.Claim = k.ID
		}
	}
	if len(events) == 0 {
		return out, nil
	}
	out.Written = true
	_, err = b.write(ctx, events...)
	return out, err
}

// currents are the claims of that statement that were neither rejected nor superseded, the
// oldest first.
func (b *Book) currents(text string) []*Kept {
	statement := Statement(text)
	if statement == "" {
		return nil
	}
	return slices.Clone(b.state.said[statement])
}

// current is the one of them that an act would rest on: one that is verified, else the newest.
func (b *Book) current(text string) (out *Kept) {
	for _, k := range b.currents(text) {
		if out == nil || k.Class == evidence.Verified || out.Class != evidence.Verified {
			out = k
		}
	}
	return out
}

// has tells whether a claim has that observation already, in that window.
func (k *Kept) has(root evidence.Root) bool {
	key := evidence.CanonicalRoot(root.ID)
	for _, r := range k.Roots {
		if r.Type == root.Type && evidence.CanonicalRoot(r.ID) == key {
			return true
		}
	}
	return false
}

func contested(k, other *Kept) bool {
	for _, id := range k.contests {
		if id == other.ID {
			return true
		}
	}
	return false
}

// own tells of a claim that nobody but the instrument vouches for.
func own(k *Kept, in *Instrument) bool {
	if k.Agent != in.ID || k.Class == evidence.Quarantined {
		return false
	}
	for _, key := range k.SourceKeys() {
		if key != in.root(0).Source() {
			return false
		}
	}
	return true
}
