package distil

import (
	"slices"
	"strings"

	"github.com/jivad/jivad/soul/lineage"
)

// wish is what a person can say of how the companion is. A rule's sign is that of the
// life, so each wish has two sides: what is wanted is told of a life that was judged
// well, and what was there instead of one that was not. Each side has a key of its own,
// so that "short: yes" and "long: no" never cancel each other.
type wish struct {
	scope string
	// sides are the two ends: the key, the choice, and what is said when that is wanted.
	sides [2]side
}

type side struct {
	key, choice string
	said        []string
}

// wishes is the table of feedback. Phrases are compared word by word, folded.
var wishes = []wish{
	{"answers, length", [2]side{
		{"companion.brevity", "short ones", []string{
			"shorter", "too long", "be brief", "briefer", "keep it short", "less text", "too wordy", "too verbose", "too much text",
			"kürzer", "zu lang", "zu lange", "fass dich kurz", "fasse dich kurz", "knapper", "weniger text", "zu ausführlich", "zu viel text",
		}},
		{"companion.detail", "long ones, with details", []string{
			"longer", "too short", "more detail", "more details", "tell me more", "länger", "zu kurz", "ausführlicher", "mehr details", "mehr einzelheiten",
		}},
	}},
	{"questions to the person, how many", [2]side{
		{"companion.asking", "few", []string{
			"ask less", "fewer questions", "less questions", "too many questions", "stop asking", "don't ask so much", "ask fewer questions",
			"weniger fragen", "frag weniger", "frage weniger", "zu viele fragen", "frag nicht so viel", "hör auf zu fragen",
		}},
		{"companion.asking_first", "one before each thing that is done", []string{
			"ask more", "ask me first", "ask first", "ask before", "more questions", "frag mehr", "frag vorher", "frag zuerst", "frag mich vorher", "frag mich zuerst", "mehr fragen",
		}},
	}},
	{"answers, tone", [2]side{
		{"companion.plainness", "matter of fact", []string{
			"less flattery", "don't flatter", "stop flattering", "too emotional", "more sober", "too sweet", "sachlicher", "weniger lob", "nüchterner", "zu gefühlvoll", "schmeichle nicht",
		}},
		{"companion.warmth", "warm", []string{"warmer", "kinder", "friendlier", "too cold", "too harsh", "freundlicher", "herzlicher", "wärmer", "zu kalt", "zu kühl", "zu hart"}},
	}},
	{"answers, wording", [2]side{
		{"companion.simplicity", "simple words", []string{"simpler", "too complicated", "too technical", "simple words", "einfacher", "zu kompliziert", "zu technisch", "einfache worte"}},
		{"companion.precision", "exact terms", []string{"more precise", "more exact", "more technical", "too vague", "genauer", "präziser", "fachlicher", "zu vage", "zu ungenau"}},
	}},
}

// helped is what a person says when something was of use. What it was is the tool that
// went before, or words alone.
var helped = []string{
	"this helped", "that helped", "it helped", "helped me", "was helpful", "very helpful", "this helps", "that helps", "this did help",
	"das hat geholfen", "hat mir geholfen", "hat geholfen", "das hilft", "hilft mir", "war hilfreich", "sehr hilfreich",
}

// unhelped is what they say when it was of none.
var unhelped = []string{
	"did not help", "didn't help", "not helpful", "no help", "doesn't help", "does not help", "not very helpful", "unhelpful", "has not helped", "hasn't helped",
	"nicht geholfen", "hilft nicht", "nicht hilfreich", "nicht sehr hilfreich", "keine hilfe",
}

// turns are words that turn the phrase behind them round.
var turns = []string{"not", "isn't", "wasn't", "never", "no", "nicht", "nie", "kein", "keine", "niemals"}

const (
	helpKey   = "companion.help"
	helpScope = "help, how it is given"
)

// feedback gives the exemplars of what the person said; of two that contradict each other
// the later one. What cannot be told under the sign of the life is counted.
func (l *life) feedback(r *Report) []Exemplar {
	type heard struct {
		side, act int
	}
	last := make([]heard, len(wishes))
	for i := range last {
		last[i].act = -1
	}
	var help Exemplar
	tool, toolAt := "", -1
	for i, a := range l.acts {
		if _, declared := l.tools[a.Tool]; a.Kind == Call && a.Outcome == OK && (declared || l.tools == nil) {
			tool, toolAt = a.Tool, i
		}
		if a.Kind != Said {
			continue
		}
		said := clauses(a.Text)
		for w := range wishes {
			for s, side := range wishes[w].sides {
				if says(said, side.said) {
					last[w] = heard{s, i}
				}
			}
		}
		good, bad := says(said, helped), says(said, unhelped)
		switch {
		case good && !bad && l.worked, bad && !l.worked:
			help = Exemplar{Key: helpKey, Scope: helpScope, choice: "in words alone", Tries: 1, Hits: 1, simple: true, declared: -1, acts: []int{i}}
			if tool != "" {
				help.Tool, help.choice, help.acts = tool, "with tool "+tool, []int{toolAt, i}
			}
			if l.tools == nil && tool != "" {
				help.declared = 0
			}
		case good || bad:
			r.Contradicted++
		}
		tool = ""
	}
	var out []Exemplar
	for w, h := range last {
		if h.act < 0 {
			continue
		}
		told := wishes[w].sides[h.side]
		if !l.worked { // what was there is the other side
			told = wishes[w].sides[1-h.side]
		}
		out = append(out, Exemplar{Key: told.key, Scope: wishes[w].scope, choice: told.choice, Tries: 1, Hits: 1, simple: true, declared: -1, acts: []int{h.act}})
	}
	if help.Key != "" {
		out = append(out, help)
	}
	return out
}

// clauses are the words of a text, clause by clause.
func clauses(text string) (out [][]token) {
	text = strings.ReplaceAll(text, "’", "'")
	for _, clause := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",.;:!?–—\n", r) }) {
		out = append(out, parts(words(clause), nil))
	}
	return out
}

// Helped tells what the person said last of whether something was of use, as a signal in
// millionths; false where they said nothing of it.
func Helped(trace Trace) (signal int64, said bool) {
	for _, a := range trace.Acts {
		if a.Kind != Said {
			continue
		}
		clauses := clauses(a.Text)
		switch good, bad := says(clauses, helped), says(clauses, unhelped); {
		case good && !bad:
			signal, said = lineage.Million, true
		case bad:
			signal, said = -lineage.Million, true
		}
	}
	return signal, said
}

// says tells whether a clause holds one of the phrases, not turned round by one of the
// two words before it.
func says(clauses [][]token, phrases []string) bool {
	for _, phrase := range phrases {
		want := parts(words(phrase), nil)
		for _, clause := range clauses {
			for i := 0; i+len(want) <= len(clause); i++ {
				same := slices.EqualFunc(clause[i:i+len(want)], want, func(a, b token) bool { return a.text == b.text })
				if same && !turned(clause[max(0, i-3):i]) {
					return true
				}
			}
		}
	}
	return false
}

// turned looks at the two words before a phrase, or three parts where one is joined.
func turned(before []token) bool {
	for i, t := range before {
		two := i >= len(before)-2
		if two && slices.Contains(turns, t.text) || i+1 < len(before) && slices.Contains(turns, t.text+"'"+before[i+1].text) {
			return true
		}
	}
	return false
}
