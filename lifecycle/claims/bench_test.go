package claims

import (
	"fmt"
	"testing"

	"github.com/jivad/jivad/gate/evidence"
)

// BenchmarkBookGate decides about an act of high consequence among 10,000 claims, of which
// three make the statement that it rests on.
func BenchmarkBookGate(b *testing.B) {
	book := open(b, newMemory(), &clock{unix: noon})
	ctx := b.Context()
	for i := range 10_000 {
		text := fmt.Sprintf("pump %d leaks", i)
		if i%4000 == 0 {
			text = "pump 3 leaks"
		}
		k := must[Kept](b)(book.Assert(ctx, Draft{Text: text, Subject: "pumps", Agent: "person", Source: "s", Class: evidence.Inferred, Primary: "a", Reasoning: "r", Roots: []evidence.Root{manual("a"), manual("b")}}))
		must[Kept](b)(book.Promote(ctx, k.ID, "person"))
		must[Kept](b)(book.Review(ctx, k.ID, evidence.Cleared, "", "", "person"))
	}
	use := Use{Tool: "close_valve", Consequence: evidence.High, Arguments: []byte(`{"pump": 3}`), Authorised: true, Yes: true}
	for b.Loop() {
		if d, err := book.Gate(ctx, use); err != nil || d.Verdict != evidence.Allow || len(d.Claims) != 4 {
			b.Fatal(d, err)
		}
	}
}

// BenchmarkOpen folds 10,000 claims with three events each.
func BenchmarkOpen(b *testing.B) {
	store := newMemory()
	c := &clock{unix: noon}
	book := open(b, store, c)
	for i := range 10_000 {
		k := must[Kept](b)(book.Assert(b.Context(), Draft{Text: fmt.Sprintf("pump %d leaks", i), Subject: "pumps", Agent: "person", Source: "s", Class: evidence.Inferred, Primary: "a", Reasoning: "r", Roots: []evidence.Root{manual("a"), manual("b")}}))
		must[Kept](b)(book.Promote(b.Context(), k.ID, "person"))
		must[Kept](b)(book.Review(b.Context(), k.ID, evidence.Cleared, "", "", "person"))
	}
	for b.Loop() {
		open(b, store, c)
	}
}
