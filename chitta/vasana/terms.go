package vasana

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Term is one content word of an entry and how often it is there.
type Term struct {
	Word  string
	Count int
}

const (
	shortestWord = 3  // letters; scripts without spaces have their own rule
	longestWord  = 20 // letters; what is longer is no word to name things by
	mostMarks    = 2  // combining marks in a row
)

// ExtractTerms returns the up to most content words of a text, the most
// frequent first, then in alphabetical order. Words are case-folded NFKC and
// hold letters and their marks, nothing else. Left out are the commonest words
// of English, German, French and Spanish, names of months and weekdays, Roman
// numerals and whatever holds a digit.
//
// Scripts without spaces give pieces: runs of Kanji and Katakana as pairs and
// whole words, triples of Hiragana where there is nothing else, triples of
// letters in Thai and its kin.
func ExtractTerms(text string, most int) []Term {
	counts := map[string]int{}
	add := func(word string) { counts[word]++ }
	plain := readable(text)
	var joined []string // Hiragana, used where nothing else was found
	for rest, state := plain, -1; len(rest) > 0; {
		var word string
		word, rest, state = uniseg.FirstWordInString(rest, state)
		for _, part := range strings.FieldsFunc(word, func(r rune) bool { return !isLetter(r) && !unicode.IsDigit(r) }) {
			if spaced(part) && useful(part) {
				add(part)
			}
		}
	}
	for _, run := range runsWithoutSpaces(plain) {
		if run.script == hiragana {
			joined = append(joined, pieces([]rune(run.text), 3)...)
			continue
		}
		for _, piece := range run.pieces() {
			add(piece)
		}
	}
	if len(counts) == 0 {
		for _, piece := range joined {
			add(piece)
		}
	}
	terms := make([]Term, 0, len(counts))
	for word, count := range counts { // sorted next
		terms = append(terms, Term{word, count})
	}
	slices.SortFunc(terms, func(a, b Term) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Word, b.Word))
	})
	return terms[:min(len(terms), max(most, 0))]
}

// markup matches addresses and tags, which are not the person's words. The
// pattern runs in linear time whatever the text.
var markup = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:https?://|www\.)[^\s<>()]+|</?[A-Za-z!][^<>]{0,500}>|&#?[A-Za-z0-9]{1,10};|[^\s@]+@[^\s@]+\.[^\s@]+`)
})

// readable folds a text and takes out markup and what cannot be seen.
func readable(text string) string {
	text = markup().ReplaceAllString(strings.ToValidUTF8(text, " "), " ")
	text = norm.NFKC.String(cases.Fold().String(norm.NFKC.String(text)))
	var b strings.Builder
	marks := 0
	for _, r := range text {
		switch {
		case isMark(r):
			if marks++; marks <= mostMarks {
				b.WriteRune(r)
			}
			continue
		case unicode.Is(unicode.Cf, r): // joiners, soft hyphens, direction marks: gone without a gap
			continue
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\'':
			b.WriteRune(r)
		case r == '’':
			b.WriteByte('\'')
		default:
			b.WriteByte(' ')
		}
		marks = 0
	}
	return b.String()
}

func isMark(r rune) bool { return unicode.In(r, unicode.Mn, unicode.Mc) }

func isLetter(r rune) bool { return unicode.IsLetter(r) || isMark(r) }

// useful says whether a folded word of a script with spaces can name a thing.
func useful(word string) bool {
	n := utf8.RuneCountInString(word)
	if n < shortestWord || n > longestWord || romanNumeral(word) {
		return false
	}
	for _, r := range word {
		if !isLetter(r) {
			return false
		}
	}
	return !stopWords()[word]
}

// romanNumeral says whether a folded word reads as a number up to 3999.
func romanNumeral(word string) bool {
	rest := strings.TrimLeft(word, "m")
	if len(word)-len(rest) > 3 {
		return false
	}
	for _, place := range [][]string{
		{"cm", "dccc", "dcc", "dc", "cd", "ccc", "cc", "d", "c"},
		{"xc", "lxxx", "lxx", "lx", "xl", "xxx", "xx", "l", "x"},
		{"ix", "viii", "vii", "vi", "iv", "iii", "ii", "v", "i"},
	} {
		for _, digits := range place {
			if after, ok := strings.CutPrefix(rest, digits); ok {
				rest = after
				break
			}
		}
	}
	return rest == "" && word != ""
}

// Scripts written without spaces between words.
type script int

const (
	otherScript script = iota
	han
	katakana
	hiragana
	southeast // Thai, Lao, Khmer, Myanmar
)

func scriptOf(r rune) script {
	switch {
	case r < 0x0E00:
		return otherScript
	case unicode.In(r, unicode.Han):
		return han
	case unicode.In(r, unicode.Katakana) || r == 'ー':
		return katakana
	case unicode.In(r, unicode.Hiragana):
		return hiragana
	case unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return southeast
	}
	return otherScript
}

// spaced says whether a word is of a script with spaces throughout.
func spaced(word string) bool {
	for _, r := range word {
		if scriptOf(r) != otherScript {
			return false
		}
	}
	return true
}

type run struct {
	script script
	text   string
}

// runsWithoutSpaces cuts out the longest runs of one script each.
func runsWithoutSpaces(text string) []run {
	var runs []run
	start, current := 0, otherScript
	for i, r := range text {
		s := scriptOf(r)
		if s == current {
			continue
		}
		if current != otherScript {
			runs = append(runs, run{current, text[start:i]})
		}
		start, current = i, s
	}
	if current != otherScript {
		runs = append(runs, run{current, text[start:]})
	}
	return runs
}

func (r run) pieces() []string {
	runes := []rune(r.text)
	switch r.script {
	case katakana:
		if len(runes) >= 2 && len(runes) <= longestWord {
			return []string{r.text}
		}
	case han:
		if len(runes) == 3 && !slices.ContainsFunc(runes, commonHan) {
			return []string{r.text}
		}
		return slices.DeleteFunc(pieces(runes, 2), func(piece string) bool {
			return strings.ContainsFunc(piece, commonHan)
		})
	case southeast:
		return syllables(r.text)
	}
	return nil
}

// pieces are all runs of n letters.
func pieces(runes []rune, n int) []string {
	var list []string
	for i := 0; i+n <= len(runes); i++ {
		list = append(list, string(runes[i:i+n]))
	}
	return list
}

// syllables are triples of clusters (a letter with the vowels and tones round
// it), or the whole run where it is a pair.
func syllables(text string) []string {
	var clusters, list []string
	for rest, state := text, -1; len(rest) > 0; {
		var c string
		c, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		clusters = append(clusters, c)
	}
	if len(clusters) == 2 {
		return []string{text}
	}
	for i := 0; i+3 <= len(clusters); i++ {
		list = append(list, strings.Join(clusters[i:i+3], ""))
	}
	return list
}
