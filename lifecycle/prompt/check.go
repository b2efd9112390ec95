package prompt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The most that an answer may hold, in code points.
const (
	NarrativeRunes = 600
	NameRunes      = 60
	nameWords      = 6
)

// What can be wrong with an answer. The errors say which rule was broken and never
// what was said.
var (
	// ErrEmpty: it says nothing.
	ErrEmpty = errors.New("it says nothing")
	// ErrLong: it is longer than it may be.
	ErrLong = errors.New("it is too long")
	// ErrForm: it is not plain text on one line.
	ErrForm = errors.New("it is not plain text: line breaks, markup, addresses and quotation marks are not wanted")
	// ErrNumber: it has a number that the source has not.
	ErrNumber = errors.New("it has a number that does not stand in the data")
	// ErrUnknownName: it has a name that the source has not.
	ErrUnknownName = errors.New("it has a name or a capitalised word that does not stand in the data")
	// ErrWord: it has a word that the source has not.
	ErrWord = errors.New("it has a word that does not stand in the data")
)

// CheckNarrative tells whether a narrative says nothing that the summary does not:
// every number, in digits of any script or in English words, every capitalised word
// but a common one at the beginning of a sentence, and every word of a script without capitals must stand
// in the summary; and it must be plain text of at most NarrativeRunes. It cannot tell
// whether the sentences are true. Errors: ErrEmpty, ErrLong, ErrForm, ErrNumber,
// ErrUnknownName.
func CheckNarrative(narrative, summary string) error {
	if err := checkForm(narrative, NarrativeRunes); err != nil {
		return err
	}
	return checkWords(narrative, summary)
}

// CheckName tells the same of a name of at most NameRunes and six words, whose
// sources are the words and excerpts that it was made from.
func CheckName(name string, terms, excerpts []string) error {
	if err := checkForm(name, NameRunes); err != nil {
		return err
	}
	if n := len(strings.Fields(name)); n > nameWords {
		return fmt.Errorf("%w: %d words, at most %d", ErrLong, n, nameWords)
	}
	return checkWords(name, strings.Join(terms, " ")+"\n"+strings.Join(excerpts, "\n"))
}

func checkForm(text string, most int) error {
	if !strings.ContainsFunc(text, unicode.IsLetter) {
		return ErrEmpty
	}
	if n := utf8.RuneCountInString(text); n > most {
		return fmt.Errorf("%w: %d letters, at most %d", ErrLong, n, most)
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, notPlain) || strings.Contains(text, "://") || Neutral(text) != text {
		return ErrForm
	}
	return nil
}

func notPlain(r rune) bool {
	return strings.ContainsRune("<>[]{}|`*_#\\\"“”„«»~^=@", r) || r != ' ' && (unicode.IsControl(r) || unicode.IsSpace(r)) ||
		unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) && r != 0x200c && r != 0x200d || r == utf8.RuneError
}

func checkWords(text, source string) error {
	source = norm.NFC.String(source)
	known := map[string]bool{}
	for _, w := range wordsOf(source) {
		known[w.folded()] = true
	}
	for _, w := range wordsOf(norm.NFC.String(text)) {
		switch {
		case w.kind == aNumber && !known[w.folded()]:
			return ErrNumber
		case w.kind == aWord:
			low := w.folded()
			if digits, ok := numberWords[low]; ok {
				if !known[low] && !known[digits] {
					return ErrNumber
				}
				continue
			}
			if caseless([]rune(w.text)[0]) && strings.Contains(source, w.text) {
				continue // words of such scripts often have nothing between them
			}
			if w.mayBeName() && !known[low] && !(w.begins && common[low]) && low != "i" {
				return ErrUnknownName
			}
		}
	}
	return nil
}

// word is a run of letters or a number of a text.
type word struct {
	kind int
	text string
	// begins says that a sentence begins with it.
	begins bool
}

const (
	aWord = iota
	aNumber
)

// wordsOf takes a text apart. A number is a run of digits, with a point or a comma
// where digits follow; a date or a time is several. A word of a script without
// capitals is a run of it between anything else.
func wordsOf(text string) []word {
	var out []word
	rs, begins := []rune(text), true
	for i := 0; i < len(rs); {
		switch r := rs[i]; {
		case unicode.IsNumber(r):
			j := i + 1
			for j < len(rs) && (unicode.IsNumber(rs[j]) || strings.ContainsRune(".,٫٬", rs[j]) && j+1 < len(rs) && unicode.IsNumber(rs[j+1])) {
				j++
			}
			out = append(out, word{aNumber, string(rs[i:j]), begins})
			begins = false
			i = j
		case unicode.IsLetter(r):
			j := i + 1
			for j < len(rs) && (unicode.IsLetter(rs[j]) || unicode.IsMark(rs[j])) && (caseless(rs[j]) == caseless(r) || unicode.IsMark(rs[j])) {
				j++
			}
			out = append(out, word{aWord, string(rs[i:j]), begins})
			begins = false
			i = j
		default:
			begins = begins || strings.ContainsRune(".!?…", r)
			i++
		}
	}
	return out
}

// folded is how a word is compared: small letters; a number in ASCII digits, with a
// point, without zeros before it, so that 05 is 5 and 0,5 is 0.5.
func (w word) folded() string {
	if w.kind == aWord {
		return strings.ToLower(w.text)
	}
	var b strings.Builder
	for _, r := range w.text {
		switch {
		case unicode.IsDigit(r):
			b.WriteByte('0' + byte(digit(r)))
		case r == ',' || r == '٫' || r == '.':
			b.WriteByte('.')
		default:
			b.WriteRune(r)
		}
	}
	s := strings.TrimLeft(b.String(), "0")
	if s == "" || s[0] == '.' {
		s = "0" + s
	}
	return s
}

// digit is the value of a decimal digit of any script. Unicode has them in runs of
// ten, from zero.
func digit(r rune) rune {
	for _, t := range unicode.Nd.R16 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return (r - rune(t.Lo)) % 10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return (r - rune(t.Lo)) % 10
		}
	}
	return 0
}

// mayBeName tells whether a word could be one: one with a capital anywhere in it, or
// of a script that has none.
func (w word) mayBeName() bool {
	return strings.ContainsFunc(w.text, func(r rune) bool { return unicode.IsUpper(r) || unicode.IsTitle(r) || caseless(r) })
}

// caseless tells of letters of scripts without capitals.
func caseless(r rune) bool {
	return unicode.Is(unicode.Lo, r) && r != 'ª' && r != 'º' || unicode.Is(unicode.Lm, r)
}

// common are words that may begin a sentence without being anybody's name.
var common = setOf(`
a about above across after again against all almost alone along already also although always am among an and another
any anyone anything apart are around as at away back be because been before behind being below beside besides between beyond
both but by calm can care clarity clearly companion could day days deep despite did do does down during each earlier early
either else enough entries entry especially even every everyone everything except feeling feelings few finally first for from
further given grief had half happiness has have having he heaviness her here hers him his how however if in inside instead
into is it its itself kindness last late later least less life like little long longing love many maybe me meanwhile
memories memory might mine more most mostly much must my near nearly neither never new next no nobody none nor not nothing
now of off often old on once only onto or other others otherwise our out outside over overall own past peace people perhaps
quiet quietly rather recent recently restlessness sadness same several she since slowly so some somebody someone something
sometimes soon sorrow still strong such than that the their them themselves then there therefore these they thinking this
those though thoughts through throughout thus time to today together tendencies tendency too toward towards under unlike
until up upon us usually very was we were what whatever when where whether which while who whoever whole whose why with
within without work worry writing yesterday yet you your yours`)

// numberWords are numbers that are written in words. "One" is left: it is more
// often a pronoun.
var numberWords = map[string]string{
	"zero": "0", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
	"ten": "10", "eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14", "fifteen": "15", "sixteen": "16",
	"seventeen": "17", "eighteen": "18", "nineteen": "19", "twenty": "20", "thirty": "30", "forty": "40", "fifty": "50",
	"sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90", "dozen": "12", "hundred": "100", "hundreds": "100",
	"thousand": "1000", "thousands": "1000", "million": "1000000", "millions": "1000000", "billion": "1000000000",
	"twice": "2", "thrice": "3",
}

func setOf(words string) map[string]bool {
	out := map[string]bool{}
	for w := range slices.Values(strings.Fields(words)) {
		out[w] = true
	}
	return out
}
