// Package detail finds in a sentence what leads to somebody or to something of theirs: an
// address, a number, a place, a password. It is told nothing and knows no names, so that
// everybody who looks at a sentence finds the same: what it finds is part of the form of a
// distillate (soul/lineage), and of what may be in a rule at all (lifecycle/distil).
//
// What is a letter, a digit or a mark is said by the tables of Unicode that the program was
// built with; soul/lineage has a test that tells when those change.
package detail

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Kind is a kind of detail, in plain words.
type Kind string

// The kinds.
const (
	Email       Kind = "e-mail address"
	Handle      Kind = "handle"
	Link        Kind = "link"
	Coordinates Kind = "coordinates"
	Address     Kind = "postal address"
	IBAN        Kind = "account number"
	Phone       Kind = "phone number"
	Number      Kind = "long number"
	Secret      Kind = "password or key"
)

// Kinds are all of them, in the order in which they are looked for.
func Kinds() []Kind {
	return []Kind{Email, Handle, Link, Coordinates, Address, IBAN, Phone, Number, Secret}
}

// Find gives the first kind of detail that is in a sentence, also behind the joints of its
// words. It finds too much rather than too little: what is lost is a sentence, and what is
// kept may be a person's.
func Find(text string) (Kind, bool) {
	readings := []string{comparable(text)}
	if apart := Spread(text); apart != text {
		readings = append(readings, comparable(apart))
	}
	for _, kind := range Kinds() {
		for _, reading := range readings {
			if kind.in(reading) {
				return kind, true
			}
		}
	}
	return "", false
}

// In tells whether a text holds a detail of this kind.
func (k Kind) In(text string) bool { return k.in(comparable(text)) }

// in is In of comparable text.
func (k Kind) in(text string) bool {
	switch k {
	case IBAN:
		return hasIBAN(text)
	case Phone:
		return hasNumber(text, isPhone)
	case Number:
		return hasNumber(text, isLong)
	case Secret:
		return hasSecret(text)
	}
	return matches(shaped()[k], text)
}

// What the shapes are made of.
const (
	aWord  = `[\p{L}\p{N}\p{M}]`
	host   = aWord + `[\p{L}\p{N}\p{M}-]*`
	local  = `[\p{L}\p{N}\p{M}._%+'’=-]+`
	opens  = `\s?[(\[{]\s?`
	closes = `\s?[)\]}]\s?`
	// endings are those of hosts without anything around them that tells one.
	endings = `com|org|net|info|biz|io|app|dev|edu|gov|eu|de|at|ch|li|fr|uk|it|es|nl|be|pl|cz|sk|hu|se|no|dk|fi|ie|pt|gr|` +
		`ru|ua|tr|jp|cn|kr|tw|hk|in|au|nz|ca|us|br|mx|ar|za|рф|中国`
	degrees = `[0-9]{1,3} ?[°º]`
	fine    = `-?[0-9]{1,3}[.,][0-9]{4,}`
	coarse  = `-?[0-9]{1,3}\.[0-9]{2,}`
	// streets are what names of streets end or begin with.
	streetEnds   = `(?:straße|strasse|str\.|gasse|weg|platz|allee|ufer|ring|damm|steig|promenade)`
	streetWords  = `(?:street|st|road|rd|avenue|ave|lane|ln|boulevard|blvd|drive|court|square|terrace|close)`
	streetBegins = `(?:rue|avenue|boulevard|place|via|viale|piazza|calle|avenida|plaza|rua|ulica|ul\.|улица|ул\.|проспект|пр\.|площадь|شارع|सड़क|मार्ग)`
)

// shape is how a detail is known. What has none of the signs in it, where any are named, does
// not have that shape: most sentences are done with after that look.
type shape struct {
	signs string
	is    *regexp.Regexp
}

// shaped are the details that are known by their shape alone, in comparable text.
var shaped = sync.OnceValue(func() map[Kind][]shape {
	out := map[Kind][]shape{}
	add := func(kind Kind, signs string, shapes ...string) {
		for _, s := range shapes {
			out[kind] = append(out[kind], shape{signs, regexp.MustCompile(`(?i)` + s)})
		}
	}
	const figures = "0123456789"
	dot := `(?:\.|` + opens + `(?:dot|punkt|point|punto)` + closes + `|\s+(?:dot|punkt)\s+)`
	add(Email, "@", local+` ?@ ?`+host+`(?:`+dot+host+`)+`, local+`@`+host)
	add(Email, "", local+`(?:`+opens+`(?:at|ät)`+closes+`|\s+at\s+)`+host+dot+host)
	add(Handle, "@", `(?:^|[^\p{L}\p{N}])@_*`+aWord)
	add(Link, ":", `[a-z][a-z0-9+.-]{1,30}://`, `\b(?:mailto|tel|sms|geo|magnet|skype):`)
	add(Link, ".", `(?:^|[^\p{L}\p{N}])www\.`, `(?:`+host+`\.)+[a-z]{2,24}/`, `(?:`+host+`\.)+(?:`+endings+`)(?:[^\p{L}\p{N}_]|$)`)
	add(Coordinates, figures, degrees, `(?:^|[^0-9.,])`+fine+`(?:[^0-9]|$)`, coarse+`\s*[,;/ ]\s*`+coarse,
		`\b[NS] ?[0-9]{1,2}[ .,°][0-9.,' ]{2,}.{0,3}[EWO] ?[0-9]`)
	add(Coordinates, "+", `\b[23456789CFGHJMPQRVWX]{4,8}\+[23456789CFGHJMPQRVWX]{2,3}\b`)
	add(Address, figures, `\p{L}*`+streetEnds+`\s*[0-9]+`, `[0-9]+[a-z]?,?\s+(?:[\p{L}\p{M}.'’-]+\s+){1,3}`+streetWords+`(?:[^\p{L}]|$)`,
		`(?:^|[^\p{L}])`+streetBegins+`\s+(?:[\p{L}\p{M}.'’-]+[\s,]+){1,4}[0-9]`, `[0-9]+\s*,?\s+`+streetBegins+`\s`)
	add(Address, "", `(?:^|[^\p{L}])(?:улица|ул\.|проспект|площадь|شارع|सड़क|मार्ग)\s+[\p{L}\p{M}]`,
		`[都道府県市区町村][^ ]{0,12}[0-9一二三四五六七八九十]+(?:丁目|番|号|-)`, `[路街道巷弄][0-9一二三四五六七八九十]+[号號]`, `(?:ถนน|ซอย|ถ\.|ซ\.)`)
	return out
})

func matches(shapes []shape, text string) bool {
	for _, s := range shapes {
		if (s.signs == "" || strings.ContainsAny(text, s.signs)) && s.is.MatchString(text) {
			return true
		}
	}
	return false
}

// comparable writes a text so that details look alike in every script: composed, digits,
// dashes, spaces and wide letters as in ASCII, without what cannot be seen.
func comparable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < unicode.MaxASCII:
			return r
		case Visible(r) < 0:
			return -1
		case unicode.Is(unicode.Nd, r):
			return '0' + rune(Digit(r))
		case unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.Pd, r) || r == '−':
			return '-'
		case r == '。':
			return '.'
		}
		return r
	}, norm.NFKC.String(strings.ToValidUTF8(text, "\ufffd")))
}

// Digit is what a decimal digit of any script stands for; Unicode has them in tens from 0,
// and NFKC leaves no two tens one behind the other. r is one of those.
func Digit(r rune) (n int) {
	for ; n < 9 && unicode.Is(unicode.Nd, r-1); r-- {
		n++
	}
	return n
}

var ibanShape = regexp.MustCompile(`(?i)\b[a-z]{2}[0-9]{2}(?:[ -]?[a-z0-9]){11,30}`)

// hasIBAN finds what has the shape of one and adds up (ISO 13616), also with more behind it.
func hasIBAN(text string) bool {
	for at := 0; at < len(text); at++ {
		m := ibanShape.FindStringIndex(text[at:])
		if m == nil {
			return false
		}
		s := strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(text[at+m[0] : at+m[1]]))
		for n := min(len(s), 34); n >= 15; n-- {
			if addsUp(s[:n]) {
				return true
			}
		}
		at += m[0]
	}
	return false
}

func addsUp(iban string) bool {
	sum := 0
	for _, c := range iban[4:] + iban[:4] {
		if c >= '0' && c <= '9' {
			sum = (10*sum + int(c-'0')) % 97
		} else {
			sum = (100*sum + int(c-'A') + 10) % 97
		}
	}
	return sum == 1
}

// longNumber is how many digits one behind another are more than an amount or a year.
const longNumber = 6

// figures are digits with what people set between them.
var figures = regexp.MustCompile(`(?:\+ ?)?\(?[0-9](?:[ ./()_-]{0,3}[0-9])*`)

func hasNumber(text string, is func(figure string, digits int) bool) bool {
	for _, m := range figures.FindAllString(text, -1) {
		digits := 0
		for _, c := range m {
			if c >= '0' && c <= '9' {
				digits++
			}
		}
		if is(m, digits) {
			return true
		}
	}
	return false
}

func isPhone(figure string, digits int) bool {
	return digits >= longNumber && (figure[0] == '+' || figure[0] == '0' || figure[0] == '(' || digits > longNumber && digits < len(figure))
}

func isLong(_ string, digits int) bool { return digits >= longNumber }

// hasSecret finds words that are too long and too mixed to be words: keys, passwords,
// identifiers of one thing.
func hasSecret(text string) bool {
	const long, turns = 20, 4
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || strings.ContainsRune(",;:()\"'", r) }) {
		letters, changes, last := 0, 0, 0
		for _, r := range word {
			kind := 1
			switch {
			case r >= '0' && r <= '9':
				kind = 2
			case unicode.IsUpper(r):
				kind = 3
			case !Wordy(r):
				continue
			}
			if letters++; last != 0 && kind != last {
				changes++
			}
			last = kind
		}
		if letters >= long && changes >= turns && strings.ContainsAny(word, "0123456789") {
			return true
		}
	}
	return false
}

// Wordy tells of what words are made of.
func Wordy(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// Visible drops format characters, variation selectors and the lengthening of Arabic: it is
// -1 for those.
func Visible(r rune) rune {
	const tatweel, joiner = 0x640, 0x34f
	if r >= utf8.RuneSelf && (r == tatweel || r == joiner || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r)) {
		return -1
	}
	return r
}

// Spread is a text with a space in each joint of its words: at marks, where small letters
// go over into capitals, and between letters and digits.
func Spread(text string) string {
	var b strings.Builder
	last := ' '
	for _, r := range text {
		joint := !Wordy(r) && r != ' '
		turns := unicode.IsLower(last) && unicode.IsUpper(r) || unicode.IsDigit(last) && unicode.IsLetter(r) || unicode.IsLetter(last) && unicode.IsDigit(r)
		switch {
		case joint:
			b.WriteByte(' ')
		case turns:
			b.WriteString(" " + string(r))
		default:
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}
