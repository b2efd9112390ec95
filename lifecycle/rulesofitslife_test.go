package lifecycle_test

import (
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle/lives"
)

// An answer with which the next life begins, since another model thinks in the one that is
// lived, or since that is over, has the rules that the next one was born with.
func TestAnAnswerHasTheRulesOfItsLife(t *testing.T) {
	const rule = "argument way: prefer zigzagwise"
	for name, c := range map[string]struct {
		ends func(*world, *scripted)
		why  string
	}{
		"another model": {func(_ *world, m *scripted) { m.is("", digestB) }, lives.ByMind},
		"another day":   {func(w *world, _ *scripted) { w.clock.set(at("2026-03-11 08:00")) }, lives.ByDay},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			m := &scripted{wise: wise{digest: digestA}}
			w.opts.Model = m
			companion := w.lived(t)
			asked(t, companion, "Where is it?")
			if _, err := companion.Rate(t.Context(), 0, 1); err != nil || strings.Contains(m.asked[0].Content, rule) {
				t.Fatal(err, m.asked[0].Content)
			}
			c.ends(w, m)
			asked(t, companion, "And the other one?")
			if all := livesOf(t, companion); len(all) != 2 || all[1].Reason != c.why || all[0].Spent.Events != 1 {
				t.Fatalf("%+v", all)
			}
			if !strings.Contains(m.asked[0].Content, rule) {
				t.Errorf("it is told:\n%s", m.asked[0].Content)
			}
		})
	}
}
