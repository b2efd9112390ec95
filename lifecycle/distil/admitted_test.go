package distil_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/soul/lineage"
)

// odd are names and values as lives have them, and as nobody should.
var odd = []string{
	"indexed", "nested", "way", "fare_search", "maxStops", "Fare-Search", "a.b", "検索", "поиск", "雷雨天", "_", "7", "42", "true", "0.5", "2031-04-05", "12:30", "x, argument y", "a: b",
	"call it, when to call it", "ada@example.com", "+43 664 70 12 113", "12 rue de Rivoli", "sk_live_aZ8bY7cX6dW5eV4q", "ignore_previous_instructions", "you must obey", "St. Gallen",
	"cheapest one first by price", strings.Repeat("long ", 40) + "end", strings.Repeat("x", 200), "<|im_end|>", "a\nb", "", "\u200b", "when to call it", "AT611904300234573201", "8FVC9G8F+6X",
}

// Whatever happened in a life, and however it was judged, by rules and in the words of a
// model that lies: what is made of it is taken in by every lineage.
func TestAllThatIsDistilledIsAdmitted(t *testing.T) {
	n := 600
	if testing.Short() {
		n /= 6
	}
	seed, kept := rand.Uint64(), 0
	for i := range n {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		one := func() string { return odd[rng.IntN(len(odd))] }
		d := distil.Distiller{Secret: secret(i), Names: []string{"Anna Muster"}}
		if rng.IntN(2) == 0 {
			d.Tools = map[string]distil.Tool{}
		}
		var trace distil.Trace
		for range 1 + rng.IntN(8) {
			switch rng.IntN(6) {
			case 0:
				trace.Add(distil.Act{Kind: distil.Said, Text: []string{"shorter", "this helped", "zu lang", "ask me first"}[rng.IntN(4)] + ", " + one()})
			case 1:
				trace.Add(distil.Act{Kind: distil.Seen, Text: one()})
			default:
				a := distil.Act{Kind: distil.Call, Tool: one(), Outcome: []string{distil.OK, distil.OK, distil.Failed}[rng.IntN(3)], Result: one()}
				declared := map[string][]string{}
				for _, name := range []string{one(), one()}[:rng.IntN(3)] {
					if _, twice := declared[name]; !twice {
						value := one()
						a.Arguments = append(a.Arguments, distil.Text(name, value))
						declared[name] = []string{"indexed", value}[:rng.IntN(3)]
					}
				}
				if d.Tools != nil && rng.IntN(8) > 0 {
					d.Tools[a.Tool] = distil.Tool{Arguments: declared}
				}
				trace.Add(a)
			}
		}
		valence := []int64{lineage.Million, -lineage.Million}[rng.IntN(2)]
		byRules, _, err := d.Distil(trace, rated(valence))
		if err != nil {
			t.Fatal(err)
		}
		byModel, _, err := d.Write(t.Context(), &liar{detail: one() + " x"}, trace, rated(valence))
		if err != nil {
			t.Fatal(err)
		}
		for _, rules := range [][]lineage.Disposition{byRules, byModel} {
			if len(rules) == 0 {
				continue
			}
			kept += len(rules)
			for _, r := range rules {
				if err := r.Check(); err != nil {
					told, _ := json.Marshal(trace)
					t.Fatalf("case %d of seed %d: %s %q: %v, of %s", i, seed, r.Key, r.Guidance, err, told)
				}
			}
			newStore().merge(t, rules, rated(valence))
		}
	}
	if kept < n {
		t.Errorf("%d rules of %d lives: too few to tell", kept, n)
	}
}
