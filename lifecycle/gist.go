package lifecycle

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// GistLength is the most letters (code points) of a gist.
const GistLength = 200

// Gist is what is kept of a text of which not all may be kept: its first
// sentences, as many as fit into GistLength, with every detail masked. It is a
// function of the text alone. Empty where nothing can be kept.
func Gist(text string) string {
	text = beginning(text)
	out := firstSentences(text)
	for range 2 { // a cut may bring out what was none before; masked again, or dropped
		if len(Details(out)) == 0 {
			return out
		}
		out = firstSentences(Mask(out))
	}
	return ""
}

// beginning is the start of a text, masked, with single spaces: at least twice as
// much as a gist takes, so that where it ends says nothing.
func beginning(text string) string {
	const least, most = 2 << 10, 64 << 10 // bytes; more only where all of it is one detail
	for window := least; ; window *= 2 {
		masked := Mask(strings.Join(strings.Fields(clip(text, window)), " "))
		if window >= min(len(text), most) || utf8.RuneCountInString(masked) > 2*GistLength {
			return masked
		}
	}
}

// firstSentences are as many of a text as fit; of one that does not, its first words.
func firstSentences(text string) string {
	var out, sentence string
	room, state := GistLength, -1
	for rest := text; rest != ""; {
		sentence, rest, state = uniseg.FirstSentenceInString(rest, state)
		if room -= utf8.RuneCountInString(sentence); room < 0 && utf8.RuneCountInString(strings.TrimRight(out+sentence, " ")) > GistLength {
			break
		}
		out += sentence
	}
	if out = strings.TrimRight(out, " "); out != "" || text == "" {
		return out
	}
	return firstWords(text) + "…"
}

// firstWords cuts a text that is too long, where a word ends if it can.
func firstWords(text string) string {
	const room = GistLength - 1 // for the mark behind it
	at, left, state := 0, room, -1
	for rest := text; rest != ""; {
		var word string
		word, rest, state = uniseg.FirstWordInString(rest, state)
		if left -= utf8.RuneCountInString(word); left < 0 {
			break
		}
		at += len(word)
	}
	if at == 0 { // one endless word
		for range room {
			_, n := utf8.DecodeRuneInString(text[at:])
			at += n
		}
	}
	cut := text[:at]
	if open := strings.LastIndexByte(cut, '['); open > 0 && !strings.Contains(cut[open:], "]") {
		if m := placeholder.FindStringIndex(text[open:]); m != nil && m[0] == 0 {
			cut = cut[:open] // not half of what stands for a detail
		}
	}
	return strings.TrimRight(cut, " ")
}

// Kind is a kind of detail that leads to a person, or gives access.
type Kind string

// The kinds. Their names stand in the place of what is masked.
const (
	KindEmail   Kind = "e-mail"
	KindLink    Kind = "link"
	KindAccount Kind = "account" // of a bank, or on a card
	KindPhone   Kind = "phone"
	KindNumber  Kind = "number" // a long one
	KindHandle  Kind = "handle"
)

// placeholder is what stands for a detail.
var placeholder = regexp.MustCompile(`\[(?:e-mail|link|account|phone|number|handle)\]`)

// Detail is a detail of a text: what stands in text[Start:End].
type Detail struct {
	Kind       Kind
	Start, End int
}

// Mask puts the name of its kind, in brackets, in the place of every detail.
func Mask(text string) string {
	var out strings.Builder
	at := 0
	for _, d := range Details(text) {
		out.WriteString(text[at:d.Start] + "[" + string(d.Kind) + "]")
		at = d.End
	}
	return out.String() + text[at:]
}

// unmasked is a text without what stands for details.
func unmasked(text string) string {
	return placeholder.ReplaceAllString(text, " ")
}

// Details finds e-mail addresses, links, numbers of accounts and cards, telephone
// numbers, long numbers and handles, in any script, in order and apart from each
// other. It is meant to find too much rather than too little; dates, times and
// spans of years are left.
func Details(text string) []Detail {
	plain, from := alike(text)
	var found []Detail
	for _, d := range detectors() {
		for _, m := range d.shape.FindAllStringIndex(plain, -1) {
			if d.trim != "" {
				m[1] = m[0] + len(strings.TrimRight(plain[m[0]:m[1]], d.trim))
			}
			if m[1] > m[0] && (d.accept == nil || d.accept(plain[m[0]:m[1]])) {
				found = append(found, Detail{d.kind, m[0], m[1]})
			}
		}
	}
	found = append(found, longNumbers(plain)...)
	slices.SortStableFunc(found, func(a, b Detail) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return b.End - a.End
	})
	var out []Detail
	for _, d := range found {
		if n := len(out); n > 0 && d.Start < out[n-1].End { // one that reaches into another is part of it
			out[n-1].End = max(out[n-1].End, d.End)
			continue
		}
		out = append(out, d)
	}
	for i := range out {
		out[i].Start, out[i].End = from[out[i].Start], from[out[i].End]
	}
	return out
}

// alike writes a text so that details look alike in every script: digits,
// spaces, dashes and wide letters as in ASCII, without invisible characters. from
// gives for each of its bytes, and for its end, where that stands in the text.
func alike(text string) (plain string, from []int) {
	var out strings.Builder
	put := func(r rune, at int) {
		n, _ := out.WriteRune(r)
		for range n {
			from = append(from, at)
		}
	}
	for at, r := range text {
		switch {
		case r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
			put('\n', at)
		case r < utf8.RuneSelf:
			put(r, at)
		case unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r):
		case r >= '！' && r <= '～':
			put(r-'！'+'!', at)
		case unicode.IsDigit(r):
			put(digitOf(r), at)
		case unicode.IsSpace(r) || unicode.Is(unicode.Zs, r):
			put(' ', at)
		case unicode.Is(unicode.Pd, r) || r == '−':
			put('-', at)
		case r == '﹫':
			put('@', at)
		default:
			put(r, at)
		}
	}
	return out.String(), append(from, len(text))
}

// digitOf is a decimal digit of any script in ASCII. Unicode has them in runs of
// ten, from zero.
func digitOf(r rune) rune {
	for _, t := range unicode.Nd.R16 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return '0' + (r-rune(t.Lo))%10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return '0' + (r-rune(t.Lo))%10
		}
	}
	return r
}
