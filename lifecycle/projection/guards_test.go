package projection

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/lifecycle/tools"
	"github.com/jivad/jivad/soul/lineage"
)

// Using a tool needs leave to read operational data, and one that takes something off the
// device leave to give it away, too (J-2).
func TestToolsNeedConsent(t *testing.T) {
	for _, c := range []struct {
		settings string
		here     tools.Answer
		away     tools.Answer
	}{
		{"", tools.Allow, tools.Deny},
		{"operational.access=deny", tools.Deny, tools.Deny},
		{"operational.access=ask", tools.AskFirst, tools.Deny},
		{"operational.third_party_sharing=ask", tools.Allow, tools.AskFirst},
		{"operational.third_party_sharing=allow", tools.Allow, tools.Allow},
		{"operational.third_party_sharing=allow operational.access=deny", tools.Deny, tools.Deny},
		{"communications.access=deny communications.third_party_sharing=allow", tools.Allow, tools.Deny},
	} {
		w := newWorld(t)
		p := w.must(w.open())
		if c.settings != "" {
			says(t, p, strings.Fields(c.settings)...)
		}
		for kind, want := range map[string]tools.Answer{
			tools.KindExec: c.here, tools.KindRead: c.here, tools.KindHTTP: c.away, tools.KindMQTT: c.away,
		} {
			v := p.consented(tools.Proposal{Kind: kind})
			if v.Answer != want || (len(v.Reasons) > 0) != (want != tools.Allow) {
				t.Errorf("%q, %v: %+v, want %v", c.settings, kind, v, want)
			}
		}
	}
}

// Withdrawn access refuses the acts of a life that is lived.
func TestActsAreRefusedWithoutConsent(t *testing.T) {
	w := newWorld(t)
	p := w.must(w.open())
	if err := p.Birth(t.Context()); err != nil {
		t.Fatal(err)
	}
	says(t, p, "operational.access=deny")
	out, err := p.Act(t.Context(), call("list_strategies", ""))
	if err != nil || out.OK || !slices.Contains(out.Refused, tools.NoConsent) {
		t.Errorf("%+v, %v", out, err)
	}
}

// Of an act a rule may be made only where data of its kind may be kept (S-1).
func TestMayPersist(t *testing.T) {
	for settings, want := range map[string]map[string]bool{
		"":                            {distil.Call: true, distil.Said: true, distil.Told: true},
		"operational.storage=deny":    {distil.Said: true, distil.Told: true},
		"operational.storage=ask":     {distil.Said: true, distil.Told: true},
		"communications.storage=deny": {distil.Call: true},
	} {
		w := newWorld(t)
		p := w.must(w.open())
		if settings != "" {
			says(t, p, settings)
		}
		for _, kind := range []string{distil.Call, distil.Said, distil.Told} {
			if got := p.mayPersist(distil.Act{Kind: kind}); got != want[kind] {
				t.Errorf("%q: a rule may be made of what was %s: %v", settings, kind, got)
			}
		}
	}
}

// With the draft of a life its trace is gone, before anything else is done for it (S-1).
func TestTheTraceGoesWithTheDraft(t *testing.T) {
	w := newWorld(t)
	p := w.must(w.open())
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := p.Withdraw(lives.ByPerson, func(v []Value) error { return w.store.Put(t.Context(), v...) }); err != nil {
		t.Fatal(err)
	}
	ended := p.ended
	if err := p.drafted(t.Context(), *p.open[1], nil); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(p.folder()); len(left) > 0 || p.ended != nil || len(ended.trace.Acts) > 0 {
		t.Errorf("%v is there, and in memory %+v (%v)", left, ended.trace.Acts, err)
	}
}

func codes(missing []lives.Lack) (out []string) {
	for _, m := range missing {
		out = append(out, m.Code)
	}
	return out
}

// Each thing that keeps a lineage from becoming part of a model does so by itself (M-1):
// rules that move, a life in quarantine, a use of either kind of data that is not allowed.
func TestImmature(t *testing.T) {
	w, p := endedWorld(t, 1)
	says(t, p, "*.training=allow")
	if got := codes(p.Immature()); !slices.Equal(got, []string{"moving"}) {
		t.Errorf("after one life: %v", got)
	}
	if what := p.Immature()[0].What; !strings.Contains(what, "too few lives") {
		t.Errorf("after one life: %s", what)
	}
	for range 6 {
		if _, err := live(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if err := w.end(p, lineage.Million); err != nil {
			t.Fatal(err)
		}
	}
	if got := codes(p.Immature()); len(got) > 0 {
		t.Fatalf("at rest: %v", got)
	}
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := p.Withdraw(lives.ByStop, func(v []Value) error { return w.store.Put(t.Context(), v...) }); err != nil {
		t.Fatal(err)
	}
	for range lives.MostTries {
		if err := p.open[8].Fail("no room"); err != nil {
			t.Fatal(err)
		}
	}
	if got := codes(p.Immature()); !slices.Equal(got, []string{"quarantined"}) {
		t.Errorf("with one in quarantine: %v", got)
	}
	if _, err := p.Release(t.Context(), 8, "discard"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{"operational", "communications"} {
		for _, answer := range []string{"deny", "ask"} {
			says(t, p, "*.training=allow")
			says(t, p, c+".training="+answer)
			missing := p.Immature()
			if got := codes(missing); !slices.Equal(got, []string{"consent"}) {
				t.Fatalf("%s.training=%s: %v", c, answer, got)
			}
			said := (&ImmatureError{missing}).Error()
			if mend := "jivad consent set " + c + ".training=allow"; strings.Count(said, mend) != 1 || strings.Contains(said, "settle it with") || strings.Contains(said, "otherwise") {
				t.Errorf("%s", said)
			}
		}
	}
}

// Only what the person lets be trained with is.
func TestTrains(t *testing.T) {
	w := newWorld(t)
	p := w.must(w.open())
	for _, c := range consent.Categories() {
		if p.Trains(c) {
			t.Errorf("%v by default", c)
		}
	}
	says(t, p, "health.training=allow", "location.training=ask")
	if !p.Trains(consent.Health) || p.Trains(consent.Location) || p.Trains(consent.Behavioural) || p.Trains(0) {
		t.Error("it is not as it was said")
	}
}

// A lineage in memory that is another than the one that is written is told (S-4).
func TestVerifyComparesTheHeads(t *testing.T) {
	_, p := endedWorld(t, 2)
	second, err := p.LifeOf("2")
	if err != nil {
		t.Fatal(err)
	}
	p.lineage = p.lineage.Without(second)
	if _, err := p.Verify(t.Context()); !errors.Is(err, lineage.ErrChain) {
		t.Error(err)
	}
}

// In one process too a life begins with nothing of the one before: no trace, no time, no
// judgement, no reason to end, and the secret is another (AD-2).
func TestNothingIsHeldInMemory(t *testing.T) {
	w := newWorld(t)
	p := w.must(w.open())
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	p.Gap(1)
	p.clock = p.clock.Add(-25 * time.Hour)
	if p.Over(false) == "" {
		t.Fatal("it is not over")
	}
	before, _ := p.Living()
	secret, err := os.ReadFile(p.secretPath(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Rate(t.Context(), 0, -lineage.Million); err != nil {
		t.Fatal(err)
	}
	// The next one is born while the one before is not distilled yet.
	if err := p.Withdraw(lives.ByPerson, func(v []Value) error { return w.store.Put(t.Context(), v...) }); err != nil {
		t.Fatal(err)
	}
	if err := p.Birth(t.Context()); err != nil {
		t.Fatal(err)
	}
	l := p.living
	if len(l.trace.Acts) > 0 || l.trace.Partial || l.over != "" || l.rules != lineage.Render(p.AllRules()) {
		t.Errorf("%+v, %q, %q", l.trace, l.over, l.rules)
	}
	if s := l.life.Spent; s.Events+s.Acts+s.Refused+s.Failures > 0 || s.Gap != nil || s.Running >= time.Hour || l.life.Rating != nil || l.life.Session != 0 || l.life.Reason != "" {
		t.Errorf("%+v", l.life)
	}
	if l.life.ID == before.ID || l.life.Nonce == before.Nonce || l.life.Device != before.Device || l.life.Identity != before.Identity {
		t.Errorf("%+v after %+v", l.life, before)
	}
	if data, err := os.ReadFile(p.journalPath(2)); err != nil || len(data) > 0 {
		t.Errorf("%s %v", data, err)
	}
	if other, err := os.ReadFile(p.secretPath(2)); err != nil || string(other) == string(secret) {
		t.Error("two lives have one secret", err)
	}
	if reason := p.Over(false); reason != "" {
		t.Error(reason)
	}
}

// blind is a store of which nothing can be read any more.
type blind struct{ *memory }

var errBlind = errors.New("the disk cannot be read")

func (blind) Value(string) ([]byte, error)                    { return nil, errBlind }
func (blind) Values(string, func(string, []byte) error) error { return errBlind }

// cut is a store that cannot be written, and not read from then on.
type cut struct {
	*memory
	p *Projections
}

func (c cut) Put(context.Context, ...Value) error {
	c.p.o.Store = blind{c.memory}
	return errCrash
}

// A merge that could not be written leaves the lineage as it was, whether the store can be
// read then or not.
func TestAMergeThatIsNotWritten(t *testing.T) {
	w, p := endedWorld(t, 2)
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Rate(t.Context(), 0, lineage.Million); err != nil {
		t.Fatal(err)
	}
	if err := p.Withdraw(lives.ByPerson, func(v []Value) error { return w.store.Put(t.Context(), v...) }); err != nil {
		t.Fatal(err)
	}
	if err := p.drafted(t.Context(), *p.open[3], nil); err != nil {
		t.Fatal(err)
	}
	head, rules := p.head(), p.AllRules()
	p.o.Store = cut{w.store, p}
	if _, err := p.Distil(t.Context(), nil); !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
	if p.lineage == nil || p.head() != head || !slices.Equal(p.AllRules(), rules) || p.batches() != 2 {
		t.Fatalf("the lineage is another: %d batches", p.batches())
	}
	p.o.Store = w.store
	p.clock = p.clock.Add(-time.Hour)
	if _, err := p.Distil(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if n, err := p.Verify(t.Context()); n != 3 || err != nil || p.head() == head {
		t.Error(n, err)
	}
}

// Whatever a life is in, an excision takes all of it, and it is over; one that is lived is
// to be ended first (S-5).
func TestExciseWhatIsNotDistilled(t *testing.T) {
	for _, how := range []string{"owed", "drafted", "quarantined", "quarantined with a draft", "broken off"} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t)
			p := w.must(w.open())
			if _, err := live(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			life, _ := p.Living()
			gone := []lineage.ID{life.ID}
			if _, err := p.Excise(t.Context(), gone, false, "a test", nil); !errors.Is(err, lives.ErrIllegal) {
				t.Fatalf("of a life that is lived: %v", err)
			}
			if how == "broken off" { // and is looked at by a process that lives no lives
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
				p = w.must(Open(t.Context(), Options{
					Dir: w.dir, Store: w.store, Root: root, LookOnly: true, Now: func() (time.Time, bool) { return w.now, true },
				}))
			} else if err := p.Withdraw(lives.ByStop, func(v []Value) error { return w.store.Put(t.Context(), v...) }); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(how, "draft") {
				if _, err := p.Distil(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
			}
			if strings.Contains(how, "quarantined") {
				for range lives.MostTries {
					if err := p.open[1].Fail("no room"); err != nil {
						t.Fatal(err)
					}
				}
				if err := p.put(t.Context(), p.open[1]); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := p.Excise(t.Context(), gone, false, "a test", nil); err != nil {
				t.Fatal(err)
			}
			l, err := p.Life(1)
			if err != nil || l.State != lives.Dissolved || l.Obligation.Status != lives.Declined || l.Obligation.Why != "excised" {
				t.Errorf("%+v, %v", l, err)
			}
			if left, _ := os.ReadDir(p.folder()); len(left) > 0 {
				t.Errorf("%v is there", left)
			}
			for name, data := range w.store.records {
				if strings.HasPrefix(name, prefixDraft) || strings.HasPrefix(name, prefixKit) {
					t.Errorf("%s is there: %s", name, data)
				}
			}
			p = w.must(w.open())
			if _, err := p.Distil(t.Context(), nil); err != nil || len(p.open) > 0 {
				t.Error(err, p.open)
			}
			plan, err := p.PlanExcision(gone, false)
			if err != nil || !plan.Done() || !slices.Equal(plan.Already, gone) {
				t.Errorf("%+v, %v", plan, err)
			}
		})
	}
}

// impatient excises a life while a model words its rules.
type impatient struct{ excise func() }

func (w impatient) Propose(context.Context, distil.Task) ([]distil.Proposal, error) {
	w.excise()
	return nil, nil
}

// A life that is excised while its rules are worded leaves nothing, and no failure is told.
func TestExcisedWhileItIsWorded(t *testing.T) {
	w := newWorld(t)
	p := w.must(w.open())
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := p.Withdraw(lives.ByStop, func(v []Value) error { return w.store.Put(t.Context(), v...) }); err != nil {
		t.Fatal(err)
	}
	asked := 0
	writer := impatient{func() {
		if asked++; asked == 1 {
			if _, err := p.Excise(t.Context(), []lineage.ID{p.open[1].ID}, false, "a test", nil); err != nil {
				t.Error(err)
			}
		}
	}}
	if _, err := p.Distil(t.Context(), writer); err != nil || asked == 0 {
		t.Fatal(asked, err)
	}
	if left, _ := os.ReadDir(p.folder()); len(left) > 0 {
		t.Errorf("%v is there", left)
	}
	if _, there := w.store.records[draftName(1)]; there {
		t.Error("its draft is there")
	}
}

// An excision waits for no act: with a tool that is under way it is done, and the act ends
// afterwards.
func TestExciseWaitsForNoAct(t *testing.T) {
	w, p := endedWorld(t, 1)
	pipe := filepath.Join(w.dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	w.text = strings.Replace(fareManifest, `"/bin/echo", "direct", "nested", "indexed", "mirrored"`, fmt.Sprintf(`"/bin/cat", %q`, pipe), 1)
	if err := p.Birth(t.Context()); err != nil {
		t.Fatal(err)
	}
	acted := make(chan Acted, 1)
	go func() {
		out, err := p.Act(context.Background(), call("list_strategies", ""))
		if err != nil {
			t.Error(err)
		}
		acted <- out
	}()
	end, err := os.OpenFile(pipe, os.O_WRONLY, 0) // opens once the tool reads
	if err != nil {
		t.Fatal(err)
	}
	first, err := p.LifeOf("1")
	if err != nil {
		t.Fatal(err)
	}
	excised := make(chan error, 1)
	go func() {
		_, err := p.Excise(context.Background(), []lineage.ID{first}, false, "a test", nil)
		excised <- err
	}()
	select {
	case err := <-excised:
		if err != nil {
			t.Error(err)
		}
	case <-acted:
		t.Error("the act was waited for")
	}
	if _, err := end.WriteString("direct"); err != nil {
		t.Error(err)
	}
	if err := end.Close(); err != nil {
		t.Error(err)
	}
	if out := <-acted; !out.OK || out.Text != "direct" {
		t.Errorf("%+v", out)
	}
	if l, _ := p.Living(); l.Spent.Acts != 1 {
		t.Errorf("%+v", l.Spent)
	}
}

// What an excised life of this device left is found by its number, to prove that it is not
// there, also where several went at once.
func TestExcisedIsFoundByNumber(t *testing.T) {
	w, p := endedWorld(t, 3)
	want := map[string]lineage.Digest{}
	var gone []lineage.ID
	for _, n := range []string{"1", "3"} {
		life, err := p.LifeOf(n)
		if err != nil {
			t.Fatal(err)
		}
		gone = append(gone, life)
		want[n] = p.lineage.OfLife(life)[0]
	}
	if _, err := p.Excise(t.Context(), gone, false, "a test", nil); err != nil {
		t.Fatal(err)
	}
	p = w.must(w.open())
	for n, digest := range want {
		got, err := p.DigestOf(n)
		if err != nil || got != digest {
			t.Errorf("life %s: %v, %v", n, got, err)
			continue
		}
		if proof, err := p.Prove(got); err != nil || proof.Present || proof.Check() != nil {
			t.Errorf("%+v, %v", proof, err)
		}
	}
	if _, err := p.DigestOf("4"); !errors.Is(err, ErrNoLife) {
		t.Error(err)
	}
}

// A life that was born with what goes, and waits for its judgement, is told of, and goes
// with it where that is asked for.
func TestLivesThatWaitDescendToo(t *testing.T) {
	for _, closing := range []bool{false, true} {
		w := newWorld(t)
		p := w.must(w.open())
		var ids []lineage.ID
		for n := range 2 {
			if _, err := live(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			life, _ := p.Living()
			ids = append(ids, life.ID)
			if n == 0 {
				if err := w.end(p, lineage.Million); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if err := p.Withdraw(lives.ByStop, func(v []Value) error { return w.store.Put(t.Context(), v...) }); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Distil(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		plan, err := p.PlanExcision(ids[:1], closing)
		if err != nil || !slices.Equal(plan.Waiting, ids[1:]) || slices.Contains(plan.Lives, ids[1]) != closing {
			t.Fatalf("closing %v: %+v, %v", closing, plan, err)
		}
		if of, err := p.PlanExcision(ids[1:], closing); err != nil || len(of.Waiting) > 0 {
			t.Errorf("of the second alone: %+v, %v", of, err)
		}
		if _, err := p.Excise(t.Context(), ids[:1], closing, "a test", nil); err != nil {
			t.Fatal(err)
		}
		if l, err := p.Life(2); err != nil || (l.Obligation.Status == lives.Declined) != closing {
			t.Errorf("closing %v: %+v, %v", closing, l, err)
		}
	}
}
