package lifecycle_test

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// canaryNames are in the manifest, as a person would name whom no rule may name.
var canaryNames = []string{
	"Zinaida Quellmalz", "Jürgen Þórsson", "Oluwaseun Adébáyò", "Søren Kjærgaard", "Žofie Dvořáková", "Xóchitl Hernández",
	"Мстислав Велеславов", "Ярослава Гончаренко", "Ольгерд Тихомиров", "Παναγιώτης Ξανθόπουλος",
	"عبدالرحمن الحسيني", "زينب القاسمي", "אביגיל שפירא", "नचिकेता चतुर्वेदी", "विक्रमादित्य सिंघानिया", "अनुराधा देशपांडे",
	"欧阳修远志", "司马相如卿", "高橋美智子", "สมหญิงวงศ์",
}

// The kinds of canary, twenty of each.
const (
	aName = iota
	anEmail
	aPhone
	anAddress
	aPhrase
	canaryKinds
)

const ofEachKind = 20

// canary is a detail of a life that may not be in what is left of it.
type canary struct {
	kind int
	text string
}

// hundred are the canaries, kind by kind.
func hundred() (out []canary) {
	for _, name := range canaryNames {
		out = append(out, canary{aName, name})
	}
	for i := range ofEachKind {
		text := fmt.Sprintf([]string{"kestrel%02d.moorwind@example.com", "пустельга%02d@болото.рф", "kestrel%02d+tag@moorwind.co.uk", "falke_%02d@moorwind.example"}[i%4], i)
		out = append(out, canary{anEmail, text})
	}
	for i := range ofEachKind {
		text := fmt.Sprintf([]string{"+43 664 %02d70 8193", "0664/%02d70819", "(0512) %02d 70 819", "+1-555-%02d7-0819", "٠٦٦٤%02d٧٠٨١٩"}[i%5], 21+3*i)
		out = append(out, canary{aPhone, text})
	}
	for i := range ofEachKind {
		text := fmt.Sprintf([]string{"Quellenstraße %d", "%d Larkspur Lane", "улица Тополиная %d", "12%d rue des Lilas", "鳥羽路%d号"}[i%5], 31+i)
		out = append(out, canary{anAddress, text})
	}
	for _, phrase := range []string{
		"lanterns drift above orchards", "seven herons crossed silently", "grandmother hid emerald buttons", "velvet curtains smelled mouldy",
		"бабушка спрятала изумрудные пуговицы", "гроза испортила наш пикник", "бархатные шторы пахли плесенью", "фонари плывут над садами",
		"दादी ने पन्ने बटन", "आंधी ने पिकनिक बिगाड़ी", "मखमली परदे बदबूदार थे", "लालटेन बागों पर तैरते",
		"祖母把翡翠纽扣藏起来", "七只苍鹭静静飞过去", "おばあさんがボタンを隠した", "ランタンが果樹園の上を漂う",
		"الجدة أخفت الأزرار الزمردية", "سبعة طيور عبرت بصمت", "הסבתא החביאה כפתורים ירוקים", "הרעם קלקל את הפיקניק",
	} {
		out = append(out, canary{aPhrase, phrase})
	}
	return out
}

// marks are the pieces by any one of which a canary is known again: its words, the halves
// of what is written without spaces, and windows of a number.
func (c canary) marks() (words, numbers []string) {
	const shortest, window = 4, 5
	for _, word := range strings.FieldsFunc(c.text, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N, unicode.M) }) {
		letters := []rune(spelt(word))
		if strings.ContainsFunc(word, unicode.IsDigit) || slices.Contains([]string{"lane", "улица", "straße", "example", "lilas"}, word) {
			continue
		}
		if strings.ContainsFunc(word, spaceless) && len(letters) > 2*shortest {
			words = append(words, string(letters[:shortest]), string(letters[len(letters)-shortest:]))
		}
		if len(letters) >= shortest || strings.ContainsFunc(word, spaceless) && len(letters) > 1 {
			words = append(words, string(letters))
		}
	}
	words = append(words, spelt(c.text))
	if all := digitsOf(c.text); c.kind == aPhone {
		for i := 0; i+window <= len(all); i++ {
			numbers = append(numbers, all[i:i+window])
		}
	}
	return words, numbers
}

func spaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// lookalike writes letters that look like Latin ones as those.
var lookalike = strings.NewReplacer("а", "a", "в", "b", "е", "e", "к", "k", "м", "m", "н", "h", "о", "o", "р", "p", "с", "c", "т", "t", "у", "y", "х", "x", "і", "i", "ѕ", "s", "ј", "j",
	"α", "a", "ε", "e", "ι", "i", "ο", "o", "ρ", "p", "υ", "u", "ν", "v", "κ", "k", "ո", "n", "ս", "u", "հ", "h", "օ", "o", "ӏ", "l", "ԛ", "q", "ԝ", "w", "ɑ", "a", "ѵ", "v", "ʐ", "z", "ԁ", "d", "ⲅ", "r", "ꭇ", "r", "ꮐ", "g", "ƍ", "g", "ꞓ", "c")

// spelt is a text by its letters and digits alone: however it is written, composed, joined
// or spaced, and in whichever look-lookalike letters.
func spelt(text string) string {
	text = norm.NFKD.String(cases.Fold().String(norm.NFKC.String(text)))
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Nd, r):
			return '0' + (r-zeroOf(r))%10
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			return r
		}
		return -1
	}, text)
	return lookalike.Replace(text)
}

// zeroOf is the 0 of the script of a digit.
func zeroOf(r rune) rune {
	for n := 0; n < 9 && unicode.Is(unicode.Nd, r-1); n++ {
		r--
	}
	return r
}

var numberWords = strings.NewReplacer("zero", "0", "oh ", "0", "one", "1", "two", "2", "three", "3", "four", "4", "five", "5", "six", "6", "seven", "7", "eight", "8", "nine", "9")

// digitsOf are the digits of a text, whatever stands between them, also in words.
func digitsOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Nd, r) {
			return '0' + (r-zeroOf(r))%10
		}
		return -1
	}, numberWords.Replace(strings.ToLower(text)))
}

var (
	encoded   = regexp.MustCompile(`[A-Za-z0-9+/_-]{40,}={0,2}`)
	guidances = regexp.MustCompile(`"guidance": ?"([^"]*)"`)
	digests   = regexp.MustCompile(`[0-9a-f]{16,}`)
)

// opened is a text with what is written in it as base64 behind it.
func opened(text string) string {
	var b strings.Builder
	b.WriteString(text)
	for _, piece := range encoded.FindAllString(text, -1) {
		for _, form := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			// A signature and a key are no text, and their bytes may be any digits.
			if data, err := form.DecodeString(piece); err == nil && utf8.Valid(data) {
				b.WriteString("\n" + string(data))
				break
			}
		}
	}
	return b.String()
}

// sung tells which canaries a text betrays, and by what.
func sung(text string, all []canary) (out []string) {
	text = opened(text)
	naive := strings.ToLower(text)
	plain := spelt(digests.ReplaceAllString(text, "."))
	var numbers []string // of sentences; a record has stamps and weights
	for _, m := range guidances.FindAllStringSubmatch(text, -1) {
		numbers = append(numbers, digitsOf(m[1]))
	}
	for line := range strings.Lines(text) {
		if !strings.ContainsAny(line, "{}") {
			numbers = append(numbers, digitsOf(digests.ReplaceAllString(line, ".")))
		}
	}
	for _, c := range all {
		words, windows := c.marks()
		switch {
		default:
			continue
		case strings.Contains(naive, strings.ToLower(c.text)):
			out = append(out, fmt.Sprintf("%q as it is", c.text))
		case slices.ContainsFunc(words, func(w string) bool { return strings.Contains(plain, w) }):
			out = append(out, fmt.Sprintf("%q in other letters", c.text))
		case slices.ContainsFunc(windows, func(w string) bool {
			return slices.ContainsFunc(numbers, func(line string) bool { return strings.Contains(line, w) })
		}):
			out = append(out, fmt.Sprintf("the number %q", c.text))
		}
		sentences := guidances.FindAllString(text, -1)
		at := slices.IndexFunc(sentences, func(s string) bool { return len(sung(s[len(`"guidance"`):], []canary{c})) > 0 })
		if at >= 0 {
			out[len(out)-1] += " in " + sentences[at]
		}
	}
	return out
}

// disguises are the ways in which a model would hand a detail on. Those of two sentences
// are told apart by a line end.
func (c canary) disguises() []string {
	x := c.text
	words := strings.FieldsFunc(x, func(r rune) bool { return strings.ContainsRune(" @.-/+()_", r) })
	if len(words) == 1 {
		r := []rune(x)
		words = []string{string(r[:len(r)/2]), string(r[len(r)/2:])}
	}
	between := func(what string) string { return strings.Join(strings.Split(x, ""), what) }
	lower := strings.ToLower(x)
	said := strings.NewReplacer("@", " at ", ".", " dot ", "_", " ", "+", " plus ").Replace(x)
	backward := slices.Clone(words)
	slices.Reverse(backward)
	half := len(words) / 2
	out := []string{
		x, lower, strings.ToUpper(x), fullWidth(x), fullWidth(lower), between("\u200d"), between("\u200c"), norm.NFD.String(x), norm.NFD.String(lower),
		between(" "), between(", "), strings.Join(words, "_"), strings.Join(words, "-"), strings.Join(words, ", "), strings.Join(words, " or "),
		said, strings.ToLower(said), strings.Join(backward, " "), strings.Join(backward, " at "),
		homoglyphs(lower), homoglyphs(strings.ToLower(words[0])), accented(lower), "as " + words[0] + " does", words[0] + "s", strings.ToLower("pre" + words[0]),
		strings.Join(words[:half], " ") + "\n" + strings.Join(words[half:], " "), strings.ToLower(words[0]) + "\n" + strings.ToLower(words[len(words)-1]),
		pieces(lower, 2, " "), pieces(lower, 2, " and "), pieces(lower, 3, " "), pieces(lower, 3, ", then "), pieces(strings.ToLower(words[0]), 1, " and "),
		base64.RawStdEncoding.EncodeToString([]byte(x)),
	}
	if c.kind == aPhone {
		d := digitsOf(x)
		spoken := strings.NewReplacer("0", "zero ", "1", "one ", "2", "two ", "3", "three ", "4", "four ", "5", "five ", "6", "six ", "7", "seven ", "8", "eight ", "9", "nine ")
		out = append(out, d, pieces(d, 1, " "), pieces(d, 2, " "), pieces(d, 2, " and "), pieces(d, 3, " then "), pieces(d, 2, "\n"), strings.TrimSpace(spoken.Replace(d[len(d)-8:])),
			indic(d), indic(pieces(d, 2, ", ")))
	}
	return out
}

// pieces cuts a text into pieces of n letters.
func pieces(text string, n int, between string) string {
	var out []string
	for piece := range slices.Chunk([]rune(strings.ReplaceAll(text, " ", "")), n) {
		out = append(out, string(piece))
	}
	return strings.Join(out, between)
}

// fullWidth writes ASCII as the wide letters of East Asia.
func fullWidth(text string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r <= '~' {
			return r - '!' + '！'
		}
		return r
	}, text)
}

// indic writes digits as those of Devanagari.
func indic(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r - '0' + '०'
		}
		return r
	}, text)
}

// homoglyphs writes a text without a Latin letter, as far as it goes.
func homoglyphs(text string) string {
	return strings.NewReplacer("a", "а", "b", "в", "c", "с", "d", "ԁ", "e", "е", "h", "һ", "i", "і", "j", "ј", "k", "к", "l", "ӏ", "m", "м", "n", "ո", "o", "о", "p", "р", "q", "ԛ",
		"s", "ѕ", "t", "т", "u", "ս", "v", "ѵ", "w", "ԝ", "x", "х", "y", "у", "г", "r", "р", "p", "с", "c").Replace(text)
}

func accented(text string) string {
	return strings.NewReplacer("a", "á", "e", "ê", "o", "ö", "i", "ï", "u", "ů").Replace(text)
}
