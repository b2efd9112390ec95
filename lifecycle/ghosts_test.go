package lifecycle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle"
)

// feeling judges by words: a storm is as strong as anything can be.
type feeling struct{ plainJudge }

func (j feeling) Assess(ctx context.Context, e lifecycle.Experience) (fold.Judgement, error) {
	out, err := j.plainJudge.Assess(ctx, e)
	if strings.Contains(e.Text, "storm") {
		out.Intensity, out.Emotion = 1, 1
	}
	return out, err
}

var themes = [][]string{
	strings.Fields("river bridge water boat fishing bank reeds heron"),
	strings.Fields("bread oven flour dough kitchen table crust salt"),
	strings.Fields("letter ink paper stamp envelope post answer sister"),
	strings.Fields("garden roses spade soil seeds beans rain worms"),
	strings.Fields("office desk meeting report numbers clock colleague phone"),
}

// ghostly is a history of days with three entries each on one or other theme, and on
// one day, from 0, a storm over the river beside them.
func ghostly(seed uint64, days, storm int) []lifecycle.Note {
	r := rand.New(rand.NewPCG(seed, 11))
	var out []lifecycle.Note
	add := func(day int, text string) {
		out = append(out, lifecycle.Note{Text: text, Date: fmt.Sprintf("2024-%02d-%02d", 1+day/28, 1+day%28), Source: "test"})
	}
	for day := range days {
		for range 3 {
			theme := themes[r.IntN(len(themes))]
			words := make([]string, 6)
			for i, at := range r.Perm(len(theme))[:len(words)] {
				words[i] = theme[at]
			}
			add(day, strings.Join(words, " "))
		}
		if day == storm {
			add(day, "storm river bridge water boat fishing bank reeds heron")
		}
	}
	return out
}

func storyWorld(t testing.TB, days int) (*world, *lifecycle.Companion) {
	t.Helper()
	return stormyWorld(t, 7, days, 38)
}

func stormyWorld(t testing.TB, seed uint64, days, storm int) (*world, *lifecycle.Companion) {
	t.Helper()
	w := newWorld(t)
	w.opts.Assessor = feeling{}
	c := w.live(t)
	if _, err := c.Import(t.Context(), ghostly(seed, days, storm), nil); err != nil {
		t.Fatal(err)
	}
	return w, c
}

// idOf finds an entry by its words and, if not empty, its date.
func idOf(t testing.TB, c *lifecycle.Companion, words, date string) string {
	t.Helper()
	found, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: words, From: date, To: date, Limit: 1})
	if err != nil || len(found) == 0 {
		t.Fatalf("%q: %v", words, err)
	}
	return found[0].Impression.ID
}

func measure(t testing.TB, r lifecycle.Counterfactual, name string) lifecycle.GhostMeasure {
	t.Helper()
	i := slices.IndexFunc(r.Measures, func(m lifecycle.GhostMeasure) bool { return m.Name == name })
	if i < 0 || r.Measures[i].Chance == nil {
		t.Fatalf("there is no measure %s with chance: %+v", name, r.Measures)
	}
	return r.Measures[i]
}

// The report on a strong entry is whole, and asking changes nothing.
func TestGhostOfAStrongEntry(t *testing.T) {
	w, c := storyWorld(t, 40)
	before, doc := digestOf(t, c), soulText(t, c)
	last := lifecycle.Progress{}
	strong, err := c.GhostsOf(t.Context(), lifecycle.GhostQuery{Of: idOf(t, c, "storm river bridge", ""), Baseline: 20}, func(p lifecycle.Progress) {
		if p.Done < last.Done || p.Done > p.Total {
			t.Errorf("progress from %+v to %+v", last, p)
		}
		last = p
	})
	if err != nil {
		t.Fatal(err)
	}
	if last.Done != last.Total || last.Total == 0 {
		t.Errorf("it ended at %+v", last)
	}
	m := measure(t, strong, lifecycle.MeasureDepths)
	if !m.Chance.Larger || m.Value <= m.Chance.Upper {
		t.Errorf("the storm: %+v %+v", m, *m.Chance)
	}
	if strong.Kind != "entry" || len(strong.Entries) != 1 || !strings.HasPrefix(strong.Entries[0].Excerpt, "storm") || len(strong.Sessions) != 0 ||
		strong.Impressions != 120 || strong.Events != 120 || len(strong.Curves) != 6 || len(strong.Depths) != 12 ||
		strong.Baseline == nil || strong.Baseline.Removals != 20 || strong.Baseline.Sessions != 0 || len(strong.Measures) != 5 {
		strong.Curves = nil
		t.Errorf("the report: %+v", strong)
	}
	sum := 0.0
	for _, d := range strong.Depths {
		sum += math.Abs(d.With - d.Without)
	}
	if sum > m.Value+1e-12 || sum < m.Value/4 {
		t.Errorf("the twelve greatest changes are %v of %v", sum, m.Value)
	}
	for i, curve := range strong.Curves {
		n := len(curve.Session) - 1
		if n != 39 || curve.ID != strong.Depths[i].ID || *curve.With[n] != strong.Depths[i].With || *curve.Without[n] != strong.Depths[i].Without {
			t.Errorf("curve %d ends with %v and %v, want %+v", i, *curve.With[n], *curve.Without[n], strong.Depths[i])
		}
		for at, session := range curve.Session {
			a, b := curve.With[at], curve.Without[at]
			if (a == nil) != (b == nil) || session < 39 && a != nil && *a != *b {
				t.Errorf("curve %d differs in session %d, before there was a storm", i, session)
			}
		}
	}
	again, err := c.GhostsOf(t.Context(), lifecycle.GhostQuery{Of: strong.ID, Baseline: 20}, nil)
	again.Seconds, strong.Seconds = 0, 0
	if a, b := asJSON(t, strong), asJSON(t, again); err != nil || a != b {
		t.Errorf("asked again it says another thing: %v\n%s\n%s", err, a, b)
	}
	if digestOf(t, c) != before || soulText(t, c) != doc {
		t.Error("asking changed the companion")
	}
	w.end(t, c)
}

// In any life a strong entry of the last seven days is missed more than chance would
// have it. Of ordinary entries, picked blindly, no more are than chance allows.
//
// With 19 removals one ordinary entry in 20 lies above the band. Of 80 these are 4;
// 11 or more would be there in 1 of 500 such tests (binomial, 0.2 %). A band that
// ended at 80 % would have 16 there, and 10 or fewer in 6 of 100; one at the median 40.
func TestGhostsOfStrongAndOrdinaryEntries(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the plain run has it")
	}
	const days, worlds, picked, most = 40, 4, 20, 10
	larger := 0
	for world := range worlds {
		storm := days - 1 - 2*world
		w, c := stormyWorld(t, uint64(world+1), days, storm)
		strong := ""
		for _, id := range c.IDs() {
			if m, err := c.Show(t.Context(), id); err != nil {
				t.Fatal(err)
			} else if strings.HasPrefix(m.Text, "storm") {
				strong = id
			}
		}
		r, err := c.GhostsOf(t.Context(), lifecycle.GhostQuery{Of: strong, Baseline: 19}, nil)
		if err != nil {
			t.Fatal(err)
		}
		told := measure(t, r, lifecycle.MeasureDepths)
		if ch := told.Chance; !ch.Larger || told.Value <= ch.Upper || ch.Band < 0.95 || r.Baseline.Removals != 19 || r.Baseline.All {
			t.Errorf("the storm on day %d of %d: %v, %+v", storm, days, told.Value, *ch)
		}
		removals, err := c.Removals(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ask := func(id string) lifecycle.GhostMeasure {
			m, err := removals.DepthsOf(t.Context(), id, 19)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		if m := ask(strong); asJSON(t, m) != asJSON(t, told) {
			t.Fatalf("asked alone it is %s, not %s", asJSON(t, m), asJSON(t, told))
		}
		ordinary := slices.DeleteFunc(c.IDs(), func(id string) bool { return id == strong })
		blind := rand.New(rand.NewPCG(uint64(world), 5)).Perm(len(ordinary))
		for _, at := range blind[:picked] {
			if ask(ordinary[at]).Chance.Larger {
				larger++
			}
		}
		w.end(t, c)
	}
	t.Logf("%d of %d ordinary entries lie above the band", larger, worlds*picked)
	if larger > most {
		t.Errorf("%d of %d ordinary entries lie above a band of 95 %%", larger, worlds*picked)
	}
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A whole session would not have been: the sessions after it count one less.
func TestGhostOfASession(t *testing.T) {
	_, c := storyWorld(t, 12)
	r, err := c.GhostsOf(t.Context(), lifecycle.GhostQuery{Of: "5", Baseline: 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Kind != "session" || r.Name != "2024-01-05" || len(r.Entries) != 3 || !slices.Equal(r.Sessions, []int{5}) ||
		r.Baseline == nil || r.Baseline.Entries != 3 || r.Baseline.Sessions != 1 || r.Impressions != 33 {
		t.Errorf("%+v", r)
	}
	if i := slices.IndexFunc(r.Soul.Instead, func(s string) bool { return strings.HasSuffix(s, "of 33 entries in 11 sessions.") }); i < 0 {
		t.Errorf("SOUL.md would say %q", r.Soul.Instead)
	}
	for _, curve := range r.Curves {
		if with, without := curve.With[3], curve.Without[3]; with != nil && (*with != *without || *curve.Without[4] != *without) {
			t.Errorf("in a session that was not, the depth went from %v to %v", *without, *curve.Without[4])
		}
	}
	for _, bad := range []struct {
		of   string
		want error
		says string
	}{
		{"", lifecycle.ErrQuery, "at least 4 letters"},
		{"0", lifecycle.ErrQuery, "there are 12 sessions"},
		{"-5", lifecycle.ErrQuery, "there are 12 sessions"},
		{"005", lifecycle.ErrQuery, "at least 4 letters"}, // how an id may begin, not session 5
		{"abc", lifecycle.ErrQuery, "at least 4 letters"},
		{"13", lifecycle.ErrNotFound, "session 13: not found; there are 12 sessions"},
		{"99", lifecycle.ErrNotFound, "session 99: not found; there are 12 sessions"},
		{"2019", lifecycle.ErrNotFound, "there are 12 sessions"},
		{"ffffffff", lifecycle.ErrNotFound, "how an id begins or ends"},
		{"018c", lifecycle.ErrAmbiguous, "fits 36 entries; give more of it, or the end of the id"},
	} {
		if _, err := c.GhostsOf(t.Context(), lifecycle.GhostQuery{Of: bad.of}, nil); !errors.Is(err, bad.want) || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("%q: %v, want %v that says %q", bad.of, err, bad.want, bad.says)
		}
	}
	for _, n := range []int{-1, 1001} {
		if _, err := c.GhostsOf(t.Context(), lifecycle.GhostQuery{Of: "5", Baseline: n}, nil); !errors.Is(err, lifecycle.ErrQuery) {
			t.Errorf("%d removals: %v", n, err)
		}
	}
	alone, err := c.GhostsOf(t.Context(), lifecycle.GhostQuery{Of: "5"}, nil)
	if err != nil || alone.Baseline != nil || alone.Measures[0].Chance != nil || len(alone.Notes) != 0 {
		t.Errorf("without a baseline: %+v, %v", alone, err)
	}
}

// In a small store there are few other removals: each is taken once, the rank among
// them is exact, and no effect is called larger than chance.
func TestGhostAmongFew(t *testing.T) {
	w := newWorld(t)
	w.opts.Assessor = feeling{}
	c := w.live(t)
	notes := ghostly(3, 3, 1)[:8]
	for i := range notes {
		notes[i].Date = "2024-01-01" // one session, which no removal empties
	}
	if _, err := c.Import(t.Context(), notes, nil); err != nil {
		t.Fatal(err)
	}
	ids := c.IDs()
	all := map[string]float64{}
	for _, id := range ids {
		r, err := c.GhostsOf(t.Context(), lifecycle.GhostQuery{Of: id}, nil)
		if err != nil {
			t.Fatal(err)
		}
		all[id] = r.Measures[0].Value
	}
	beyond := 0
	for _, id := range ids {
		last := lifecycle.Progress{}
		r, err := c.GhostsOf(t.Context(), lifecycle.GhostQuery{Of: id, Baseline: 20}, func(p lifecycle.Progress) { last = p })
		if err != nil {
			t.Fatal(err)
		}
		if r.Baseline == nil || r.Baseline.Removals != 7 || !r.Baseline.All || last.Done != last.Total {
			t.Fatalf("compared with %+v", r.Baseline)
		}
		as, most := 0, 0.0
		for other, value := range all {
			if value >= all[id] {
				as++
			}
			if other != id {
				most = max(most, value)
			}
		}
		m := measure(t, r, lifecycle.MeasureDepths)
		if ch := m.Chance; m.Value != all[id] || ch.P != float64(as)/8 || ch.Upper != most || ch.Band != 0.875 || ch.Larger || ch.Beyond != (m.Value > most) {
			t.Errorf("%v of %v: %+v", m.Value, all, *ch)
		}
		if m.Chance.Beyond {
			beyond++
		}
	}
	if beyond != 1 {
		t.Errorf("%d of 8 are the greatest", beyond)
	}
	w.end(t, c)
}

// Everything that there is can be thought away, the last session too.
func TestGhostOfTheLastAndOfAll(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	if r, err := c.Ghosts(t.Context()); err != nil || len(r.Tendencies)+len(r.Impressions) > 0 {
		t.Fatalf("of nothing: %+v, %v", r, err)
	}
	w.write(t, c, "the only entry")
	for _, open := range []bool{true, false} {
		r, err := c.GhostsOf(t.Context(), lifecycle.GhostQuery{Of: "1", Baseline: 5}, nil)
		if err != nil || r.Impressions != 0 || len(r.Notes) != 1 || r.Soul == nil || len(r.Soul.Instead) == 0 {
			t.Fatalf("of all there is, session open %v: %+v, %v", open, r, err)
		}
		if open {
			if _, err := c.EndSession(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.clock.set(at("2026-03-11 08:00"))
	w.write(t, c, "another entry")
	r, err := c.GhostsOf(t.Context(), lifecycle.GhostQuery{Of: "2", Baseline: 5}, nil)
	if err != nil || r.Impressions != 1 || !slices.Equal(r.Sessions, []int{2}) {
		t.Fatalf("of the open session: %+v, %v", r, err)
	}
}

var tableNumber = regexp.MustCompile(`(?m)^\| \d+ \| `)

// The portrait of what is, made as those of what would be are made, is SOUL.md.
func TestPortraitIsSoul(t *testing.T) {
	_, c := storyWorld(t, 40)
	_, body, _ := strings.Cut(tableNumber.ReplaceAllString(soulText(t, c), "| "), "\n---\n")
	var want []string
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); line != "" {
			want = append(want, line)
		}
	}
	got, err := c.Portrait(t.Context())
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v\n%s\nis not\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Under chance alone a measure lies above the band as often as the band says.
func TestChance(t *testing.T) {
	for _, c := range []struct {
		value    float64
		removals []float64
		want     lifecycle.Chance
	}{
		{3, []float64{1}, lifecycle.Chance{Least: 1, Median: 1, Upper: 1, Band: 0.5, P: 0.5, Beyond: true}},
		{9, []float64{1, 2, 3, 4, 5, 6, 7}, lifecycle.Chance{Least: 1, Median: 4, Upper: 7, Band: 0.875, P: 0.125, Beyond: true}},
		{6.5, []float64{1, 2, 3, 4, 5, 6, 7}, lifecycle.Chance{Least: 1, Median: 4, Upper: 7, Band: 0.875, P: 0.25}},
		{2, []float64{2, 1, 4, 3}, lifecycle.Chance{Least: 1, Median: 2.5, Upper: 4, Band: 0.8, P: 0.8}},
		{0, []float64{0, 0}, lifecycle.Chance{Band: 2.0 / 3, P: 1}},
	} {
		if got := lifecycle.ChanceOf(c.value, c.removals); *got != c.want {
			t.Errorf("%v of %v: %+v, want %+v", c.value, c.removals, *got, c.want)
		}
	}
	if lifecycle.ChanceOf(1, nil) != nil {
		t.Error("chance of nothing")
	}
	for n, rank := range map[int]int{18: 18, 19: 19, 20: 20, 38: 38, 39: 38, 40: 39, 99: 95, 1000: 951} {
		var x []float64
		for i := range n {
			x = append(x, float64(i+1))
		}
		c := lifecycle.ChanceOf(0.5, x)
		if c.Upper != float64(rank) || c.Band != float64(rank)/float64(n+1) || n >= 19 && c.Band < 0.95 {
			t.Errorf("%d removals: up to %v, band %v", n, c.Upper, c.Band)
		}
		if c := lifecycle.ChanceOf(5000, x); !c.Beyond || c.Larger != (n >= 19) || c.Wide() != (n >= 19) {
			t.Errorf("%d removals: %+v", n, *c)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Float64Range(0, 10), 2, 60).Draw(t, "measures")
		// Each in turn is the examined one: how many lie above the others' band?
		above := 0
		for i := range all {
			rest := slices.Delete(slices.Clone(all), i, i+1)
			c := lifecycle.ChanceOf(all[i], rest)
			if c.Beyond {
				above++
			}
			if c.Least > c.Median || c.Median > c.Upper || c.P <= 0 || c.P > 1 {
				t.Fatalf("%+v", *c)
			}
		}
		if c := lifecycle.ChanceOf(0, all[1:]); float64(above) > (1-c.Band)*float64(len(all))+1e-9 {
			t.Fatalf("%d of %d lie above a band of %v", above, len(all), c.Band)
		}
	})
}

// Entries come in while somebody asks, and somebody who gives up is let go.
func TestGhostsAreInNobodysWay(t *testing.T) {
	w, c := storyWorld(t, 12)
	ctx, cancel := context.WithCancel(t.Context())
	wrote := 0
	r, err := c.GhostsOf(ctx, lifecycle.GhostQuery{Of: "5", Baseline: 3}, func(p lifecycle.Progress) {
		if wrote < 3 && p.Done > p.Total/(4-wrote) {
			w.write(t, c, fmt.Sprintf("written meanwhile %c", 'a'+wrote))
			wrote++
		}
	})
	if err != nil || wrote != 3 || r.Impressions != 33 {
		t.Errorf("%d written: %+v, %v", wrote, r, err)
	}
	_, err = c.GhostsOf(ctx, lifecycle.GhostQuery{Of: "5", Baseline: 3}, func(p lifecycle.Progress) {
		if p.Done > p.Total/2 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}
