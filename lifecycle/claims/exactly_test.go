package claims

import (
	"fmt"
	"testing"

	"github.com/jivad/jivad/gate/evidence"
)

// A cleared claim bears an act with the arguments that it names, each at its own place and in
// its own letters, and with no others.
func TestArgumentsStandWhereTheClaimHasThem(t *testing.T) {
	b := open(t, newMemory(), &clock{unix: noon})
	p := b.Policy()
	p.Acts = []Act{
		{Tool: "copy", RestsOn: []string{"{from}  may replace {to}."}},
		{Tool: "rm", RestsOn: []string{"A file {f} is not needed"}},
		{Tool: "odd", RestsOn: []string{"in [{a}|{b}] lies (.*)"}},
	}
	b.SetPolicy(p)
	for _, text := range []string{"/data/New may Replace /data/new", "a file A is not needed.", "in [x|y] lies (.*)"} {
		k := inferred(t, b, text)
		for i := range 2 {
			must[Kept](t)(b.AddEvidence(t.Context(), k.ID, evidence.Root{ID: fmt.Sprintf("https://e%d.example/%s", i, k.ID), Type: evidence.External, Retrieval: "go"}, "person", ""))
		}
		must[Kept](t)(b.Promote(t.Context(), k.ID, "person"))
		must[Kept](t)(b.Review(t.Context(), k.ID, evidence.Cleared, "", "", "person"))
	}
	for _, c := range []struct {
		tool, arguments string
		allowed         bool
	}{
		{"copy", `{"from":"/data/New","to":"/data/new"}`, true},
		{"copy", `{"from":"/data/new","to":"/data/New"}`, false},
		{"copy", `{"from":"/data/new","to":"/data/new"}`, false},
		{"copy", `{"from":"/data/New","to":"/data/New"}`, false},
		{"rm", `{"f":"A"}`, true},
		{"rm", `{"f":"a"}`, false},
		{"odd", `{"a":"x","b":"y"}`, true},
		{"odd", `{"a":"y","b":"x"}`, false},
		{"odd", `{"a":"X","b":"y"}`, false},
	} {
		d, err := b.Gate(t.Context(), Use{Tool: c.tool, Consequence: evidence.High, Arguments: []byte(c.arguments), Authorised: true, Yes: true})
		if err != nil || (d.Verdict == evidence.Allow) != c.allowed {
			t.Errorf("%s %s: %s %v %v", c.tool, c.arguments, d.Verdict, evidence.Codes(d.Reasons), err)
		}
	}
}
