package projection

import (
	"slices"
	"strings"

	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/soul/detail"
	"github.com/jivad/jivad/soul/lineage"
)

// refusedRules is why nothing is kept of a life whose rules the lineage would not take in.
const refusedRules = "no lesson: what its rules say may not enter the lineage"

// admitted gives the rules of a draft that the lineage takes in, in the order of their keys,
// each once, and tells how many it does not: the form of a rule may be narrower than it was
// when the draft was made. They are counted in the report as others that are dropped.
func admitted(rules []lineage.Disposition, r *distil.Report) (left []lineage.Disposition, refused int) {
	for _, rule := range rules {
		rule.Weight = 0 // it has none before it is weighed
		if rule.Check() == nil && !slices.ContainsFunc(left, func(other lineage.Disposition) bool { return other.Key == rule.Key }) {
			left = append(left, rule)
			continue
		}
		refused++
		kind := distil.KindForm
		if found, is := detail.Find(rule.Guidance); is {
			kind = distil.Kind(found)
		}
		if r.Found == nil {
			r.Found = map[distil.Kind]int{}
		}
		r.Found[kind]++
	}
	slices.SortFunc(left, func(a, b lineage.Disposition) int { return strings.Compare(a.Key, b.Key) })
	r.Rules -= refused
	r.Dropped += refused
	return left, refused
}
