package claims

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jivad/jivad/gate/evidence"
)

// memory keeps records in a map.
type memory struct{ values map[string][]byte }

func newMemory() *memory { return &memory{map[string][]byte{}} }

func (m *memory) Values(prefix string, f func(string, []byte) error) error {
	for _, name := range slices.Sorted(maps.Keys(m.values)) {
		if strings.HasPrefix(name, prefix) {
			if err := f(name, m.values[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *memory) Put(_ context.Context, values ...Value) error {
	for _, v := range values {
		m.values[v.Name] = v.Data
	}
	return nil
}

// clock is one that a test sets.
type clock struct {
	unix      int64
	untrusted bool
}

func (c *clock) now() (time.Time, bool) { return time.Unix(c.unix, 0), !c.untrusted }

const noon = 1_800_000_000

func open(t testing.TB, store Store, c *clock) *Book {
	t.Helper()
	p := DefaultPolicy()
	p.Instruments = []Instrument{
		{ID: "leak-3", Topic: "plant/pump3/leak", Subject: "pump 3", When: "wet", Text: "Pump 3 leaks.", Otherwise: "Pump 3 does not leak."},
		{ID: "gauge-3", Tool: "read_gauge", Field: "bar", Subject: "pump 3", When: "< 2.5", Text: "pump 3 leaks", Otherwise: "pump 3 does not leak", Window: "5m"},
	}
	p.Acts = []Act{{Tool: "close_valve", RestsOn: []string{"pump {pump} leaks"}}}
	for i := range p.Instruments {
		if err := p.Instruments[i].prepare(); err != nil {
			t.Fatal(err)
		}
	}
	b, err := Open(t.Context(), store, p, c.now)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func codes(err error) []evidence.Code {
	var r *RefusedError
	if !errors.As(err, &r) {
		return nil
	}
	return evidence.Codes(r.Reasons)
}

// manual is a source beside the instruments.
func manual(id string) evidence.Root {
	return evidence.Root{ID: id, Type: evidence.Human, Retrieval: "look at the pump"}
}

// A leak goes the whole way: it is reported, its source is located, a second one is found,
// it is verified and cleared, a valve is shut, its time is over, and it is verified anew.
func TestALeakGoesTheWholeWay(t *testing.T) {
	c := &clock{unix: noon}
	store := newMemory()
	b := open(t, store, c)
	ok, ctx := must[Kept](t), t.Context()
	use := Use{Tool: "close_valve", Consequence: evidence.High, Arguments: []byte(`{"pump": 3}`), Authorised: true}
	gate := func(want ...evidence.Code) {
		t.Helper()
		d := must[Decided](t)(b.Gate(ctx, use))
		if got := evidence.Codes(d.Reasons); !slices.Equal(slices.Compact(slices.Sorted(slices.Values(got))), slices.Sorted(slices.Values(want))) || (d.Verdict == evidence.Allow) != (len(want) == 0) {
			t.Fatalf("%s because of %v, not %v", d.Verdict, got, want)
		}
	}
	gate(evidence.ContextAlone, evidence.NeedsPerson)
	k := ok(b.Assert(ctx, Draft{Text: "Pump 3 leaks", Subject: "pump 3", Agent: "person", Source: "the night shift", Consequence: evidence.High}))
	gate(evidence.NotVerified, evidence.Irretrievable, evidence.NoProvenance, evidence.NotCleared, evidence.NeedsPerson)
	if _, err := b.Promote(ctx, k.ID, "person"); !slices.Contains(codes(err), evidence.NotInferred) || !slices.Contains(codes(err), evidence.TooFewSources) || !slices.Contains(codes(err), evidence.NoProvenance) {
		t.Errorf("a report was promoted, or not all is told: %v", err)
	}
	if k = ok(b.Locate(ctx, k.ID, manual("photo of the seal"), "drops on the floor below the seal", "person")); k.Class != evidence.Inferred {
		t.Fatalf("%+v", k)
	}
	if _, err := b.Promote(ctx, k.ID, "person"); !slices.Equal(codes(err), []evidence.Code{evidence.TooFewSources}) {
		t.Errorf("%v", err)
	}
	if o := must[[]Observed](t)(b.Message(ctx, "plant/pump3/leak", []byte("wet"), 1, nil)); len(o) != 1 || !o[0].Written || o[0].Claim != k.ID {
		t.Fatalf("%+v", o)
	}
	if o := must[[]Observed](t)(b.Message(ctx, "plant/pump3/leak", []byte("wet"), 1, nil)); o[0].Written {
		t.Error("the same window was written twice")
	}
	if k = ok(b.Promote(ctx, k.ID, "person")); k.Class != evidence.Verified || len(k.Promotion.Sources) != 2 {
		t.Fatalf("%+v", k)
	}
	gate(evidence.NotCleared, evidence.NeedsPerson)
	ok(b.Review(ctx, k.ID, evidence.Cleared, "", "seen", "person"))
	if _, err := b.Review(ctx, k.ID, evidence.Cleared, "", "", "jivad"); !slices.Equal(codes(err), []evidence.Code{evidence.NoReviewer}) {
		t.Errorf("%v", err)
	}
	gate(evidence.NeedsPerson)
	use.Yes = true
	gate()
	use.Arguments = []byte(`{"pump": 4}`)
	gate(evidence.ContextAlone)
	use.Arguments = []byte(`{"pump": 3}`)

	c.unix += 3600 // the instrument tells of an hour
	gate(evidence.NotCurrent, evidence.StaleRoot, evidence.NotCleared)
	c.unix -= 7200 // a clock that is set back makes nothing fresh
	gate(evidence.NotCurrent, evidence.StaleRoot, evidence.NotCleared)
	b = open(t, store, c)
	gate(evidence.NotCurrent, evidence.StaleRoot, evidence.NotCleared)
	if due := b.Due(); len(due) != 1 || due[0].ID != k.ID || !strings.Contains(due[0].Reverify, "promote it anew") {
		t.Errorf("%+v", due)
	}
	if _, err := b.Replay(ctx, k.ID, "", "person"); !slices.Equal(codes(err), []evidence.Code{evidence.StaleRoot}) {
		t.Errorf("%v", err)
	}
	c.unix = noon + 3700
	must[[]Observed](t)(b.Message(ctx, "plant/pump3/leak", []byte("wet"), 2, nil))
	if k = ok(b.Replay(ctx, k.ID, "", "person")); k.Class != evidence.Inferred {
		t.Fatalf("%+v", k)
	}
	ok(b.Promote(ctx, k.ID, "person"))
	gate(evidence.NotCleared)
	ok(b.Review(ctx, k.ID, evidence.Cleared, "", "", "person"))
	gate()

	if before, after := b.List(Filter{}), open(t, store, c).List(Filter{}); !reflect.DeepEqual(before, after) {
		t.Errorf("what is read back is another state:\n%+v\n%+v", before, after)
	}
	if h := must[[]Event](t)(b.History(ctx, k.ID)); len(h) != 10 || h[0].Kind != Asserted || h[len(h)-1].Kind != Reviewed {
		for _, e := range h {
			t.Logf("%s %s", e.Kind, e.Decision)
		}
		t.Errorf("%d events", len(h))
	}
}

// With a clock that cannot be trusted everything that could be over counts as over, nothing
// is written of that, and it is as before when one can.
func TestAClockThatCannotBeTrusted(t *testing.T) {
	c := &clock{unix: noon}
	store := newMemory()
	b := open(t, store, c)
	k := must[Kept](t)(b.Assert(t.Context(), Draft{Text: "The well is dry", Subject: "well", Agent: "person", Source: "a neighbour", Primary: "sensor:well", Reasoning: "no water", Class: evidence.Inferred, Roots: []evidence.Root{manual("a"), manual("b")}}))
	records := len(store.values)
	c.untrusted = true
	v := must[View](t)(b.Get(k.ID))
	if got := evidence.Codes(v.Usable); v.Class != evidence.Stale || !slices.Contains(got, evidence.ClockUntrusted) || !slices.Contains(got, evidence.StaleRecord) || !slices.Contains(got, evidence.StaleRoot) {
		t.Errorf("%s: %v", v.Class, got)
	}
	_, err := b.Promote(t.Context(), k.ID, "person")
	if got := codes(err); !slices.Contains(got, evidence.StaleRoot) || !slices.Contains(got, evidence.StaleRecord) || !slices.Contains(got, evidence.ClockUntrusted) {
		t.Errorf("%v", err)
	}
	if n, err := b.Sweep(t.Context()); n != 0 || err != nil || len(store.values) != records {
		t.Errorf("%d swept, %v", n, err)
	}
	late := must[Kept](t)(b.Assert(t.Context(), Draft{Text: "It rains", Subject: "weather", Agent: "person"}))
	c.untrusted = false
	if v := must[View](t)(b.Get(k.ID)); v.Class != evidence.Inferred || len(v.Usable) > 0 {
		t.Errorf("%+v", v)
	}
	if v := must[View](t)(b.Get(late.ID)); v.Class != evidence.Stale {
		t.Error("what was said at an unknown time is fresh")
	}
	if k, err := b.Promote(t.Context(), k.ID, "person"); err != nil || k.Class != evidence.Verified {
		t.Errorf("%v", err)
	}
}

// Both reasons of freshness are given together.
func TestStaleRootAndStaleRecord(t *testing.T) {
	c := &clock{unix: noon}
	b := open(t, newMemory(), c)
	expired, fresh := manual("a"), manual("b")
	expired.Expires, fresh.Expires = noon+10, noon+1000
	k := must[Kept](t)(b.Assert(t.Context(), Draft{
		Text: "The well is dry", Subject: "well", Agent: "person", Source: "a neighbour", Primary: "sensor:well", Reasoning: "no water",
		Class: evidence.Inferred, Roots: []evidence.Root{expired, fresh}, Expires: noon + 20,
	}))
	c.unix += 10
	if _, err := b.Promote(t.Context(), k.ID, "person"); !slices.Equal(codes(err), []evidence.Code{evidence.StaleRoot}) {
		t.Errorf("%v", err)
	}
	c.unix += 10
	_, err := b.Promote(t.Context(), k.ID, "person")
	if got := codes(err); !slices.Contains(got, evidence.StaleRoot) || !slices.Contains(got, evidence.StaleRecord) {
		t.Errorf("%v", err)
	}
	for _, part := range []string{"stale_evidence_root", "stale_record_freshness"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v", err)
		}
	}
}

// What is asserted is REPORTED or INFERRED, the latter with its source; nothing else gets in.
func TestWhatMayBeAsserted(t *testing.T) {
	b := open(t, newMemory(), &clock{unix: noon})
	for _, class := range evidence.Classes() {
		d := Draft{Text: "x y", Subject: "s", Agent: "a", Class: class, Primary: "p", Reasoning: "r"}
		_, err := b.Assert(t.Context(), d)
		if ok := class == evidence.Reported || class == evidence.Inferred; (err == nil) != ok {
			t.Errorf("%s: %v", class, err)
		}
	}
	for _, d := range []Draft{{}, {Text: "x"}, {Text: "x", Subject: "s", Class: evidence.Inferred}, {Text: strings.Repeat("x", evidence.MostText+1), Subject: "s"}, {Text: "\xff", Subject: "s"}, {Text: "x", Subject: "s", Previous: []string{"cnone"}}, {Text: "x", Subject: "s", Consequence: "grave"}} {
		if _, err := b.Assert(t.Context(), d); err == nil {
			t.Errorf("%+v was taken", d)
		}
	}
}

// Quarantine is left by the reviewer's four decisions, and a rejected claim by new evidence.
func TestReviews(t *testing.T) {
	ctx := t.Context()
	ok := must[Kept](t)
	b := open(t, newMemory(), &clock{unix: noon})
	other := ok(b.Assert(ctx, Draft{Text: "other", Subject: "s", Agent: "person"}))
	for decision, want := range map[evidence.Trigger]evidence.Class{
		evidence.Cleared: evidence.Reported, evidence.Held: evidence.Quarantined, evidence.Refused: evidence.Rejected, evidence.Replaced: evidence.Superseded,
	} {
		k := ok(b.Assert(ctx, Draft{Text: "one " + string(decision), Subject: "s", Agent: "person", Roots: []evidence.Root{manual("a")}}))
		ok(b.Doubt(ctx, k.ID, "who says so?", "person"))
		if _, err := b.Locate(ctx, k.ID, manual("b"), "", "person"); !errors.Is(err, evidence.ErrTransition) {
			t.Errorf("out of quarantine without a reviewer: %v", err)
		}
		if got := ok(b.Review(ctx, k.ID, decision, other.ID, "n", "person")); got.Class != want || got.Review.Decision != decision {
			t.Errorf("%s: %+v", decision, got)
		}
		if decision != evidence.Refused {
			continue
		}
		if _, err := b.Review(ctx, k.ID, evidence.Reopened, "", "", "person"); !slices.Equal(codes(err), []evidence.Code{evidence.NoNewEvidence}) {
			t.Errorf("%v", err)
		}
		ok(b.AddEvidence(ctx, k.ID, manual("a"), "person", ""))
		if _, err := b.Review(ctx, k.ID, evidence.Reopened, "", "", "person"); !slices.Equal(codes(err), []evidence.Code{evidence.NoNewEvidence}) {
			t.Errorf("%v", err)
		}
		ok(b.AddEvidence(ctx, k.ID, manual("b"), "person", ""))
		if got := ok(b.Review(ctx, k.ID, evidence.Reopened, "", "", "person")); got.Class != evidence.Inferred {
			t.Errorf("%+v", got)
		}
	}
}

// A stale report that was in quarantine comes out as a report, and still stale.
func TestQuarantineLiftsNothing(t *testing.T) {
	ctx, c := t.Context(), &clock{unix: noon}
	ok := must[Kept](t)
	b := open(t, newMemory(), c)
	k := ok(b.Assert(ctx, Draft{Text: "one", Subject: "s", Agent: "person"}))
	c.unix += 2 * 24 * 3600
	must[int](t)(b.Sweep(ctx))
	ok(b.Doubt(ctx, k.ID, "", "person"))
	if got := ok(b.Review(ctx, k.ID, evidence.Cleared, "", "", "person")); got.Class != evidence.Stale || got.Was != evidence.Reported {
		t.Errorf("%s, was %s", got.Class, got.Was)
	}
}

// What an instrument said alone it takes back itself; what others saw too is contested.
func TestInstrumentsAgainstEachOther(t *testing.T) {
	ctx, c := t.Context(), &clock{unix: noon}
	b := open(t, newMemory(), c)
	seen := must[[]Observed](t)
	wet := seen(b.Message(ctx, "plant/pump3/leak", []byte(" WET \n"), 1, nil))[0]
	c.unix += 1200
	dry := seen(b.Message(ctx, "plant/pump3/leak", []byte("dry"), 1, nil))[0]
	if v := must[View](t)(b.Get(wet.Claim)); v.Class != evidence.Superseded || v.Successor != dry.Claim {
		t.Errorf("%+v", v)
	}
	c.unix += 1200
	low := seen(b.Result(ctx, "read_gauge", []byte(`{"bar": 1.5}`), 1, nil))[0]
	if low.Contested != dry.Claim {
		t.Errorf("%+v", low)
	}
	for _, id := range []string{low.Claim, dry.Claim} {
		if v := must[View](t)(b.Get(id)); len(v.Conflicts) != 1 || !slices.Contains(evidence.Codes(v.Usable), evidence.Conflicted) || v.Reverify == "" {
			t.Errorf("%+v", v)
		}
	}
	must[Kept](t)(b.Review(ctx, dry.Claim, evidence.Refused, "", "its float hangs", "person"))
	if v := must[View](t)(b.Get(low.Claim)); len(v.Conflicts) != 0 {
		t.Errorf("a rejected claim speaks against something: %+v", v)
	}
	for _, bad := range []string{"", "\xff\xfe", `{"bar": "much"}`, `{"bar": [1]}`, `{}`, strings.Repeat("9", mostPayload+1)} {
		n := b.state.Last
		if _, err := b.Result(ctx, "read_gauge", []byte(bad), 1, nil); !errors.Is(err, ErrReading) || b.state.Last != n {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
}

// An entry gives claims once: that it gave one is known, whatever became of that.
func TestTakenFrom(t *testing.T) {
	store := newMemory()
	b := open(t, store, &clock{unix: noon})
	k := must[Kept](t)(b.Assert(t.Context(), Draft{Text: "It leaks", Subject: "pump 3", Agent: "a", Source: "diary", From: "entry 1"}))
	if b.TakenFrom("entry 2") || !b.TakenFrom("entry 1") {
		t.Error("it is not known what it was taken from")
	}
	must[Kept](t)(b.Doubt(t.Context(), k.ID, "", "person"))
	if !b.TakenFrom("entry 1") {
		t.Error("it is forgotten what it was taken from")
	}
}
