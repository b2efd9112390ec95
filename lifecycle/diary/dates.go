package diary

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

type dateState int

const (
	noDate dateState = iota
	isDate
	impossible // written like a date, but no calendar has it
	ambiguous  // 03/04/2026: either the third of April or the fourth of March
)

type numericOrder int

const (
	unknownOrder numericOrder = iota
	dayFirst
	monthFirst
)

// when is the date that a heading, a line or a name holds.
type when struct {
	state dateState
	date  string // YYYY-MM-DD
	rest  string // what else is written there
	// order is what an unambiguous 25/12/2026 shows about the writer's habit.
	order numericOrder
	// first, second and year are the parts of an ambiguous date.
	first, second, year int
}

// resolve reads an ambiguous date by the writer's habit.
func (w when) resolve(o numericOrder) when {
	switch o {
	case dayFirst:
		w.state, w.date = isDate, iso(w.year, w.second, w.first)
	case monthFirst:
		w.state, w.date = isDate, iso(w.year, w.first, w.second)
	}
	return w
}

// onlyDate is true when nothing but a time of day is written beside the date.
func (w when) onlyDate() bool { return w.rest == "" || timeOfDay.MatchString(w.rest) }

var timeOfDay = regexp.MustCompile(`^(?i:\d{1,2}[:.h]\d{2}(:\d{2})?(\.\d+)?\s*([ap]\.?m\.?|uhr|h)?\s*(z|[+-]\d{2}:?\d{2})?)$`)

const (
	opening = "*_[<({（「『【《〈\"'“„« \t\u00a0\u3000"
	closing = "*_])>}）」』】》〉\"'”“» \t\u00a0\u3000"
)

// readDate reads the date that s begins with, after a weekday if there is one,
// in bold, brackets or org time stamps too.
func readDate(s string) when {
	body := strings.TrimLeft(s, opening)
	w := tryDate(body)
	for range 2 { // "den Sonntag", "le dimanche"
		if w.state != noDate {
			break
		}
		n := leadingWord(body, func(word string) bool { return articles[word] || weekdays[word] })
		if n == 0 {
			return w
		}
		body = strings.TrimLeftFunc(body[n:], func(r rune) bool { return strings.ContainsRune(".,、，"+closing+opening, r) })
		w = tryDate(body)
	}
	w.rest = cleanRest(w.rest)
	// What opened before the date closes after the time: <2026-03-01 Sun 10:00>
	// and **2026-03-01 Bath**.
	for _, mark := range s[:len(s)-len(body)] {
		switch mark {
		case '*', '_':
			w.rest = strings.TrimRight(w.rest, string(mark))
		case '<', '[':
			closer := map[rune]string{'<': ">", '[': "]"}[mark]
			if inside, after, ok := strings.Cut(w.rest, closer); ok && !strings.ContainsRune(inside, mark) {
				w.rest = strings.TrimSpace(inside + after)
			}
		}
	}
	return w
}

// cleanRest takes the weekday, brackets and dashes off what follows a date.
func cleanRest(rest string) string {
	rest = strings.TrimSpace(strings.TrimLeft(rest, ",."+closing))
	inner := strings.TrimLeft(rest, "(（[")
	if n := leadingWord(inner, func(word string) bool { return weekdays[word] }); n > 0 {
		// "Sunday in Bath" is a title, "Sunday" and "Sunday, Bath" are not.
		after := strings.TrimLeft(inner[n:], ".")
		next, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, " \t\u3000"))
		if after == "" || !unicode.IsLetter(next) {
			rest = after
		}
	}
	for {
		trimmed := strings.TrimLeft(rest, ",.:;|·、，：。"+closing)
		if r, n := utf8.DecodeRuneInString(trimmed); strings.ContainsRune("-–—―", r) && (len(trimmed) == n || blank(trimmed[n:n+1])) {
			trimmed = trimmed[n:]
		}
		if trimmed == rest {
			break
		}
		rest = trimmed
	}
	if len(rest) > 1 && rest[0] == 'T' && digit(rest[1]) {
		rest = rest[1:]
	}
	return strings.TrimSpace(rest)
}

// leadingWord is the length of the first word of s if match accepts it.
func leadingWord(s string, match func(string) bool) int {
	n := wordEnd(s)
	if n == 0 || n > 40 || !match(fold(s[:n])) {
		return 0
	}
	return n
}

// wordEnd is the length of the letters (and inner hyphens: segunda-feira) that s begins with.
func wordEnd(s string) int {
	for i, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !(r == '-' && i > 0) {
			return i
		}
	}
	return len(s)
}

// tryDate reads the date that s begins with; rest is what follows.
func tryDate(s string) when {
	c := cursor{s: s}
	n, width := c.number()
	switch {
	case width == 3 || width == 4:
		return c.yearFirst(n, width)
	case width == 1 || width == 2:
		return c.dayOrMonthFirst(n)
	case width == 0:
		return c.monthName()
	}
	return when{}
}

// cursor walks over a text that may be a date.
type cursor struct {
	s string
	i int
}

// number reads up to five digits, ASCII or full width; width is how many.
func (c *cursor) number() (n, width int) {
	for width < 5 {
		r, size := utf8.DecodeRuneInString(c.s[c.i:])
		switch {
		case r >= '0' && r <= '9':
			n = n*10 + int(r-'0')
		case r >= '０' && r <= '９':
			n = n*10 + int(r-'０')
		default:
			return n, width
		}
		c.i += size
		width++
	}
	return n, width
}

// any moves over one rune of set and returns it, or 0.
func (c *cursor) any(set string) rune {
	r, size := utf8.DecodeRuneInString(c.s[c.i:])
	if size == 0 || r == utf8.RuneError || !strings.ContainsRune(set, r) {
		return 0
	}
	c.i += size
	return r
}

func (c *cursor) spaces() bool {
	start := c.i
	for c.any(" \t\u00a0\u3000\u202f") != 0 {
	}
	return c.i > start
}

// word moves over the next word if match accepts it.
func (c *cursor) word(match func(string) bool) bool {
	n := leadingWord(c.s[c.i:], match)
	c.i += n
	return n > 0
}

// month moves over a month name and returns it, or 0.
func (c *cursor) month() (m int) {
	c.word(func(word string) bool { m = months[word]; return m > 0 })
	return m
}

// ended is true where a date may end: no letter or digit goes on, and no
// further part with the same separator.
func (c *cursor) ended(sep rune) bool {
	r, size := utf8.DecodeRuneInString(c.s[c.i:])
	if r == 'T' || sep == 0 && r > unicode.MaxASCII {
		return true
	}
	if r == sep && size > 0 {
		next, _ := utf8.DecodeRuneInString(c.s[c.i+size:])
		return !unicode.IsDigit(next)
	}
	return size == 0 || sep == '_' && r == '_' || !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

func (c *cursor) done(y, m, d int) when {
	if !valid(y, m, d) {
		return when{state: impossible, rest: c.s[c.i:]}
	}
	return when{state: isDate, date: iso(y, m, d), rest: c.s[c.i:]}
}

// yearFirst reads 2026-03-01, 2026/3/1, 2026. 3. 1, 2026年3月1日.
func (c *cursor) yearFirst(year, width int) when {
	c.spaces()
	sep := c.any("-/._年년")
	if sep == 0 || width == 3 && sep != '-' && sep != '年' {
		return when{}
	}
	east := sep == '年' || sep == '년'
	if east || sep == '.' {
		c.spaces()
	}
	month, w1 := c.number()
	if w1 == 0 || w1 > 2 {
		return when{}
	}
	if east {
		c.spaces()
		if c.any("月월") == 0 {
			return when{}
		}
		c.spaces()
	} else {
		if c.any(string(sep)) == 0 {
			return when{}
		}
		if sep == '.' {
			c.spaces()
		}
	}
	day, w2 := c.number()
	if w2 == 0 || w2 > 2 {
		return when{}
	}
	if east {
		c.spaces()
		if c.any("日号號일") == 0 {
			return when{}
		}
		sep = 0
	} else if !c.ended(sep) {
		return when{}
	}
	return c.done(year, month, day)
}

// dayOrMonthFirst reads 1 March 2026, 1. März 2026, 1er mars 2026, 1 de marzo
// de 2026, 01.03.2026, 25/12/2026.
func (c *cursor) dayOrMonthFirst(first int) when {
	start := c.i
	if sep := c.any("./-"); sep != 0 {
		if sep == '.' {
			c.spaces()
		}
		if second, w := c.number(); w == 1 || w == 2 {
			if c.any(string(sep)) == 0 {
				return when{}
			}
			if sep == '.' {
				c.spaces()
			}
			year, w := c.number()
			if w != 4 || !c.ended(sep) {
				return when{}
			}
			return c.numeric(first, second, year, sep)
		}
		c.i = start
	}
	c.word(func(word string) bool { return ordinals[word] })
	c.any(".°º")
	if !c.spaces() && c.any("-") == 0 && c.i == start {
		return when{}
	}
	c.spaces()
	c.particle()
	month := c.month()
	if month == 0 {
		return when{}
	}
	c.any(".")
	c.any(",")
	if !c.spaces() && c.any("-") == 0 {
		return when{}
	}
	c.particle()
	year, w := c.number()
	if w != 3 && w != 4 || !c.ended('-') {
		return when{}
	}
	return c.done(year, month, first)
}

// numeric reads two short numbers and a year. With dots the day comes first;
// with strokes only a number over 12 or the writer's habit can tell.
func (c *cursor) numeric(first, second, year int, sep rune) when {
	asDay, asMonth := valid(year, second, first), valid(year, first, second)
	switch {
	case asDay && (sep == '.' || !asMonth):
		w := c.done(year, second, first)
		if sep != '.' {
			w.order = dayFirst
		}
		return w
	case asMonth && !asDay:
		w := c.done(year, first, second)
		w.order = monthFirst
		return w
	case !asDay:
		return when{state: impossible, rest: c.s[c.i:]}
	case first == second:
		return c.done(year, first, second)
	}
	return when{state: ambiguous, first: first, second: second, year: year, rest: c.s[c.i:]}
}

// monthName reads March 1, 2026, Mar. 1st 2026, marzo 1 de 2026.
func (c *cursor) monthName() when {
	month := c.month()
	if month == 0 {
		return when{}
	}
	c.any(".")
	c.spaces()
	day, w := c.number()
	if w == 0 || w > 2 {
		return when{}
	}
	c.word(func(word string) bool { return ordinals[word] })
	c.any(".")
	comma := c.any(",") != 0
	if !c.spaces() && !comma {
		return when{}
	}
	c.particle()
	year, w := c.number()
	if w != 3 && w != 4 || !c.ended('-') {
		return when{}
	}
	return c.done(year, month, day)
}

// particle moves over the "de", "of" or "di" before a month or year.
func (c *cursor) particle() {
	if c.word(func(word string) bool { return particles[word] }) {
		c.spaces()
	}
}

func iso(y, m, d int) string { return fmt.Sprintf("%04d-%02d-%02d", y, m, d) }

// valid says whether the Gregorian calendar, carried back, has the day.
func valid(y, m, d int) bool {
	return y >= 1 && y <= 9999 && m >= 1 && m <= 12 && d >= 1 && d <= daysIn(y, m)
}

func daysIn(y, m int) int {
	switch m {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if y%4 == 0 && (y%100 != 0 || y%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// ValidDate says whether s is a day written YYYY-MM-DD.
func ValidDate(s string) bool {
	w := tryDate(s)
	return w.state == isDate && w.date == s
}

func digit(b byte) bool { return b >= '0' && b <= '9' }

// digits is how many digits s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && digit(s[n]) {
		n++
	}
	return n
}

// atoi reads digits that are known to be digits.
func atoi(s string) int {
	n := 0
	for i := range len(s) {
		n = n*10 + int(s[i]-'0')
	}
	return n
}
