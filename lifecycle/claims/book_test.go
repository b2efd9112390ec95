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
		if v.Data == nil {
			delete(m.values, v.Name)
			continue
		}
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
	c.unix -= 7200 // a clock that is set back makes nothing fresh, and is not believed
	set := []evidence.Code{evidence.NotCurrent, evidence.StaleRoot, evidence.StaleRecord, evidence.ClockUntrusted, evidence.NotCleared}
	gate(set...)
	b = open(t, store, c)
	gate(set...)
	c.unix = noon + 3600
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
	k := must[Kept](t)(b.Assert(t.Context(), Draft{Text: "The well is dry", Subject: "well", Agent: "person", Source: "a neighbour", Primary: "a", Reasoning: "no water", Class: evidence.Inferred, Roots: []evidence.Root{manual("a"), manual("b")}}))
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
		Text: "The well is dry", Subject: "well", Agent: "person", Source: "a neighbour", Primary: "a", Reasoning: "no water",
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
		d := Draft{Text: "x y", Subject: "s", Agent: "a", Class: class, Primary: "a", Reasoning: "r", Roots: []evidence.Root{manual("a")}}
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

// A clock that was set back tells nothing to be fresh, however long it stands there; a small
// correction does no harm.
func TestAClockThatWasSetBack(t *testing.T) {
	ctx, c := t.Context(), &clock{unix: noon}
	b := open(t, newMemory(), c)
	root := manual("a")
	root.Expires = noon + 3600
	k := must[Kept](t)(b.Assert(ctx, Draft{Text: "x", Subject: "s", Agent: "person", Roots: []evidence.Root{root}}))
	usable := func() bool { return len(must[View](t)(b.Get(k.ID)).Usable) == 0 }
	c.unix += 1000
	if !usable() {
		t.Fatal("it is fresh")
	}
	for _, back := range []int64{1, 60, behind} {
		c.unix = noon + 1000 - back
		if !usable() {
			t.Errorf("%d seconds back are a correction", back)
		}
	}
	for _, at := range []int64{noon + 1000 - behind - 1, noon - 5*3600, noon - 600} {
		c.unix = at
		if usable() {
			t.Errorf("at %d it is fresh by a clock that was set back", at-noon)
		}
	}
	c.unix = noon + 2000
	if !usable() {
		t.Error("the clock is right again")
	}
}

// No number is given twice: what was forgotten last does not hide what happens after.
func TestNumbersAreGivenOnce(t *testing.T) {
	ctx, store, c := t.Context(), newMemory(), &clock{unix: noon}
	b := open(t, store, c)
	a := must[Kept](t)(b.Assert(ctx, Draft{Text: "a", Subject: "s", Agent: "person"}))
	gone := must[Kept](t)(b.Assert(ctx, Draft{Text: "b", Subject: "s", Agent: "person", Roots: []evidence.Root{manual("x")}}))
	last := b.state.Last
	_, leaving, err := b.Apart(ctx, Goes{Claims: map[string]bool{gone.ID: true}})
	if err != nil {
		t.Fatal(err)
	}
	err = b.Exclusively(ctx, func() error {
		delete(store.values, nameOf(last))
		data, err := leaving.Forgotten().Encode()
		store.values[NameForgotten] = data
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		must[Kept](t)(b.Doubt(ctx, a.ID, "", "person"))
		if n := b.state.Last; n <= last {
			t.Errorf("number %d was given twice", n)
		}
		must[Kept](t)(b.Review(ctx, a.ID, evidence.Cleared, "", "", "person"))
		b = open(t, store, c)
	}
}

// A report of the same does not shield what is verified from what speaks against it.
func TestAllClaimsOfAStatementAreContested(t *testing.T) {
	ctx, c := t.Context(), &clock{unix: noon}
	b := open(t, newMemory(), c)
	ok := must[Kept](t)
	k := ok(b.Assert(ctx, Draft{Text: "Pump 3 leaks", Subject: "pump 3", Agent: "person", Source: "s", Class: evidence.Inferred, Primary: "a", Reasoning: "r", Roots: []evidence.Root{manual("a"), manual("b")}}))
	ok(b.Promote(ctx, k.ID, "person"))
	ok(b.Review(ctx, k.ID, evidence.Cleared, "", "", "person"))
	again := ok(b.Assert(ctx, Draft{Text: "pump 3 leaks.", Subject: "pump 3", Agent: "diary"}))
	must[[]Observed](t)(b.Message(ctx, "plant/pump3/leak", []byte("dry"), 1, nil))
	for _, id := range []string{k.ID, again.ID} {
		if v := must[View](t)(b.Get(id)); len(v.Conflicts) != 1 {
			t.Errorf("%s is not contested", v.Class)
		}
	}
	d := must[Decided](t)(b.Gate(ctx, Use{Tool: "close_valve", Consequence: evidence.High, Arguments: []byte(`{"pump": 3}`), Authorised: true, Yes: true}))
	if d.Verdict == evidence.Allow || !slices.Contains(evidence.Codes(d.Reasons), evidence.Conflicted) {
		t.Errorf("%+v", d)
	}
}

// However often an instrument speaks, it writes a few events in its window; one that says
// the one and the other is not believed.
func TestAnInstrumentWritesLittle(t *testing.T) {
	ctx, c := t.Context(), &clock{unix: noon}
	for _, untrusted := range []bool{false, true} {
		c.untrusted = untrusted
		b := open(t, newMemory(), c)
		for range 200 {
			must[[]Observed](t)(b.Message(ctx, "plant/pump3/leak", []byte("wet"), 1, nil))
		}
		if n := b.state.Last; n != 1 {
			t.Errorf("%d events of 200 messages that say the same (no clock: %v)", n, untrusted)
		}
		for range 200 {
			must[[]Observed](t)(b.Message(ctx, "plant/pump3/leak", []byte("dry"), 1, nil))
			must[[]Observed](t)(b.Message(ctx, "plant/pump3/leak", []byte("wet"), 1, nil))
		}
		if n := b.state.Last; n > 20 {
			t.Errorf("%d events of 400 messages that contradict each other (no clock: %v)", n, untrusted)
		}
		for _, v := range b.List(Filter{}) {
			if v.Class.Current() {
				t.Errorf("%s %q of an instrument that is not to be believed", v.Class, v.Text)
			}
		}
	}
}

// What was rejected on a commit is not opened again on a longer name of it.
func TestTheSameCommitIsNoNewEvidence(t *testing.T) {
	ctx := t.Context()
	ok := must[Kept](t)
	b := open(t, newMemory(), &clock{unix: noon})
	k := ok(b.Assert(ctx, Draft{Text: "x", Subject: "s", Agent: "person", Roots: []evidence.Root{{ID: "o/r@9f86d08", Type: evidence.Repository}}}))
	ok(b.Review(ctx, k.ID, evidence.Refused, "", "", "person"))
	ok(b.AddEvidence(ctx, k.ID, evidence.Root{ID: "o/r@9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", Type: evidence.Repository}, "person", ""))
	if _, err := b.Review(ctx, k.ID, evidence.Reopened, "", "", "person"); !slices.Equal(codes(err), []evidence.Code{evidence.NoNewEvidence}) {
		t.Errorf("%v", err)
	}
}

// An act rests on claims about the very thing that its arguments name.
func TestStatementsNameTheVeryThing(t *testing.T) {
	ctx := t.Context()
	b := open(t, newMemory(), &clock{unix: noon})
	p := b.Policy()
	p.Acts = []Act{{Tool: "remove", RestsOn: []string{"nobody needs {path}"}}, {Tool: "move", RestsOn: []string{"{from} may go to {to}"}}}
	b.SetPolicy(p)
	for _, text := range []string{"Nobody needs /data/x.", "a may go to b may go to c", "nobody needs {path}"} {
		must[Kept](t)(b.Assert(ctx, Draft{Text: text, Subject: "s", Agent: "person"}))
	}
	for arguments, found := range map[string]int{
		`{"path":"/data/x"}`: 1, `{"path":"/data/X"}`: 0, `{"path":"/data/x."}`: 0, `{"path":"/data/x;"}`: 0, `{"path":"/data/x  "}`: 0, `{"path":"/data/y"}`: 0,
		`{"path":{"a":1}}`: 0, `{"path":null}`: 0, `{}`: 0, ``: 0, `{"path":"{path}"}`: 0,
	} {
		d := must[Decided](t)(b.Gate(ctx, Use{Tool: "remove", Consequence: evidence.Medium, Arguments: []byte(arguments), Authorised: true}))
		if len(d.Claims) != found || (d.Verdict == evidence.Allow) != (found > 0) {
			t.Errorf("%s: %+v", arguments, d)
		}
	}
	for _, arguments := range []string{`{"from":"a may go to b","to":"c"}`, `{"from":"a","to":"b may go to c"}`} {
		if d := must[Decided](t)(b.Gate(ctx, Use{Tool: "move", Consequence: evidence.Medium, Arguments: []byte(arguments), Authorised: true})); d.Verdict == evidence.Allow {
			t.Errorf("%s: %+v", arguments, d)
		}
	}
}

// Nothing is fresh for ever by an odd time, and a branch is no commit.
func TestEvidenceEnds(t *testing.T) {
	ctx := t.Context()
	b := open(t, newMemory(), &clock{unix: noon})
	week := int64(7 * 24 * 3600)
	k := must[Kept](t)(b.Assert(ctx, Draft{Text: "x", Subject: "s", Agent: "person", Roots: []evidence.Root{
		{ID: "a", Type: evidence.Human, Observed: -week}, {ID: "b", Type: evidence.Human, Observed: -2 * week},
		{ID: "https://github.com/o/r/tree/main", Type: evidence.Repository}, {ID: "https://github.com/o/r", Type: evidence.Repository}, {ID: "o/r@9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", Type: evidence.Repository},
	}}))
	for i, r := range k.Roots {
		if fixed := i == 4; (r.Expires == 0) != fixed {
			t.Errorf("%s ends at %d", r.ID, r.Expires)
		}
	}
}

// However much speaks against a claim, all of it counts.
func TestManyContests(t *testing.T) {
	ctx := t.Context()
	b := open(t, newMemory(), &clock{unix: noon})
	k := must[Kept](t)(b.Assert(ctx, Draft{Text: "x", Subject: "s", Agent: "person"}))
	for i := range evidence.MostRoots + 2 {
		o := must[Kept](t)(b.Assert(ctx, Draft{Text: "not x", Subject: "s", Agent: "person"}))
		must[Kept](t)(b.Contest(ctx, k.ID, o.ID, "person"))
		if i < evidence.MostRoots {
			must[Kept](t)(b.Review(ctx, o.ID, evidence.Refused, "", "", "person"))
		}
	}
	if v := must[View](t)(b.Get(k.ID)); len(v.Conflicts) != 2 {
		t.Errorf("%d speak against it", len(v.Conflicts))
	}
}

// Where what took a claim's place is forgotten, that is not believed again for it.
func TestForgettingASuccessor(t *testing.T) {
	ctx := t.Context()
	ok := must[Kept](t)
	b := open(t, newMemory(), &clock{unix: noon})
	k := ok(b.Assert(ctx, Draft{Text: "x", Subject: "s", Agent: "person", Source: "s", Class: evidence.Inferred, Primary: "a", Reasoning: "r", Roots: []evidence.Root{manual("a"), manual("b")}}))
	ok(b.Promote(ctx, k.ID, "person"))
	ok(b.Review(ctx, k.ID, evidence.Cleared, "", "", "person"))
	o := ok(b.Assert(ctx, Draft{Text: "not x", Subject: "s", Agent: "person", From: "entry"}))
	ok(b.Review(ctx, k.ID, evidence.Replaced, o.ID, "", "person"))
	apart, _, err := b.Apart(ctx, Goes{From: map[string]bool{"entry": true}})
	if err != nil {
		t.Fatal(err)
	}
	if v := must[View](t)(apart.Get(k.ID)); v.Class != evidence.Quarantined {
		t.Errorf("it is %s", v.Class)
	}
}
