package claims

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jivad/jivad/gate/evidence"
	"github.com/jivad/jivad/internal/ledger"
)

// Prefix begins the names that events are kept under.
const Prefix = "claim/event/"

func nameOf(seq uint64) string { return fmt.Sprintf(Prefix+"%016d", seq) }

// Number is that of the event under a name; false where none can be under it.
func Number(name string) (seq uint64, ok bool) {
	_, err := fmt.Sscanf(strings.TrimPrefix(name, Prefix), "%d", &seq)
	return seq, err == nil && nameOf(seq) == name
}

// Value is a record kept under a name.
type Value struct {
	Name string
	Data []byte
}

// Store keeps records.
type Store interface {
	// Values calls f for those whose names begin so, in order of name.
	Values(prefix string, f func(name string, data []byte) error) error
	// Put writes records in one transaction; when it returns they are durable. One without
	// data is removed.
	Put(ctx context.Context, values ...Value) error
}

// What can be wrong.
var (
	// ErrNotFound: there is no such claim.
	ErrNotFound = errors.New("there is no such claim")
	// ErrAmbiguous: the beginning of an id is that of several.
	ErrAmbiguous = errors.New("several claims begin so; give more of the id")
	// ErrRefused: the policy has reasons against it; see [RefusedError].
	ErrRefused = errors.New("it may not be")
	// ErrOlder: a source was looked at later than that already.
	ErrOlder = errors.New("it is known from a later look already, so this one changes nothing")
	// ErrNoRoot: a claim has no such source.
	ErrNoRoot = errors.New("it has no such root")
	// ErrFixed: the book is one to look at.
	ErrFixed = errors.New("these claims cannot be changed")
	// ErrUnread: a record of claims cannot be read, so none of them is believed.
	ErrUnread = errors.New("the records of claims cannot be read, so no claim is believed and no act of consequence is done")
)

// RefusedError has all reasons. It is ErrRefused.
type RefusedError struct {
	// What was asked for, such as "promote c4kq2z".
	What    string
	Reasons []evidence.Reason
}

// Error lists the reasons, one in a line.
func (e *RefusedError) Error() string {
	s := e.What + " may not be:"
	for _, r := range e.Reasons {
		s += "\n  " + string(r.Code) + ": " + r.Says
		if r.Root != "" {
			s += " (" + r.Root + ")"
		}
	}
	return s
}

// Is tells that it is ErrRefused.
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

// Book is the claims of one companion. Its methods may be called from many goroutines.
type Book struct {
	store  Store
	now    func() (time.Time, bool)
	frozen atomic.Bool

	mu     sync.Mutex
	policy Policy
	state  *State
	// unread is why the records cannot be folded: then the state has no claims, nothing is
	// written, and no act of consequence may be. Nil where they can.
	unread error
	// latest is the latest time that could be trusted, of this process and of the events:
	// a clock that is set back refreshes nothing.
	latest int64
	// floor is the highest number that an event ever had: none is given twice, though the
	// last ones were forgotten.
	floor uint64
	// forgotten are the ids of claims that were forgotten.
	forgotten map[string]bool
	// turns are what instruments said lately, by their ids.
	turns map[string]*turns
}

// Open folds what is kept. now tells the wall time and whether it can be trusted. Where a
// record cannot be read the book is there all the same, and believes nothing: see
// [Book.Unread]. Error: that of ctx.
func Open(ctx context.Context, store Store, policy Policy, now func() (time.Time, bool)) (*Book, error) {
	b := &Book{store: store, now: now, policy: policy}
	return b, b.Reload(ctx)
}

// Reload folds anew what is kept, after records were taken out.
func (b *Book) Reload(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reload(ctx)
}

func (b *Book) reload(ctx context.Context) error {
	s, err := fold(ctx, b.store, nil)
	if err == nil {
		err = b.readFloor()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	b.unread = nil
	if err != nil {
		b.unread, s = fmt.Errorf("%w: %w", ErrUnread, err), NewState()
	}
	b.state, b.latest = s, max(b.latest, s.Latest)
	return nil
}

// Unread tells why the records cannot be read; nil where they can. It is ErrUnread, and names
// the record.
func (b *Book) Unread() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.unread
}

func (b *Book) readFloor() error {
	return b.store.Values(NameForgotten, func(name string, data []byte) error {
		f, err := ReadForgotten(data)
		b.floor, b.forgotten = max(b.floor, f.Last), f.IDs
		return err
	})
}

// fold is the state of the kept events, as far as keep wants them.
func fold(ctx context.Context, store Store, keep func(Event) bool) (*State, error) {
	s := NewState()
	err := ledger.Replay(ctx, source{store}, 0, math.MaxUint64, ledger.Rules[Event]{
		Decode:  decode,
		Resolve: func(e Event) (Event, bool) { return e, keep == nil || keep(e) },
		Step:    func(e Event) error { Step(s, e); return nil },
	})
	return s, err
}

// source are the kept events as a ledger replays them.
type source struct{ store Store }

// Name is for errors.
func (source) Name() string { return "claims" }

// Each calls f for the events in (after, to].
func (s source) Each(after, to uint64, f func(seq uint64, payload []byte, err error) error) error {
	return s.store.Values(Prefix, func(name string, data []byte) error {
		seq, ok := Number(name)
		if !ok {
			return fmt.Errorf("record %s: %w: it is under a name that none has", name, ErrEvent)
		}
		if seq <= after || seq > to {
			return nil
		}
		return f(seq, data, nil)
	})
}

// SetPolicy puts another policy in the place of the present one: it holds from now on.
func (b *Book) SetPolicy(p Policy) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.policy = p
}

// Policy is the present one.
func (b *Book) Policy() Policy {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.policy
}

// behind is how far a clock may be behind what it showed before and still be the same one:
// a correction of a time server. In seconds.
const behind = 120

// moment is now. A clock that shows less than it did, or than the events say, was set: now or
// then. By it nothing can be told to be fresh, so it is not trusted until it is past that.
func (b *Book) moment() evidence.Moment {
	t, trusted := b.now()
	m := evidence.Moment{Unix: t.Unix(), Trusted: trusted || b.policy.TrustClock}
	if !m.Trusted {
		return m
	}
	if m.Unix < b.latest-behind {
		m.Trusted = false
		return m
	}
	b.latest = max(b.latest, m.Unix)
	m.Unix = b.latest
	return m
}

// ofNobody is the category of data that is about nobody.
const ofNobody = "operational"

// Draft is a claim that is to be made.
type Draft struct {
	Text, Subject string
	// Class is REPORTED or INFERRED; empty is REPORTED.
	Class evidence.Class
	// Agent is who claims it, Source who said it or what it was taken from.
	Agent, Source string
	// From is the entry or distillate that it is taken from, if any; Category its category
	// of consent.
	From, Category string
	Life           string
	Session        int
	Consequence    evidence.Consequence
	// Primary is its primary source and Reasoning how it follows, where these are known.
	Primary, Reasoning string
	// Previous are claims that it follows from, Against one that it speaks against.
	Previous []string
	Against  string
	Roots    []evidence.Root
	// Expires is when it is over, in seconds since 1970; 0 leaves that to the policy, which
	// bounds it.
	Expires int64
}

// Assert makes a claim. Errors: evidence.ErrForm, ErrNotFound for a claim before it; those
// of the store.
func (b *Book) Assert(ctx context.Context, d Draft) (Kept, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.asserted(d, b.moment())
	if err != nil {
		return Kept{}, err
	}
	events := []Event{e}
	if d.Against != "" {
		other, err := b.find(d.Against)
		if err != nil {
			return Kept{}, err
		}
		events = append(events, Event{Kind: Contested, Claim: e.Claim, At: e.At, Session: d.Session, By: d.Agent, Other: other.ID})
	}
	return b.write(ctx, events...)
}

func (b *Book) asserted(d Draft, at evidence.Moment) (Event, error) {
	if b.unread != nil {
		return Event{}, b.unread
	}
	class, consequence := d.Class, d.Consequence
	if class == "" {
		class = evidence.Reported
	}
	if consequence == "" {
		consequence = evidence.Low
	}
	id, err := b.newID()
	if err != nil {
		return Event{}, err
	}
	c := &evidence.Claim{
		ID: id, Class: class, Text: normal(d.Text), Subject: normal(d.Subject), Agent: d.Agent, Life: d.Life, Session: d.Session,
		Consequence: consequence, Created: at.Unix, Expires: b.policy.ends(at, b.policy.Classes[class], d.Expires),
		Provenance: evidence.Provenance{Source: d.Source, Event: d.From, Primary: d.Primary, Reasoning: d.Reasoning},
	}
	if class == evidence.Inferred && (d.Primary == "" || d.Reasoning == "") {
		return Event{}, fmt.Errorf("%w: what is INFERRED names its primary source and how it follows; else it is REPORTED", evidence.ErrForm)
	}
	for _, id := range d.Previous {
		k, err := b.find(id)
		if err != nil {
			return Event{}, err
		}
		c.Previous = append(c.Previous, k.ID)
		if k.Category != "" && k.Category != ofNobody && (d.Category == "" || d.Category == ofNobody) {
			d.Category = k.Category // it speaks of the same
		}
	}
	for _, r := range d.Roots {
		r, err := b.rooted(r, at)
		if err != nil {
			return Event{}, err
		}
		c.Roots = append(c.Roots, r)
	}
	if class == evidence.Inferred && !slices.ContainsFunc(c.Roots, func(r evidence.Root) bool {
		return r.Type.Qualifies() && r.Source() == evidence.Root{ID: d.Primary}.Source()
	}) {
		return Event{}, fmt.Errorf("%w: the primary source of what is INFERRED is one of its roots, of a type that counts: it was looked at. Else it is REPORTED", evidence.ErrForm)
	}
	e := Event{Kind: Asserted, Claim: id, At: at, Session: d.Session, By: d.Agent, From: d.From, Category: d.Category, Asserted: c}
	e.Form = Form
	return e, e.check()
}

// rooted gives a root its end, by the policy, and the id of the instrument where it names
// what one says. Error: evidence.ErrForm, also for a claim: that is no evidence.
func (b *Book) rooted(r evidence.Root, at evidence.Moment) (evidence.Root, error) {
	if r.Observed == 0 || r.Observed > at.Unix {
		r.Observed = at.Unix
	}
	if k, is := b.state.claims[strings.ToLower(strings.TrimSpace(r.ID))]; is {
		return r, fmt.Errorf("%w: %s is a claim, and a claim is no evidence; a claim that follows from it names it so", evidence.ErrForm, k.ID)
	}
	r.ID = b.policy.spoken(r.ID)
	seen, ttl := evidence.Moment{Unix: r.Observed, Trusted: at.Trusted}, b.policy.Roots[r.Type]
	if r.Type == evidence.Repository && ttl == 0 && !r.Fixed() { // a branch moves
		ttl = b.policy.Roots[evidence.External]
	}
	r.Expires = b.policy.ends(seen, ttl, r.Expires)
	return r, r.Check()
}

// newID is the letter c and six others that no claim has.
func (b *Book) newID() (string, error) {
	for {
		var random [4]byte
		if _, err := rand.Read(random[:]); err != nil {
			return "", err
		}
		id := "c" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random[:]))[:6]
		if _, taken := b.state.claims[id]; !taken {
			return id, nil
		}
	}
}

// write keeps events in one transaction, folds them in, and gives the claim of the last as
// it is then.
func (b *Book) write(ctx context.Context, events ...Event) (Kept, error) {
	values := make([]Value, len(events), len(events)+1)
	for i := range events {
		e := &events[i]
		e.Form, e.Seq = Form, max(b.state.Last, b.floor)+1+uint64(i)
		if err := e.check(); err != nil {
			return Kept{}, err
		}
		data, err := json.Marshal(e)
		if err != nil {
			return Kept{}, err
		}
		values[i] = Value{nameOf(e.Seq), data}
		if n := b.before(e); n > 0 {
			values = append(values, Value{Name: nameOf(n)})
		}
	}
	if err := b.store.Put(ctx, values...); err != nil {
		return Kept{}, err
	}
	for _, e := range events {
		Step(b.state, e)
	}
	k := b.state.claims[events[len(events)-1].Claim]
	return b.view(k, b.moment()), nil
}

// before is the number of the record that one takes the place of; 0 for none.
func (b *Book) before(e *Event) uint64 {
	if k := b.state.claims[e.Claim]; k != nil && e.Kind == Renewed {
		return k.renewals[e.Root.Source()]
	}
	return 0
}

// find gives a claim by its id or the beginning of it.
func (b *Book) find(id string) (*Kept, error) {
	if b.unread != nil {
		return nil, b.unread
	}
	id = strings.ToLower(strings.TrimSpace(id))
	if k, ok := b.state.claims[id]; ok {
		return k, nil
	}
	var found *Kept
	if len(id) >= 2 {
		for _, k := range b.state.claims {
			if strings.HasPrefix(k.ID, id) {
				if found != nil {
					return nil, fmt.Errorf("%q: %w", id, ErrAmbiguous)
				}
				found = k
			}
		}
	}
	if found == nil && b.forgotten[id] {
		return nil, fmt.Errorf("%q: %w: it was forgotten", id, ErrNotFound)
	}
	if found == nil {
		return nil, fmt.Errorf("%q: %w; jivad claims list shows those that there are", id, ErrNotFound)
	}
	return found, nil
}

// view is a claim as it is to be taken now.
func (b *Book) view(k *Kept, now evidence.Moment) Kept { return b.state.at(k, now) }
