package claims

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/gate/evidence"
)

// inferred makes a claim with two sources that follows from others.
func inferred(t testing.TB, b *Book, text string, previous ...string) Kept {
	t.Helper()
	return must[Kept](t)(b.Assert(t.Context(), Draft{
		Text: text, Subject: "s", Agent: "person", Source: "s", Class: evidence.Inferred, Primary: "a " + text, Reasoning: "r", Previous: previous,
		Roots: []evidence.Root{manual("a " + text), manual("b " + text)},
	}))
}

// What follows from a claim falls with it, to the last: into quarantine where it is no longer
// said, and to STALE where its time is over. It stays there when that is believed again, until
// it is looked at itself. What it fell by is told.
func TestWhatFollowsFalls(t *testing.T) {
	for name, x := range map[string]struct {
		fall  func(t *testing.T, b *Book, c *clock, id string)
		class evidence.Class // of the claim, and of what follows from it
		then  evidence.Class
	}{
		"rejected": {func(t *testing.T, b *Book, _ *clock, id string) {
			must[Kept](t)(b.Review(t.Context(), id, evidence.Refused, "", "", "person"))
		}, evidence.Rejected, evidence.Quarantined},
		"quarantined": {func(t *testing.T, b *Book, _ *clock, id string) {
			must[Kept](t)(b.Doubt(t.Context(), id, "", "person"))
		}, evidence.Quarantined, evidence.Quarantined},
		"superseded": {func(t *testing.T, b *Book, _ *clock, id string) {
			o := inferred(t, b, "something else")
			must[Kept](t)(b.Review(t.Context(), id, evidence.Replaced, o.ID, "", "person"))
		}, evidence.Superseded, evidence.Quarantined},
		"over": {func(t *testing.T, b *Book, c *clock, id string) {
			c.unix += 8 * 24 * 3600
			must[int](t)(b.sweep(t.Context(), slices.Values([]*Kept{b.state.claims[id]})))
		}, evidence.Stale, evidence.Stale},
		"over by its source": {func(t *testing.T, b *Book, c *clock, id string) {
			must[Kept](t)(b.Promote(t.Context(), id, "person"))
			b.state.claims[id].Roots[0].Expires = c.unix // as one of an instrument would be
			must[int](t)(b.sweep(t.Context(), slices.Values([]*Kept{b.state.claims[id]})))
		}, evidence.Stale, evidence.Stale},
		"without its primary source": {func(t *testing.T, b *Book, _ *clock, id string) {
			must[Kept](t)(b.Withdraw(t.Context(), id, " A  the ford is passable. ", "mistyped", "person"))
		}, evidence.Quarantined, evidence.Quarantined},
	} {
		t.Run(name, func(t *testing.T) {
			c, store := &clock{unix: noon}, newMemory()
			b := open(t, store, c)
			first := inferred(t, b, "the ford is passable")
			second := inferred(t, b, "the way is open", first.ID)
			third := inferred(t, b, "we can be there by noon", second.ID)
			fourth := inferred(t, b, "the mill can be reached", first.ID)
			other := inferred(t, b, "it rains")
			must[Kept](t)(b.Promote(t.Context(), fourth.ID, "person"))
			must[Kept](t)(b.Review(t.Context(), fourth.ID, evidence.Cleared, "", "", "person"))
			x.fall(t, b, c, first.ID)
			class := func(id string) evidence.Class { return b.state.claims[id].Class }
			if class(first.ID) != x.class || class(second.ID) != x.then || class(third.ID) != x.then || class(fourth.ID) != x.then || class(other.ID) != evidence.Inferred {
				t.Fatalf("%s, %s, %s, %s, %s", class(first.ID), class(second.ID), class(third.ID), class(fourth.ID), class(other.ID))
			}
			if k := b.state.claims[third.ID]; k.Fell == nil || k.Fell.Claim != second.ID || k.Fell.Class != x.then {
				t.Errorf("it is not told what it fell by: %+v", k.Fell)
			}
			if v := must[View](t)(b.Get(fourth.ID)); v.Promotion != nil || !slices.Contains(evidence.Codes(v.Usable), evidence.NotStanding) {
				t.Errorf("%+v", v)
			}
			if name == "over by its source" {
				if k := b.state.claims[first.ID]; k.Fell == nil || !slices.Equal(k.Fell.Roots, []string{"a the ford is passable"}) {
					t.Errorf("it is not told which source ended it: %+v", k.Fell)
				}
				return // the store does not know of that
			}
			if again := open(t, store, c); !reflect.DeepEqual(again.state, b.state) {
				t.Error("folded again it is another state")
			}
			if _, err := b.Promote(t.Context(), fourth.ID, "person"); !slices.Contains(codes(err), evidence.NotInferred) {
				t.Errorf("%v", err)
			}
			if x.then != evidence.Quarantined {
				if _, err := b.Replay(t.Context(), second.ID, "", "person"); !slices.Contains(codes(err), evidence.NotStanding) {
					t.Errorf("its reasoning was replayed on what is over: %v", err)
				}
				must[Kept](t)(b.AddEvidence(t.Context(), first.ID, manual("a the ford is passable"), "person", ""))
				must[Kept](t)(b.AddEvidence(t.Context(), first.ID, manual("b the ford is passable"), "person", ""))
				must[Kept](t)(b.Replay(t.Context(), first.ID, "", "person"))
				if class(second.ID) != evidence.Stale {
					t.Errorf("it came back by itself: %s", class(second.ID))
				}
				for _, root := range []string{"a the way is open", "b the way is open"} {
					must[Kept](t)(b.AddEvidence(t.Context(), second.ID, manual(root), "person", ""))
				}
				if k := must[Kept](t)(b.Replay(t.Context(), second.ID, "", "person")); k.Class != evidence.Inferred {
					t.Errorf("%s", k.Class)
				}
				return
			}
			// A reviewer lets it stand on its own evidence; what follows from it waits itself.
			must[Kept](t)(b.Review(t.Context(), fourth.ID, evidence.Cleared, "", "seen", "person"))
			if k := must[Kept](t)(b.Promote(t.Context(), fourth.ID, "person")); k.Class != evidence.Verified || len(k.Fallen) > 0 {
				t.Errorf("%+v", k)
			}
			if again := open(t, store, c); !reflect.DeepEqual(again.state, b.state) {
				t.Error("folded again it is another state")
			}
			if name == "quarantined" { // and falls anew
				must[Kept](t)(b.Review(t.Context(), first.ID, evidence.Cleared, "", "", "person"))
				must[Kept](t)(b.Review(t.Context(), first.ID, evidence.Refused, "", "", "person"))
				if class(fourth.ID) != evidence.Quarantined || class(second.ID) != evidence.Quarantined {
					t.Errorf("%s, %s", class(fourth.ID), class(second.ID))
				}
			}
		})
	}
}

// A claim whose place was taken by one that says the same holds by that, and falls with it.
func TestWhatTookTheSamePlace(t *testing.T) {
	b := open(t, newMemory(), &clock{unix: noon})
	first := inferred(t, b, "the ford is passable")
	next := inferred(t, b, "The ford is passable.")
	follows := inferred(t, b, "the way is open", first.ID)
	must[Kept](t)(b.Review(t.Context(), first.ID, evidence.Replaced, next.ID, "", "person"))
	later := inferred(t, b, "the mill can be reached", first.ID)
	for _, id := range []string{follows.ID, later.ID} {
		if v := must[View](t)(b.Get(id)); v.Class != evidence.Inferred || len(v.Usable) > 0 {
			t.Fatalf("%+v", v)
		}
	}
	must[Kept](t)(b.Review(t.Context(), next.ID, evidence.Refused, "", "", "person"))
	for _, id := range []string{follows.ID, later.ID} {
		if v := must[View](t)(b.Get(id)); v.Class != evidence.Quarantined {
			t.Errorf("%s", v.Class)
		}
	}
	if k := inferred(t, b, "so does the cellar", first.ID); k.Class != evidence.Quarantined {
		t.Errorf("it follows from what was rejected, and is %s", k.Class)
	}
}

// What follows from a claim whose time is over is not to be assumed, though nobody has written
// so, and no act is done on it.
func TestWhatFollowsIsOver(t *testing.T) {
	c := &clock{unix: noon}
	b := open(t, newMemory(), c)
	p := b.Policy()
	p.Acts = []Act{{Tool: "wade", RestsOn: []string{"the way is open"}}}
	b.SetPolicy(p)
	first := must[Kept](t)(b.Assert(t.Context(), Draft{Text: "the ford is passable", Subject: "s", Agent: "person", Expires: noon + 100}))
	second := inferred(t, b, "the way is open", first.ID)
	must[Kept](t)(b.Promote(t.Context(), second.ID, "person"))
	must[Kept](t)(b.Review(t.Context(), second.ID, evidence.Cleared, "", "", "person"))
	use := Use{Tool: "wade", Consequence: evidence.High, Authorised: true, Yes: true}
	if d := must[Decided](t)(b.Gate(t.Context(), use)); d.Verdict != evidence.Allow {
		t.Fatalf("%+v", d)
	}
	c.unix += 100
	if v := must[View](t)(b.Get(second.ID)); v.Class != evidence.Stale || v.Was != evidence.Verified {
		t.Errorf("%s, was %s", v.Class, v.Was)
	}
	if got := b.Tellable(nil); got[0].Class != evidence.Stale || got[1].Class != evidence.Stale {
		t.Errorf("it is told as %+v", got)
	}
	d := must[Decided](t)(b.Gate(t.Context(), use))
	if got := evidence.Codes(d.Reasons); d.Verdict == evidence.Allow || !slices.Contains(got, evidence.NotStanding) {
		t.Errorf("%+v", d)
	}
	if got := b.state.claims[second.ID].Class; got != evidence.Stale {
		t.Errorf("it is not written down: %s", got)
	}
}

// What is INFERRED names a primary source that was looked at; a claim is none.
func TestWhatIsInferredWasLookedAt(t *testing.T) {
	b := open(t, newMemory(), &clock{unix: noon})
	k := inferred(t, b, "the ford is passable")
	for name, roots := range map[string][]evidence.Root{
		"none": nil, "another thing": {manual("b")}, "what an agent remembers": {{ID: "a", Type: evidence.AgentMemory}},
	} {
		if _, err := b.Assert(t.Context(), Draft{Text: "x", Subject: "s", Agent: "person", Class: evidence.Inferred, Primary: "a", Reasoning: "r", Roots: roots}); !errors.Is(err, evidence.ErrForm) {
			t.Errorf("%s: %v", name, err)
		}
	}
	isClaim := func(err error) bool {
		return errors.Is(err, evidence.ErrForm) && strings.Contains(err.Error(), "a claim is no evidence")
	}
	for _, id := range []string{k.ID, " " + strings.ToUpper(k.ID)} {
		_, err := b.Assert(t.Context(), Draft{Text: "x", Subject: "s", Agent: "person", Class: evidence.Inferred, Primary: id, Reasoning: "r", Roots: []evidence.Root{manual(id)}})
		_, err2 := b.AddEvidence(t.Context(), k.ID, manual(id), "person", "")
		if !isClaim(err) || !isClaim(err2) {
			t.Errorf("%q: %v, %v", id, err, err2)
		}
	}
	// One that is on record so is a report.
	s := NewState()
	Step(s, Event{Seq: 1, Form: Form, Kind: Asserted, Claim: "c1", Asserted: &evidence.Claim{ID: "c1", Class: evidence.Inferred, Text: "t", Subject: "s", Consequence: evidence.Low}})
	if s.claims["c1"].Class != evidence.Reported {
		t.Error("it was inferred from nothing")
	}
}

// What a claim loses with a source that is taken back.
func TestASourceIsTakenBack(t *testing.T) {
	c, store := &clock{unix: noon}, newMemory()
	b := open(t, store, c)
	k := inferred(t, b, "x")
	must[Kept](t)(b.AddEvidence(t.Context(), k.ID, manual("c"), "person", ""))
	must[Kept](t)(b.Promote(t.Context(), k.ID, "person"))
	if _, err := b.Withdraw(t.Context(), k.ID, "never named", "", "person"); !errors.Is(err, ErrNoRoot) {
		t.Errorf("%v", err)
	}
	got := must[Kept](t)(b.Withdraw(t.Context(), k.ID, "C.", "", "person"))
	if got.Class != evidence.Verified || len(got.Promotion.Sources) != 2 || got.Sources() != 2 {
		t.Fatalf("two are enough: %+v", got)
	}
	got = must[Kept](t)(b.Withdraw(t.Context(), k.ID, "b x", "", "person"))
	if got.Class != evidence.Quarantined || got.Fell == nil || !slices.Equal(got.Fell.Roots, []string{"b x"}) || got.Sources() != 1 {
		t.Fatalf("%+v", got)
	}
	if got = must[Kept](t)(b.Review(t.Context(), k.ID, evidence.Cleared, "", "", "person")); got.Class != evidence.Inferred {
		t.Errorf("%s", got.Class)
	}
	if _, err := b.Promote(t.Context(), k.ID, "person"); !slices.Contains(codes(err), evidence.TooFewSources) {
		t.Errorf("%v", err)
	}
	got = must[Kept](t)(b.Withdraw(t.Context(), k.ID, "a x", "", "person"))
	if got.Class != evidence.Quarantined || got.Provenance.Primary != "" {
		t.Errorf("%+v", got)
	}
	// Without its primary source it comes out as a report, and that can be located anew.
	if got = must[Kept](t)(b.Review(t.Context(), k.ID, evidence.Cleared, "", "", "person")); got.Class != evidence.Reported {
		t.Errorf("%s", got.Class)
	}
	if got = must[Kept](t)(b.Locate(t.Context(), k.ID, manual("d"), "r", "person")); got.Class != evidence.Inferred {
		t.Errorf("%s", got.Class)
	}
	if again := open(t, store, c); !reflect.DeepEqual(again.state, b.state) {
		t.Error("folded again it is another state")
	}
}

// A promotion on record is asked again whether it may be.
func TestAPromotionOnRecordIsAskedAgain(t *testing.T) {
	at := evidence.Moment{Unix: noon, Trusted: true}
	for name, f := range map[string]func(k *evidence.Claim, e *Event){
		"good":                       func(*evidence.Claim, *Event) {},
		"a source that is over":      func(k *evidence.Claim, _ *Event) { k.Roots[1].Expires = noon },
		"the claim is over":          func(k *evidence.Claim, _ *Event) { k.Expires = noon },
		"nobody said it":             func(k *evidence.Claim, _ *Event) { k.Provenance.Source = "" },
		"one source":                 func(k *evidence.Claim, _ *Event) { k.Roots = k.Roots[:1] },
		"a clock that nobody trusts": func(k *evidence.Claim, e *Event) { k.Expires, e.At.Trusted = noon+1, false },
		"a premise that is over":     func(k *evidence.Claim, _ *Event) { k.Previous = []string{"c1"} },
	} {
		s := NewState()
		Step(s, Event{Seq: 1, Form: Form, Kind: Asserted, Claim: "c1", At: at, Asserted: &evidence.Claim{ID: "c1", Class: evidence.Reported, Text: "p", Subject: "s", Expires: noon, Consequence: evidence.Low}})
		k := &evidence.Claim{ID: "c2", Class: evidence.Inferred, Text: "t", Subject: "s", Consequence: evidence.Low, Roots: []evidence.Root{manual("a"), manual("b")}, Provenance: evidence.Provenance{Source: "s", Primary: "a", Reasoning: "r"}}
		promoted := Event{Seq: 3, Form: Form, Kind: Promoted, Claim: "c2", At: at, Needed: 2, Sources: []string{"x", "y"}}
		f(k, &promoted)
		Step(s, Event{Seq: 2, Form: Form, Kind: Asserted, Claim: "c2", At: at, Asserted: k})
		Step(s, promoted)
		if got := s.claims["c2"].Class == evidence.Verified; got != (name == "good") {
			t.Errorf("%s: %s", name, s.claims["c2"].Class)
		}
	}
}

// Whoever clears a claim looks past all that it follows from as it stands then, also what was
// looked past before.
func TestAClearanceKeepsEarlierOnes(t *testing.T) {
	b := open(t, newMemory(), &clock{unix: noon})
	one, two := inferred(t, b, "premise"), inferred(t, b, "premise two")
	k := inferred(t, b, "Pump 3 leaks", one.ID, two.ID)
	for _, p := range []Kept{one, two} {
		must[Kept](t)(b.Review(t.Context(), p.ID, evidence.Refused, "", "", "person"))
		if v := must[Kept](t)(b.Review(t.Context(), k.ID, evidence.Cleared, "", "", "person")); v.Class != evidence.Inferred || len(v.Fallen) > 0 {
			t.Errorf("cleared, it is %s: %v", v.Class, v.Fallen)
		}
	}
}
