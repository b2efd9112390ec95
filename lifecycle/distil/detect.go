package distil

import (
	"regexp"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Detector finds one kind of detail in a sentence. It should find too much rather than
// too little: what is lost is a sentence, and what is kept may be a person's.
type Detector struct {
	Kind  Kind
	Finds func(text string) bool
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

// shaped are the details that are known by their shape alone, in comparable text.
var shaped = sync.OnceValue(func() map[Kind][]*regexp.Regexp {
	all := func(shapes ...string) (out []*regexp.Regexp) {
		for _, s := range shapes {
			out = append(out, regexp.MustCompile(`(?i)`+s))
		}
		return out
	}
	dot := `(?:\.|` + opens + `(?:dot|punkt|point|punto)` + closes + `|\s+(?:dot|punkt)\s+)`
	return map[Kind][]*regexp.Regexp{
		KindEmail: all(
			local+` ?@ ?`+host+`(?:`+dot+host+`)+`,
			local+`@`+host,
			local+`(?:`+opens+`(?:at|ät)`+closes+`|\s+at\s+)`+host+dot+host,
		),
		KindHandle: all(`(?:^|[^\p{L}\p{N}])@_*` + aWord),
		KindLink: all(
			`[a-z][a-z0-9+.-]{1,30}://`, `(?:^|[^\p{L}\p{N}])www\.`, `\b(?:mailto|tel|sms|geo|magnet|skype):`,
			`(?:`+host+`\.)+[a-z]{2,24}/`, `(?:`+host+`\.)+(?:`+endings+`)(?:[^\p{L}\p{N}_]|$)`,
		),
		KindCoordinates: all(
			degrees, `(?:^|[^0-9.,])`+fine+`(?:[^0-9]|$)`, coarse+`\s*[,;/ ]\s*`+coarse,
			`\b[NS] ?[0-9]{1,2}[ .,°][0-9.,' ]{2,}.{0,3}[EWO] ?[0-9]`, `\b[23456789CFGHJMPQRVWX]{4,8}\+[23456789CFGHJMPQRVWX]{2,3}\b`,
		),
		KindAddress: all(
			`\p{L}*`+streetEnds+`\s*[0-9]+`, `[0-9]+[a-z]?,?\s+(?:[\p{L}\p{M}.'’-]+\s+){1,3}`+streetWords+`(?:[^\p{L}]|$)`,
			`(?:^|[^\p{L}])`+streetBegins+`\s+(?:[\p{L}\p{M}.'’-]+[\s,]+){1,4}[0-9]`,
			`(?:^|[^\p{L}])(?:улица|ул\.|проспект|площадь|شارع|सड़क|मार्ग)\s+[\p{L}\p{M}]`, `[0-9]+\s*,?\s+`+streetBegins+`\s`,
			`[都道府県市区町村][^ ]{0,12}[0-9一二三四五六七八九十]+(?:丁目|番|号|-)`, `[路街道巷弄][0-9一二三四五六七八九十]+[号號]`, `(?:ถนน|ซอย|ถ\.|ซ\.)`,
		),
	}
})

// BuiltIn are the detectors that need to be told nothing.
func BuiltIn() []Detector {
	var out []Detector
	for _, kind := range []Kind{KindEmail, KindHandle, KindLink, KindCoordinates, KindAddress} {
		out = append(out, Detector{kind, func(text string) bool { return matches(shaped()[kind], comparable(text)) }})
	}
	return append(out,
		Detector{KindIBAN, func(text string) bool { return hasIBAN(comparable(text)) }},
		Detector{KindPhone, func(text string) bool { return hasNumber(comparable(text), isPhone) }},
		Detector{KindNumber, func(text string) bool { return hasNumber(comparable(text), isLong) }},
		Detector{KindSecret, hasSecret},
	)
}

func matches(shapes []*regexp.Regexp, text string) bool {
	for _, s := range shapes {
		if s.MatchString(text) {
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
		case visible(r) < 0:
			return -1
		case unicode.Is(unicode.Nd, r):
			return '0' + rune(digit(r))
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

// digit is what a decimal digit of any script stands for; Unicode has them in tens from 0,
// and NFKC leaves no two tens one behind the other.
func digit(r rune) (n int) {
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
	for _, word := range strings.FieldsFunc(comparable(text), func(r rune) bool { return r == ' ' || strings.ContainsRune(",;:()\"'", r) }) {
		letters, changes, last := 0, 0, 0
		for _, r := range word {
			kind := 1
			switch {
			case r >= '0' && r <= '9':
				kind = 2
			case unicode.IsUpper(r):
				kind = 3
			case !wordy(r):
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
		for _, word := range strings.FieldsFunc(name, func(r rune) bool { return !wordy(r) }) {
			if len([]rune(word)) >= 3 {
				spaced = append(spaced, word)
			}
		}
	}
	return Detector{KindName, func(text string) bool {
		text = bare(text)
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !wordy(r) }) {
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
		return looks(visible(r))
	}
	return strings.Map(marks, norm.NFKD.String(cases.Fold().String(norm.NFKC.String(strings.ToValidUTF8(text, " ")))))
}
