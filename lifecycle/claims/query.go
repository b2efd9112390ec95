package claims

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/jivad/jivad/gate/evidence"
)

// View is a claim as it is to be taken now, with what speaks against using it and, for one
// that is INFERRED, against verifying it.
type View struct {
	Kept
	// Sources is how many independent ones it has, Age how long ago it was made, in seconds.
	Sources    int               `json:"sources"`
	Age        int64             `json:"age_seconds"`
	Usable     []evidence.Reason `json:"not_usable,omitempty"`
	Promotable []evidence.Reason `json:"not_promotable,omitempty"`
	// Reverify is what it would take to believe it again; empty where nothing is due.
	Reverify string `json:"reverify,omitempty"`
}

// Filter chooses claims. Its zero value is all.
type Filter struct {
	Class evidence.Class
	// Standing leaves out those that another claim stands in the place of.
	Standing bool
	Subject  string
	// Allowed, if not nil, tells whether claims of a category may be read.
	Allowed func(category string) bool
}

// List gives claims in the order in which they were made.
func (b *Book) List(f Filter) []View {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.list(f)
}

func (b *Book) list(f Filter) []View {
	now := b.moment()
	out := []View{}
	for _, id := range b.state.order {
		k := b.state.claims[id]
		if f.Subject != "" && !strings.EqualFold(k.Subject, f.Subject) || f.Allowed != nil && !f.Allowed(k.Category) {
			continue
		}
		if f.Standing && k.Class == evidence.Superseded {
			continue
		}
		if v := b.viewed(k, now); f.Class == "" || v.Class == f.Class {
			out = append(out, v)
		}
	}
	return out
}

func (b *Book) viewed(k *Kept, now evidence.Moment) View {
	v := View{Kept: b.view(k, now)}
	v.Sources = v.Kept.Sources()
	v.Age = max(0, now.Unix-v.Created)
	v.Usable = b.policy.Usable(&v.Claim, now)
	if v.Class == evidence.Inferred {
		v.Promotable = b.policy.Promotable(&v.Claim, now)
	}
	v.Reverify = reverify(&v.Kept)
	return v
}

// reverify says what it would take to believe a claim again. A report and a conclusion are
// looked at again in two different ways.
func reverify(k *Kept) string {
	switch {
	case k.Class == evidence.Stale && k.Was == evidence.Reported:
		return "locate its primary source: jivad claims locate " + k.ID + " --root WHAT"
	case k.Class == evidence.Stale && k.Was == evidence.Verified:
		return "look at its sources again (jivad claims evidence " + k.ID + " --root WHAT), replay its reasoning (jivad claims replay " + k.ID + ") and promote it anew"
	case k.Class == evidence.Stale:
		return "replay its reasoning against current evidence: jivad claims replay " + k.ID
	case k.Class == evidence.Quarantined:
		return "a reviewer's decision: jivad claims review " + k.ID + " clear, supersede, reject or hold"
	case k.Class.Current() && len(k.Conflicts) > 0:
		return "settle what speaks against it: jivad claims show " + k.Conflicts[0]
	}
	return ""
}

// Get gives one claim. Errors: ErrNotFound, ErrAmbiguous.
func (b *Book) Get(id string) (View, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k, err := b.find(id)
	if err != nil {
		return View{}, err
	}
	return b.viewed(k, b.moment()), nil
}

// Check folds the records anew and holds the claims against that. It gives how many claims
// and records there are.
func (b *Book) Check(ctx context.Context) (claims, records int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, err := fold(ctx, b.store, func(Event) bool { records++; return true })
	if err == nil && !reflect.DeepEqual(s, b.state) {
		err = fmt.Errorf("%w: folded again they are others", ErrEvent)
	}
	return s.Len(), records, err
}

// TakenFrom tells whether a claim was taken from an entry, in the words that it has, whatever
// became of it; those of but do not count.
func (b *Book) TakenFrom(entry string, but ...string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, k := range b.state.claims {
		if k.From == entry && !k.unsaid && !slices.Contains(but, id) {
			return true
		}
	}
	return false
}

// Unsaid are the ids of the claims that were taken from an entry and that it does not say, in
// the order in which they were made.
func (b *Book) Unsaid(entry string, says func(subject, text string) bool) (out []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range b.state.order {
		if k := b.state.claims[id]; k.From == entry && !k.unsaid && !says(k.Subject, k.Text) {
			out = append(out, id)
		}
	}
	return out
}

// History gives the events of a claim, in order.
func (b *Book) History(ctx context.Context, id string) ([]Event, error) {
	v, err := b.Get(id)
	if err != nil {
		return nil, err
	}
	var out []Event
	_, err = fold(ctx, b.store, func(e Event) bool {
		if e.Claim == v.ID || e.Other == v.ID {
			out = append(out, e)
		}
		return false
	})
	return out, err
}

// Due are the claims that are to be looked at again: stale, in quarantine, or with something
// unsettled against them. Those that an act of the policy rests on are first.
func (b *Book) Due() []View {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := slices.DeleteFunc(b.list(Filter{}), func(v View) bool { return v.Reverify == "" })
	wanted := map[string]bool{}
	for _, a := range b.policy.Acts {
		for _, s := range a.RestsOn {
			wanted[Statement(s)] = true
		}
	}
	slices.SortStableFunc(out, func(x, y View) int {
		return cmp.Compare(bit(wanted[Statement(y.Text)]), bit(wanted[Statement(x.Text)]))
	})
	return out
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Use is a use of a tool that is to be decided about.
type Use struct {
	Tool        string
	Consequence evidence.Consequence
	// Arguments is an object of JSON.
	Arguments []byte
	// Authorised says that its tool is granted and consented to, Yes that a person said yes
	// to this very use.
	Authorised, Yes bool
	// Allowed, if not nil, tells whether claims of a category may be read.
	Allowed func(category string) bool
}

// Decided is what the gate says of a use, and what that rests on.
type Decided struct {
	evidence.Decision
	Tool        string               `json:"tool"`
	Consequence evidence.Consequence `json:"consequence"`
	// RestsOn are the statements that it rests on by the policy, Claims the ids of the claims
	// that were looked at for them.
	RestsOn []string `json:"rests_on,omitempty"`
	Claims  []string `json:"claims,omitempty"`
	// More is how many of them were not looked at, since others do not bear it already.
	More int `json:"not_looked_at,omitempty"`
}

// Gate decides about a use: on the claims of the statements that the policy says it rests
// on. For each of them the claims that are verified are looked at, and where none is, all
// that make it. A statement that nobody claims is what was said in this session alone. What
// is found to be over is written down, so that no clock makes it fresh again. Where the
// policy is unusable or the records cannot be read, a use of consequence fails with that.
func (b *Book) Gate(ctx context.Context, u Use) (Decided, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := Decided{Tool: u.Tool, Consequence: u.Consequence}
	if u.Consequence != evidence.Low {
		if err := cmp.Or(b.unread, b.policy.Unusable); err != nil {
			return d, err
		}
	}
	var missing []evidence.Reason
	var on []*Kept
	for _, template := range b.restsOn(u.Tool) {
		statement, exactly, ok := filled(template, u.Arguments)
		d.RestsOn = append(d.RestsOn, statement)
		var found []*Kept
		if ok {
			found = b.bearing(statement, exactly, u.Allowed)
		}
		if len(found) == 0 && u.Consequence != evidence.Low {
			missing = append(missing, evidence.Reason{Code: evidence.ContextAlone, Says: "nothing is on record of something that it rests on"})
		}
		on = append(on, found...)
	}
	if len(d.RestsOn) > 1 { // one claim may bear two of them
		slices.SortFunc(on, func(x, y *Kept) int { return strings.Compare(x.ID, y.ID) })
		on = slices.Compact(on)
	}
	if _, err := b.sweep(ctx, b.withAncestors(on...)); err != nil {
		return d, err
	}
	now := b.moment()
	rests, more := b.rests(on, u.Consequence, now)
	d.More = more
	for _, k := range on {
		d.Claims = append(d.Claims, k.ID)
	}
	d.Decision = b.policy.Gate(evidence.Act{Name: u.Tool, Consequence: u.Consequence, Authorised: u.Authorised, Yes: u.Yes}, rests, now)
	if len(missing) > 0 && len(on) > 0 || u.Consequence == evidence.Medium && len(missing) > 0 {
		d.Reasons = append(missing, d.Reasons...)
		d.Verdict, d.Ask = evidence.Audit, false
	}
	return d, nil
}

// mostTold is of how many claims the reasons against an act are told.
const mostTold = 16

// rests are those of the claims that decide about an act: the first that do not bear it, and
// how many come behind these and were not looked at; where each bears it, one of them.
func (b *Book) rests(on []*Kept, of evidence.Consequence, now evidence.Moment) (out []*evidence.Claim, more int) {
	known := map[string][]string{}
	for i, k := range on {
		c := &k.Claim
		if fallen := b.state.fallen(k, now, known); c.Over(now) || len(fallen) > 0 {
			v := b.view(k, now)
			c = &v.Claim
		}
		if len(b.policy.Against(of, c, now)) > 0 {
			out = append(out, c)
		}
		if len(out) == mostTold {
			return out, len(on) - i - 1
		}
	}
	if len(out) == 0 && len(on) > 0 {
		v := b.view(on[0], now)
		out = append(out, &v.Claim)
	}
	return out, 0
}

func (b *Book) restsOn(tool string) []string {
	for _, a := range b.policy.Acts {
		if a.Tool == tool {
			return a.RestsOn
		}
	}
	return nil
}

// bearing are the claims of a statement that an act could rest on.
func (b *Book) bearing(statement string, exactly *regexp.Regexp, allowed func(string) bool) []*Kept {
	var verified, others []*Kept
	var text string
	var fits bool
	for i, k := range b.state.said[Statement(statement)] {
		if i == 0 || k.Text != text { // most of many say it in the same letters
			text, fits = k.Text, exactly.MatchString(bare(k.Text))
		}
		switch {
		case allowed != nil && !allowed(k.Category), !fits:
		case k.Class == evidence.Verified:
			verified = append(verified, k)
		default:
			others = append(others, k)
		}
	}
	if len(verified) > 0 {
		return verified
	}
	return others
}

// checkTemplate sees that a statement can be filled: names in braces, each closed.
func checkTemplate(template string) error {
	if Statement(template) == "" {
		return errors.New("it says nothing")
	}
	if rest := place.ReplaceAllString(template, ""); strings.ContainsAny(rest, "{}") {
		return errors.New("a place is {NAME}, of letters, digits and _")
	}
	return nil
}

// place is one of an argument, and fitting what may stand in it: one word, that neither ends
// nor begins with what a statement may end with.
var (
	place   = regexp.MustCompile(`\{[A-Za-z0-9_]+\}`)
	fitting = regexp.MustCompile(`^[\pL\pN_/]([^\s{}]{0,126}[\pL\pN_/])?$`)
)

// filled puts arguments in the places of a statement. exactly is how a claim must say it, with
// each argument at its own place and letter by letter: case and marks that make no difference
// to a statement may be all the difference to a tool. ok tells whether each place could be
// filled: with a word, a number or a truth value, exactly as it stands there.
func filled(template string, arguments []byte) (statement string, exactly *regexp.Regexp, ok bool) {
	ok = true
	statement = place.ReplaceAllStringFunc(template, func(name string) string {
		value, err := member(arguments, []string{name[1 : len(name)-1]})
		if err != nil || !fitting.MatchString(value) {
			ok = false
			return name
		}
		return value
	})
	if !ok {
		return statement, nil, false
	}
	var form strings.Builder
	rest := bare(template)
	for at := place.FindStringIndex(rest); at != nil; at = place.FindStringIndex(rest) {
		value, _ := member(arguments, []string{rest[at[0]+1 : at[1]-1]})
		form.WriteString("(?i:" + regexp.QuoteMeta(rest[:at[0]]) + ")" + regexp.QuoteMeta(value))
		rest = rest[at[1]:]
	}
	exactly, err := regexp.Compile("^" + form.String() + "(?i:" + regexp.QuoteMeta(rest) + ")$")
	return statement, exactly, err == nil
}
