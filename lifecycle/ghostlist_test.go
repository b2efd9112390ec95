package lifecycle_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle"
)

// What nobody touches fades: a tendency first becomes a ghost, by its name and its
// members, and can be asked about; so does a single deep impression.
func TestGhostsAreListed(t *testing.T) {
	w := newWorld(t)
	w.opts.Params = fold.DefaultParams()
	w.opts.Params.Reactivation.Lambda = 3 // it fades quickly
	c := w.live(t)
	var notes []lifecycle.Note
	add := func(day int, text string) {
		notes = append(notes, lifecycle.Note{Text: text, Date: fmt.Sprintf("2024-%02d-%02d", 1+day/28, 1+day%28), Source: "test"})
	}
	for i := range 4 {
		add(0, fmt.Sprintf("harbour lantern sails captain %d", i))
		add(1, fmt.Sprintf("river bridge water boat fishing %d", i))
	}
	for day := 2; day < 30; day++ {
		for i := range 2 {
			add(day, fmt.Sprintf("river bridge water boat fishing %c%c", 'a'+day%26, 'a'+i))
		}
	}
	if _, err := c.Import(t.Context(), notes, nil); err != nil {
		t.Fatal(err)
	}
	r, err := c.Ghosts(t.Context())
	if err != nil || len(r.Tendencies) == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	g := r.Tendencies[0] // the strongest once
	if len(g.Members) != 4 || !strings.Contains(g.Name, "harbour") || g.Deepest >= r.Floor || g.Influence > g.Peak || g.FirstSession != 1 || g.FoundIn != 30 {
		t.Errorf("%+v", g)
	}
	for _, m := range r.Impressions {
		if m.Peak < r.Strong || m.Depth >= r.Floor || m.Text != "" {
			t.Errorf("%+v is no ghost", m)
		}
	}
	for _, g := range r.Tendencies {
		if g.Deepest >= r.Floor || len(g.Members) < 3 {
			t.Errorf("%+v is no ghost", g)
		}
	}
	trend, err := c.Trend(t.Context(), 0)
	if err != nil || trend[29].Ghosts != len(r.Tendencies) || trend[1].Ghosts != 0 {
		t.Errorf("the trend counts %d, then %d ghosts: %v", trend[1].Ghosts, trend[29].Ghosts, err)
	}
	for _, of := range []string{g.ID, strings.TrimPrefix(g.ID, "v-"), "harbour"} {
		q, err := c.GhostsOf(t.Context(), lifecycle.GhostQuery{Of: of, Baseline: 2}, nil)
		if err != nil || q.Kind != "tendency" || q.ID != g.ID || q.Name != g.Name || len(q.Entries) != 4 {
			t.Errorf("%s: %+v, %v", of, q, err)
		}
	}

	// One that no session finds any more is listed by what is kept of it, unless it
	// is mostly the same.
	show := func(text, date string) [16]byte {
		var id [16]byte
		hex := strings.ReplaceAll(idOf(t, c, text, date), "-", "")
		if _, err := fmt.Sscanf(hex, "%32x", (*hexID)(&id)); err != nil {
			t.Fatal(err)
		}
		return id
	}
	lanterns := [][16]byte{show("harbour lantern sails captain 0", ""), show("harbour lantern sails captain 1", ""), show("harbour lantern sails captain 2", "")}
	living := show("river bridge", "2024-02-02")
	for id, members := range map[string][][16]byte{"v-aaaaaa": lanterns, "v-bbbbbb": {lanterns[0], living}, "v-cccccc": {{1}, {2}}} {
		if err := c.Vanish(t.Context(), id, 3, members...); err != nil {
			t.Fatal(err)
		}
	}
	if again, err := c.Ghosts(t.Context()); err != nil || asJSON(t, again) != asJSON(t, r) {
		t.Errorf("%+v, %v", again, err)
	}
	if err := c.Vanish(t.Context(), "v-dddddd", 3, show("river bridge", "2024-01-06"), show("river bridge", "2024-01-07")); err != nil {
		t.Fatal(err)
	}
	if again, err := c.Ghosts(t.Context()); err != nil || len(again.Tendencies) != len(r.Tendencies)+1 || again.Tendencies[0].ID != "v-dddddd" || again.Tendencies[0].Name == "" {
		t.Errorf("%+v, %v", again, err)
	}
	q, err := c.GhostsOf(t.Context(), lifecycle.GhostQuery{Of: "v-bbbbbb"}, nil)
	if err != nil || len(q.Entries) != 2 {
		t.Errorf("one that is no more: %+v, %v", q, err)
	}
	if _, err := c.GhostsOf(t.Context(), lifecycle.GhostQuery{Of: "v-cccccc"}, nil); !errors.Is(err, lifecycle.ErrNotFound) {
		t.Errorf("one of which nothing is left: %v", err)
	}
}

// hexID scans sixteen bytes.
type hexID [16]byte

// Scan implements fmt.Scanner.
func (h *hexID) Scan(s fmt.ScanState, _ rune) error {
	for i := range h {
		var pair [2]byte
		for k := range pair {
			r, _, err := s.ReadRune()
			if err != nil {
				return err
			}
			pair[k] = byte(strings.IndexRune("0123456789abcdef", r))
		}
		h[i] = pair[0]<<4 | pair[1]
	}
	return nil
}

// A tendency that the sessions stop finding is kept, by the ids of its members and
// without a word of theirs.
func TestVanishedTendenciesAreKept(t *testing.T) {
	w, c := storyWorld(t, 60)
	values, err := c.Seen()
	if err != nil {
		t.Fatal(err)
	}
	if len(values) == 0 {
		t.Fatal("no tendency vanished in sixty days; the test needs another history")
	}
	found, err := c.Vasanas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		if slices.ContainsFunc(found, func(f lifecycle.Tendency) bool { return strings.HasSuffix(v.Name, f.ID) }) {
			t.Errorf("%s is kept apart and found", v.Name)
		}
		for _, theme := range themes {
			for _, word := range theme {
				if strings.Contains(string(v.Data), word) {
					t.Errorf("%s holds the word %q", v.Name, word)
				}
			}
		}
	}
	w.end(t, c)
}

// What is kept of a tendency forgets with the rest.
func TestSeenForgets(t *testing.T) {
	a, b, gone := fold.ID{1}, fold.ID{2}, fold.ID{3}
	x := chitta.Excised{Events: []chitta.ExcisedEvent{{ID: gone}}, Sessions: []uint32{4}, Renumbered: map[uint32]uint32{5: 4, 6: 5}}
	members := func(ids ...fold.ID) []byte {
		var out []byte
		for _, id := range ids {
			out = append(out, id[:]...)
		}
		return out
	}
	value := func(first, found int, ids ...fold.ID) chitta.Value {
		data, err := json.Marshal(map[string]any{"members": members(ids...), "peak": map[string]any{"influence": 0.5, "depth": 0.3}, "first_session": first, "found_in": found})
		if err != nil {
			t.Fatal(err)
		}
		return chitta.Value{Name: "vasanas/seen/v-1", Data: data}
	}
	type record struct {
		Members      []byte
		Peak         struct{ Influence, Depth float64 }
		FirstSession int `json:"first_session"`
		FoundIn      int `json:"found_in"`
	}
	for name, c := range map[string]struct {
		before      chitta.Value
		kept        bool
		first, last int
		members     []byte
	}{
		"one of three is gone":     {value(2, 6, a, gone, b), true, 2, 5, members(a, b)},
		"the session it ended in":  {value(4, 4, a), true, 3, 3, members(a)},
		"nothing of it is left":    {value(2, 6, gone), false, 0, 0, nil},
		"nothing of it is touched": {value(1, 3, a, b), true, 1, 3, members(a, b)},
	} {
		v, kept, err := lifecycle.SeenWithout(c.before, x)
		if err != nil || kept != c.kept {
			t.Errorf("%s: kept %v, %v", name, kept, err)
			continue
		}
		var r record
		if err := json.Unmarshal(v.Data, &r); kept && (err != nil || r.FirstSession != c.first || r.FoundIn != c.last || r.Peak.Influence != 0.5 || r.Peak.Depth != 0.3 || !slices.Equal(r.Members, c.members)) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	other := chitta.Value{Name: "session/00000001", Data: []byte("x")}
	if v, kept, err := lifecycle.SeenWithout(other, x); err != nil || !kept || v.Name != other.Name || string(v.Data) != "x" {
		t.Errorf("another value: %v %v %v", v, kept, err)
	}
}
