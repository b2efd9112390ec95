package projection

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/soul/lineage"
)

func always(int) bool { return true }
func same(n int) int  { return n }

// ends withdraws the life that is lived.
func (w *world) ends(p *Projections) {
	w.t.Helper()
	if err := p.Withdraw(lives.ByStop, func(v []Value) error { return w.store.Put(w.t.Context(), v...) }); err != nil {
		w.t.Fatal(err)
	}
}

// forgets rewrites the store as a forgetting does, and no more.
func (w *world) forgets(p *Projections, lost func(int) bool, number func(int) int) {
	w.t.Helper()
	each, owed, err := p.Forgetting(lost, number)
	if err != nil {
		w.t.Fatal(err)
	}
	next := map[string][]byte{}
	for name, data := range w.store.records {
		v, stays, err := each(Value{name, data})
		if err != nil {
			w.t.Fatal(err)
		}
		if stays {
			next[v.Name] = v.Data
		}
	}
	w.store.records = next
	if err := w.store.Put(w.t.Context(), owed...); err != nil {
		w.t.Fatal(err)
	}
}

// nothing sees that a life is over with nothing kept of it, and no trace, draft or note of
// it is there.
func (w *world) nothing(p *Projections, n int64) {
	w.t.Helper()
	l, err := p.Life(n)
	if err != nil || l.State != lives.Dissolved || l.Obligation.Status != lives.Declined || l.Obligation.Why != byForgetting {
		w.t.Errorf("%+v, %v", l, err)
	}
	if !p.gone(n) {
		w.t.Error("its trace is there")
	}
	for _, name := range []string{draftName(n), kitName(n), nameCut} {
		if data, there := w.store.records[name]; there {
			w.t.Errorf("%s is there: %s", name, data)
		}
	}
}

// Forgetting reaches a life whatever it waits for: its distillation, its judgement, or in
// quarantine the word of the person (S-1).
func TestForgettingReachesWhatWaits(t *testing.T) {
	for _, how := range []string{"owed", "drafted", "quarantined", "quarantined with a draft", "broken off"} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t)
			p := w.must(w.open())
			if _, err := live(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			if how == "broken off" { // and a process that lives no lives forgets
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
				p = w.looks()
			} else {
				w.ends(p)
			}
			if strings.Contains(how, "draft") {
				if _, err := p.Distil(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
			}
			if strings.Contains(how, "quarantined") {
				w.quarantine(p, 1)
			}
			if err := p.Forgotten(t.Context(), func(n int) bool { return n == 2 }, same); err != nil || p.open[1] == nil {
				t.Fatal(err, "what another session lost has no part in it")
			}
			if err := p.Forgotten(t.Context(), always, same); err != nil {
				t.Fatal(err)
			}
			w.nothing(p, 1)
			p = w.must(w.open())
			if err := p.Birth(t.Context()); err != nil {
				t.Errorf("nobody is born any more: %v", err)
			}
		})
	}
}

// looks is a process that lives no lives.
func (w *world) looks() *Projections {
	w.t.Helper()
	o := w.options()
	o.LookOnly = true
	return w.must(Open(w.t.Context(), o))
}

// quarantine has a life fail as often as it may.
func (w *world) quarantine(p *Projections, n int64) {
	w.t.Helper()
	for range lives.MostTries {
		if err := p.open[n].Fail("no room"); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := p.put(w.t.Context(), p.open[n]); err != nil {
		w.t.Fatal(err)
	}
}

// A forgetting that breaks off once the store is the new one is finished at the next start:
// of a life that lost an entry no judgement makes a rule any more, before or after that, and
// one that was lived is distilled without what was done until then (S-1).
func TestAForgettingThatBreaksOff(t *testing.T) {
	for _, how := range []string{"owed", "drafted", "quarantined", "quarantined with a draft", "broken off"} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t)
			p := w.must(w.open())
			if _, err := live(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			if how == "broken off" {
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
				p = w.looks()
			} else {
				w.ends(p)
			}
			if strings.Contains(how, "draft") {
				if _, err := p.Distil(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
			}
			if strings.Contains(how, "quarantined") {
				w.quarantine(p, 1)
			}
			w.forgets(p, always, func(int) int { return 0 })
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			for name := range w.store.records {
				if strings.HasPrefix(name, prefixDraft) || strings.HasPrefix(name, prefixKit) {
					t.Errorf("%s is there", name)
				}
			}
			p = w.looks() // one that does not take it up
			if l, err := p.Rate(t.Context(), 1, lineage.Million); !errors.Is(err, ErrSettled) {
				t.Errorf("%+v, %v", l, err)
			}
			p = w.must(w.open())
			w.nothing(p, 1)
			if len(p.AllRules()) > 0 || len(p.open) > 0 {
				t.Errorf("%+v %+v", p.AllRules(), p.open)
			}
			if err := p.Birth(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	for _, how := range []string{"lived", "lived and broken off"} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t)
			p := w.must(w.open())
			if _, err := live(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			if how != "lived" {
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
				p = w.looks()
			}
			w.forgets(p, func(int) bool { return false }, same)
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			p = w.must(w.open())
			if data, err := os.ReadFile(p.journalPath(1)); !errors.Is(err, os.ErrNotExist) || len(data) > 0 {
				t.Errorf("%s, %v", data, err)
			}
			if _, err := p.Distil(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			l, err := p.Rate(t.Context(), 1, lineage.Million)
			if err != nil || l.Obligation.Status != lives.Declined || len(p.AllRules()) > 0 {
				t.Errorf("%+v, %v", l, err)
			}
			if _, there := w.store.records[nameCut]; there {
				t.Error("it is owed for ever")
			}
		})
	}
}

// Where the trace of a life that waits cannot be taken away no judgement makes a rule of it
// either, and the next start takes it away. What one forgetting owes is not lost by another.
func TestAForgettingThatFails(t *testing.T) {
	w := newWorld(t)
	p := w.must(w.open())
	for range 2 {
		if _, err := live(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		w.ends(p)
		if _, err := p.Distil(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	w.quarantine(p, 2)
	stands := filepath.Join(p.journalPath(2), "in the way")
	if err := os.MkdirAll(filepath.Dir(stands), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stands, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.forgets(p, always, same)
	if err := p.Forgotten(t.Context(), always, same); err == nil {
		t.Fatal("it is told as done")
	}
	if _, there := w.store.records[nameCut]; !there {
		t.Error("nothing is owed")
	}
	for _, n := range []int64{1, 2} {
		if l, err := p.Rate(t.Context(), n, lineage.Million); !errors.Is(err, ErrSettled) {
			t.Errorf("%+v, %v", l, err)
		}
	}
	if k, found := p.Known(), p.found(t.Context(), p.living.m); k.Quarantined > 0 || len(found.Quarantined) > 0 || slices.Contains(codes(p.Immature()), "quarantined") {
		t.Errorf("its pin is held: %+v", k)
	}
	if _, err := p.Distil(t.Context(), nil); err == nil {
		t.Error("nobody tries again")
	}
	w.forgets(p, func(int) bool { return false }, same)
	if cut, err := p.owedCut(); err != nil || !slices.Contains(cut.Lost, 2) {
		t.Errorf("%+v, %v", cut, err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	p = w.must(w.open())
	w.nothing(p, 1)
	w.nothing(p, 2)
	if len(p.AllRules()) > 0 {
		t.Errorf("%+v", p.AllRules())
	}
}
