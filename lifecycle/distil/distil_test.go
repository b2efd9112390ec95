package distil_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/soul/lineage"
)

// acts reads acts of a shorthand: "tool name=value … ok|failed [= result]", "said …" and
// "seen …". Values are JSON where they are, else texts.
func acts(lines ...string) (trace distil.Trace) {
	for _, line := range lines {
		kind, rest, _ := strings.Cut(line, " ")
		if kind == distil.Said || kind == distil.Seen {
			trace.Add(distil.Act{Kind: kind, Text: rest})
			continue
		}
		call, result, _ := strings.Cut(rest, " = ")
		a := distil.Act{Kind: distil.Call, Tool: kind, Result: result}
		fields := strings.Fields(call)
		a.Outcome = fields[len(fields)-1]
		for _, f := range fields[:len(fields)-1] {
			name, value, _ := strings.Cut(f, "=")
			value = strings.ReplaceAll(value, "~", " ")
			if json.Valid([]byte(value)) {
				a.Arguments = append(a.Arguments, distil.Argument{Name: name, Value: json.RawMessage(value)})
			} else {
				a.Arguments = append(a.Arguments, distil.Text(name, value))
			}
		}
		trace.Add(a)
	}
	return trace
}

// told are rules as "key weight confidence guidance".
func told(rules []lineage.Disposition) string {
	var out []string
	for _, r := range rules {
		out = append(out, fmt.Sprintf("%s %d %d %s", r.Key, r.Weight, r.Confidence, r.Guidance))
	}
	return strings.Join(out, "\n")
}

func distilled(t *testing.T, d distil.Distiller, trace distil.Trace, valence int64) (string, distil.Report) {
	t.Helper()
	if d.Secret == nil {
		d.Secret = secret(1)
	}
	rules, report, err := d.Distil(trace, rated(valence))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		if err := r.Check(); err != nil {
			t.Errorf("%+v: %v", r, err)
		}
		if r.Evidence == (lineage.Digest{}) || r.Weight != valence {
			t.Errorf("%+v has no evidence, or not the weight %d", r, valence)
		}
	}
	if report.Rules != len(rules) || report.Acts != len(trace.Acts)-seenIn(trace) {
		t.Errorf("%d rules of %d acts, not %+v", len(rules), len(trace.Acts), report)
	}
	return told(rules), report
}

func TestDistil(t *testing.T) {
	declared := map[string]distil.Tool{
		"fare":    {Arguments: map[string][]string{"way": {"indexed", "cheapest one first by price"}, "city": nil}},
		"weather": {Arguments: map[string][]string{"units": {"metric", "imperial"}}},
		"book":    {Arguments: map[string][]string{"day": nil}},
		"list":    {},
	}
	for name, c := range map[string]struct {
		acts    []string
		valence int64
		tools   map[string]distil.Tool
		want    string
	}{
		"nothing happened": {nil, 1, nil, ""},
		// The first lesson of the pilot: the confidence is the exemplar's, not the life's.
		"own record": {
			[]string{"fare way=a failed", "fare way=b failed", "fare way=c failed", "fare way=d ok"}, 900_000, nil,
			"tool.fare 900000 1000000 tool fare, argument way: d",
		},
		"a record that is not whole": {
			[]string{"fare way=a ok", "fare way=a failed", "fare way=a ok", "fare way=b failed"}, 1, nil,
			"tool.fare 1 666666 tool fare, argument way: a",
		},
		"the better record": {
			[]string{"fare way=a ok", "fare way=b ok", "fare way=b failed", "fare way=a ok", "fare way=b ok"}, 1, nil,
			"tool.fare 1 1000000 tool fare, argument way: a",
		},
		"of equals the last that worked": {
			[]string{"fare way=a ok", "fare way=b ok", "fare way=c ok", "fare way=b ok"}, 1, nil,
			"tool.fare 1 1000000 tool fare, argument way: b",
		},
		// A life that was rejected tells of what failed, by that record; what did well in it is not blamed.
		"a rejected life": {
			[]string{"fare way=a ok", "fare way=b failed", "fare way=b failed", "fare way=b ok", "list ok = a"}, -700_000, nil,
			"tool.fare -700000 666666 tool fare, argument way: b",
		},
		"a rejected life, in which a list was used": {
			[]string{"list ok = take y_2", "list failed", "book day=x failed", "book day=y_2 ok"}, -1, declared, "tool.book -1 1000000 tool book, argument day: x",
		},
		"free text":                       {[]string{"book day=a~sunny~one ok"}, 1, declared, ""},
		"eight characters without spaces": {[]string{"book day=雷雨毁了我们的野 ok"}, 1, declared, ""},
		"a few characters without spaces": {[]string{"book day=雷雨天 ok"}, 1, declared, "tool.book 1 1000000 tool book, argument day: 雷雨天"},
		// The words of the scope are the manifest's, whoever else says them.
		"a scope that stands in the trace": {
			[]string{"book day=y_2 ok = tool book, argument day: thanks"}, 1, declared, "tool.book 1 1000000 tool book, argument day: y_2",
		},
		"a scope that stands in the trace, with more": {[]string{"book day=y_2 ok = tool book, argument day: y_2"}, 1, declared, ""},
		"a scope that only stands in the trace":       {[]string{"book day=y_2 ok = tool book, argument day: thanks"}, 1, nil, ""},
		"a rejected life in which all worked":         {[]string{"fare way=a ok", "list ok"}, -700_000, nil, ""},
		"a life of no value either way":               {[]string{"fare way=a ok"}, 0, nil, "tool.fare 0 1000000 tool fare, argument way: a"},
		"nothing worked":                              {[]string{"fare way=a failed"}, 5, nil, ""},
		"several arguments": {
			[]string{"fare way=a city=Wien failed", "fare way=b city=Wien ok"}, 1, nil,
			"tool.fare.way 1 1000000 tool fare, argument way: b",
		},
		"one of several, declared": {
			[]string{"fare way=indexed city=Wien ok"}, 1, declared,
			"tool.fare.way 1 1000000 tool fare, argument way: indexed",
		},
		"several arguments, of which nothing tells what mattered": {[]string{"fare way=a city=Wien ok"}, 1, nil, ""},
		"one argument of two that are declared": {
			[]string{"fare way=a failed", "fare way=b ok"}, 1, declared, "tool.fare.way 1 1000000 tool fare, argument way: b",
		},
		"long but declared": {
			[]string{"fare way=cheapest~one~first~by~price ok"}, 1, declared, "tool.fare.way 1 1000000 tool fare, argument way: cheapest one first by price",
		},
		"a tool or an argument that is not declared": {[]string{"wipe disk=a ok", "book night=1 ok"}, 1, declared, ""},
		"numbers and truth": {
			[]string{"a n=5 ok", "b n=true ok", "c n=0.5 ok", "d n=[1,2] ok", "e n=null ok"}, 1, nil,
			"tool.a 1 1000000 tool a, argument n: 5\ntool.b 1 1000000 tool b, argument n: true\ntool.c 1 1000000 tool c, argument n: 0.5\ntool.e 1 1000000 tool e, argument n: null",
		},
		// What leaks is told by its form, once, where that is what mattered.
		"a form": {
			[]string{"book day=tomorrow failed", "book day=2031-04-05 ok"}, 1, declared,
			"tool.book 1 1000000 tool book, argument day: a date written as YYYY-MM-DD",
		},
		"a form that does not tell": {[]string{"book day=2031-04-04 failed", "book day=2031-04-05 ok"}, 1, declared, ""},
		"a form alone":              {[]string{"book day=2031-04-05 ok"}, 1, declared, ""},
		"a word of the person":      {[]string{"seen We meet in Graz.", "book day=Graz ok"}, 1, declared, ""},
		"a word of the person that is declared": {
			[]string{"said Imperial, please", "weather units=imperial ok"}, 1, declared, "tool.weather 1 1000000 tool weather, argument units: imperial",
		},
		"a list that was used": {
			[]string{"book day=x failed", "list ok = Try one of: x, y_2.", "book day=y_2 ok"}, 1, declared,
			"tool.book 1 1000000 tool book, argument day: y_2\ntool.list 1 1000000 tool list, when to call it: before the first book call",
		},
		"a list that often failed": {
			[]string{"list failed", "list failed", "list ok = y", "list ok = y_2", "book day=y_2 ok"}, 1, declared,
			"tool.book 1 1000000 tool book, argument day: y_2\ntool.list 1 500000 tool list, when to call it: before the first book call",
		},
		"a list that was not used": {
			[]string{"list ok = a b c", "book day=y_2 ok"}, 1, declared, "tool.book 1 1000000 tool book, argument day: y_2",
		},
		"a list that came too late": {
			[]string{"book day=y_2 ok", "list ok = y_2"}, 1, declared, "tool.book 1 1000000 tool book, argument day: y_2",
		},
		"what a template is written with": {[]string{`book day="{x}" ok`}, 1, declared, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := distilled(t, distil.Distiller{Tools: c.tools}, acts(c.acts...), c.valence)
			if got != c.want {
				t.Errorf("it says\n%s\nnot\n%s", got, c.want)
			}
		})
	}
}

// Names of all kinds make keys that are keys, one for each.
func TestKeys(t *testing.T) {
	names := []string{"fare", "Fare", "FARE", "fare-search", "fare+search", "поиск", "検索", "a.b", "_", "7", strings.Repeat("x", 200), strings.Repeat("x", 199), "ﬁnd", "a/b"}
	var trace distil.Trace
	for _, n := range names {
		trace.Add(distil.Act{Kind: distil.Call, Tool: n, Outcome: distil.OK, Arguments: distil.Arguments{distil.Text("way", "a")}})
	}
	d := distil.Distiller{Secret: secret(1)}
	rules, report, err := d.Distil(trace, rated(1))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range rules {
		if seen[r.Key] || r.Check() != nil {
			t.Errorf("%q twice, or %v", r.Key, r.Check())
		}
		seen[r.Key] = true
	}
	if len(rules) != len(names) || !seen["tool.fare"] || !seen["tool.7"] {
		t.Errorf("%d rules of %d tools: %+v\n%s", len(rules), len(names), report, told(rules))
	}
}

// More rules than a life may leave: those of the best record stay, and it is told.
func TestNoMoreThanALifeMayLeave(t *testing.T) {
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("t%02d way=a ok", i))
		if i < 8 {
			lines = append(lines, fmt.Sprintf("t%02d way=a failed", i))
		}
	}
	got, report := distilled(t, distil.Distiller{}, acts(lines...), 1)
	if report.Rules != lineage.MaxDispositions || report.Beyond != 8 || strings.Contains(got, "500000") {
		t.Errorf("%+v:\n%s", report, got)
	}
}

// seenIn counts what was neither done nor said.
func seenIn(trace distil.Trace) (n int) {
	for _, a := range trace.Acts {
		if a.Kind == distil.Seen || a.Kind == distil.Told {
			n++
		}
	}
	return n
}

// What the person gave no consent for is not used, and not repeated either.
func TestConsent(t *testing.T) {
	trace := acts("health way=slow ok", "fare way=quick_brown_fox ok", "said shorter", "seen A quick brown fox runs.")
	d := distil.Distiller{Consents: func(a distil.Act) bool { return a.Tool == "fare" }}
	got, report := distilled(t, d, trace, 1)
	if got != "" || report.Withheld != 3 || report.Found[distil.KindOwn] != 1 {
		t.Errorf("%s %+v", got, report)
	}
	d.Consents = nil
	got, _ = distilled(t, d, trace, 1)
	if !strings.Contains(got, "tool.health") || !strings.Contains(got, "companion.brevity") {
		t.Errorf("%s", got)
	}
}

// Evidence is of the acts of the exemplar, under the secret.
func TestEvidence(t *testing.T) {
	of := func(secret []byte, lines ...string) lineage.Digest {
		d := distil.Distiller{Secret: secret}
		rules, _, err := d.Distil(acts(lines...), rated(1))
		if err != nil || len(rules) != 1 {
			t.Fatal(rules, err)
		}
		return rules[0].Evidence
	}
	base := of(secret(1), "fare way=a ok = 1", "fare way=b failed")
	if of(secret(1), "fare way=a ok = 1", "fare way=c failed", "seen x") != base {
		t.Error("evidence of what is not the exemplar")
	}
	if of(secret(2), "fare way=a ok = 1", "fare way=b failed") == base || of(secret(1), "fare way=a ok = 2") == base {
		t.Error("another secret, or another result, is the same evidence")
	}
}

func TestFeedback(t *testing.T) {
	const good, bad = 500_000, -500_000
	for _, c := range []struct {
		said    string
		valence int64
		want    string
	}{
		{"Shorter, please!", good, "companion.brevity 500000 1000000 answers, length: short ones"},
		{"Das war mir ZU LANG.", good, "companion.brevity 500000 1000000 answers, length: short ones"},
		{"Kürzer bitte", good, "companion.brevity 500000 1000000 answers, length: short ones"},
		// Of a life that was not liked, what was there is told, under its own key.
		{"too long", bad, "companion.detail -500000 1000000 answers, length: long ones, with details"},
		{"More details.", good, "companion.detail 500000 1000000 answers, length: long ones, with details"},
		{"zu kurz", bad, "companion.brevity -500000 1000000 answers, length: short ones"},
		{"not too long", good, ""},
		{"That isn't too long", good, ""},
		{"That isn’t really too long", good, ""},
		{"nicht zu lang", good, ""},
		{"No, too long", good, "companion.brevity 500000 1000000 answers, length: short ones"},
		{"not too short, but too long", good, "companion.brevity 500000 1000000 answers, length: short ones"},
		{"ask less", good, "companion.asking 500000 1000000 questions to the person, how many: few"},
		{"Don’t ask so much", good, "companion.asking 500000 1000000 questions to the person, how many: few"},
		{"weniger Fragen", bad, "companion.asking_first -500000 1000000 questions to the person, how many: one before each thing that is done"},
		{"Frag mich vorher", good, "companion.asking_first 500000 1000000 questions to the person, how many: one before each thing that is done"},
		{"freundlicher, und einfacher", good, "companion.simplicity 500000 1000000 answers, wording: simple words\ncompanion.warmth 500000 1000000 answers, tone: warm"},
		{"This helped.", good, "companion.help 500000 1000000 help, how it is given: in words alone"},
		{"Das hat mir geholfen… das hat geholfen", good, "companion.help 500000 1000000 help, how it is given: in words alone"},
		{"this did not help", bad, "companion.help -500000 1000000 help, how it is given: in words alone"},
		{"Das hat nicht geholfen", bad, "companion.help -500000 1000000 help, how it is given: in words alone"},
		{"this helped", bad, ""},
		{"that was not very helpful", good, ""},
		{"The longest day", good, ""},
	} {
		if got, _ := distilled(t, distil.Distiller{}, acts("said "+c.said), c.valence); got != c.want {
			t.Errorf("%q at %d says\n%s\nnot\n%s", c.said, c.valence, got, c.want)
		}
	}
	got, _ := distilled(t, distil.Distiller{}, acts("said too long", "said ok", "said more details"), good)
	if want := "companion.detail 500000 1000000 answers, length: long ones, with details"; got != want {
		t.Errorf("the later word does not count: %s", got)
	}
	got, report := distilled(t, distil.Distiller{}, acts("walk pace=slow ok", "said this helped", "said das hat nicht geholfen"), good)
	if want := "companion.help 500000 1000000 help, how it is given: with tool walk\ntool.walk 500000 1000000 tool walk, argument pace: slow"; got != want || report.Contradicted != 1 {
		t.Errorf("%s %+v", got, report)
	}
}

// The same feedback in a life that was liked and in one that was not says one thing: the
// two rules do not cancel each other.
func TestFeedbackAgreesWithItself(t *testing.T) {
	s := newStore()
	for i, valence := range []int64{lineage.Million, -lineage.Million} {
		d := distil.Distiller{Secret: secret(i)}
		rules, _, err := d.Distil(acts("said too long"), rated(valence))
		if err != nil {
			t.Fatal(err)
		}
		s.merge(t, rules, rated(valence))
	}
	prompt := lineage.Render(s.Rules())
	if !strings.Contains(prompt, "- answers, length: prefer short ones\n") || !strings.Contains(prompt, "- answers, length: avoid long ones, with details\n") {
		t.Errorf("it says\n%s", prompt)
	}
}
