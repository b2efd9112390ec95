package lifecycle_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle"
)

// shaken judges an entry with a word of its own as strong as anything can be.
type shaken struct {
	lifecycle.Assessor
	word string
}

func (s shaken) Assess(ctx context.Context, e lifecycle.Experience) (fold.Judgement, error) {
	j, err := s.Assessor.Assess(ctx, e)
	if strings.Contains(e.Text, s.word) {
		one := 1.0
		j.Intensity, j.Emotion, j.Novelty, j.Match = 1, 1, &one, &one
	}
	return j, err
}

// In a real diary a strong entry that took up what was there before is missed more
// than chance would have it, and one that was picked without looking is not.
func TestGhostsOnDiaries(t *testing.T) {
	wantDiaries(t)
	list := readDiary(t, "dwordsworth_1798_1803", ".jsonl")[:300]
	// Three entries at a time make a day. With one or two a day few removals could be
	// compared: those that leave something of their day as well.
	for i := range list {
		list[i].Date = list[i-i%3].Date
	}
	const late = 297
	var before []string
	for _, n := range list[late-4 : late] {
		before = append(before, firstWords(n.Text, 60))
	}
	planted := lifecycle.Note{Text: "Zauberkugel. " + strings.Join(before, " "), Date: list[late].Date, Source: list[late].Source}
	list = slices.Insert(list, late, planted)
	w := realWorld(t)
	w.opts.Assessor = shaken{w.opts.Assessor, "Zauberkugel"}
	c := w.live(t)
	if _, err := c.Import(t.Context(), list, nil); err != nil {
		t.Fatal(err)
	}
	// With 20, one entry that matters as much among them would be one too many: whether it
	// is, is chance. With 100 there may be four.
	const draws = 100
	for _, ask := range []struct {
		of     string
		larger bool
	}{
		{idOf(t, c, "Zauberkugel", ""), true},
		{idOf(t, c, firstWords(list[150].Text, 12), list[150].Date), false},
	} {
		r, err := c.GhostsOf(t.Context(), lifecycle.GhostQuery{Of: ask.of, Baseline: draws}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range r.Measures {
			t.Logf("%s: %.4f, by chance %.4f, up to %.4f, p %.2f", m.Name, m.Value, m.Chance.Median, m.Chance.Upper, m.Chance.P)
		}
		t.Logf("%.1f s", r.Seconds)
		if r.Baseline.Removals != draws || r.Baseline.All {
			t.Errorf("compared with %+v", r.Baseline)
		}
		if m := measure(t, r, lifecycle.MeasureDepths); m.Chance.Larger != ask.larger {
			t.Errorf("%s: %+v %+v", ask.of, m, *m.Chance)
		}
	}
}

func firstWords(text string, n int) string {
	words := strings.Fields(text)
	return strings.Join(words[:min(len(words), n)], " ")
}
