package projection

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/lifecycle/manifest"
	"github.com/jivad/jivad/lifecycle/tools"
	"github.com/jivad/jivad/soul/lineage"
)

// Eight lives of the source's T1 and T4 through the whole of it: born, acting through the
// checkpoint, withdrawn, distilled, rated, merged. Later lives need two calls, the store
// holds two rules, a drift at life 4 is recovered in the next life.
func TestLivesOfTheSource(t *testing.T) {
	for _, drift := range []bool{false, true} {
		t.Run(fmt.Sprintf("drift %v", drift), func(t *testing.T) {
			w := newWorld(t)
			p := w.must(w.open())
			for n := 1; n <= 8; n++ {
				if drift && n == 4 {
					w.text = strings.ReplaceAll(fareManifest, "VALID", "mirrored")
				}
				calls, err := live(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				if n > 1 && !(drift && n == 4) && calls != 2 {
					t.Errorf("life %d took %d calls, from\n%s", n, calls, p.Rules())
				}
				if err := w.end(p, lineage.Million); err != nil {
					t.Fatal(err)
				}
				if n%3 == 0 { // a restart changes nothing
					if err := p.Close(); err != nil {
						t.Fatal(err)
					}
					p = w.must(w.open())
				}
			}
			k := p.Known()
			if k.Distillates != 8 || k.Rules != 2 || k.Waiting != 0 || k.Lives != 8 || k.Identity == (lineage.Digest{}) {
				t.Errorf("%+v", k)
			}
			if n, err := p.Verify(t.Context()); n != 8 || err != nil {
				t.Error(n, err)
			}
			if left, _ := os.ReadDir(filepath.Join(w.dir, "life")); len(left) > 0 {
				t.Errorf("left of lives that are over: %v", left)
			}
			all, err := p.Lives(100)
			if err != nil || len(all) != 8 {
				t.Fatal(len(all), err)
			}
			for _, l := range all {
				if l.State != lives.Dissolved || l.Obligation.Status != lives.Met {
					t.Errorf("life %d is %s, %s", l.Sequence, l.State, l.Obligation.Status)
				}
			}
		})
	}
}

// The power goes at every transaction of a life, before it is durable and just after:
// whatever there was, each life that was born ends with exactly one obligation, which is
// settled once, with at most one distillate (J-4), and no trace is left (S-1).
func TestPowerGoesAtEveryTransaction(t *testing.T) {
	counted := newWorld(t)
	p := counted.must(counted.open())
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := counted.end(p, lineage.Million); err != nil {
		t.Fatal(err)
	}
	most := counted.store.puts
	if most < 12 {
		t.Fatalf("a life has only %d transactions", most)
	}
	rounds := 0
	rng := rand.New(rand.NewPCG(1, 2))
	for again := range 6 {
		for dies := 1; dies <= most; dies++ {
			for _, after := range []bool{false, true} {
				if again > 0 && rng.IntN(3) > 0 {
					continue
				}
				rounds++
				powerGoes(t, dies, after, rng)
			}
		}
	}
	t.Logf("%d rounds over %d transactions", rounds, most)
	if rounds < 2*most {
		t.Errorf("only %d rounds", rounds)
	}
}

func powerGoes(t *testing.T, dies int, after bool, rng *rand.Rand) {
	t.Helper()
	w := newWorld(t)
	w.store.dies, w.store.after = dies, after
	p, err := w.open()
	for err == nil {
		if _, err = live(t.Context(), p); err == nil {
			err = w.end(p, []int64{lineage.Million, -lineage.Million, lineage.Million / 2}[rng.IntN(3)])
		}
	}
	if !errors.Is(err, errCrash) {
		t.Fatalf("at %d, after %v: %v", dies, after, err)
	}
	// The process is gone; another one begins on what is on the disk, twice, so that one
	// that finds everything done does nothing again.
	w.store.dies = 0
	for range 2 {
		p = w.must(w.open())
		if _, err := p.Distil(t.Context(), nil); err != nil {
			t.Fatalf("at %d, after %v: %v", dies, after, err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	p = w.must(w.open())
	if _, err := live(t.Context(), p); err != nil {
		t.Fatalf("at %d, after %v: the next life: %v", dies, after, err)
	}
	if err := w.end(p, lineage.Million); err != nil {
		t.Fatalf("at %d, after %v: the end of the next life: %v", dies, after, err)
	}
	for {
		l, err := p.Rate(t.Context(), 0, lineage.Million)
		if errors.Is(err, ErrNoLife) {
			break
		}
		if err != nil {
			t.Fatalf("at %d, after %v: rate life %d: %v", dies, after, l.Sequence, err)
		}
	}
	if _, err := p.Verify(t.Context()); err != nil {
		t.Fatalf("at %d, after %v: %v", dies, after, err)
	}
	all, err := p.Lives(100)
	if err != nil || len(all) == 0 {
		t.Fatal(len(all), err)
	}
	met := 0
	for _, l := range all {
		if l.State != lives.Dissolved || !l.Obligation.Settled() {
			t.Errorf("at %d, after %v: life %d is %s with the obligation %q", dies, after, l.Sequence, l.State, l.Obligation.Status)
		}
		if l.Obligation.Status == lives.Met {
			met++
		}
	}
	if k := p.Known(); k.Distillates != met {
		t.Errorf("at %d, after %v: %d distillates for %d obligations met", dies, after, k.Distillates, met)
	}
	if left, _ := os.ReadDir(filepath.Join(w.dir, "life")); len(left) > 0 {
		t.Errorf("at %d, after %v: left: %v", dies, after, left)
	}
}

// A birth lists all that is missing at once, and once it is mended the same life is born
// (J-1). Nothing is acted without one.
func TestUnborn(t *testing.T) {
	w := newWorld(t)
	w.text = strings.ReplaceAll(w.text, "/bin/echo", "/nowhere/echo") + "\n[substrate]\nlineage = \"" + strings.Repeat("ab", 32) + "\"\n"
	w.text = strings.Replace(w.text, "mission", "consent = [\"health.training\"]\nmission", 1)
	p := w.must(w.open())
	var unborn *UnbornError
	if err := p.Birth(t.Context()); !errors.As(err, &unborn) || !errors.Is(err, ErrUnborn) || len(unborn.Missing) != 3 {
		t.Fatalf("%v", err)
	}
	for _, m := range unborn.Missing {
		if m.Invariant != lives.J1 || m.What == "" || m.Mend == "" || !strings.Contains(unborn.Error(), m.Mend) {
			t.Errorf("%+v", m)
		}
	}
	if _, err := p.Act(t.Context(), call("list_strategies", "")); !errors.Is(err, ErrNotLiving) {
		t.Error(err)
	}
	if k := p.Known(); len(k.Missing) != 3 {
		t.Errorf("%+v", k)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	w.text = newWorld(t).text
	p = w.must(w.open())
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if l, ok := p.Living(); !ok || l.Sequence != 1 || len(l.Missing) > 0 {
		t.Errorf("%+v", l)
	}
	w.text = "mission = 3"
	if err := w.end(p, lineage.Million); err != nil {
		t.Fatal(err)
	}
	if err := p.Birth(t.Context()); !errors.Is(err, ErrUnborn) {
		t.Error(err)
	}
}

// Every act passes the checkpoint, and a refusal is told, counted and no act (J-2).
func TestRefusals(t *testing.T) {
	w := newWorld(t)
	p := w.must(w.open())
	if err := p.Birth(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		call tools.Call
		code tools.Code
	}{
		"no such tool":   {call("rm", ""), tools.UnknownTool},
		"extra argument": {tools.Call{Tool: "list_strategies", Arguments: []byte(`{"all":true}`)}, tools.ExtraArgument},
		"missing":        {call("fare_search", ""), tools.MissingArgument},
		"no object":      {tools.Call{Tool: "fare_search", Arguments: []byte(`[1]`)}, tools.BadArguments},
		"high":           {call("shut_valve", ""), tools.NeedsYes},
	} {
		out, err := p.Act(t.Context(), c.call)
		if err != nil || !slices.Contains(out.Refused, c.code) || out.OK || out.Text == "" {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
	l, _ := p.Living()
	if l.Spent.Acts != 0 || l.Spent.Refused != 5 {
		t.Errorf("%+v", l.Spent)
	}
	acts := 0
	_ = w.store.Values(prefixAct, func(string, []byte) error { acts++; return nil })
	if acts != 0 {
		t.Errorf("%d acts are signed", acts)
	}
}

// The bounds of a life end it, and then it does nothing any more; a wall clock that is set
// ten years forward or back has no part in it (J-3).
func TestBoundsAndClocks(t *testing.T) {
	w := newWorld(t)
	w.text = "[life]\nttl = \"1h\"\nmax_failures = 2\nmax_events = 5\n" + w.text
	w.text = "mission = \"Book the cheapest fare.\"\n" + strings.Replace(w.text, "mission = \"Book the cheapest fare.\"\n", "", 1)
	p := w.must(w.open())
	if err := p.Birth(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, years := range []int{10, -20, 10} {
		w.now = w.now.AddDate(years, 0, 0)
		if reason := p.Over(false); reason != "" {
			t.Errorf("the clock was set by %d years, and the life is over: %s", years, reason)
		}
	}
	// An hour of running time, in two parts.
	p.clock = p.clock.Add(-40 * time.Minute)
	if reason := p.Over(false); reason != "" {
		t.Fatal(reason)
	}
	if l, _ := p.Living(); l.Spent.Running < 40*time.Minute {
		t.Errorf("it ran %v", l.Spent.Running)
	}
	p.clock = p.clock.Add(-20 * time.Minute)
	if reason := p.Over(false); reason != lives.ByTTL {
		t.Errorf("%q", reason)
	}
	out, err := p.Act(t.Context(), call("list_strategies", ""))
	if err != nil || !slices.Equal(out.Refused, []tools.Code{Over}) {
		t.Errorf("%+v %v", out, err)
	}
	if err := w.end(p, lineage.Million); err != nil {
		t.Fatal(err)
	}
	if err := p.Birth(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if out, err := p.Act(t.Context(), call("fare_search", "nested")); err != nil || out.OK {
			t.Fatal(out, err)
		}
	}
	if reason := p.Over(false); reason != lives.ByFailures {
		t.Errorf("%q", reason)
	}
	if err := p.Withdraw(lives.ByPerson, func([]Value) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if l, _ := p.life(2); l.State != lives.Active { // the record of the withdrawal was not written above
		t.Errorf("%s", l.State)
	}
}

// How long a life ran is known after a restart, which ends it: nothing is done in it any more
// (J-3).
func TestRunningTimeIsKept(t *testing.T) {
	w := newWorld(t)
	p := w.must(w.open())
	if err := p.Birth(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.clock = p.clock.Add(-40 * time.Minute)
	if err := errors.Join(p.Save(t.Context()), p.Close()); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.AddDate(-10, 0, 0)
	p = w.must(w.open())
	l, err := p.Life(1)
	if err != nil || l.State != lives.Withdrawn || l.Reason != lives.ByCrash || l.Spent.Running < 40*time.Minute || l.Spent.Running > time.Hour {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := p.Act(t.Context(), call("list_strategies", "")); !errors.Is(err, ErrNotLiving) {
		t.Error(err)
	}
}

// A life waits for its judgement by running time, carried over restarts; when nobody
// judges it nothing is kept (S-2), and a late rating is refused.
func TestNobodyJudges(t *testing.T) {
	w := newWorld(t)
	p := w.must(w.open())
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := p.Withdraw(lives.ByIdle, func(v []Value) error { return w.store.Put(t.Context(), v...) }); err != nil {
		t.Fatal(err)
	}
	if waiting, err := p.Distil(t.Context(), nil); waiting != 1 || err != nil {
		t.Fatal(waiting, err)
	}
	if left, _ := os.ReadDir(filepath.Join(w.dir, "life")); len(left) > 0 {
		t.Errorf("the trace waits with it: %v", left)
	}
	p.clock = p.clock.Add(-distil.JudgementWindow / 2)
	if err := errors.Join(p.Save(t.Context()), p.Close()); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.AddDate(10, 0, 0) // the wall clock has no part in it
	p = w.must(w.open())
	if waiting, err := p.Distil(t.Context(), nil); waiting != 1 || err != nil {
		t.Fatal(waiting, err)
	}
	p.clock = p.clock.Add(-distil.JudgementWindow / 2)
	if waiting, err := p.Distil(t.Context(), nil); waiting != 0 || err != nil {
		t.Fatal(waiting, err)
	}
	l, err := p.life(1)
	if err != nil || l.State != lives.Dissolved || l.Obligation.Status != lives.Declined || !strings.Contains(l.Obligation.Why, "no signal") {
		t.Errorf("%+v %v", l, err)
	}
	if _, err := p.Rate(t.Context(), 1, lineage.Million); !errors.Is(err, ErrSettled) {
		t.Error(err)
	}
	if _, err := p.Rate(t.Context(), 0, lineage.Million); !errors.Is(err, ErrNoLife) {
		t.Error(err)
	}
	if _, err := p.Rate(t.Context(), 99, lineage.Million); !errors.Is(err, ErrNoLife) {
		t.Error(err)
	}
}

// A distillation that keeps failing puts the pin of its life in quarantine: nobody is born
// from it until the person says what becomes of the life.
func TestQuarantineHoldsThePin(t *testing.T) {
	for _, how := range []string{"clear", "supersede", "discard"} {
		w := newWorld(t)
		p := w.must(w.open())
		if _, err := live(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if err := p.Withdraw(lives.ByStop, func(v []Value) error { return w.store.Put(t.Context(), v...) }); err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p.journalPath(1), []byte("no act at all\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		p = w.must(w.open())
		for range lives.MostTries {
			if _, err := p.Distil(t.Context(), nil); err == nil {
				t.Fatal("a damaged journal was distilled")
			}
			p.clock = p.clock.Add(-time.Hour)
		}
		if waiting, err := p.Distil(t.Context(), nil); waiting != 0 || err != nil {
			t.Errorf("it is tried again: %d, %v", waiting, err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		p = w.must(w.open())
		var unborn *UnbornError
		if err := p.Birth(t.Context()); !errors.As(err, &unborn) || unborn.Missing[0].Code != string(manifest.LineageQuarantined) {
			t.Fatalf("%v", err)
		}
		if _, err := p.Release(t.Context(), 2, how); err == nil {
			t.Error("a life that is in no quarantine is let out")
		}
		l, err := p.Release(t.Context(), 1, how)
		if err != nil || l.State != lives.Dissolved || !l.Obligation.Settled() {
			t.Fatalf("%+v, %v", l, err)
		}
		if _, err := os.Stat(p.journalPath(1)); err == nil {
			t.Error("the trace is still there")
		}
		if err := p.Birth(t.Context()); err != nil {
			t.Errorf("%s: %v", how, err)
		}
	}
}

// What an excision leaves is bit for bit what there would be without the life: chain,
// versions and rules; nothing of what it said is in any record; and it never comes back
// (S-5). A life born with its rules is found.
func TestExcise(t *testing.T) {
	w := newWorld(t)
	p := w.must(w.open())
	for n := 1; n <= 3; n++ {
		if n == 2 {
			w.text = strings.ReplaceAll(fareManifest, "VALID", "mirrored")
		}
		if _, err := live(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if err := w.end(p, lineage.Million); err != nil {
			t.Fatal(err)
		}
	}
	second, err := p.LifeOf("2")
	if err != nil {
		t.Fatal(err)
	}
	want := p.lineage.Without(second)
	gone, _ := p.lineage.Member(p.lineage.OfLife(second)[0])
	plan, err := p.PlanExcision([]lineage.ID{second}, false)
	if err != nil || len(plan.Digests) != 1 || len(plan.Descendants) != 1 || plan.After != want.Head() {
		t.Fatalf("%+v, %v", plan, err)
	}
	r, err := p.Excise(t.Context(), []lineage.ID{second}, false, "the person", nil)
	if err != nil || r.Before == r.After || r.After != want.Head() {
		t.Fatalf("%+v, %v", r, err)
	}
	if !slices.Equal(p.AllRules(), want.Rules()) || p.batches() != want.Batches() || p.head() != want.Head() {
		t.Error("it is another lineage")
	}
	for name, data := range w.store.records {
		if strings.Contains(string(data), gone.Dispositions[0].Evidence.String()) {
			t.Errorf("%s still holds the distillate", name)
		}
	}
	if _, _, err := p.merge(gone); !errors.Is(err, ErrTombstone) {
		t.Errorf("it comes back: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	p = w.must(w.open())
	if n, err := p.Verify(t.Context()); n != 2 || err != nil {
		t.Error(n, err)
	}
	list, err := p.Excisions()
	if err != nil || len(list) != 1 || list[0].Who != "the person" {
		t.Errorf("%+v %v", list, err)
	}
	third, _ := p.LifeOf("3")
	first, _ := p.LifeOf("1")
	if r, err = p.Excise(t.Context(), []lineage.ID{first}, true, "the person", nil); err != nil || !slices.Contains(r.Lives, third) {
		t.Errorf("%+v, %v", r, err)
	}
	if k := p.Known(); k.Distillates != 0 || k.Rules != 0 || p.Rules() != "" {
		t.Errorf("%+v", k)
	}
}

// Between lives a projection holds nothing but its pin, nonce and keys: with everything
// else of it deleted it is born equal (AD-2).
func TestNothingIsHeldBetweenLives(t *testing.T) {
	w := newWorld(t)
	p := w.must(w.open())
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.end(p, lineage.Million), p.Close()); err != nil {
		t.Fatal(err)
	}
	bear := func(w *world) (lives.Life, string) {
		p := w.must(w.open())
		if err := p.Birth(context.Background()); err != nil {
			t.Fatal(err)
		}
		l, _ := p.Living()
		return l, p.Rules()
	}
	other := newWorld(t)
	for _, prefix := range []string{nameGenesis, prefixMember, prefixBatch, PrefixConsent, nameSatisfaction} {
		_ = w.store.Values(prefix, func(name string, data []byte) error { other.store.records[name] = data; return nil })
	}
	key, err := os.ReadFile(filepath.Join(w.dir, KeyFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other.dir, KeyFile), key, 0o600); err != nil {
		t.Fatal(err)
	}
	a, rules := bear(w)
	b, others := bear(other)
	if a.Identity != b.Identity || a.Base != b.Base || a.Device != b.Device || a.Manifest != b.Manifest || a.Consent != b.Consent || rules != others || rules == "" {
		t.Errorf("%+v\n%+v", a, b)
	}
	if a.Nonce == b.Nonce {
		t.Error("two projections have one nonce")
	}
}

// What a crash left half-written, and of programs that worked, is gone at the next start.
func TestLeftoversAreRemoved(t *testing.T) {
	w := newWorld(t)
	p := w.must(w.open())
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"life/.0000000001.secret.123.tmp", "life/.0000000002.trace.tmp", "life/work-1/note", "life/0000000009.trace", ".device.key.77.tmp"} {
		path := filepath.Join(w.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("left"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	p = w.must(w.open())
	defer p.Close()
	entries, err := os.ReadDir(filepath.Join(w.dir, "life"))
	if err != nil || len(entries) != 2 {
		t.Errorf("%v %v", entries, err)
	}
	if entries, _ = os.ReadDir(w.dir); len(entries) != 2 {
		t.Errorf("%v", entries)
	}
}

// A full disk keeps a life from being withdrawn, and not from being withdrawn later.
func TestFullDisk(t *testing.T) {
	w := newWorld(t)
	p := w.must(w.open())
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no room on the disk")
	w.store.fails = full
	if err := w.end(p, lineage.Million); !errors.Is(err, full) {
		t.Fatal(err)
	}
	if _, ok := p.Living(); !ok {
		t.Fatal("it is gone without a record")
	}
	w.store.fails = nil
	if err := w.end(p, lineage.Million); err != nil {
		t.Fatal(err)
	}
	if k := p.Known(); k.Distillates != 1 {
		t.Errorf("%+v", k)
	}
}
