package distil

import (
	"strings"
	"unicode"

	"github.com/jivad/jivad/soul/detail"
)

// likeLatin are small letters of other alphabets, and of phonetics, each behind the Latin
// one that it cannot be told from by eye.
const likeLatin = `aаαɑ bвьƅ cсϲⲥꞓ dԁժɗ eеєεҽ fϝք gɡց hһнհ iіιıɩ jјϳյ kкκӄ lӏɭⅼ mмⲙ nпոνɴ oоοօσ pрρⲣ qԛգ rгⲅꭇɾ sѕꜱʂ tтτⲧ uսυцʋ vѵⅴᴠ wԝωшա xхχⲭ yуγүყ zᴢʐʒ`

// lookalikes gives for such a letter the Latin one.
var lookalikes = func() map[rune]rune {
	out := map[rune]rune{}
	for _, group := range strings.Fields(likeLatin) {
		letters := []rune(group)
		for _, r := range letters[1:] {
			out[r] = letters[0]
		}
	}
	return out
}()

// looks is the Latin letter that a small letter looks like, or the letter itself.
func looks(r rune) rune {
	if like, found := lookalikes[r]; found {
		return like
	}
	return r
}

// letters are those of a text as they look, and its digits, and nothing between them.
func letters(text string) []rune {
	var out []rune
	for _, r := range bare(text) {
		switch {
		case unicode.Is(unicode.Nd, r) && r > unicode.MaxASCII:
			out = append(out, '0'+rune(detail.Digit(r)))
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			out = append(out, r)
		}
	}
	return out
}

// alphabets are those of which one word has one. Han, kana and Hangul are written together.
var alphabets = []*unicode.RangeTable{
	unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Coptic, unicode.Georgian, unicode.Cherokee, unicode.Hebrew, unicode.Arabic, unicode.Devanagari,
}

// mixed tells of a word with letters of several alphabets.
func mixed(word string) bool {
	found := -1
	for _, r := range word {
		if !unicode.IsLetter(r) {
			continue
		}
		at := len(alphabets)
		for i, a := range alphabets {
			if unicode.Is(a, r) {
				at = i
				break
			}
		}
		if found >= 0 && at != found {
			return true
		}
		found = at
	}
	return false
}
