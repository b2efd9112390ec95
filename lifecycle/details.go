package lifecycle

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// detector is a kind of detail that is known by its shape in comparable text.
type detector struct {
	kind  Kind
	shape *regexp.Regexp
	// trim are characters that are not part of it at its end.
	trim string
	// accept, if not nil, has the last word.
	accept func(string) bool
}

// What detectors are made of. In a class of letters are marks, which some scripts
// write apart.
const (
	ofWord  = `\p{L}\p{N}\p{M}`
	ofHost  = `[` + ofWord + `][` + ofWord + `-]*`
	ofLocal = `[` + ofWord + `._%+'’=-]+`
	ofLink  = `[^\s<>"“”„«»‹›「」『』【】《》、，。！？；]`
	opening = `\s?[(\[{]\s?`
	closing = `\s?[)\]}]\s?`
	// topHosts are the usual endings of the names of hosts.
	topHosts = `com|org|net|info|biz|io|app|dev|edu|gov|eu|de|at|ch|li|fr|uk|it|es|nl|be|pl|cz|sk|hu|se|no|dk|fi|ie|pt|gr|` +
		`ru|ua|tr|jp|cn|kr|tw|hk|in|au|nz|ca|us|br|mx|ar|za`
	endOfLink = `.,;:!?'"’)]}…`
	endOfHost = `.-_'’`
)

// detectors are made when they are first needed: shapes of all letters take a while.
var detectors = sync.OnceValue(func() []detector {
	shape := regexp.MustCompile
	// What follows a name of a host's first part; some write its dots as they end sentences.
	more := `(?:(?:\.|` + opening + `(?i:dot|punkt|point|punto)` + closing + `)` + ofHost + `|[。｡][a-zA-Z0-9][a-zA-Z0-9-]*)`
	return []detector{
		// name@example.com, name@host; name @ example.com; name (at) example (dot) com
		{kind: KindEmail, trim: endOfHost, shape: shape(ofLocal + `@` + ofHost + more + `*`)},
		{kind: KindEmail, trim: endOfHost, shape: shape(ofLocal + ` ?@ ?` + ofHost + more + `+`)},
		{kind: KindEmail, trim: endOfHost, shape: shape(ofLocal + opening + `(?i:at)` + closing + ofHost + more + `+`)},
		// https://example.com; example.com/path; example.com, where the ending is a usual one
		{kind: KindLink, trim: endOfLink, shape: shape(`(?i:[a-z][a-z0-9+.-]{1,30}://|\bwww\.|\b(?:mailto|tel|sms|geo|magnet|skype):)` + ofLink + `+`)},
		{kind: KindLink, trim: endOfLink, shape: shape(`(?:` + ofHost + `\.)+(?i:[a-z]{2,24})/` + ofLink + `*`)},
		{kind: KindLink, trim: endOfLink, shape: shape(`(?:` + ofHost + `\.)+(?:` + topHosts + `)\b`)},
		{kind: KindAccount, accept: isIBAN, shape: shape(`\b[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,4})?\b`)},
		{kind: KindAccount, accept: isIBAN, shape: shape(`\b(?i:[a-z]{2}[0-9]{2}[a-z0-9]{11,30})\b`)},
		{kind: KindHandle, trim: endOfHost, shape: shape(`@_*[` + ofWord + `][` + ofWord + `_.-]*`)},
	}
})

// isIBAN tells what only looks like one from what is mostly digits or adds up.
func isIBAN(s string) bool {
	s = strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(s))
	if len(s) < 15 || len(s) > 34 {
		return false
	}
	digits, sum := 0, 0
	for _, c := range s[4:] + s[:4] {
		if c >= '0' && c <= '9' {
			digits++
			sum = (10*sum + int(c-'0')) % 97
			continue
		}
		sum = (100*sum + int(c-'A') + 10) % 97
	}
	return digits >= 10 || sum == 1
}

// figures are digits with what people set between them.
var figures = regexp.MustCompile(`(?:\+ ?)?\(?[0-9](?:[ ./()-]{0,3}[0-9])*`)

// longNumbers finds numbers that are long, or are those of telephones, accounts and
// cards: what matters is how many digits there are.
func longNumbers(plain string) []Detail {
	var out []Detail
	for _, m := range figures.FindAllStringIndex(plain, -1) {
		start, end := withoutTimes(plain, m[0], m[1])
		kind, ok := kindOfNumber(plain[start:end])
		if !ok {
			continue
		}
		for start > 0 && isASCIILetter(plain[start-1]) { // a number with letters is one word
			start--
		}
		for end < len(plain) && (isASCIILetter(plain[end]) || isDigit(plain[end])) {
			end++
		}
		out = append(out, Detail{kind, start, end})
	}
	return out
}

// withoutTimes cuts off, of a run, the hour of a time that follows and the
// minutes of one that goes before.
func withoutTimes(plain string, start, end int) (int, int) {
	if end+1 < len(plain) && plain[end] == ':' && isDigit(plain[end+1]) {
		if at := strings.LastIndexByte(plain[start:end], ' '); at >= 0 && end-start-at <= 3 {
			end = start + len(strings.TrimRight(plain[start:start+at], " ./()-"))
		}
	}
	if start > 1 && plain[start-1] == ':' && isDigit(plain[start-2]) {
		if at := strings.IndexByte(plain[start:end], ' '); at >= 0 && at <= 2 {
			start += at + len(plain[start+at:end]) - len(strings.TrimLeft(plain[start+at:end], " ./)-"))
		}
	}
	return start, end
}

const (
	longNumber    = 6  // digits in a row that are more than an amount or a year
	shortestPhone = 7  // digits, when they are set apart
	shortestCard  = 13 // digits
)

var (
	decimalNumber = regexp.MustCompile(`^[0-9]+\.[0-9]+$`)
	groupedNumber = regexp.MustCompile(`^[0-9]{1,3}(?:[. ][0-9]{3})+$`)
)

func kindOfNumber(s string) (Kind, bool) {
	digits := 0
	for i := range len(s) {
		if isDigit(s[i]) {
			digits++
		}
	}
	international := strings.HasPrefix(s, "+") || strings.HasPrefix(s, "00")
	apart := digits < len(s)
	switch {
	case digits >= shortestCard:
		return KindAccount, true
	case international && digits >= shortestPhone-1:
		return KindPhone, true
	case isDay(s) || isSpan(s):
		return "", false
	case apart && digits >= shortestPhone && (decimalNumber.MatchString(s) || groupedNumber.MatchString(s)):
		return KindNumber, true
	case apart && digits >= shortestPhone, s[0] == '0' && digits > shortestPhone:
		return KindPhone, true
	case digits >= longNumber:
		return KindNumber, true
	}
	return "", false
}

var (
	yearFirst = regexp.MustCompile(`^([0-9]{4})[-./]([0-9]{1,2})[-./]([0-9]{1,2})$`)
	dayFirst  = regexp.MustCompile(`^([0-9]{1,2})[-./] ?([0-9]{1,2})[-./] ?([0-9]{4}|[0-9]{2})$`)
	twoYears  = regexp.MustCompile(`^([0-9]{4}) ?[-/] ?([0-9]{4})$`)
)

// isDay tells of a date in figures.
func isDay(s string) bool {
	if m := yearFirst.FindStringSubmatch(s); m != nil {
		return inside(m[1], 1000, 2199) && inside(m[2], 1, 12) && inside(m[3], 1, 31)
	}
	m := dayFirst.FindStringSubmatch(s)
	return m != nil && inside(m[1], 1, 31) && inside(m[2], 1, 31) && (len(m[3]) == 2 || inside(m[3], 1000, 2199))
}

// isSpan tells of two years.
func isSpan(s string) bool {
	m := twoYears.FindStringSubmatch(s)
	return m != nil && inside(m[1], 1000, 2199) && inside(m[2], 1000, 2199) && m[1] <= m[2]
}

func inside(digits string, low, high int) bool {
	n, err := strconv.Atoi(digits)
	return err == nil && n >= low && n <= high
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isASCIILetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
