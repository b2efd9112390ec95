package consent_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle/consent"
)

func TestTableText(t *testing.T) {
	c := mustFold(t, nil)
	changes, err := consent.ParseSettings("health.storage=allow", "*.training=deny", "location.cross-context=ask")
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Next(consent.Said{ID: idOf(1), Who: "Ida", When: someTime, Changes: changes})
	if err == nil {
		err = c.Append(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := `                storage access third- auto-    training aggre- cross-  delete,
                               party  decision          gation context export
identity        deny    deny   deny   deny     deny*    deny   deny    deny
health          allow*  deny   deny   deny     deny*    deny   deny    deny
communications  allow   allow  deny   deny     deny*    deny   deny    deny
location        deny    deny   deny   deny     deny*    deny   ask*    deny
behavioural     allow   allow  deny   deny     deny*    deny   deny    deny
financial       deny    deny   deny   deny     deny*    deny   deny    deny
biometric       deny    deny   deny   deny     deny*    deny   deny    deny
minor/dependent deny    deny   deny   deny     deny*    deny   deny    deny
operational     allow   allow  deny   deny     deny*    deny   deny    deny
* said by you; the rest is the default
`
	if got := c.Table().Text(); got != want {
		t.Errorf("\n%s", got)
	}
	if got := consent.Default().Table().Text(); strings.Contains(got, "*") {
		t.Errorf("\n%s", got)
	}
	part := c.Table().Only(consent.Selector{Category: consent.Health, Dimension: consent.Storage})
	if got := part.Text(); got != "       storage\n\nhealth allow*\n* said by you; the rest is the default\n" {
		t.Errorf("\n%s", got)
	}
	text, err := json.Marshal(part)
	if err != nil || string(text) != `{"columns":[{"dimension":"storage","head":["storage",""]}],"rows":[{"category":"health","label":"health","answers":[{"answer":"allow","version":1}]}]}` {
		t.Errorf("%s, %v", text, err)
	}
	var nobody *consent.Chain
	if got := nobody.Table().Text(); strings.Contains(got, "allow") || strings.Contains(got, "ask") {
		t.Errorf("\n%s", got)
	}
}

// Every grid fits 80 columns of plain ASCII, says each cell in its place, and its labels
// can be typed.
func TestTableFitsAndSaysAll(t *testing.T) {
	eachCase(t, cases/10, func(t *testing.T, rng *rand.Rand) {
		c := mustFold(t, someRecords(t, rng, rng.IntN(4)))
		table := c.Table()
		for i, line := range strings.Split(table.Text(), "\n") {
			if len(line) > 80 || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) || strings.TrimRight(line, " ") != line {
				t.Errorf("line %d: %q", i+1, line)
			}
			if i < 2 || i > 10 {
				continue
			}
			words := strings.Fields(line)
			row, err := consent.ParseSelector(words[0])
			if err != nil || len(words) != 9 || row.Category != table.Rows[i-2].Category {
				t.Fatalf("%q: %v", line, err)
			}
			for j, d := range consent.Dimensions() {
				want := c.Check(row.Category, d)
				if said := want.Version > 0; strings.TrimSuffix(words[j+1], "*") != want.Answer.String() || strings.HasSuffix(words[j+1], "*") != said {
					t.Errorf("%s.%s is shown as %s, and is %s, said: %v", row.Category, d, words[j+1], want.Answer, said)
				}
			}
		}
		s := consent.Selector{Category: pick(rng, append(consent.Categories(), 0)), Dimension: pick(rng, append(consent.Dimensions(), 0))}
		seen := 0
		part := table.Only(s)
		for _, r := range part.Rows {
			for j, a := range r.Answers {
				cell := consent.Cell{Category: r.Category, Dimension: part.Columns[j].Dimension}
				if d := c.Check(cell.Category, cell.Dimension); !s.Has(cell) || d.Answer != a.Answer || d.Version != a.Version {
					t.Errorf("%s of %s: %+v, and is %+v", cell, s, a, d)
				}
				seen++
			}
		}
		if seen != len(s.Cells()) {
			t.Errorf("%s shows %d cells", s, seen)
		}
	})
}
