package claims

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jivad/jivad/gate/evidence"
)

func TestFills(t *testing.T) {
	for _, c := range []struct {
		template, text string
		want           bool
	}{
		{"pump 3 leaks", "Pump 3  leaks.", true}, {"pump 3 leaks", "Pump 4 leaks", false},
		{"pump {pump} leaks", "Pump 12 leaks!", true}, {"pump {pump} leaks", "pump 12 drips", false}, {"pump {pump} leaks", "the pump 12 leaks", false},
		{"{what} is {how}", "the valve is shut", true}, {"{what} is {how} today", "the valve is shut", false}, {"{what}", "anything", true},
		{"valve {a} before {b}, always", "valve 1 before 2, always", true}, {"valve {a} before {b}, always", "valve 1 behind 2, always", false},
	} {
		if got := restedOn(c.text, []string{"another", Statement(c.template)}); got != c.want {
			t.Errorf("%q of %q: %v", c.text, c.template, got)
		}
	}
}

// What may be told of comes with what is verified first, and then the newest; what waits for
// a decision is as it is on record, whatever the clock says.
func TestWhatIsTold(t *testing.T) {
	c := &clock{unix: noon}
	b := open(t, newMemory(), c)
	ok := must[Kept](t)
	ids := map[string]string{}
	make := func(text, category string, roots ...evidence.Root) {
		t.Helper()
		d := Draft{Text: text, Subject: "s", Agent: "person", Source: "person", Category: category, Roots: roots}
		if len(roots) > 0 {
			d.Class, d.Primary, d.Reasoning = evidence.Inferred, roots[0].ID, "since"
		}
		ids[text] = ok(b.Assert(t.Context(), d)).ID
		c.unix++
	}
	make("verified", "", manual("a photo"), manual("a note"))
	make("pump 3 leaks", "")
	make("doubted", "")
	make("rejected", "")
	make("private", "health")
	make("settled", "")
	ok(b.Promote(t.Context(), ids["verified"], "person"))
	ok(b.Doubt(t.Context(), ids["doubted"], "", "person"))
	ok(b.Review(t.Context(), ids["rejected"], evidence.Refused, "", "", "person"))
	ok(b.Contest(t.Context(), ids["pump 3 leaks"], ids["private"], "person"))
	ok(b.Contest(t.Context(), ids["pump 3 leaks"], ids["verified"], "person"))
	ok(b.Contest(t.Context(), ids["pump 3 leaks"], ids["rejected"], "person"))
	ok(b.Contest(t.Context(), ids["settled"], ids["verified"], "person"))
	ok(b.Settle(t.Context(), ids["settled"], ids["verified"], "", "person"))
	public := func(category string) bool { return category != "health" }

	var told []string
	for _, k := range b.Tellable(public) {
		told = append(told, fmt.Sprintf("%s %s %v", k.Class, k.Text, k.RestedOn))
	}
	if want := []string{"VERIFIED verified false", "REPORTED settled false", "QUARANTINED doubted false", "REPORTED pump 3 leaks true"}; !slices.Equal(told, want) {
		t.Errorf("%q", told)
	}
	unsettled := func(allowed func(string) bool) (out []string) {
		for _, k := range b.Unsettled(allowed) {
			line := string(k.Class) + " " + k.Text
			if k.Against != nil {
				line += " against " + string(k.Against.Class) + " " + k.Against.Text
			}
			out = append(out, fmt.Sprint(line, " ", k.Closed))
		}
		return out
	}
	want := []string{"QUARANTINED doubted false", "VERIFIED verified against REPORTED pump 3 leaks false", "REPORTED pump 3 leaks true"}
	if got := unsettled(public); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := unsettled(nil); !slices.Contains(got, "REPORTED pump 3 leaks against REPORTED private false") || len(got) != 3 {
		t.Errorf("%q", got)
	}
	v := b.Views([]string{ids["verified"], "c000000", ids["settled"]})
	if len(v) != 2 || v[0].Text != "verified" || !v[0].Fresh() || v[0].Sources != 2 || len(v[0].Conflicts) != 1 {
		t.Errorf("%+v", v)
	}
	c.unix += 40 * 86400
	if v := b.Views([]string{ids["verified"]}); v[0].Class != evidence.Stale || v[0].Fresh() {
		t.Errorf("%+v", v)
	}
	if k := b.Tellable(nil); slices.ContainsFunc(k, func(k Tellable) bool { return k.Class.Current() }) || k[0].Text != "settled" {
		t.Errorf("%+v", k)
	}
	if got := unsettled(public); !slices.Equal(got, want) {
		t.Errorf("with time: %q", got)
	}
	c.untrusted = true
	c.unix -= 40 * 86400
	if v := b.Views([]string{ids["settled"]}); v[0].Fresh() {
		t.Errorf("by a clock that cannot be trusted: %+v", v)
	}
}
