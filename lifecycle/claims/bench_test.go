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

// BenchmarkGateOfOneStatement decides on 10,000 claims that make one statement: all verified
// and cleared, or all reports.
func BenchmarkGateOfOneStatement(b *testing.B) {
	for _, kind := range []string{"cleared", "reports"} {
		b.Run(kind, func(b *testing.B) {
			book := open(b, newMemory(), &clock{unix: noon})
			for range 10_000 {
				if kind == "reports" {
					must[Kept](b)(book.Assert(b.Context(), Draft{Text: "pump 3 leaks", Subject: "pumps", Agent: "person"}))
					continue
				}
				k := inferred(b, book, "pump 3 leaks")
				must[Kept](b)(book.Promote(b.Context(), k.ID, "person"))
				must[Kept](b)(book.Review(b.Context(), k.ID, evidence.Cleared, "", "", "person"))
			}
			use := Use{Tool: "close_valve", Consequence: evidence.High, Arguments: []byte(`{"pump": 3}`), Authorised: true, Yes: true}
			for b.Loop() {
				if d, err := book.Gate(b.Context(), use); err != nil || (d.Verdict == evidence.Allow) != (kind == "cleared") || len(d.Claims) != 10_000 {
					b.Fatal(d.Verdict, err)
				}
			}
		})
	}
}

// BenchmarkASensorOfADay is a day of a sensor that speaks every second: one that says the same,
// and one that changes its mind every hour, over sixty days. It tells what is left in the store.
func BenchmarkASensorOfADay(b *testing.B) {
	for _, x := range []struct {
		name         string
		window       string
		days, change int
	}{{"steady, window 10m", "10m", 1, 0}, {"steady, window 1s", "1s", 1, 0}, {"changing hourly, window 10m, a day", "10m", 1, 3600}, {"changing hourly, window 10m, 60 days", "10m", 60, 3600}} {
		b.Run(x.name, func(b *testing.B) {
			for b.Loop() {
				c, store := &clock{unix: noon}, newMemory()
				book := open(b, store, c)
				p := book.Policy()
				p.Instruments = []Instrument{{ID: "leak-3", Topic: "t", Subject: "pump 3", When: "wet", Text: "Pump 3 leaks.", Otherwise: "Pump 3 does not leak.", Window: x.window}}
				if err := p.Instruments[0].prepare(); err != nil {
					b.Fatal(err)
				}
				book.SetPolicy(p)
				step := 1
				if x.days > 1 { // what comes within a window writes nothing
					step = 600
				}
				for s := 0; s < x.days*86400; s += step {
					c.unix += int64(step)
					said := "wet"
					if x.change > 0 && s/x.change%2 == 1 {
						said = "dry"
					}
					book.turns = nil // by a clock that goes forward with that of the test
					must[[]Observed](b)(book.Message(b.Context(), "t", []byte(said), 1, nil))
					if s%3600 == 0 {
						must[int](b)(book.Sweep(b.Context()))
					}
				}
				bytes := 0
				for name, data := range store.values {
					bytes += len(name) + len(data)
				}
				b.ReportMetric(float64(len(store.values)), "records")
				b.ReportMetric(float64(bytes), "bytes")
				b.ReportMetric(float64(book.state.Len()), "claims")
			}
		})
	}
}
