package claims

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/gate/evidence"
)

// drawEvents is any course of up to ten claims, legal or not.
func drawEvents(t *rapid.T) []Event {
	id := func(n int) string { return fmt.Sprintf("c%06d", n) }
	n := rapid.IntRange(1, 40).Draw(t, "events")
	var out []Event
	made := 0
	for i := range n {
		e := Event{Form: Form, At: evidence.Moment{Unix: noon + int64(i), Trusted: rapid.Bool().Draw(t, "trusted")}, By: "person", Expires: noon + int64(rapid.IntRange(0, 50).Draw(t, "expires"))}
		if rapid.IntRange(0, 3).Draw(t, "from") == 0 {
			e.From = fmt.Sprintf("entry-%d", rapid.IntRange(0, 3).Draw(t, "entry"))
		}
		if made == 0 || made < 10 && rapid.IntRange(0, 3).Draw(t, "new") == 0 {
			e.Kind, e.Claim = Asserted, id(made)
			e.Category = rapid.SampledFrom([]string{"", "health", "operational"}).Draw(t, "category")
			e.Asserted = &evidence.Claim{ID: e.Claim, Class: rapid.SampledFrom([]evidence.Class{evidence.Reported, evidence.Inferred}).Draw(t, "class"), Text: fmt.Sprintf("secret text %d.", made), Subject: "s", Agent: "a", Consequence: evidence.Low, Expires: e.Expires, Provenance: evidence.Provenance{Source: "s", Primary: "sensor:0", Reasoning: "r"}}
			for r := range rapid.IntRange(0, 2).Draw(t, "roots") {
				e.Asserted.Roots = append(e.Asserted.Roots, evidence.Root{ID: fmt.Sprintf("sensor:%d", r), Type: evidence.Instrument, Observed: e.At.Unix})
			}
			if made > 0 && rapid.Bool().Draw(t, "follows") {
				e.Asserted.Previous = []string{id(rapid.IntRange(0, made-1).Draw(t, "previous"))}
			}
			made++
			out = append(out, e)
			continue
		}
		e.Claim, e.Other = id(rapid.IntRange(0, made-1).Draw(t, "claim")), id(rapid.IntRange(0, made-1).Draw(t, "other"))
		e.Kind = rapid.SampledFrom(kinds[1:]).Draw(t, "kind")
		e.Decision = rapid.SampledFrom(evidence.Triggers()).Draw(t, "decision")
		if e.Kind == Dropped {
			e.Claim, e.Other = "", ""
		}
		if slices.Contains([]Kind{Evidence, Located, Withdrawn, Renewed}, e.Kind) {
			e.Root = &evidence.Root{ID: fmt.Sprintf("sensor:%d", rapid.IntRange(0, 3).Draw(t, "root")), Type: rapid.SampledFrom(evidence.RootTypes()).Draw(t, "type"), Observed: e.At.Unix}
			e.Text = e.Root.ID
		}
		e.Needed, e.Reasoning = 1, "since"
		out = append(out, e)
	}
	return out
}

func kept(t interface{ Fatal(...any) }, events []Event) []Value {
	var out []Value
	for i, e := range events {
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, Value{nameOf(uint64(i + 1)), data})
	}
	return append(out, Value{"another/record", []byte("stays")})
}

func folded(t *rapid.T, values []Value) *State {
	m := newMemory()
	for _, v := range values {
		m.values[v.Name] = v.Data
	}
	s, err := fold(t.Context(), m, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What is taken out has never been: the fold of what is left is the fold of the events of
// all others, no byte of it is left, and what follows from it goes too.
func TestWithoutIsAsIfItHadNeverBeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := drawEvents(t)
		g := Goes{From: map[string]bool{}, Claims: map[string]bool{}}
		for i := range 4 {
			if rapid.IntRange(0, 2).Draw(t, "goes") == 0 {
				g.From[fmt.Sprintf("entry-%d", i)] = true
			}
		}
		if rapid.Bool().Draw(t, "health goes") {
			g.Category = func(name string) bool { return name == "health" }
		}
		if rapid.Bool().Draw(t, "one goes") {
			g.Claims["c000001"] = true
		}
		left, gone, err := Without(kept(t, events), g)
		if err != nil {
			t.Fatal(err)
		}

		// The same, said in other words: first which claims go, until none is added.
		away := map[string]bool{}
		for range events {
			for _, e := range events {
				if a := e.Asserted; a != nil && (g.Claims[a.ID] || g.From[e.From] || g.Category != nil && e.Category == "health" || slices.ContainsFunc(a.Previous, func(id string) bool { return away[id] })) {
					away[a.ID] = true
				}
			}
		}
		want := NewState()
		dropped, doubted := 0, 0
		seen := map[string]bool{} // the sources that were ever added by what stays
		for _, e := range events {
			if away[e.Claim] || away[e.Other] || g.From[e.From] {
				continue
			}
			for _, r := range e.roots() {
				seen[e.Claim+" "+r.ID] = true
			}
		}
		for i, e := range events {
			e.Seq = uint64(i + 1)
			replaced := e.Kind == Superseded || e.Kind == Reviewed && e.Decision == evidence.Replaced
			switch {
			case away[e.Claim] || g.From[e.From] || away[e.Other] && !replaced || e.Kind == Withdrawn && !seen[e.Claim+" "+e.Root.ID]:
				dropped++
				continue
			case away[e.Other]: // what took its place is gone: it is doubted, and not believed again
				doubted++
				e = Event{Seq: e.Seq, Form: Form, Kind: Doubted, Claim: e.Claim, At: e.At, By: e.By}
			}
			Step(want, e)
		}
		got := folded(t, left)
		if !reflect.DeepEqual(got, want) || gone.Claims != len(away) || gone.Events != dropped+doubted || len(left) != len(events)-dropped+1 {
			t.Fatalf("%+v\n%+v\n%+v", gone, got, want)
		}
		for _, v := range left {
			for id := range away {
				if text := "secret text " + strings.TrimLeft(id[1:6], "0") + id[6:] + "."; bytes.Contains(v.Data, []byte(text)) || bytes.Contains(v.Data, []byte(id)) {
					t.Fatalf("%s is left in %s", id, v.Data)
				}
			}
		}
	})
}

// Whatever happens to claims: a class changes along the edges alone, nothing that is verified
// lacks sources, and every state is read back as it was.
func TestFoldKeepsTheTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := drawEvents(t)
		s := NewState()
		for i, e := range events {
			e.Seq = uint64(i + 1)
			before := evidence.Class("")
			if k, ok := s.Claim(e.Claim); ok {
				before = k.Class
			}
			Step(s, e)
			k, ok := s.Claim(e.Claim)
			if !ok {
				continue
			}
			moved := slices.ContainsFunc(evidence.Edges(), func(edge evidence.Edge) bool { return edge.From == before && edge.To == k.Class })
			if before != "" && k.Class != before && !moved {
				t.Fatalf("%s became %s by %s", before, k.Class, e.Kind)
			}
			if before == evidence.Reported && k.Class == evidence.Verified {
				t.Fatal("a report was verified in one step")
			}
			if k.Class == evidence.Verified && k.Promotion == nil || k.Class != evidence.Verified && k.Promotion != nil {
				t.Fatalf("%+v", k)
			}
			if before == evidence.Rejected && k.Class != before && e.Decision != evidence.Reopened {
				t.Fatalf("a rejected claim came back by %s %s", e.Kind, e.Decision)
			}
			if before == evidence.Quarantined && k.Class != before && e.Kind != Reviewed {
				t.Fatalf("out of quarantine by %s", e.Kind)
			}
			if err := k.Check(); err != nil {
				t.Fatal(err)
			}
			for _, id := range s.order { // what rests on what fell has fallen
				one := s.claims[id]
				for _, p := range one.Previous {
					if on := s.standing(p); one.Class.Current() && !on.Class.Current() && !slices.Contains(one.past, p) {
						t.Fatalf("%s is %s and follows from %s, which is %s", id, one.Class, p, on.Class)
					}
				}
			}
		}
		if got := folded(t, kept(t, events)); !reflect.DeepEqual(got, s) {
			t.Fatal("what is read back is another state")
		}
	})
}

// A record that is no event is told, and nothing is folded past it.
func TestDamagedEvents(t *testing.T) {
	good := kept(t, []Event{{Form: Form, Kind: Asserted, Claim: "c1", Asserted: &evidence.Claim{ID: "c1", Class: evidence.Reported, Text: "t", Subject: "s", Consequence: evidence.Low}}})[0]
	for _, bad := range []string{
		"", "{}", "null", "[]", string(good.Data) + "x", strings.Replace(string(good.Data), "REPORTED", "VERIFIED", 1), strings.Replace(string(good.Data), `"form":"jivad/claim-event/1"`, `"form":"jivad/claim-event/2"`, 1),
		strings.Replace(string(good.Data), `"kind":"asserted"`, `"kind":"believed"`, 1), strings.Replace(string(good.Data), `"by":`, `"bye":`, 1), strings.Replace(string(good.Data), `"id":"c1"`, `"id":"c2"`, 1),
	} {
		m := newMemory()
		m.values[good.Name] = []byte(bad)
		if _, err := fold(t.Context(), m, nil); err == nil {
			t.Errorf("%q was taken for an event", bad)
		}
		if _, _, err := Without([]Value{{good.Name, []byte(bad)}}, Goes{}); err == nil {
			t.Errorf("%q was rewritten", bad)
		}
	}
	for _, name := range []string{Prefix + "1", Prefix + "x", Prefix} {
		m := newMemory()
		m.values[name] = good.Data
		if _, err := fold(t.Context(), m, nil); err == nil {
			t.Errorf("a record under %q was taken for an event", name)
		}
	}
}
