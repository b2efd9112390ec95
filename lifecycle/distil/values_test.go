package distil_test

import (
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle/distil"
)

// A value that was not declared is said where it is a short word of the tool's own, and not
// where it is of the person, or puts together what stood apart in what happened.
func TestValuesThatAreSaid(t *testing.T) {
	const given = "list ok = known: indexed, eco_fast, eco-slow; contact falke at moorwind on Larkspur Lane"
	for _, c := range []struct {
		value string
		said  bool
	}{
		{"indexed", true}, {"eco_fast", true}, {"eco-slow", true}, {"by_distance", true}, {"v2", true}, {"utf_8", true}, {"XML", true}, {"lowestPrice", true},
		{"Johanna", false}, {"johannas", false}, {"JOHÁNNA", false}, {"Jоhanna", false}, {"јоһаппа", false}, {"Johanna_Graz", false}, {"GrazJohanna", false}, {"to_johanna", false},
		{"grazsoon", false}, {"moorwind-falke", false}, {"falkeAtMoorwind", false}, {"falkeatmoorwind", false}, {"LarkspurLane", false}, {"31_Larkspur_Lane", false},
		{"four_parts_are_free", false}, {"FourHumpsAreFree", false}, {"anincrediblylongsingleword", false}, {"12OldBakerStreet", false}, {"ada_example.com", false}, {"Anna", false},
		{"AnnaMuster", false}, {"annamuster", false}, {"зοе", false},
	} {
		for _, partial := range []bool{false, true} {
			trace := acts("seen I want to visit Johanna in Graz soon.", given, "fare way=zzz failed", "fare way="+c.value+" ok")
			trace.Partial = partial
			d := distil.Distiller{Secret: secret(1), Names: []string{"Anna Muster"}}
			rules, report, err := d.Distil(trace, rated(1))
			if err != nil {
				t.Fatal(err)
			}
			if said := strings.Contains(told(rules), ": "+c.value); said != (c.said && !partial) {
				t.Errorf("%s, partial: %v, is said: %v\n%s\n%+v", c.value, partial, said, told(rules), report)
			}
		}
	}
}

// A value that was tried in several ways of writing is the same detail each time.
func TestValuesTriedInSeveralWays(t *testing.T) {
	for way, said := range map[string]bool{"kestrelMoor": false, "kestrelmoor": false, "moor_kestrel": false, "quick_fast": true} {
		trace := acts("ask query=kestrel.moor failed", "ask query=quick_slow failed", "fare way=zzz failed", "fare way="+way+" ok")
		d := distil.Distiller{Secret: secret(1)}
		rules, _, err := d.Distil(trace, rated(1))
		if err != nil || strings.Contains(told(rules), ": "+way) != said {
			t.Errorf("%s: %s %v", way, told(rules), err)
		}
	}
}

// Of a partial trace no model is asked, and what was answered is repeated by none.
func TestWriterOfWhatWasTold(t *testing.T) {
	lie := distil.Proposal{Key: "tool.fare", Exemplar: 1, Guidance: "tool fare, argument way: indexed, as Zoe does"}
	trace := acts("fare way=nested failed", "fare way=indexed ok")
	d := distil.Distiller{Secret: secret(1), Tools: map[string]distil.Tool{"fare": {Arguments: map[string][]string{"way": {"indexed", "nested"}}}}}
	for _, c := range []struct {
		told    string
		partial bool
		worded  int
	}{{"", false, 1}, {"I know Zoë well.", false, 0}, {"", true, 0}} {
		again := distil.Trace{Acts: append(trace.Acts[:2:2], distil.Act{Kind: distil.Told, Text: c.told}), Partial: c.partial}
		model := &scripted{calls: []func(distil.Task) ([]distil.Proposal, error){says(lie), says(lie)}}
		rules, report, err := d.Write(t.Context(), model, again, rated(1))
		if err != nil || report.Worded != c.worded || len(rules) != 1 || c.partial != (len(model.tasks) == 0) {
			t.Errorf("%+v: %s %+v %v", c, told(rules), report, err)
		}
	}
}
