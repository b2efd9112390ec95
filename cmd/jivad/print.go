package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// printer writes for people: aligned, and in colour where that is wanted.
type printer struct {
	out    *bufio.Writer
	colour bool
	width  int
	// terminal says that a person looks on.
	terminal bool
}

func (a *app) printer() *printer {
	p := &printer{out: bufio.NewWriter(a.stdout), terminal: isTerminal(a.stdout), width: 80}
	p.colour = p.terminal && !a.flags.noColor && a.getenv("TERM") != "dumb"
	if p.terminal {
		if w, _, err := term.GetSize(int(a.stdout.(*os.File).Fd())); err == nil && w > 0 {
			p.width = w
		}
	}
	return p
}

func (p *printer) flush() error { return p.out.Flush() }

// line writes one line.
func (p *printer) line(format string, args ...any) { fmt.Fprintf(p.out, format+"\n", args...) }

// row writes a name and what belongs to it, in two columns.
func (p *printer) row(name, format string, args ...any) {
	p.line("%s %s", p.dim(pad(name, 13)), fmt.Sprintf(format, args...))
}

// longest is how wide a line of long is at most, where its words allow it.
const longest = 100

// long is row for a text that may be longer than a line: it goes on below itself.
func (p *printer) long(name, text string) { p.longIn(func(s string) string { return s }, name, text) }

// longIn is long with the text in a style.
func (p *printer) longIn(style func(string) string, name, text string) {
	const room = longest - 14
	line := ""
	add := func(part string) {
		if line != "" && uniseg.StringWidth(line)+1+uniseg.StringWidth(part) > room {
			p.row(name, "%s", style(line))
			name, line = "", ""
		}
		line = strings.TrimPrefix(line+" "+part, " ")
	}
	for _, clause := range clauses(text) { // a line ends with one where it can
		if uniseg.StringWidth(clause) <= room {
			add(clause)
			continue
		}
		for word := range strings.FieldsSeq(clause) {
			add(word)
		}
	}
	p.row(name, "%s", style(line))
}

// clauses are what semicolons part, but for those in brackets.
func clauses(text string) (out []string) {
	from, depth := 0, 0
	for i, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth = max(0, depth-1)
		case r == ';' && depth == 0:
			out = append(out, strings.TrimSpace(text[from:i+1]))
			from = i + 1
		}
	}
	return append(out, strings.TrimSpace(text[from:]))
}

// clipped is a name on one line and at most so many columns wide: of a longer one the
// beginning and the end, which tell names apart.
func clipped(name string, width int) string {
	name = oneLine(name)
	if uniseg.StringWidth(name) <= width {
		return name
	}
	letters, state := []string{}, -1
	for rest := name; rest != ""; {
		var letter string
		letter, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		letters = append(letters, letter)
	}
	end, at := "", len(letters)
	for at > 0 && uniseg.StringWidth(letters[at-1]+end) <= width/2 {
		at--
		end = letters[at] + end
	}
	return cut(strings.Join(letters[:at], ""), width-uniseg.StringWidth(end)) + end
}

func (p *printer) paint(code, s string) string {
	if !p.colour || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p *printer) dim(s string) string  { return p.paint("2", s) }
func (p *printer) bold(s string) string { return p.paint("1", s) }
func (p *printer) good(s string) string { return p.paint("32", s) }
func (p *printer) bad(s string) string  { return p.paint("31", s) }

// table writes rows in columns; a name that begins with ">" is set to the right.
func (p *printer) table(head []string, rows [][]string) {
	widths := make([]int, len(head))
	right := make([]bool, len(head))
	for i, h := range head {
		head[i], right[i] = strings.CutPrefix(h, ">")
		widths[i] = uniseg.StringWidth(head[i])
		for _, r := range rows {
			widths[i] = max(widths[i], uniseg.StringWidth(r[i]))
		}
	}
	write := func(cells []string, style func(string) string) {
		var out []string
		for i, c := range cells {
			space := strings.Repeat(" ", widths[i]-uniseg.StringWidth(c))
			if right[i] {
				out = append(out, space+c)
			} else {
				out = append(out, c+space)
			}
		}
		p.line("%s", style(strings.TrimRight(strings.Join(out, "  "), " ")))
	}
	write(head, p.dim)
	for _, r := range rows {
		write(r, func(s string) string { return s })
	}
}

// pad fills a text with spaces to a width.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-uniseg.StringWidth(s)))
}

// harmless shows text of a person or a file without what could move the cursor,
// change colours or turn the direction of writing: control characters become
// their pictures. Ends of lines and tabs stay.
func harmless(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20:
			return 0x2400 + r // ␀ to ␟
		case r == 0x7f:
			return '␡'
		case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\u2029', unicode.Is(unicode.Co, r):
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// oneLine is harmless text on one line.
func oneLine(s string) string { return harmless(strings.Join(strings.Fields(s), " ")) }

// cut shortens a line to a width of columns.
func cut(s string, width int) string {
	if uniseg.StringWidth(s) <= width {
		return s
	}
	var out strings.Builder
	used, state := 0, -1
	for rest := s; rest != ""; {
		var cluster string
		var w int
		cluster, rest, w, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used += w; used > width-1 {
			break
		}
		out.WriteString(cluster)
	}
	return strings.TrimRight(out.String(), " ") + "…"
}

// count is "1 entry", "2 entries".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// tail is the end of an id: ids made at one time share their beginnings.
func tail(id string) string {
	const letters = 8
	return id[max(0, len(id)-letters):]
}

func dash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}
