package claims

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/gate/evidence"
)

// A statement is kept in one form, and the gate compares that: composed or not, whatever
// blanks stand in it.
func TestAStatementHasOneForm(t *testing.T) {
	b := open(t, newMemory(), &clock{unix: noon})
	p := b.Policy()
	p.Acts = []Act{{Tool: "wade", RestsOn: []string{"die F\u00fchrung ist offen"}}, {Tool: "swim", RestsOn: []string{"die  Fu\u0308hrung\tist offen."}}, {Tool: "go", RestsOn: []string{"{what} ist offen"}}}
	b.SetPolicy(p)
	texts := []string{"Die Fu\u0308hrung ist  offen", "\u2003Die\u00a0F\u00fchrung\nist offen. "}
	for _, text := range texts {
		k := must[Kept](t)(b.Assert(t.Context(), Draft{Text: text, Subject: "  die  Fu\u0308hrung ", Agent: "person"}))
		if want := "Die F\u00fchrung ist offen"; strings.TrimSuffix(k.Text, ".") != want || k.Subject != "die F\u00fchrung" {
			t.Errorf("%q of %q is kept as %q, about %q", text, want, k.Text, k.Subject)
		}
	}
	for _, tool := range []string{"wade", "swim"} {
		if d := must[Decided](t)(b.Gate(t.Context(), Use{Tool: tool, Consequence: evidence.Medium, Authorised: true})); len(d.Claims) != len(texts) {
			t.Errorf("%s: %+v", tool, d)
		}
	}
	for _, statement := range []string{"A\u030a", "\u212b", "\u0130", "x . ", ""} { // what is one form stays one
		if s := Statement(statement); Statement(s) != s {
			t.Errorf("%q becomes %q and %q", statement, s, Statement(s))
		}
	}
}

// What was forgotten is told from what never was.
func TestAnIdThatWasForgotten(t *testing.T) {
	store := newMemory()
	data, err := Forgotten{IDs: map[string]bool{"cforgot": true}, Last: 3}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	store.values[NameForgotten] = data
	b := open(t, store, &clock{unix: noon})
	for id, want := range map[string]string{"cforgot": "it was forgotten", "cnever1": "claims list shows"} {
		_, err := b.Get(id)
		_, err2 := b.Assert(t.Context(), Draft{Text: "x", Subject: "s", Agent: "person", Against: id})
		for _, err := range []error{err, err2} {
			if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", id, err)
			}
		}
	}
	if b.state.Len() != 0 {
		t.Error("a claim was made against one that there is not")
	}
}

// counting counts transactions.
type counting struct {
	*memory
	puts int
}

func (c *counting) Put(ctx context.Context, values ...Value) error {
	c.puts++
	return c.memory.Put(ctx, values...)
}

// A claim and that it speaks against another are one transaction.
func TestAClaimAgainstAnother(t *testing.T) {
	store := &counting{memory: newMemory()}
	b := open(t, store, &clock{unix: noon})
	k := must[Kept](t)(b.Assert(t.Context(), Draft{Text: "x", Subject: "s", Agent: "person"}))
	store.puts = 0
	o := must[Kept](t)(b.Assert(t.Context(), Draft{Text: "not x", Subject: "s", Agent: "person", Against: k.ID}))
	if store.puts != 1 || o.Text != "not x" || !slices.Equal(o.Conflicts, []string{k.ID}) {
		t.Errorf("%d transactions, %+v", store.puts, o)
	}
}

// A look before the one that is known changes nothing, and says so; one in the future was now.
func TestWhenASourceWasLookedAt(t *testing.T) {
	b := open(t, newMemory(), &clock{unix: noon})
	ahead := manual("a")
	ahead.Observed = noon + 7200
	k := must[Kept](t)(b.Assert(t.Context(), Draft{Text: "x", Subject: "s", Agent: "person", Roots: []evidence.Root{ahead}}))
	if week := int64(7 * 24 * 3600); k.Roots[0].Observed != noon || k.Roots[0].Expires != noon+week {
		t.Errorf("what was seen in the future is fresh for longer: %+v", k.Roots[0])
	}
	early := manual("A")
	early.Observed = noon - 1
	_, err := b.AddEvidence(t.Context(), k.ID, early, "person", "")
	_, err2 := b.Locate(t.Context(), k.ID, early, "r", "person")
	for _, err := range []error{err, err2} {
		if !errors.Is(err, ErrOlder) || !strings.Contains(err.Error(), "2027-01-15T08:00:00Z") {
			t.Errorf("%v", err)
		}
	}
	if v := must[View](t)(b.Get(k.ID)); v.Class != evidence.Reported || v.Events != 1 {
		t.Errorf("%+v", v)
	}
}

// What is over is written down before anything else is: that of a change, too.
func TestWhatIsOverIsWrittenBeforeAChange(t *testing.T) {
	c := &clock{unix: noon}
	b := open(t, newMemory(), c)
	k := must[Kept](t)(b.Assert(t.Context(), Draft{Text: "x", Subject: "s", Agent: "person", Expires: noon + 10}))
	c.unix += 10
	must[Kept](t)(b.AddEvidence(t.Context(), k.ID, manual("a"), "person", ""))
	h := must[[]Event](t)(b.History(t.Context(), k.ID))
	if len(h) != 3 || h[1].Kind != Expired || h[2].Kind != Evidence {
		t.Errorf("%+v", h)
	}
}

// An instrument is one source under each of its topics, and under the id that a person gives.
func TestOneInstrumentIsOneSource(t *testing.T) {
	b := open(t, newMemory(), &clock{unix: noon})
	p := b.Policy()
	p.Instruments = slices.Clone(p.Instruments)
	p.Instruments[0].Topics = []string{"/mirror/pump3/leak"}
	b.SetPolicy(p)
	if got := p.Topics(); !slices.Equal(got, []string{"plant/pump3/leak", "/mirror/pump3/leak"}) {
		t.Errorf("%q", got)
	}
	ctx, seen := t.Context(), must[[]Observed](t)
	id := seen(b.Message(ctx, "plant/pump3/leak", []byte("wet"), 1, nil))[0].Claim
	if o := seen(b.Message(ctx, "/mirror/pump3/leak", []byte("wet"), 1, nil)); len(o) != 1 || o[0].Claim != id {
		t.Fatalf("%+v", o)
	}
	for _, root := range []string{"sensor:LEAK-3", "mqtt:plant/pump3/leak", "mqtt:plant/pump3/leak@box", "MQTT:mirror/pump3/leak@box#1800000000+600", "mqtt:/mirror/pump3/leak/"} {
		must[Kept](t)(b.AddEvidence(ctx, id, evidence.Root{ID: root, Type: evidence.Instrument}, "person", ""))
		if v := must[View](t)(b.Get(id)); v.Sources != 1 || len(v.Roots) != 1 {
			t.Errorf("%s: %d sources, %+v", root, v.Sources, v.Roots)
		}
	}
	must[Kept](t)(b.AddEvidence(ctx, id, evidence.Root{ID: "mqtt:plant/pump4/leak@box", Type: evidence.Instrument}, "person", ""))
	if v := must[View](t)(b.Get(id)); v.Sources != 2 {
		t.Errorf("another topic: %+v", v.Roots)
	}
	in := Instrument{ID: "x", Topic: "t", Subject: "s", When: "1", Text: "a", Otherwise: "b"}
	for name, other := range map[string]Instrument{
		"one id":                 {ID: "X", Topic: "u", Subject: "s", When: "1", Text: "a"},
		"one topic":              {ID: "y", Topics: []string{"t"}, Subject: "s", When: "1", Text: "c"},
		"two fields that agree":  {ID: "y", Topic: "t", Field: "f", Subject: "s", When: "1", Text: "c", Otherwise: "A."},
		"two fields, two things": {ID: "y", Topic: "t", Field: "f", Subject: "s", When: "1", Text: "c"},
		"two topics":             {ID: "y", Topic: "u", Subject: "s", When: "1", Text: "a"},
	} {
		if got := other.clashes(&in) != ""; got == (strings.HasPrefix(name, "two t") || strings.HasSuffix(name, "two things")) {
			t.Errorf("%s: %q", name, other.clashes(&in))
		}
	}
}

// However long a sensor says the same, its claim is one and its records are few; it is fresh as
// long as it says so. Where something was decided meanwhile, that is the same when it is folded
// again.
func TestASteadySensorRenews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, store := &clock{unix: noon}, newMemory()
		b := open(t, store, c)
		ctx, seen := t.Context(), must[[]Observed](t)
		say := func(windows int) string {
			id := ""
			for range windows {
				c.unix += 600
				time.Sleep(10 * time.Minute)
				id = seen(b.Message(ctx, "plant/pump3/leak", []byte("wet"), 1, nil))[0].Claim
				must[int](t)(b.Sweep(ctx))
			}
			return id
		}
		id := say(3 * 144)
		if n := len(store.values); n != 2 || b.state.Len() != 1 {
			t.Errorf("%d records and %d claims of three days", n, b.state.Len())
		}
		v := must[View](t)(b.Get(id))
		if v.Class != evidence.Reported || len(v.Usable) > 0 || v.Sources != 1 || v.Events != 1 || v.Created != noon+600 {
			t.Errorf("%+v", v)
		}
		must[Kept](t)(b.Locate(ctx, id, manual("the seal"), "it drops", "person"))
		say(20)
		must[Kept](t)(b.Promote(ctx, id, "person"))
		say(20)
		if n := len(store.values); n != 6 {
			t.Errorf("%d records: %q", n, slices.Sorted(maps.Keys(store.values)))
		}
		follows := inferred(t, b, "the cellar is wet", id)
		say(20)
		must[Kept](t)(b.Promote(ctx, follows.ID, "person"))
		say(20)
		if again := open(t, store, c); !reflect.DeepEqual(again.state, b.state) || again.state.claims[follows.ID].Class != evidence.Verified {
			t.Error("folded again it is another state")
		}
		if _, _, err := b.Check(ctx); err != nil {
			t.Error(err)
		}
		c.untrusted = true
		n := len(store.values)
		say(20)
		if len(store.values) != n {
			t.Error("by a clock that nobody trusts nothing is renewed")
		}
	})
}

// What an instrument took back long ago is dropped, and how many is kept: not what another
// claim follows from, and not before its time. What it took the place of does not come back.
func TestWhatAnInstrumentTookBackIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, store := &clock{unix: noon}, newMemory()
		b := open(t, store, c)
		ctx := t.Context()
		flip := func(times int) {
			for i := range times {
				c.unix += 3600
				time.Sleep(time.Hour)
				must[[]Observed](t)(b.Message(ctx, "plant/pump3/leak", []byte([]string{"wet", "dry"}[i%2]), 1, nil))
			}
		}
		mine := must[Kept](t)(b.Assert(ctx, Draft{Text: "pump 3 does not leak", Subject: "pump 3", Agent: "leak-3", Source: "a person"}))
		flip(2)
		first := b.List(Filter{})[1]
		follows := inferred(t, b, "the cellar is wet", first.ID)
		late := must[Kept](t)(b.Assert(ctx, Draft{Text: "pump 3 does not leak", Subject: "pump 3", Agent: "leak-3", Source: "a person"}))
		flip(2 * someToDrop)
		if by := b.state.claims[late.ID].Successor; by == first.ID || by == "" {
			t.Fatal("the test shows nothing")
		}
		if must[View](t)(b.Get(mine.ID)).Class != evidence.Superseded || len(b.List(Filter{})) < 2*someToDrop {
			t.Fatal("the test shows nothing")
		}
		must[int](t)(b.Sweep(ctx))
		if b.Dropped() != 0 {
			t.Fatalf("%d were dropped before their time", b.Dropped())
		}
		c.unix += 31 * 24 * 3600
		must[int](t)(b.Sweep(ctx))
		left := b.List(Filter{})
		if n := b.Dropped(); n < 2*someToDrop-4 || len(left) > 6 {
			t.Fatalf("%d dropped, %d left", n, len(left))
		}
		for _, id := range []string{first.ID, mine.ID, late.ID, follows.ID} {
			if !slices.ContainsFunc(left, func(v View) bool { return v.ID == id }) {
				t.Errorf("%s is gone", id)
			}
		}
		for _, v := range left {
			if v.Class.Current() {
				t.Errorf("it came back: %s %s", v.Class, v.Text)
			}
		}
		dropped, records := b.Dropped(), len(store.values)
		flip(2 * someToDrop)
		c.unix += 31 * 24 * 3600
		must[int](t)(b.Sweep(ctx))
		if b.Dropped() <= dropped || len(store.values) > records+2 {
			t.Errorf("%d dropped, %d records were %d", b.Dropped(), len(store.values), records)
		}
		told := 0
		for _, data := range store.values {
			if strings.Contains(string(data), `"kind":"dropped"`) {
				told++
			}
		}
		again := open(t, store, c)
		if !reflect.DeepEqual(again.state, b.state) || again.Dropped() != b.Dropped() || told != 1 {
			t.Error("folded again it is another state")
		}
	})
}

// However many claims make one statement, the reasons that are told are few, and each of them
// counts: one among many that does not bear an act is found.
func TestManyClaimsOfOneStatement(t *testing.T) {
	c := &clock{unix: noon}
	b := open(t, newMemory(), c)
	ctx := t.Context()
	use := Use{Tool: "close_valve", Consequence: evidence.High, Arguments: []byte(`{"pump": 3}`), Authorised: true, Yes: true}
	for range 3 * mostTold {
		must[Kept](t)(b.Assert(ctx, Draft{Text: "pump 3 leaks", Subject: "s", Agent: "person"}))
	}
	d := must[Decided](t)(b.Gate(ctx, use))
	if d.Verdict == evidence.Allow || d.More != 2*mostTold || len(d.Claims) != 3*mostTold || len(d.Reasons) > 5*mostTold {
		t.Errorf("%d reasons, %d more", len(d.Reasons), d.More)
	}
	var last string
	for i := range 3 * mostTold {
		k := inferred(t, b, "pump 3 leaks")
		must[Kept](t)(b.Promote(ctx, k.ID, "person"))
		if i < 3*mostTold-1 {
			must[Kept](t)(b.Review(ctx, k.ID, evidence.Cleared, "", "", "person"))
		}
		last = k.ID
	}
	d = must[Decided](t)(b.Gate(ctx, use))
	if got := evidence.Codes(d.Reasons); !slices.Equal(got, []evidence.Code{evidence.NotCleared}) || d.Reasons[0].Claim != last {
		t.Errorf("%+v", d)
	}
	must[Kept](t)(b.Review(ctx, last, evidence.Cleared, "", "", "person"))
	if d = must[Decided](t)(b.Gate(ctx, use)); d.Verdict != evidence.Allow || d.More != 0 {
		t.Errorf("%+v", d)
	}
	must[Kept](t)(b.Review(ctx, last, evidence.Refused, "", "", "person")) // and one that is rejected is none
	if d = must[Decided](t)(b.Gate(ctx, use)); d.Verdict != evidence.Allow || len(d.Claims) != 3*mostTold-1 {
		t.Errorf("%+v", d)
	}
}
