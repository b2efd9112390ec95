package distil_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/soul/lineage"
)

// fares is the source's task T1: the cheapest fare is booked with the one strategy that
// is valid, of those that list_strategies lists.
type fares struct {
	valid      string
	candidates []string
	most       int // attempts at fare_search; 0 for no limit
}

func (f fares) call(tool, strategy string) distil.Act {
	a := distil.Act{Kind: distil.Call, Tool: tool, Outcome: distil.OK}
	if tool == "list_strategies" {
		a.Result = "Known strategies: " + strings.Join(f.candidates, ", ") + "."
		return a
	}
	a.Arguments = distil.Arguments{distil.Text("strategy", strategy)}
	if strategy != f.valid {
		a.Outcome, a.Result = distil.Failed, "ERROR: unknown strategy; see list_strategies"
		return a
	}
	a.Result = "OK: fare 412 nonstop. traveler_profile: PII_x7k2m9q4 PII_n8p1v6r3"
	return a
}

// live is a life of a scripted agent: it does what the rules of its prompt prefer, and
// else tries what comes next. It tells its trace and whether it booked.
func (f fares) live(prompt string) (trace distil.Trace, booked bool) {
	trace.Add(distil.Act{Kind: distil.Seen, Text: "Please book me the cheapest fare to Lisbon for Tuesday."})
	var tries []string
	listed := false
	list := func() {
		if !listed {
			trace.Add(f.call("list_strategies", ""))
			tries = append(tries, f.candidates...)
			listed = true
		}
	}
	for line := range strings.Lines(prompt) {
		line = strings.TrimSpace(line)
		if strategy, found := strings.CutPrefix(line, "- tool fare_search, argument strategy: prefer "); found {
			tries = append(tries, strategy)
		}
		if line == "- tool list_strategies, when to call it: prefer before the first fare_search call" {
			list()
		}
	}
	if len(tries) == 0 {
		tries = []string{"cheapest"}
	}
	slices.SortStableFunc(tries, func(a, b string) int { return first(prompt, b) - first(prompt, a) })
	attempts := 0
	for i := 0; i < len(tries); i++ {
		if slices.Contains(tries[:i], tries[i]) {
			continue
		}
		if attempts++; f.most > 0 && attempts > f.most {
			return trace, false
		}
		a := f.call("fare_search", tries[i])
		trace.Add(a)
		if a.Outcome == distil.OK {
			return trace, true
		}
		list()
	}
	return trace, false
}

// first is 1 for what the prompt prefers.
func first(prompt, strategy string) int {
	if strings.Contains(prompt, "prefer "+strategy+"\n") {
		return 1
	}
	return 0
}

// fareTools are as a manifest declares them: the strategy takes any text.
var fareTools = map[string]distil.Tool{
	"fare_search":     {Arguments: map[string][]string{"strategy": nil}},
	"list_strategies": {},
}

func secret(n int) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "secret %d", n))
	return sum[:]
}

func rated(valence int64) lineage.Satisfaction {
	return lineage.Satisfaction{Valence: valence, Confidence: lineage.Million, Source: lineage.Explicit}
}

// store is a lineage with the device that lives are lived on.
type store struct {
	*lineage.Lineage
	key   ed25519.PrivateKey
	lives int64
}

func newStore() *store {
	root := lineage.ID{6: 0x70, 8: 0x80, 15: 1}
	return &store{Lineage: lineage.New(root, lineage.Identity(lineage.Digest{1}, root)), key: ed25519.NewKeyFromSeed(secret(0))}
}

// id is of version 7, in the order of n.
func id(kind byte, n int64) lineage.ID {
	return lineage.ID{4: byte(n >> 8), 5: byte(n), 6: 0x70, 8: 0x80, 15: kind}
}

// merge makes a distillate and takes it in.
func (s *store) merge(t *testing.T, rules []lineage.Disposition, j lineage.Satisfaction) {
	t.Helper()
	s.lives++
	d := &lineage.Distillate{
		Schema: lineage.Schema, ID: id(1, s.lives), Life: id(2, s.lives), Identity: s.Identity(), Nonce: sha256.Sum256(secret(int(s.lives))),
		Manifest: lineage.Digest{2}, Base: s.Head(), Dispositions: rules, Satisfaction: j,
		Polarity: lineage.PolarityOf(j.Valence), Consent: id(3, 1), Sequence: s.lives,
	}
	if err := d.Sign(s.key); err != nil {
		t.Fatal(err)
	}
	data, err := d.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	if d, err = lineage.Parse(data); err != nil {
		t.Fatalf("the distillate is not taken: %v", err)
	}
	if err := s.Admit(d); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Merge(d); err != nil {
		t.Fatal(err)
	}
}

func calls(trace distil.Trace) (n int) {
	for _, a := range trace.Acts {
		if a.Kind == distil.Call {
			n++
		}
	}
	return n
}

// Eight lives of the source's T1, and of its T4, where the valid token is another one from
// life 4 on: later lives need two calls, the store holds two rules, the drift is recovered
// in the next life, and the planted personal data are in no prompt (T5).
func TestLivesOfTheSource(t *testing.T) {
	for name, drift := range map[string]bool{"T1": false, "T4": true} {
		for declared, tools := range map[string]map[string]distil.Tool{"declared": fareTools, "undeclared": nil} {
			t.Run(name+" "+declared, func(t *testing.T) {
				s := newStore()
				task := fares{valid: "indexed", candidates: []string{"direct", "nested", "indexed", "mirrored"}}
				for life := 1; life <= 8; life++ {
					if drift && life == 4 {
						task.valid = "mirrored"
					}
					prompt := lineage.Render(s.Rules())
					if strings.Contains(prompt, "PII") || strings.Contains(prompt, "412") {
						t.Fatalf("life %d is told what happened:\n%s", life, prompt)
					}
					trace, booked := task.live(prompt)
					if !booked {
						t.Fatalf("life %d did not book", life)
					}
					if n := calls(trace); life > 1 && !(drift && life == 4) && n != 2 {
						t.Errorf("life %d took %d calls, not 2, from\n%s", life, n, prompt)
					}
					d := distil.Distiller{Tools: tools, Secret: secret(life)}
					rules, report, err := d.Distil(trace, rated(lineage.Million))
					if err != nil {
						t.Fatal(err)
					}
					if len(rules) != 2 || report.Dropped > 0 || rules[0].Confidence != lineage.Million {
						t.Errorf("life %d left %+v (%+v)", life, rules, report)
					}
					s.merge(t, rules, rated(lineage.Million))
				}
				want := "- tool fare_search, argument strategy: prefer " + task.valid + "\n- tool list_strategies, when to call it: prefer before the first fare_search call\n"
				if prompt := lineage.Render(s.Rules()); len(s.Rules()) != 2 || !strings.HasSuffix(prompt, want) {
					t.Errorf("the store says\n%s", prompt)
				}
			})
		}
	}
}

// Nobody's judgement is no judgement: nothing is kept (S-2).
func TestNoSignalLeavesNothing(t *testing.T) {
	trace, _ := fares{valid: "a", candidates: []string{"a"}}.live("")
	d := distil.Distiller{Secret: secret(1)}
	s := rated(lineage.Million)
	s.Confidence = 0
	rules, _, err := d.Distil(trace, s)
	if !errors.Is(err, lineage.ErrNoSignal) || !strings.HasPrefix(err.Error(), "declined: no signal") || len(rules) > 0 {
		t.Errorf("%v, %v", rules, err)
	}
	if _, _, err := d.Write(t.Context(), nil, trace, s); !errors.Is(err, lineage.ErrNoSignal) {
		t.Errorf("%v", err)
	}
	d.Secret = nil
	if _, _, err := d.Distil(trace, rated(1)); !errors.Is(err, distil.ErrSecret) {
		t.Errorf("%v", err)
	}
}
