package projection

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/lifecycle/tools"
	"github.com/jivad/jivad/soul/lineage"
)

// A life that is judged while an excision is prepared is not lost by it: nothing is changed,
// and asked again it goes (S-3).
func TestALifeIsJudgedWhileAnotherIsExcised(t *testing.T) {
	w, p := endedWorld(t, 1)
	if _, err := live(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	w.ends(p)
	if _, err := p.Distil(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	first, _ := p.LifeOf("1")
	var before map[string][]byte
	_, err := p.Excise(t.Context(), []lineage.ID{first}, false, "a test", func(*lineage.Lineage) ([]Value, error) {
		_, err := p.Rate(t.Context(), 2, lineage.Million)
		before = maps.Clone(w.store.records)
		return nil, err
	})
	if !errors.Is(err, lineage.ErrChain) || !maps.EqualFunc(before, w.store.records, bytes.Equal) {
		t.Fatalf("%v", err)
	}
	if n, err := p.Verify(t.Context()); n != 2 || err != nil {
		t.Error(n, err)
	}
	if _, err := p.Excise(t.Context(), []lineage.ID{first}, false, "a test", nil); err != nil {
		t.Fatal(err)
	}
	if n, err := p.Verify(t.Context()); n != 1 || err != nil {
		t.Error(n, err)
	}
}

// A life that is lived does not go on with rules that were excised (S-5).
func TestALifeLosesRulesThatAreExcised(t *testing.T) {
	_, p := endedWorld(t, 1)
	if err := p.Birth(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(p.Rules(), "prefer indexed") {
		t.Fatalf("%q", p.Rules())
	}
	first, _ := p.LifeOf("1")
	if _, err := p.Excise(t.Context(), []lineage.ID{first}, false, "a test", nil); err != nil {
		t.Fatal(err)
	}
	if p.Rules() != "" {
		t.Errorf("%q", p.Rules())
	}
}

// A journal that is full ends the life, and from then on nothing more is done in it: of that
// nothing could be written down (J-3).
func TestAFullJournalEndsALife(t *testing.T) {
	w := newWorld(t)
	p := w.must(w.open())
	if err := p.makeFolder(); err != nil {
		t.Fatal(err)
	}
	const length = 1 << 20
	line, err := json.Marshal(distil.Act{Kind: distil.Seen, Text: strings.Repeat("x", length)})
	if err != nil {
		t.Fatal(err)
	}
	line = append(line, '\n')
	full := bytes.Repeat(line, distil.MaxJournal/len(line))
	rest, _ := json.Marshal(distil.Act{Kind: distil.Seen, Text: strings.Repeat("x", distil.MaxJournal-len(full)-len(line)+length-10)})
	if err := os.WriteFile(p.journalPath(1), append(append(full, rest...), '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.Birth(t.Context()); err != nil {
		t.Fatal(err)
	}
	out, err := p.Act(t.Context(), call("fare_search", "indexed"))
	if err != nil || !out.OK {
		t.Fatalf("%+v, %v", out, err)
	}
	if reason := p.Over(false); reason != lives.ByFull {
		t.Errorf("%q", reason)
	}
	out, err = p.Act(t.Context(), call("fare_search", "indexed"))
	if err != nil || !slices.Equal(out.Refused, []tools.Code{Over}) || !strings.Contains(out.Text, "no room") {
		t.Errorf("%+v, %v", out, err)
	}
	if l, _ := p.Living(); l.Spent.Acts != 1 {
		t.Errorf("%+v", l.Spent)
	}
	w.ends(p)
	if l, err := p.Life(1); err != nil || l.Reason != lives.ByFull {
		t.Errorf("%+v, %v", l, err)
	}
}

// An act that ends after its life is noted nowhere, and the life stays ended (J-4).
func TestAnActThatEndsAfterItsLife(t *testing.T) {
	w := newWorld(t)
	pipe := filepath.Join(w.dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	w.text = strings.Replace(fareManifest, `"/bin/echo", "direct", "nested", "indexed", "mirrored"`, fmt.Sprintf(`"/bin/cat", %q`, pipe), 1)
	p := w.must(w.open())
	if err := p.Birth(t.Context()); err != nil {
		t.Fatal(err)
	}
	acted := make(chan error, 1)
	go func() {
		out, err := p.Act(context.Background(), call("list_strategies", ""))
		if !out.OK {
			t.Errorf("%+v", out)
		}
		acted <- err
	}()
	end, err := os.OpenFile(pipe, os.O_WRONLY, 0) // opens once the tool reads
	if err != nil {
		t.Fatal(err)
	}
	w.ends(p)
	before := maps.Clone(w.store.records)
	if err := end.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-acted; err != nil {
		t.Error(err)
	}
	if !maps.EqualFunc(before, w.store.records, bytes.Equal) {
		t.Error("something was written")
	}
	if data, err := os.ReadFile(p.journalPath(1)); err != nil || len(data) > 0 {
		t.Errorf("%s, %v", data, err)
	}
	if l, err := p.Life(1); err != nil || l.State != lives.Withdrawn || len(p.ended.trace.Acts) > 0 {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := p.Distil(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// Of two courses that both went on the store's holds, and what was excised in the copy alone
// goes from it, too, at the next start (S-5).
func TestExcisedInTheOtherCourse(t *testing.T) {
	w, p := endedWorld(t, 2)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	copied := *w
	copied.store = &memory{records: maps.Clone(w.store.records)}
	courses := map[*world]*Projections{}
	for _, of := range []*world{w, &copied} {
		p := of.must(of.open())
		if _, err := live(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if err := of.end(p, lineage.Million); err != nil {
			t.Fatal(err)
		}
		courses[of] = p
	}
	second, _ := courses[w].LifeOf("2")
	if _, err := courses[&copied].Excise(t.Context(), []lineage.ID{second}, false, "a test", nil); err != nil {
		t.Fatal(err)
	}
	taken, err := Carry(valuesIn(copied.store), [][]Value{valuesIn(w.store)}, true, func(int64) bool { return false }, lives.Stamp{})
	if err != nil || taken.Excised != 1 {
		t.Fatalf("%+v, %v", taken, err)
	}
	if err := copied.store.Put(t.Context(), taken.Values...); err != nil {
		t.Fatal(err)
	}
	p = copied.must(copied.open())
	gone, owed, err := p.ToExcise()
	if err != nil || !owed || !slices.Equal(gone, []lineage.ID{second}) {
		t.Fatalf("%v %v %v", gone, owed, err)
	}
	if err := p.ExciseAgain(t.Context(), gone, "a test", func(*lineage.Lineage) ([]Value, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	if len(p.lineage.OfLife(second)) > 0 || p.buried(second) == nil {
		t.Error("it is there")
	}
	if n, err := p.Verify(t.Context()); n != 2 || err != nil {
		t.Error(n, err)
	}
}

func valuesIn(m *memory) (out []Value) {
	for _, name := range slices.Sorted(maps.Keys(m.records)) {
		out = append(out, Value{name, m.records[name]})
	}
	return out
}
