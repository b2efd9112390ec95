package soul

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jivad/jivad/reactivation"
)

// quality is one guna in plain words.
type quality struct {
	guna, noun, adjective string
	percent               int
	// order settles ties.
	order int
}

// qualities are the three, the greatest first, in whole percents that sum to 100.
func qualities(s reactivation.Shares) []quality {
	p := Percents(s)
	q := []quality{
		{"sattva", "clarity", "clear and steady", p[2], 0},
		{"rajas", "restlessness", "restless", p[1], 1},
		{"tamas", "heaviness", "heavy and slow", p[0], 2},
	}
	slices.SortFunc(q, func(a, b quality) int {
		return cmp.Or(cmp.Compare(b.percent, a.percent), cmp.Compare(a.order, b.order))
	})
	return q
}

// Percents rounds tamas, rajas, sattva to whole percents that sum to 100: what
// rounding down leaves over goes to the greatest remainders.
func Percents(s reactivation.Shares) [3]int {
	exact := [3]float64{s.Tamas, s.Rajas, s.Sattva}
	var out [3]int
	order := []int{2, 1, 0}
	left := 100
	for i, x := range exact {
		exact[i] = min(max(x, 0), 1) * 100
		out[i] = int(exact[i])
		left -= out[i]
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(exact[b]-math.Floor(exact[b]), exact[a]-math.Floor(exact[a]))
	})
	for _, i := range order {
		if left <= 0 {
			break
		}
		out[i]++
		left--
	}
	return out
}

// characterSentence says the shares in plain words, with or without the numbers.
func characterSentence(s reactivation.Shares, numbers bool) string {
	q := qualities(s)
	num := func(q quality) string {
		if !numbers {
			return ""
		}
		return fmt.Sprintf(" (%s %d %%)", q.guna, q.percent)
	}
	if q[0].percent-q[2].percent <= 8 {
		return fmt.Sprintf("I hold %s%s, %s%s and %s%s in about equal measure.",
			q[0].noun, num(q[0]), q[1].noun, num(q[1]), q[2].noun, num(q[2]))
	}
	lead := "I am " + q[0].adjective + " more than anything else"
	if q[0].percent >= 50 {
		lead = "I am mostly " + q[0].adjective
	}
	return fmt.Sprintf("%s%s, with %s %s%s and %s %s%s.", lead, num(q[0]),
		amount(q[1].percent), q[1].noun, num(q[1]), amount(q[2].percent), q[2].noun, num(q[2]))
}

func amount(percent int) string {
	switch {
	case percent >= 35:
		return "much"
	case percent >= 20:
		return "some"
	case percent >= 8:
		return "little"
	}
	return "hardly any"
}

// leaning is the shortest description, for one line of a list.
func leaning(s reactivation.Shares) string {
	q := qualities(s)
	switch {
	case q[0].percent-q[2].percent <= 8:
		return "evenly mixed"
	case q[0].percent >= 50:
		return "mostly " + q[0].adjective
	}
	return "rather " + q[0].adjective
}

// shareList is the three shares, the greatest first.
func shareList(s reactivation.Shares) string {
	q := qualities(s)
	return fmt.Sprintf("%s %d %%, %s %d %%, %s %d %%",
		q[0].guna, q[0].percent, q[1].guna, q[1].percent, q[2].guna, q[2].percent)
}

// lookBack is how many sessions ago a change is counted from, wherever SOUL.md
// speaks of one.
const lookBack = 10

// since is the trend from the state of lookBack sessions ago, or of the first
// session after it with a character, up to the summary's own; empty without an
// earlier one.
func since(s *Summary) []Record {
	for i := range s.Trend {
		if r := &s.Trend[i]; r.GStore != nil && r.Session >= s.Session-lookBack {
			if r.Session >= s.Session {
				break
			}
			return s.Trend[i:]
		}
	}
	return nil
}

// leastChange is the change of a share, in whole percents, from which on it is told.
const leastChange = 2

// change is that of the share which moved most over up to lookBack sessions.
type change struct {
	// noun names the share; before and now are whole percents.
	noun        string
	before, now int
	// sessions is how many it took.
	sessions int
}

// changeOf compares the store's character with that of up to ten sessions ago; false
// without anything to compare.
func changeOf(s *Summary) (change, bool) {
	window := since(s)
	if len(window) == 0 || s.GStore == (reactivation.Guna{}) {
		return change{}, false
	}
	then, _ := window[0].GStore.Shares()
	before, now := Percents(then), Percents(s.GStore.Shares())
	widest, by := 2, 0
	for _, i := range []int{2, 1, 0} {
		if d := now[i] - before[i]; max(d, -d) > max(by, -by) {
			widest, by = i, d
		}
	}
	noun := [3]string{"heaviness", "restlessness", "clarity"}[widest]
	return change{noun, before[widest], now[widest], s.Session - window[0].Session}, true
}

// told tells that it is more than the last digits wandering.
func (c change) told() bool { return max(c.now-c.before, c.before-c.now) >= leastChange }

func (c change) tellsClarity() bool { return c.told() && c.noun == "clarity" }

// isOf tells whether a warning of a share that fell has the same figures.
func (c change) isOf(w Warning) bool {
	return math.Round(100*w.Before) == float64(c.before) && math.Round(100*w.After) == float64(c.now)
}

// changeSentence says it; empty without anything to compare.
func changeSentence(s *Summary) string {
	c, ok := changeOf(s)
	if !ok {
		return ""
	}
	span, figures := lately(c.sessions), fmt.Sprintf("(%d %% to %d %%)", c.before, c.now)
	switch {
	case !c.told():
		return fmt.Sprintf("Over %s this has hardly changed.", span)
	case c.now > c.before:
		return fmt.Sprintf("Over %s my %s has grown %s.", span, c.noun, figures)
	}
	return fmt.Sprintf("Over %s my %s has lessened %s.", span, c.noun, figures)
}

func gapSentence(s *Summary) string {
	if s.WitnessGap == nil {
		return "This session held no entry, so its distance from this description is undefined."
	}
	return fmt.Sprintf("The session lay %.2f from how I describe myself (0 is the same, 2 the opposite).", *s.WitnessGap)
}

// lately is "the last session", "the last 2 sessions".
func lately(n int) string {
	if n == 1 {
		return "the last session"
	}
	return fmt.Sprintf("the last %d sessions", n)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// woken says how often an impression was woken.
func woken(n int) string {
	switch n {
	case 0:
		return "never woken"
	case 1:
		return "woken once"
	}
	return fmt.Sprintf("woken %d times", n)
}

// list joins words as people do.
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
