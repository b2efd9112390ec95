package projection

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/soul/lineage"
)

// says records what the person says of consent, and no more is done for it.
func says(t testing.TB, p *Projections, settings ...string) {
	t.Helper()
	changes, err := consent.ParseSettings(settings...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Say(context.Background(), "a test", "", changes, func(Consenting) ([]Value, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
}

// drafted lives a life with tools in which something was said of the companion too, and
// ends it; it waits for its judgement.
func drafted(t *testing.T) (*world, *Projections) {
	t.Helper()
	w := newWorld(t)
	p := w.must(w.open())
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := p.Entry(1, "Shorter, please. You write too long.", true, func([]Value) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := p.Withdraw(lives.ByPerson, func(v []Value) error { return w.store.Put(t.Context(), v...) }); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Distil(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if l := p.open[1]; l == nil || l.Obligation.Status != lives.Drafted {
		t.Fatalf("%+v", l)
	}
	return w, p
}

func keysOf(p *Projections) (keys []string) {
	for _, r := range p.AllRules() {
		keys = append(keys, r.Key)
	}
	return keys
}

// Consent is asked again when a life is judged: what was withdrawn since it was distilled
// does not enter the lineage, whether it was denied or is to be asked for (S-1).
func TestConsentIsAskedBeforeTheMerge(t *testing.T) {
	for settings, want := range map[string][]string{
		"operational.storage=deny":                             {"companion.brevity"},
		"operational.storage=ask":                              {"companion.brevity"},
		"communications.storage=deny":                          {"tool.fare_search", "tool.list_strategies"},
		"operational.storage=deny communications.storage=deny": nil,
		"location.storage=deny":                                {"companion.brevity", "tool.fare_search", "tool.list_strategies"},
	} {
		_, p := drafted(t)
		says(t, p, strings.Fields(settings)...)
		l, err := p.Rate(t.Context(), 1, lineage.Million)
		if err != nil || l.State != lives.Dissolved {
			t.Fatalf("%s: %+v, %v", settings, l, err)
		}
		if got := keysOf(p); !slices.Equal(got, want) {
			t.Errorf("%s: the rules are %v, want %v", settings, got, want)
		}
		if want == nil && (l.Obligation.Status != lives.Declined || !strings.Contains(l.Obligation.Why, "no consent")) {
			t.Errorf("%s: %+v", settings, l.Obligation)
		}
	}
}

// A signal is of what it was read from: without leave nothing is weighed by it.
func TestSignalsNeedConsent(t *testing.T) {
	w, p := drafted(t)
	var d draft
	if err := json.Unmarshal(w.store.records[draftName(1)], &d); err != nil || len(d.Signals) == 0 {
		t.Fatalf("%+v %v", d.Signals, err)
	}
	says(t, p, "operational.storage=deny")
	p.mu.Lock()
	d.only(p.storable)
	p.mu.Unlock()
	if _, there := d.Signals["task.tools"]; there {
		t.Errorf("%+v", d.Signals)
	}
	says(t, p, "operational.storage=ask")
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := p.Withdraw(lives.ByPerson, func(v []Value) error { return w.store.Put(t.Context(), v...) }); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Distil(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if data := w.store.records[draftName(2)]; len(data) == 0 || bytes.Contains(data, []byte("task.tools")) {
		t.Errorf("%s", data)
	}
}

// What waits for a judgement is destroyed with a withdrawal, each kind by itself, and a
// life of which no rule is left is over. Done again it is nothing.
func TestPurgeTakesWhatWaits(t *testing.T) {
	w, p := drafted(t)
	says(t, p, "operational.storage=deny")
	held, err := p.Purge(t.Context(), consent.Operational, consent.Behavioural, consent.Communications)
	if err != nil || len(held) != 1 || held[0].Category != consent.Operational || held[0].Rules == 0 {
		t.Fatalf("%+v, %v", held, err)
	}
	for name, data := range w.store.records {
		if bytes.Contains(data, []byte("tool.fare_search")) || !strings.HasPrefix(name, prefixKit) && bytes.Contains(data, []byte("indexed")) {
			t.Errorf("%s still has it: %s", name, data)
		}
	}
	if again, err := p.Purge(t.Context(), consent.Operational); err != nil || again != nil {
		t.Errorf("%+v, %v", again, err)
	}
	if l := p.open[1]; l == nil || !bytes.Contains(w.store.records[draftName(1)], []byte("companion.brevity")) {
		t.Fatal("what was said went too")
	}
	says(t, p, "communications.storage=deny")
	if held, err = p.Purge(t.Context(), consent.Communications); err != nil || len(held) != 1 {
		t.Fatalf("%+v, %v", held, err)
	}
	l, err := p.Life(1)
	if err != nil || l.State != lives.Dissolved || l.Obligation.Status != lives.Declined {
		t.Errorf("%+v, %v", l, err)
	}
	for _, name := range []string{draftName(1), kitName(1)} {
		if _, there := w.store.records[name]; there {
			t.Errorf("%s is there", name)
		}
	}
}

// Of a life that left no rule the signals of how it went go with a withdrawal all the same,
// each kind by itself; it waits on.
func TestPurgeTakesSignals(t *testing.T) {
	w, p := drafted(t)
	d := draft{Signals: map[string]int64{"task.tools": 1, "said.helped": -1}}
	v, err := encode(draftName(1), d)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.Put(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		category consent.Category
		has, not string
	}{{consent.Operational, "said.helped", "task.tools"}, {consent.Communications, "reports", "said.helped"}} {
		says(t, p, c.category.String()+".storage=deny")
		if held, err := p.Purge(t.Context(), c.category); err != nil || len(held) > 0 {
			t.Fatalf("%+v, %v", held, err)
		}
		if data := string(w.store.records[draftName(1)]); strings.Contains(data, c.not) || !strings.Contains(data, c.has) {
			t.Errorf("%s", data)
		}
	}
	if l := p.open[1]; l == nil || l.Obligation.Status != lives.Drafted {
		t.Errorf("%+v", l)
	}
	writes := w.store.puts
	if _, err := p.Purge(t.Context(), consent.Operational, consent.Communications); err != nil || w.store.puts != writes {
		t.Error("the store is written anew for nothing", err)
	}
}

// A withdrawal may come while the trace of a life is copied to be distilled.
func TestPurgeWhileTheTraceIsRead(t *testing.T) {
	w := newWorld(t)
	p := w.must(w.open())
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	w.ends(p)
	says(t, p, "operational.storage=deny")
	life := *p.open[1]
	began, done, reads := make(chan bool), make(chan bool), make(chan error, 1)
	go func() {
		var all error
		for n := 0; ; n++ {
			trace, err := p.traceOf(life)
			for _, a := range trace.Acts {
				all = errors.Join(all, a.Check()) // an act that is half cleared is none
			}
			all = errors.Join(all, err)
			if n == 0 {
				close(began)
			}
			select {
			case <-done:
				reads <- all
				return
			default:
			}
		}
	}()
	<-began
	if _, err := p.Purge(t.Context(), consent.Operational); err != nil {
		t.Error(err)
	}
	close(done)
	if err := <-reads; err != nil {
		t.Error(err)
	}
}

// What is kept of a life says by which record of consent it is: that of when it was judged,
// not that of its birth.
func TestADistillateNamesItsConsent(t *testing.T) {
	_, p := drafted(t)
	born := p.open[1].Consent
	says(t, p, "location.storage=deny")
	if _, err := p.Rate(t.Context(), 1, lineage.Million); err != nil {
		t.Fatal(err)
	}
	if d := memberOf(t, p, 1); d.Consent != p.consents.Head().ID || d.Consent == born {
		t.Errorf("%s, born with %s, and %s is the last", d.Consent, born, p.consents.Head().ID)
	}
}

// A draft that cannot be read may hold what goes, so it goes.
func TestPurgeTakesWhatCannotBeRead(t *testing.T) {
	w, p := drafted(t)
	w.store.records[draftName(1)] = []byte(`{"worked":[{"key":"tool.fare_search`)
	says(t, p, "operational.storage=deny")
	if _, err := p.Purge(t.Context(), consent.Operational); err != nil {
		t.Fatal(err)
	}
	if _, there := w.store.records[draftName(1)]; there {
		t.Error("it is there")
	}
	w = newWorld(t)
	p = w.must(w.open())
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.journalPath(1), []byte("indexed, but no act\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p = w.must(w.open())
	says(t, p, "operational.storage=deny")
	if _, err := p.Purge(t.Context(), consent.Operational); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(p.journalPath(1)); len(data) > 0 {
		t.Errorf("%s", data)
	}
}

// The trace of the life that is lived goes with a withdrawal, on the disk and in memory,
// and nothing is added to it as long as there is no leave; that of one that ended, and is
// not distilled yet, goes too. What was done before and after has its own leave.
func TestPurgeReachesTheTrace(t *testing.T) {
	for _, over := range []string{"lived", "ended", "broken off"} {
		w := newWorld(t)
		p := w.must(w.open())
		if _, err := live(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		switch over {
		case "ended":
			if err := p.Withdraw(lives.ByPerson, func(v []Value) error { return w.store.Put(t.Context(), v...) }); err != nil {
				t.Fatal(err)
			}
		case "broken off":
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			p = w.must(w.open())
		}
		if data, err := os.ReadFile(p.journalPath(1)); err != nil || !bytes.Contains(data, []byte("indexed")) {
			t.Fatalf("%s: %s, %v", over, data, err)
		}
		says(t, p, "operational.storage=deny")
		held, err := p.Purge(t.Context(), consent.Operational)
		if err != nil || len(held) != 1 || held[0].Acts < 2 || held[0].Rules != 0 {
			t.Fatalf("%s: %+v, %v", over, held, err)
		}
		if data, err := os.ReadFile(p.journalPath(1)); err != nil || len(data) > 0 {
			t.Errorf("%s: the journal has %s (%v)", over, data, err)
		}
		if mine := p.mine(1); (mine == nil) != (over == "broken off") {
			t.Fatal(over)
		} else if mine != nil && (!mine.trace.Partial || len(mine.trace.Acts) != 1 || mine.trace.Acts[0].Kind != distil.Said) {
			t.Errorf("%s: %+v", over, mine.trace)
		}
		if over == "lived" {
			if out, err := p.Act(t.Context(), call("fare_search", "indexed")); err != nil || !out.OK {
				t.Fatal(out, err)
			}
			if data, err := os.ReadFile(p.journalPath(1)); err != nil || len(data) > 0 {
				t.Errorf("without leave %s was written (%v)", data, err)
			}
			last := p.living.trace.Acts[len(p.living.trace.Acts)-1]
			if last.Kind != distil.Seen || !strings.Contains(last.Text, "indexed") {
				t.Errorf("%+v", last) // known, so that no rule repeats it
			}
			says(t, p, "operational.storage=allow")
			if _, err := p.Act(t.Context(), call("list_strategies", "")); err != nil {
				t.Fatal(err)
			}
			if data, err := os.ReadFile(p.journalPath(1)); err != nil || bytes.Count(data, []byte("\n")) != 1 {
				t.Errorf("with leave again the journal has %s (%v)", data, err)
			}
			says(t, p, "operational.storage=deny")
			if err := p.Withdraw(lives.ByPerson, func(v []Value) error { return w.store.Put(t.Context(), v...) }); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := p.Distil(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		l, err := p.Rate(t.Context(), 1, lineage.Million)
		if err != nil || l.Obligation.Status != lives.Declined || len(p.AllRules()) > 0 {
			t.Errorf("%s: %+v, %v", over, l.Obligation, err)
		}
	}
}

// What is said goes from memory too, and is not taken for a wish while there is no leave.
func TestPurgeReachesWhatWasSaid(t *testing.T) {
	w := newWorld(t)
	p := w.must(w.open())
	if err := p.Birth(t.Context()); err != nil {
		t.Fatal(err)
	}
	say := func(text string) {
		t.Helper()
		if err := p.Entry(1, text, true, func([]Value) error { return nil }); err != nil {
			t.Fatal(err)
		}
		p.Met(nil, "An answer to: "+text)
	}
	say("Shorter, please. You write too long.")
	if _, err := p.Act(t.Context(), call("fare_search", "indexed")); err != nil {
		t.Fatal(err)
	}
	says(t, p, "communications.storage=deny")
	held, err := p.Purge(t.Context(), consent.Communications)
	if err != nil || len(held) != 1 || held[0].Acts != 2 {
		t.Fatalf("%+v, %v", held, err)
	}
	if acts := p.living.trace.Acts; len(acts) != 1 || acts[0].Kind != distil.Call {
		t.Errorf("%+v", acts)
	}
	if data, err := os.ReadFile(p.journalPath(1)); err != nil || bytes.Count(data, []byte("\n")) != 1 {
		t.Errorf("the journal has %s (%v)", data, err)
	}
	say("Ask me first, please.")
	for _, a := range p.living.trace.Acts {
		if a.Kind == distil.Said || a.Kind == distil.Told {
			t.Errorf("%+v", a)
		}
	}
	says(t, p, "communications.storage=allow") // what came in between had none
	if err := w.end(p, lineage.Million); err != nil {
		t.Fatal(err)
	}
	for _, key := range keysOf(p) {
		if strings.HasPrefix(key, "companion.") {
			t.Errorf("a rule of what was said without leave: %s", key)
		}
	}
}

// talkative withdraws consent while it words the rules of a life.
type talkative struct{ withdraw func() }

func (w talkative) Propose(context.Context, distil.Task) ([]distil.Proposal, error) {
	w.withdraw()
	return nil, errors.New("it has no words")
}

// What is withdrawn while a model words the rules of a life is not drafted.
func TestWithdrawnWhileItIsWorded(t *testing.T) {
	w := newWorld(t)
	p := w.must(w.open())
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := p.Withdraw(lives.ByPerson, func(v []Value) error { return w.store.Put(t.Context(), v...) }); err != nil {
		t.Fatal(err)
	}
	asked := 0
	writer := talkative{func() {
		if asked++; asked == 1 {
			says(t, p, "operational.storage=deny")
			if _, err := p.Purge(t.Context(), consent.Operational); err != nil {
				t.Error(err)
			}
		}
	}}
	if _, err := p.Distil(t.Context(), writer); err != nil || asked == 0 {
		t.Fatal(asked, err)
	}
	for name, data := range w.store.records {
		if strings.HasPrefix(name, prefixDraft) && bytes.Contains(data, []byte("fare_search")) {
			t.Errorf("%s: %s", name, data)
		}
	}
}
