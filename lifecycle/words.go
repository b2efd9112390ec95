package lifecycle

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// plain is the form in which texts are searched: compatibility-composed, case
// folded, with single spaces and without Markdown emphasis. ASCII takes a short
// way, since it is most of what is written in many languages.
func plain(s string) string {
	if isASCII(s) {
		return squeeze(strings.ToLower(s))
	}
	return squeeze(cases.Fold().String(norm.NFKC.String(s)))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// squeeze turns runs of white space into one space and drops emphasis marks.
func squeeze(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	space := true
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			if !space {
				b.WriteByte(' ')
			}
			space = true
			continue
		case r == '*' || r == '_':
			continue
		}
		b.WriteRune(r)
		space = false
	}
	return strings.TrimRight(b.String(), " ")
}

// wordsOf cuts a text into its different words, at most so many; in scripts
// written without spaces pairs of letters stand for words.
func wordsOf(text string, most int) []string {
	var words []string
	seen := map[string]bool{}
	add := func(w string) {
		if w != "" && !seen[w] && len(words) < most {
			seen[w] = true
			words = append(words, w)
		}
	}
	var word []rune
	flush := func() {
		if len(word) == 0 {
			return
		}
		if !unspaced(word[0]) {
			add(string(word))
		} else if len(word) == 1 {
			add(string(word))
		} else {
			for i := range len(word) - 1 {
				add(string(word[i : i+2]))
			}
		}
		word = word[:0]
	}
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			flush()
			continue
		}
		if len(word) > 0 && unspaced(word[0]) != unspaced(r) {
			flush()
		}
		word = append(word, r)
	}
	flush()
	return words
}

// unspaced tells of letters of scripts that are written without spaces.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー'
}

// holds tells whether text has word in it; a word of a spaced script must begin
// where a word begins.
func holds(text, word string) bool {
	first := []rune(word)[0]
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		at += i
		if unspaced(first) || at == 0 || !wordBefore(text[:at]) {
			return true
		}
		at += len(word)
	}
}

func wordBefore(s string) bool {
	var last rune
	for _, r := range s[max(0, len(s)-4):] {
		last = r
	}
	return unicode.IsLetter(last) || unicode.IsDigit(last)
}
