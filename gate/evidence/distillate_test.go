package evidence

import (
	"slices"
	"strings"
	"testing"
)

// What another device's lives left behind is memory of agents, however many of them say it:
// it counts for nothing, and nothing is verified by it.
func TestDistillatesAreNoEvidence(t *testing.T) {
	now := Moment{Unix: 1_800_000_000, Trusted: true}
	c := Claim{
		ID: "c1", Class: Inferred, Text: "Pump 3 leaks.", Subject: "pump 3", Agent: "a life", Consequence: High, Created: now.Unix,
		Provenance: Provenance{Source: "a distillate", Primary: "a distillate", Reasoning: "three lives say so"},
	}
	for _, digit := range []string{"a", "b", "c"} {
		c.Roots = append(c.Roots, Root{ID: "sha256:" + strings.Repeat(digit, 64), Type: AgentMemory, Observed: now.Unix, Retrieval: "the lineage", Agent: "device " + digit})
	}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	if got := Codes(Default().Promotable(&c, now)); c.Sources() != 0 || !slices.Equal(got, []Code{TooFewSources}) {
		t.Errorf("%d sources, %v", c.Sources(), got)
	}
	c.Previous = []string{"c0"}
	if got := Codes(Default().Promotable(&c, now)); !slices.Contains(got, Laundered) {
		t.Errorf("%v", got)
	}
	c.Class, c.Previous = Verified, nil
	if d := Default().Gate(Act{Name: "close_valve", Consequence: High, Authorised: true, Yes: true}, []*Claim{&c}, now); d.Verdict == Allow {
		t.Errorf("it is acted on: %+v", d)
	}
}
