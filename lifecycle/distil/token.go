package distil

import (
	"hash/fnv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/jivad/jivad/soul/detail"
)

// What a run weighs: four words, or eight characters of a script that is written without
// spaces, or a mixture, are too much.
const (
	wordWeight = 2
	charWeight = 1
	runWeight  = 8
)

// token is a word, or a character of a script that is written without spaces.
type token struct {
	text   string
	weight int
	// at is the word of the text that it is, or is a part of.
	at int
}

func (t token) hash() uint64 {
	h := fnv.New64a()
	h.Write([]byte(t.text)) // never fails
	return h.Sum64()
}

func hashes(tokens []token) []uint64 {
	out := make([]uint64, len(tokens))
	for i, t := range tokens {
		out[i] = t.hash()
	}
	return out
}

// folded is a text as it is compared: NFKC, folded, without what cannot be seen.
func folded(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	text = norm.NFKC.String(strings.ToValidUTF8(text, "\ufffd"))
	text = norm.NFKC.String(cases.Fold().String(strings.Map(detail.Visible, text)))
	return strings.Map(detail.Visible, text)
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// words are the tokens of a text, by the word boundaries of Unicode (UAX 29).
func words(text string) (out []token) {
	put := func(part string) {
		part = strings.TrimFunc(part, func(r rune) bool { return !detail.Wordy(r) })
		if strings.ContainsFunc(part, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			out = append(out, token{part, wordWeight, len(out)})
		}
	}
	state := -1
	for rest := folded(text); rest != ""; {
		var word string
		word, rest, state = uniseg.FirstWordInString(rest, state)
		from := 0
		for i, r := range word {
			if unspaced(r) {
				put(word[from:i])
				from = i + utf8.RuneLen(r)
				out = append(out, token{word[i:from], charWeight, len(out)})
			}
		}
		put(word[from:])
	}
	return out
}

// parts are the tokens with each word that has joints (_ . ' :) taken apart at them,
// except those that whole tells to stay.
func parts(tokens []token, whole func(token) bool) []token {
	var out []token
	for _, t := range tokens {
		if !jointed(t.text) || whole != nil && whole(t) {
			out = append(out, t)
			continue
		}
		for _, part := range strings.FieldsFunc(t.text, func(r rune) bool { return !detail.Wordy(r) }) {
			out = append(out, token{part, t.weight, t.at})
		}
	}
	return out
}

func jointed(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return !detail.Wordy(r) })
}

// unspaced tells of scripts that are written without spaces between words.
func unspaced(r rune) bool {
	const firstOfThem, longVowel = 0xe00, 'ー'
	return r >= firstOfThem && (r == longVowel || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}

// windows calls f, for every token from which on there is one, with the shortest run that
// weighs too much: tokens[i:j], and its hash.
func windows(tokens []token, f func(i, j int, hash uint64)) {
	hashes := hashes(tokens)
	for i := range tokens {
		weight, hash := 0, uint64(0)
		for j := i; j < len(tokens); j++ {
			hash = chained(hash, hashes[j])
			if weight += tokens[j].weight; weight >= runWeight {
				f(i, j+1, hash)
				break
			}
		}
	}
}

// chained puts a token behind others.
func chained(hash, next uint64) uint64 {
	hash = (hash ^ next) * 0x9e3779b97f4a7c15
	return hash ^ hash>>29
}
