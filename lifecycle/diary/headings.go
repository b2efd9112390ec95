package diary

import "strings"

// form is how a heading is written.
type form int

const (
	hashes    form = iota // # heading
	underline             // heading, with === or --- under it
	stars                 // * heading, in org files
	alone                 // a date alone on its line
)

// aloneLevel stands below every written level.
const aloneLevel = 1 << 20

type heading struct {
	first, last int // lines it stands on
	form        form
	level       int    // from 1, the highest
	text        string // without marks
	when        when
}

func (p *parser) line(i int) string { return p.text[p.lines[i].start:p.lines[i].end] }

// findHeadings collects all headings and date lines outside code blocks.
func (p *parser) findHeadings() {
	fences := fenceFinder{p: p}
	prevBlank := true // the line before is blank, a heading or the beginning
	for i := p.body; i < len(p.lines); i++ {
		s := p.line(i)
		if p.kind != org {
			if end := fences.closing(i, s); end > i {
				i, prevBlank = end, false
				continue
			}
		}
		h, ok := p.headingAt(i, s, prevBlank)
		if ok {
			h.when = readDate(h.text)
			if h.form == alone && !(h.when.state != noDate && h.when.onlyDate()) {
				ok = false
			}
		}
		if ok {
			p.heads = append(p.heads, h)
			i = h.last
		}
		prevBlank = ok || blank(s)
	}
}

func (p *parser) headingAt(i int, s string, prevBlank bool) (heading, bool) {
	if p.kind == org {
		n := 0
		for n < len(s) && s[n] == '*' {
			n++
		}
		if n > 0 && n < len(s) && s[n] == ' ' {
			return heading{first: i, last: i, form: stars, level: n, text: strings.TrimSpace(s[n:])}, true
		}
	} else {
		if level, text, ok := hashHeading(s); ok {
			return heading{first: i, last: i, form: hashes, level: level, text: text}, true
		}
		if prevBlank && i+1 < len(p.lines) && !blank(s) {
			if level := underlineLevel(p.line(i + 1)); level > 0 {
				return heading{first: i, last: i + 1, form: underline, level: level, text: strings.TrimSpace(s)}, true
			}
		}
	}
	// In Markdown a date inside a wrapped paragraph can come to stand at the
	// beginning of a line; in plain text there is no wrapping to speak of.
	if (prevBlank || p.kind == plain) && mayBeDateLine(s) {
		return heading{first: i, last: i, form: alone, level: aloneLevel, text: strings.TrimSpace(s)}, true
	}
	return heading{}, false
}

// hashHeading reads "## text ##" as CommonMark does.
func hashHeading(s string) (level int, text string, ok bool) {
	s = strings.TrimLeft(s, " ")
	for level < len(s) && s[level] == '#' {
		level++
	}
	if level == 0 || level > 6 || level < len(s) && s[level] != ' ' && s[level] != '\t' {
		return 0, "", false
	}
	text = strings.TrimSpace(s[level:])
	if open := strings.TrimRight(text, "#"); open == "" || strings.HasSuffix(open, " ") {
		text = strings.TrimSpace(open)
	}
	return level, text, true
}

// underlineLevel is 1 for a line of =, 2 for a line of -, else 0.
func underlineLevel(s string) int {
	s = strings.TrimSpace(s)
	switch {
	case len(s) < 2:
		return 0
	case strings.Trim(s, "=") == "":
		return 1
	case strings.Trim(s, "-") == "":
		return 2
	}
	return 0
}

// mayBeDateLine sorts out quickly what cannot be a date alone on its line.
func mayBeDateLine(s string) bool {
	if len(s) < 8 || len(s) > 80 {
		return false
	}
	for i := range len(s) {
		// \xef begins the full width digits.
		if digit(s[i]) || s[i] == '\xef' {
			return true
		}
	}
	return false
}

// fenceFinder finds where fenced code blocks end.
type fenceFinder struct {
	p *parser
	// open[c] is the shortest fence of c that is known to have no end.
	open map[byte]int
}

// closing is the line that ends the code block which s, on line i, begins; it
// is i when s begins none. A block without an end would swallow the rest of a
// diary, so it is taken for text, and told.
func (f *fenceFinder) closing(i int, s string) int {
	mark, n, info := fence(s)
	if n == 0 || mark == '`' && strings.IndexByte(info, '`') >= 0 {
		return i
	}
	if known := f.open[mark]; known > 0 && n >= known {
		f.p.unclosed = append(f.p.unclosed, i)
		return i
	}
	for j := i + 1; j < len(f.p.lines); j++ {
		if m, k, rest := fence(f.p.line(j)); m == mark && k >= n && blank(rest) {
			return j
		}
	}
	if f.open == nil {
		f.open = make(map[byte]int)
	}
	f.open[mark] = n
	f.p.unclosed = append(f.p.unclosed, i)
	f.p.note(NoteFence, i+1, "a code block begins here and never ends; it was read as text")
	return i
}

// fence reads a line of at least three ` or ~ and what follows.
func fence(s string) (mark byte, n int, info string) {
	t := strings.TrimLeft(s, " ")
	if len(s)-len(t) > 3 || len(t) < 3 || t[0] != '`' && t[0] != '~' {
		return 0, 0, ""
	}
	for n < len(t) && t[n] == t[0] {
		n++
	}
	if n < 3 {
		return 0, 0, ""
	}
	return t[0], n, t[n:]
}

// settleDates learns from the clear dates of a file whether its writer puts
// the day or the month first, and reads the others by that habit.
func (p *parser) settleDates() {
	habit := unknownOrder
	for _, h := range p.heads {
		switch o := h.when.order; {
		case o == unknownOrder:
		case habit == unknownOrder:
			habit = o
		case habit != o: // both are in use: nothing can be learned
			habit = -1
		}
	}
	for i := range p.heads {
		h := &p.heads[i]
		if h.when.state == ambiguous {
			h.when = h.when.resolve(habit)
		}
		switch h.when.state {
		case ambiguous:
			p.note(NoteAmbiguous, h.first+1, "this date reads two ways, so it was not taken for one; write it as YYYY-MM-DD")
		case impossible:
			p.note(NoteImpossible, h.first+1, "this is written like a date, but the calendar has no such day, so it was not taken for one")
		}
	}
}
