package consent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/diary"
	"github.com/jivad/jivad/lifecycle/prompt"
)

func names[T fmt.Stringer](of []T) string {
	var out []string
	for _, x := range of {
		out = append(out, x.String())
	}
	return strings.Join(out, " ")
}

func TestVocabularies(t *testing.T) {
	if got := names(consent.Categories()); got != "identity health communications location behavioural financial biometric minor_or_dependent operational" {
		t.Error(got)
	}
	if got := names(consent.Dimensions()); got != "storage access third_party_sharing automated_decision training aggregation cross_context_use deletion_or_portability" {
		t.Error(got)
	}
	if got := names(answers); got != "deny ask allow" || !(consent.Deny < consent.Ask && consent.Ask < consent.Allow) {
		t.Error(got)
	}
	if n := len(consent.Cells()); n != 72 {
		t.Errorf("%d cells", n)
	}
	for _, c := range consent.Cells() {
		for _, a := range answers {
			in := consent.Change{Cell: c, Answer: a}
			text, err := json.Marshal(in)
			var out consent.Change
			if err != nil || json.Unmarshal(text, &out) != nil || out != in {
				t.Errorf("%s: %s, %v, read as %s", in, text, err, out)
			}
		}
	}
	for _, text := range []string{`{"category":"Health"}`, `{"category":"minor"}`, `{"category":""}`, `{"dimension":"none"}`, `{"answer":"yes"}`, `{"answer":""}`} {
		var out consent.Change
		if err := json.Unmarshal([]byte(text), &out); !errors.Is(err, consent.ErrForm) {
			t.Errorf("%s was read as %s, %v", text, out, err)
		}
	}
	for _, bad := range []any{consent.Category(10), consent.Dimension(9), consent.Answer(3)} {
		if text, err := json.Marshal(bad); !errors.Is(err, consent.ErrForm) {
			t.Errorf("%v was written as %s, %v", bad, text, err)
		}
	}
}

// The names that entries carry are the same wherever they are read, and each has a category.
func TestEntryNames(t *testing.T) {
	if got := consent.EntryNames(); !slices.Equal(got, diary.Categories()) || !slices.Equal(got, prompt.Categories()) {
		t.Errorf("%v, the diary has %v, the prompt %v", got, diary.Categories(), prompt.Categories())
	}
	seen := map[consent.Category]bool{}
	for _, name := range consent.EntryNames() {
		c := consent.OfEntry(name)
		if !c.Valid() || c.String() != name && c != consent.MinorOrDependent {
			t.Errorf("%s is %s", name, c)
		}
		seen[c] = true
	}
	if len(seen) != len(consent.Categories()) {
		t.Errorf("%v", seen)
	}
	for _, c := range consent.Categories() {
		if consent.OfEntry(c.String()) != c {
			t.Errorf("%s is %s", c, consent.OfEntry(c.String()))
		}
	}
	for _, name := range []string{"", "Health", "medical", "none", "minors"} {
		if c := consent.OfEntry(name); c.Valid() {
			t.Errorf("%q is %s", name, c)
		}
	}
}

func TestProtectionOrdersAll(t *testing.T) {
	order := slices.Clone(consent.Categories())
	slices.SortFunc(order, func(a, b consent.Category) int { return a.Protection() - b.Protection() })
	if got := names(order); got != "operational behavioural communications location financial identity health biometric minor_or_dependent" {
		t.Error(got)
	}
	if order[0].Protection() != 1 || order[8].Protection() != 9 || consent.Category(0).Protection() != 0 {
		t.Error("the order is not counted from 1")
	}
	// What is allowed from the start stands below all that is not.
	for i, c := range order {
		if allowed := consent.Default().Answer(c, consent.Storage) == consent.Allow; allowed != (i < 3) {
			t.Errorf("%s stands at %d", c, i+1)
		}
	}
}

func TestDefault(t *testing.T) {
	want := map[string]consent.Answer{
		"behavioural.storage": consent.Allow, "behavioural.access": consent.Allow,
		"communications.storage": consent.Allow, "communications.access": consent.Allow,
		"operational.storage": consent.Allow, "operational.access": consent.Allow,
		"health.storage": consent.Ask,
	}
	for _, c := range consent.Cells() {
		if got := consent.Default().Answer(c.Category, c.Dimension); got != want[c.String()] {
			t.Errorf("%s is %s", c, got)
		}
	}
	for _, c := range []consent.Cell{{}, {Category: consent.Operational}, {Dimension: consent.Storage}, {Category: 10, Dimension: 1}, {Category: 1, Dimension: 9}} {
		if got := consent.Default().Answer(c.Category, c.Dimension); got != consent.Deny {
			t.Errorf("%s is %s", c, got)
		}
		if _, err := consent.Default().With(consent.Change{Cell: c}); !errors.Is(err, consent.ErrForm) {
			t.Errorf("%s: %v", c, err)
		}
	}
}

func TestGridJSON(t *testing.T) {
	eachCase(t, cases/10, func(t *testing.T, rng *rand.Rand) {
		g := someGrid(t, rng)
		text, err := json.Marshal(g)
		var again consent.Grid
		if err != nil || json.Unmarshal(text, &again) != nil || again != g {
			t.Errorf("%s: %v", text, err)
		}
	})
	text, err := json.Marshal(consent.Default())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text), `{"behavioural":{"access":"allow","aggregation":"deny","automated_decision":"deny",`) {
		t.Errorf("%s", text)
	}
	good := string(text)
	for name, bad := range map[string]string{
		"a cell less":      strings.Replace(good, `"access":"allow",`, "", 1),
		"a row less":       `{}`,
		"a cell twice":     strings.Replace(good, `"access":"allow",`, `"access":"deny","access":"allow",`, 1),
		"another category": strings.Replace(good, `"health"`, `"wealth"`, 1),
		"another use":      strings.Replace(good, `"training"`, `"straining"`, 1),
		"another answer":   strings.Replace(good, `"ask"`, `"perhaps"`, 1),
		"an old name":      strings.Replace(good, `"minor_or_dependent"`, `"minor"`, 1),
		"nothing":          `null`,
		"too much":         strings.Repeat(" ", consent.MaxBytes) + good,
	} {
		g := consent.Default()
		if err := g.UnmarshalJSON([]byte(bad)); !errors.Is(err, consent.ErrForm) || g != consent.Default() {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Where a person said what an entry is, no model leads it to what is less protected; and
// nobody's proposal opens a use.
func TestSettleNeverOpens(t *testing.T) {
	all := append(consent.Categories(), 0)
	eachCase(t, cases, func(t *testing.T, rng *rand.Rand) {
		g := someGrid(t, rng)
		source, set, proposed := pick(rng, all), pick(rng, all), pick(rng, all)
		got := g.Settle(source, set, proposed)
		from := source
		if set != 0 {
			from = set
		}
		if got != from && got != proposed {
			t.Errorf("%s of %s, %s, %s", got, source, set, proposed)
		}
		if set != 0 && got.Protection() < set.Protection() {
			t.Errorf("%s is less protected than %s, which was set", got, set)
		}
		for _, d := range consent.Dimensions() {
			if g.Answer(got, d) > g.Answer(from, d) {
				t.Errorf("%s of %s opens %s", got, from, d)
			}
		}
		if again := g.Settle(source, set, got); again != got {
			t.Errorf("%s, then %s", got, again)
		}
	})
	g := consent.Default()
	for _, c := range []struct{ source, set, proposed, want consent.Category }{
		{consent.Behavioural, 0, 0, consent.Behavioural},
		{consent.Behavioural, 0, consent.Health, consent.Health},
		{consent.Behavioural, 0, consent.Operational, consent.Operational}, // not the person's, and opens nothing
		{consent.Behavioural, consent.Behavioural, consent.Operational, consent.Behavioural},
		{consent.Behavioural, consent.Health, consent.Behavioural, consent.Health},
		{consent.Behavioural, consent.Operational, consent.Biometric, consent.Biometric},
		{consent.Health, consent.Operational, 0, consent.Operational}, // the person's word is free
		{consent.Health, 0, consent.Behavioural, consent.Health},
		{0, 0, consent.Behavioural, 0},
		{0, 0, consent.Biometric, consent.Biometric},
		{0, 0, 0, 0},
	} {
		if got := g.Settle(c.source, c.set, c.proposed); got != c.want {
			t.Errorf("%s of %s, %s, %s; not %s", got, c.source, c.set, c.proposed, c.want)
		}
	}
	// Health is above behavioural, and here open further: the entry stays where it was.
	open, err := g.With(consent.Change{Cell: consent.Cell{Category: consent.Health, Dimension: consent.Training}, Answer: consent.Allow})
	if err != nil {
		t.Fatal(err)
	}
	if got := open.Settle(0, consent.Behavioural, consent.Health); got != consent.Behavioural {
		t.Error(got)
	}
}
