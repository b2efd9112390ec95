package diary

import (
	"slices"
	"strings"
)

// Undated is the heading of an entry that has neither date nor label.
const Undated = "Without a date"

// nulPicture stands for a NUL, which no text file may hold.
const nulPicture = "␀"

// AppendMarkdown writes one entry as [Parse] reads it back: a heading of the
// first level with the date and the label, and the text under it. Tags and
// category, which belong to whole files, are left out.
//
// Where the text has lines that would be taken for the heading of another entry,
// or for a code block without an end, a backslash goes before their mark, as
// Markdown has it, and a NUL is written as its picture; altered tells of that.
// undated says that no entry of the file has a date: then dates on lines of their
// own are headings too. A label that would not be read back as it is, is left out.
func AppendMarkdown(b []byte, e Entry, undated bool) (out []byte, altered bool) {
	b = append(b, "# "+headingOf(e)+"\n\n"...)
	body := trimBlankLines(e.Text)
	text := strings.ReplaceAll(unmarked(body, undated), "\x00", nulPicture)
	return append(b, text+"\n\n"...), text != body
}

// headingOf is the text of an entry's heading.
func headingOf(e Entry) string {
	label := strings.ReplaceAll(e.Label, "\x00", nulPicture)
	// reads tells whether a heading of that text is read as the date and what is
	// left beside it.
	reads := func(text, date, rest string) bool {
		level, got, ok := hashHeading("# " + text)
		if !ok || level != 1 || got != text || len(splitLines(text)) != 1 {
			return false
		}
		w := readDate(got)
		if date == "" {
			return w.state == noDate
		}
		return w.state == isDate && w.date == date && w.rest == rest
	}
	if e.Date == "" {
		if label != "" && reads(label, "", label) {
			return label
		}
		return Undated
	}
	if full := e.Date + " " + label; label != "" && reads(full, e.Date, label) {
		return full
	}
	return e.Date
}

// unmarked is a text in which nothing divides a file whose entries stand under
// headings of the first level, most of them dates. The reader itself is asked,
// again and again: without a mark a line may turn out to be another heading. No
// line gets more than one backslash, so it comes to an end.
func unmarked(text string, undated bool) string {
	for {
		p := parser{kind: markdown, text: text, lines: splitLines(text)}
		p.findHeadings()
		marks := p.unclosed
		for _, h := range p.heads {
			dated := h.when.state != noDate
			// Where a heading without a text of its own does not count.
			first := undated && h.first == 0
			switch {
			case h.form == alone && undated, h.form == hashes && (h.level == 1 || dated || first):
				marks = append(marks, h.first)
			case h.form == underline && (dated || first):
				marks = append(marks, h.last)
			}
		}
		if len(marks) == 0 {
			return text
		}
		slices.Sort(marks)
		text = p.escape(marks)
	}
}

// escape puts a backslash before what lines begin with.
func (p *parser) escape(lines []int) string {
	var out strings.Builder
	done := 0
	for _, i := range lines {
		at := p.lines[i].end - len(strings.TrimLeft(p.line(i), " \t"))
		out.WriteString(p.text[done:at] + `\`)
		done = at
	}
	out.WriteString(p.text[done:])
	return out.String()
}
