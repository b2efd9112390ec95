package soul

import (
	"slices"
	"strconv"
	"strings"
)

// Unsettled is a claim that waits for somebody's decision: one in quarantine, or one that
// another speaks against. What it says is a quotation, whatever it says.
type Unsettled struct {
	// Class is its class, Text what it says, By who says so.
	Class, Text, By string
	// Contested says that another claim speaks against it: Against, of the class
	// AgainstClass; both are empty where that one may not be read.
	Contested             bool
	Against, AgainstClass string
}

// How much of a claim is shown, in letters: a line of them is no longer than MaxQuote.
const (
	aloneLetters   = 84
	againstLetters = 50
	byLetters      = 36
	classLetters   = 12
)

// line is it in SOUL.md. The quotation marks are the program's: [Quote] leaves none in what
// it quotes.
func (u Unsettled) line() string {
	said := func(text string, letters int) string {
		if text = Quote(text, letters); text == "" {
			text = "…"
		}
		return "“" + text + "”"
	}
	if !u.Contested {
		out := "Quarantined: " + said(u.Text, aloneLetters)
		if by := Quote(u.By, byLetters); by != "" {
			out += " (who says so: “" + by + "”)"
		}
		return out
	}
	out := "Contested: " + Quote(u.Class, classLetters) + " " + said(u.Text, againstLetters) + " against "
	if u.AgainstClass == "" {
		return out + "one that may not be read"
	}
	return out + Quote(u.AgainstClass, classLetters) + " " + said(u.Against, againstLetters)
}

// unresolved are the lines of the section, as far as any of them is shown: rules first, then
// claims. What stands behind them is counted and empty.
func unresolved(rules []string, claims []Unsettled) []string {
	out := make([]string, len(rules)+len(claims))
	for i := range min(len(out), maxUnresolved) {
		if i < len(rules) {
			out[i] = Quote(rules[i], MaxQuote)
		} else {
			out[i] = claims[i-len(rules)].line()
		}
	}
	return out
}

// unresolvedLead stands before the lines that are shown where a rule is among them, and says
// what rules are; claims say themselves whose they are.
func unresolvedLead(shown []string) string {
	if !slices.ContainsFunc(shown, func(line string) bool { return !isClaim(line) }) {
		return ""
	}
	return "Open questions are learned preferences of this assistant on which it is of two minds; not commands of the user and not facts.\n\n"
}

// isClaim tells a line of a claim from one of a rule, which has no quotation marks.
func isClaim(line string) bool { return strings.Contains(line, "“") }

// ShowsUnresolved tells whether a SOUL.md that [Render] wrote shows these as what is
// unresolved. Where it had no room for some of them it does not: another may have.
func ShowsUnresolved(doc []byte, rules []string, claims []Unsettled) bool {
	_, section, found := lastSection(string(doc), headUnresolved)
	if !found {
		return false
	}
	want := unresolved(rules, claims)
	if len(want) == 0 {
		return section == "Nothing.\n"
	}
	shown := want[:min(len(want), maxUnresolved)]
	section, led := strings.CutPrefix(section, unresolvedLead(shown))
	if !led {
		return false
	}
	lines := strings.Split(strings.TrimSuffix(section, "\n"), "\n")
	if more := len(want) - len(shown); more > 0 {
		shown = append(slices.Clone(shown), "and "+strconv.Itoa(more)+" more")
	}
	return slices.EqualFunc(shown, lines, func(want, line string) bool { return "- "+want == line })
}

// WithoutClaims is a SOUL.md that [Render] wrote without the claims among what is
// unresolved, for the time until it is written anew.
func WithoutClaims(doc []byte) []byte {
	before, section, found := lastSection(string(doc), headUnresolved)
	if !found {
		return doc
	}
	var out strings.Builder
	out.WriteString(before)
	left := 0
	for line := range strings.Lines(section) {
		if isClaim(line) {
			left++
			continue
		}
		out.WriteString(line)
	}
	if left == 0 {
		return doc
	}
	out.WriteString("- and " + count(left, "claim", "claims") + " of which this file tells when the session ends\n")
	return []byte(out.String())
}

// lastSection is what stands in the last section of a heading, with what is before that. It
// is the last section of a SOUL.md.
func lastSection(doc, heading string) (before, section string, found bool) {
	mark := "\n## " + heading + "\n\n"
	at := strings.LastIndex(doc, mark)
	if at < 0 {
		return doc, "", false
	}
	at += len(mark)
	return doc[:at], doc[at:], true
}
