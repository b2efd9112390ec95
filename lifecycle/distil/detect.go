package distil

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/jivad/jivad/soul/detail"
)

// Detector finds one kind of detail in a sentence. It should find too much rather than
// too little: what is lost is a sentence, and what is kept may be a person's.
type Detector struct {
	Kind  Kind
	Finds func(text string) bool
}

// BuiltIn are the detectors that need to be told nothing. No distillate may hold what they
// find, whoever made it: see lineage.Disposition.Check.
func BuiltIn() []Detector {
	var out []Detector
	for _, kind := range detail.Kinds() {
		out = append(out, Detector{Kind(kind), kind.In})
	}
	return out
}

// NamesOf detects names: each word of three letters and more of them, also with an ending
// of up to three letters behind it or within a joined word, and one of five and more also
// within another word, whatever the case, the accents and the look-alike letters; of
// scripts without spaces the whole name.
func NamesOf(names []string) Detector {
	var spaced, whole []string
	for _, name := range names {
		name = bare(name)
		if strings.ContainsFunc(name, unspaced) {
			whole = append(whole, strings.Join(strings.Fields(name), ""))
			continue
		}
		for _, word := range strings.FieldsFunc(name, func(r rune) bool { return !detail.Wordy(r) }) {
			if len([]rune(word)) >= 3 {
				spaced = append(spaced, word)
			}
		}
	}
	return Detector{KindName, func(text string) bool {
		text = bare(text)
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !detail.Wordy(r) }) {
			for _, name := range spaced {
				if rest, found := strings.CutPrefix(word, name); found && len([]rune(rest)) <= 3 {
					return true
				}
				if len([]rune(name)) >= longWord && strings.Contains(word, name) {
					return true
				}
			}
		}
		close := strings.Join(strings.Fields(text), "")
		for _, name := range whole {
			if name != "" && strings.Contains(close, name) {
				return true
			}
		}
		return false
	}}
}

// bare is folded text without accents, each letter as the Latin one that it looks like.
func bare(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	marks := func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return looks(detail.Visible(r))
	}
	return strings.Map(marks, norm.NFKD.String(cases.Fold().String(norm.NFKC.String(strings.ToValidUTF8(text, " ")))))
}
