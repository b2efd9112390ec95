package projection

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"github.com/jivad/jivad/lifecycle/tools"
)

// A person is asked once, where nothing is missing but their yes; a yes is for the one life
// that asked, and what changed meanwhile counts. An act that is asked for is written only
// when it was answered.
func TestAPersonIsAsked(t *testing.T) {
	for name, c := range map[string]struct {
		answer    bool
		meanwhile func(w *world, p *Projections)
		then      tools.Answer // of the gate, when it is asked with the yes
		ok        bool
		refused   []tools.Code
	}{
		"yes":                          {answer: true, then: tools.Allow, ok: true},
		"no":                           {answer: false, then: tools.Allow, refused: []tools.Code{tools.NeedsYes}},
		"yes, and it is contested now": {answer: true, then: tools.Deny, refused: []tools.Code{tools.Gated}},
		"yes, and another life is lived": {answer: true, then: tools.Allow, refused: []tools.Code{tools.NeedsYes}, meanwhile: func(w *world, p *Projections) {
			if err := cmp.Or(w.end(p, 0), p.Birth(context.Background())); err != nil {
				w.t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			asked := 0
			w.gate = func(_ context.Context, q tools.Proposal, yes bool) tools.Verdict {
				if yes {
					return tools.Verdict{Answer: c.then, Reasons: []string{"since"}}
				}
				return tools.Verdict{Answer: tools.AskFirst, Reasons: []string{"a person has to say yes"}}
			}
			var p *Projections
			w.ask = func(_ context.Context, q tools.Proposal) bool {
				asked++
				if l, ok := p.Living(); !ok || l.Spent.Acts+l.Spent.Refused != 0 {
					t.Errorf("it was counted before it was answered: %+v", l.Spent)
				}
				if c.meanwhile != nil {
					c.meanwhile(w, p)
				}
				return c.answer
			}
			p = w.must(w.open())
			if err := p.Birth(t.Context()); err != nil {
				t.Fatal(err)
			}
			out, err := p.Act(t.Context(), tools.Call{Tool: "shut_valve"})
			if err != nil || out.OK != c.ok || !slices.Equal(out.Refused, c.refused) || asked != 1 {
				t.Errorf("%+v, %v, asked %d times", out, err, asked)
			}
			if l, _ := p.Living(); l.Spent.Acts+l.Spent.Refused != 1 {
				t.Errorf("%+v", l.Spent)
			}
		})
	}
}
