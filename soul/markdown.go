package soul

import (
	"iter"
	"strings"
)

// heading is one of SOUL.md's own level-2 headings in a text.
type heading struct {
	name       string
	start, end int // bytes of its line, line end included
}

// knownHeadings walks over the headings of SOUL.md's own, outside code fences.
// A fence that nothing closes does not count: it would hide the rest of the
// file from its owner.
func knownHeadings(text string) iter.Seq[heading] {
	return func(yield func(heading) bool) {
		var unclosed [2]int // per fence character: no fence this long is closed any more
		for at := 0; at < len(text); {
			next := at + lineLength(text[at:])
			line := strings.TrimRight(text[at:next], "\r\n")
			if f, ok := fenceOf(line); ok {
				c := f.kind()
				if unclosed[c] == 0 || f.length < unclosed[c] {
					if end, ok := f.closed(text, next); ok {
						at = end
						continue
					}
					unclosed[c] = f.length
				}
			} else if name := knownHeading(line); name != "" {
				if !yield(heading{name, at, next}) {
					return
				}
			}
			at = next
		}
	}
}

// knownHeading is the name when the line is a level-2 heading of SOUL.md's own.
func knownHeading(line string) string {
	rest, ok := strings.CutPrefix(unindent(line), "##")
	if !ok || rest == "" || rest[0] != ' ' && rest[0] != '\t' {
		return ""
	}
	rest = strings.Trim(rest, " \t")
	if bare := strings.TrimRight(rest, "#"); bare != rest && strings.TrimRight(bare, " \t") != bare {
		rest = strings.TrimRight(bare, " \t") // closing hashes
	}
	for _, name := range headings {
		if strings.EqualFold(rest, name) {
			return name
		}
	}
	return ""
}

// fence opens or closes a block of code.
type fence struct {
	char   byte
	length int
	indent int
	bare   bool // nothing follows: only such a one can close
}

func (f fence) kind() int {
	if f.char == '`' {
		return 0
	}
	return 1
}

func fenceOf(line string) (fence, bool) {
	body := unindent(line)
	if body == "" || body[0] != '`' && body[0] != '~' {
		return fence{}, false
	}
	info := strings.TrimLeft(body, body[:1])
	f := fence{char: body[0], length: len(body) - len(info), indent: len(line) - len(body)}
	f.bare = strings.Trim(info, " \t") == ""
	if f.length < 3 || f.char == '`' && strings.Contains(info, "`") {
		return fence{}, false
	}
	return f, true
}

func (f fence) closes(open fence) bool {
	return f.bare && f.char == open.char && f.length >= open.length
}

// closed is where the text goes on after the line that closes f.
func (f fence) closed(text string, at int) (int, bool) {
	for at < len(text) {
		next := at + lineLength(text[at:])
		if g, ok := fenceOf(strings.TrimRight(text[at:next], "\r\n")); ok && g.closes(f) {
			return next, true
		}
		at = next
	}
	return 0, false
}

// openFence is the line that closes the code fence which text leaves open, or
// empty. It answers only where it is sure: a fence that is indented may be
// inside a list, and a line of HTML may swallow one; a wrong line would open
// what it should close.
func openFence(text string) string {
	var open fence
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		f, ok := fenceOf(line)
		switch {
		case inside && ok && f.closes(open):
			inside = false
		case inside:
		case ok && f.indent > 1, strings.HasPrefix(unindent(line), "<"):
			return ""
		case ok:
			open, inside = f, true
		}
	}
	if !inside {
		return ""
	}
	return strings.Repeat(string(open.char), open.length)
}

// unindent takes away the up to three blanks before a Markdown block.
func unindent(line string) string {
	for range 3 {
		line = strings.TrimPrefix(line, " ")
	}
	return line
}

// frontMatterEnd is where the Markdown begins.
func frontMatterEnd(doc string) int {
	at := lineLength(doc)
	if strings.TrimRight(doc[:at], " \t\r\n") != "---" {
		return 0
	}
	for at < len(doc) {
		next := at + lineLength(doc[at:])
		if strings.TrimRight(doc[at:next], " \t\r\n") == "---" {
			return next
		}
		at = next
	}
	return 0 // never closed: it is Markdown after all
}
