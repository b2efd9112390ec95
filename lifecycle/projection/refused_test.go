package projection

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/soul/lineage"
)

// A draft of an earlier form is judged by the one of now: the rules that the lineage refuses
// are dropped and counted, and where none is left the life is over with nothing kept. No
// birth waits for it.
func TestADraftThatIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(d *draft)
		keys   []string
		found  distil.Kind
	}{
		"one holds a detail": {func(d *draft) {
			d.Worked[1].Guidance = "tool fare_search, argument strategy: call +43 664 70 12 113"
		}, []string{"companion.brevity", "tool.list_strategies"}, distil.KindPhone},
		"one is of another scope": {func(d *draft) { d.Worked[1].Guidance = "fares: indexed" }, []string{"companion.brevity", "tool.list_strategies"}, distil.KindForm},
		"one is there twice": {func(d *draft) { d.Worked = append(d.Worked, d.Worked[1]) },
			[]string{"companion.brevity", "tool.fare_search", "tool.list_strategies"}, distil.KindForm},
		"all of them": {func(d *draft) {
			for i := range d.Worked {
				d.Worked[i].Guidance = "tool fare_search: x"
			}
		}, nil, distil.KindForm},
	} {
		t.Run(name, func(t *testing.T) {
			w, p := drafted(t)
			var d draft
			if err := json.Unmarshal(w.store.records[draftName(1)], &d); err != nil || len(d.Worked) != 3 {
				t.Fatal(err, d.Worked)
			}
			c.change(&d)
			rules := d.Reports[0].Rules
			w.store.records[draftName(1)], _ = json.Marshal(d)
			l, err := p.Rate(t.Context(), 1, lineage.Million)
			if err != nil || l.State != lives.Dissolved || !slices.Equal(keysOf(p), c.keys) {
				t.Errorf("%s, %v: %v", l.State, err, keysOf(p))
			}
			if len(c.keys) == 0 && (l.Obligation.Status != lives.Declined || l.Obligation.Why != refusedRules) {
				t.Errorf("%+v", l.Obligation)
			}
			var reports [2]distil.Report
			if err := json.Unmarshal(l.Obligation.Report, &reports); err != nil {
				t.Fatal(err)
			}
			if r := reports[0]; r.Dropped == 0 || r.Found[c.found] != r.Dropped || r.Rules != rules-r.Dropped || reports[1].Dropped > 0 {
				t.Errorf("%+v", reports)
			}
			if err := p.Birth(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := p.Verify(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// What is wrong with all of a draft ends the life in the same way.
func TestADistillateThatIsRefused(t *testing.T) {
	w, p := drafted(t)
	var d draft
	if err := json.Unmarshal(w.store.records[draftName(1)], &d); err != nil {
		t.Fatal(err)
	}
	for n := range lineage.MaxDispositions {
		more := d.Worked[1]
		more.Key, more.Guidance = fmt.Sprintf("tool.t%d", n), fmt.Sprintf("tool t%d, argument way: indexed", n)
		d.Worked = append(d.Worked, more)
	}
	w.store.records[draftName(1)], _ = json.Marshal(d)
	l, err := p.Rate(t.Context(), 1, lineage.Million)
	if err != nil || l.State != lives.Dissolved || l.Obligation.Why != refusedRules || len(keysOf(p)) > 0 {
		t.Errorf("%+v, %v", l, err)
	}
}

// A life that has a tombstone leaves nothing when it is judged, and no birth waits for it.
func TestAnExcisedLifeIsJudged(t *testing.T) {
	w, p := drafted(t)
	w.store.records[tombstoneName(p.open[1].ID)] = []byte(`{"excision":1}`)
	l, err := p.Rate(t.Context(), 1, lineage.Million)
	if err != nil || l.State != lives.Dissolved || l.Obligation.Status != lives.Declined || l.Obligation.Why != "excised" {
		t.Errorf("%+v, %v", l, err)
	}
	if err := p.Birth(t.Context()); err != nil || len(p.lineage.Members()) > 0 {
		t.Error(err, p.lineage.Members())
	}
}

// earlier is a lineage with a rule of an earlier form, which the program of then took in.
func earlier(t *testing.T, guidance string) (*world, *Projections, *lineage.Distillate) {
	t.Helper()
	w, p := endedWorld(t, 2)
	d := *memberOf(t, p, 2)
	d.Dispositions = slices.Clone(d.Dispositions)
	d.Dispositions[0].Guidance = guidance
	d.Life[15] ^= 1
	d.ID[15] ^= 1
	if err := d.Sign(p.key); err != nil {
		t.Fatal(err)
	}
	w.merges(p, &d)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return w, w.must(w.open()), &d
}

// A lineage with a rule of an earlier form opens, is carried, and is lived from; the rule is
// told to no model, and to whoever verifies, with the life, which can be excised.
func TestARuleOfAnEarlierForm(t *testing.T) {
	for _, guidance := range []string{"fare_search, max stops: 2", "tool fare_search, argument strategy: call +43 664 70 12 113"} {
		w, p, d := earlier(t, guidance)
		said, err := p.Guidance()
		if err != nil || !slices.Contains(said, guidance) {
			t.Errorf("%v, %v", said, err)
		}
		if _, err := Carry(nil, [][]Value{valuesIn(w.store)}, true, func(int64) bool { return false }, lives.Stamp{}); err != nil {
			t.Error(err)
		}
		if strings.Contains(p.Rules(), guidance[len(guidance)-6:]) {
			t.Errorf("a model is told of it: %s", p.Rules())
		}
		if _, err := live(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if err := w.end(p, lineage.Million); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Verify(t.Context()); err == nil || !strings.Contains(err.Error(), "jivad excise "+d.Life.String()) || strings.Contains(err.Error(), guidance) {
			t.Errorf("verified: %v", err)
		}
		if _, err := p.Excise(t.Context(), []lineage.ID{d.Life}, false, "a test", nil); err != nil {
			t.Fatal(err)
		}
		if n, err := p.Verify(t.Context()); n != 3 || err != nil {
			t.Error(n, err)
		}
	}
}

// A record under the name of another is not taken for what was kept.
func TestKeptIsHeldToItsDigest(t *testing.T) {
	w, p := endedWorld(t, 1)
	digest, other := p.lineage.Members()[0], lineage.Digest{1}
	data := w.store.records[prefixMember+digest.String()]
	if _, err := kept(prefixMember+digest.String(), data); err != nil {
		t.Error(err)
	}
	if _, err := kept(prefixMember+other.String(), data); err == nil {
		t.Error("it is another")
	}
}

// courses gives a world whose second life waits for its judgement, and a copy of it.
func courses(t *testing.T) (w, copied *world, second lineage.ID) {
	t.Helper()
	w, p := endedWorld(t, 1)
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	w.ends(p)
	if _, err := p.Distil(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	second = p.open[2].ID
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return w, w.copied(), second
}

// copied is the same device in another place.
func (w *world) copied() *world {
	w.t.Helper()
	out := *w
	out.store, out.dir = &memory{records: maps.Clone(w.store.records)}, w.t.TempDir()
	data, err := os.ReadFile(filepath.Join(w.dir, KeyFile))
	if err == nil {
		err = os.WriteFile(filepath.Join(out.dir, KeyFile), data, 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return &out
}

// goesOn lives a life more, and leaves it unjudged.
func (w *world) goesOn() {
	w.t.Helper()
	p := w.must(w.open())
	if _, err := live(w.t.Context(), p); err != nil {
		w.t.Fatal(err)
	}
	w.ends(p)
	if err := p.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// excises takes a life out.
func (w *world) excises(id lineage.ID) {
	w.t.Helper()
	p := w.must(w.open())
	if _, err := p.Excise(w.t.Context(), []lineage.ID{id}, false, "a test", nil); err != nil {
		w.t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// A life that was excised in the copy, and waits in the store whose course goes on, is
// excised with that too; and the tombstone of one of which nothing is there comes along (S-5).
func TestExcisedInTheCopyWaitsInTheStore(t *testing.T) {
	for _, how := range []string{"waits", "left nothing"} {
		t.Run(how, func(t *testing.T) {
			w, copied, second := courses(t)
			copied.excises(second)
			want := 1
			if how == "left nothing" {
				p := w.must(w.open())
				w.forgets(p, always, same)
				if err := p.Forgotten(t.Context(), always, same); err != nil {
					t.Fatal(err)
				}
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
				want = 0
			}
			w.goesOn()
			taken, err := Carry(valuesIn(copied.store), [][]Value{valuesIn(w.store)}, true, func(int64) bool { return true }, lives.Stamp{})
			if err != nil || taken.Excised != want {
				t.Fatalf("%+v, %v", taken, err)
			}
			if err := copied.store.Put(t.Context(), taken.Values...); err != nil {
				t.Fatal(err)
			}
			p := copied.must(copied.open())
			gone, owed, err := p.ToExcise()
			if err != nil || !owed || !slices.Equal(gone, []lineage.ID{second}) {
				t.Fatalf("%v %v %v", gone, owed, err)
			}
			if err := p.ExciseAgain(t.Context(), gone, "a test", func(*lineage.Lineage) ([]Value, error) { return nil, nil }); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Rate(t.Context(), 2, lineage.Million); err == nil || p.buried(second) == nil || len(p.lineage.OfLife(second)) > 0 {
				t.Error("it is judged", err, p.buried(second))
			}
			if _, err := p.Verify(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// Where the store itself cannot be read, and only a copy of it tells, a life that it holds as
// lived or not distilled ends there, since its trace is not here; what the store itself says holds.
func TestOnlyTheStoreKnowsHowItEnds(t *testing.T) {
	w, copied, _ := courses(t)
	w.goesOn() // life 3 is owed
	never := func(int64) bool { return false }
	for present, want := range map[bool]int{true: 0, false: 1} {
		taken, err := Carry(valuesIn(copied.store), [][]Value{valuesIn(w.store)}, present, never, lives.Stamp{})
		if err != nil || taken.Cut != want {
			t.Fatalf("the store is there %v: %+v, %v", present, taken, err)
		}
		after := copied.copied()
		if err := after.store.Put(t.Context(), taken.Values...); err != nil {
			t.Fatal(err)
		}
		l, err := lives.Decode(after.store.records[lifeName(3)])
		if err != nil || (l.State == lives.Dissolved && l.Obligation.Status == lives.Declined) == present {
			t.Errorf("the store is there %v: %+v, %v", present, l.Obligation, err)
		}
	}
}

// The note to a rating goes with a life that is excised before it is distilled.
func TestTheNoteIsExcised(t *testing.T) {
	w := newWorld(t)
	p := w.must(w.open())
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	const note = "she was so tired"
	if l, err := p.RateWith(t.Context(), 0, lineage.Million, note); err != nil || l.Note != note {
		t.Fatal(l.Note, err)
	}
	w.ends(p)
	if _, err := p.Excise(t.Context(), []lineage.ID{p.open[1].ID}, false, "a test", nil); err != nil {
		t.Fatal(err)
	}
	for name, data := range w.store.records {
		if strings.Contains(string(data), note) {
			t.Errorf("%s: %s", name, data)
		}
	}
}
