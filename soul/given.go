package soul

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The person's section stands in SOUL.md as
//
//	## Given ⏎ ⏎ bytes of the person ⏎ ⏎ ## Character
//
// and reading it back takes exactly those bytes. Two lines may stand before
// the next heading where the person's text alone would leave its end in doubt:
// endMark, and before it a line that closes a code fence left open.
const (
	endMark       = "<!-- end of Given -->"
	endMarkClosed = "<!-- end of Given; the line above closes its code -->"
	endMarkStem   = "<!-- end of Given"

	// maxFile bounds what is read as a SOUL.md edited by hand.
	maxFile = 4 << 20
)

// The level-2 headings of SOUL.md, in their order.
const (
	headGiven      = "Given"
	headCharacter  = "Character"
	headTendencies = "Tendencies"
	headDeep       = "Deep impressions"
	headActs       = "How to act"
	headTrend      = "Trend"
	headUnresolved = "Unresolved"
)

var headings = [...]string{headGiven, headCharacter, headTendencies, headDeep, headActs, headTrend, headUnresolved}

// ExtractGiven finds the person's section in a SOUL.md that may have been
// edited. lastWritten is what this package wrote last, or nil.
//
// changed says that the section differs from what was last written; the line
// ends of the editor and blank lines round the section do not count. While it
// is false, given is the section as it was written: a Given too long for the
// file is there in part only, see TakeGiven. ok is false, and the old Given
// stays in force, when the file holds no such section (the heading is gone, the
// file is empty, cut short or not text). Deeper headings, code and level-2
// headings of the person's own belong to the section; it ends at the next
// heading of SOUL.md's own.
func ExtractGiven(file, lastWritten []byte) (given string, changed, ok bool) {
	last := splitWritten(string(lastWritten))
	now := split(file, last)
	if !now.ok {
		return "", false, false
	}
	if !last.ok {
		return now.given, true, true
	}
	if sameText(now.given, last.given) {
		return last.given, false, true
	}
	if whole := tidy(string(lastWritten)); strings.HasPrefix(whole, tidy(string(file))) {
		return "", false, false // a file cut short is no edit
	}
	return now.given, true, true
}

// TakeGiven is ExtractGiven for a caller that keeps the whole Given, which may
// be longer than the part that SOUL.md shows. It gives the new whole: an edit
// to the part that is shown keeps the rest, as long as the line that names the
// rest is still there.
func TakeGiven(file, lastWritten []byte, whole string) (given string, changed, ok bool) {
	given, changed, ok = ExtractGiven(file, lastWritten)
	if !ok || !changed {
		return whole, false, ok
	}
	last := splitWritten(string(lastWritten))
	notice := cutNotice(len(whole))
	shown, wasCut := strings.CutSuffix(last.given, notice)
	if !last.ok || !wasCut || !strings.HasPrefix(whole, shown) {
		return given, true, true
	}
	line := strings.TrimSpace(notice)
	at := strings.LastIndex(given, line)
	if at < 0 {
		return given, true, true // the person took the line away: this is all
	}
	// What was written below the line comes after the rest.
	above, below := trimBlankLine(given[:at]), given[at+len(line):]
	if strings.TrimSpace(below) == "" {
		below = ""
	}
	return above + whole[len(shown):] + below, true, true
}

// EditedElsewhere says that the file differs outside Given from what was
// written last: an edit that the next SOUL.md will be written over.
func EditedElsewhere(file, lastWritten []byte) bool {
	if len(lastWritten) == 0 {
		return false
	}
	last := splitWritten(string(lastWritten))
	now := split(file, last)
	if !now.ok || !last.ok {
		return !bytes.Equal(file, lastWritten)
	}
	return tidy(now.head) != tidy(last.head) || tidy(now.tail) != tidy(last.tail)
}

// parts is SOUL.md taken apart round the person's section.
type parts struct {
	head  string // up to and with the heading
	given string
	tail  string // from the next heading
	ok    bool
}

// splitWritten takes apart what Render wrote. It is exact: nothing generated
// holds another line with the Character heading, so the last one ends Given.
func splitWritten(doc string) parts {
	start, ok := givenStart(doc)
	if !ok {
		return parts{}
	}
	end := strings.LastIndex(doc, "\n## "+headCharacter+"\n")
	if end < start-1 {
		return parts{}
	}
	end++
	return parts{doc[:start], cutEnding(doc[start:end], trimWritten), doc[end:], true}
}

// split takes apart a file that a person may have edited.
func split(file []byte, last parts) parts {
	if len(file) == 0 || len(file) > maxFile || bytes.IndexByte(file, 0) >= 0 || !utf8.Valid(file) {
		return parts{}
	}
	doc := strings.TrimPrefix(string(file), "\ufeff")
	start, ok := givenStart(doc)
	if !ok {
		return parts{}
	}
	end := givenEnd(doc, start, last)
	return parts{doc[:start], cutEnding(doc[start:end], trimBlankLine), doc[end:], true}
}

// givenStart is where the person's bytes begin.
func givenStart(doc string) (int, bool) {
	body := frontMatterEnd(doc)
	for h := range knownHeadings(doc[body:]) {
		if h.name == headGiven {
			return body + h.end + blankLine(doc[body+h.end:]), true
		}
	}
	return 0, false
}

// givenEnd is where the heading after the person's bytes begins. The best sign
// is a generated rest that nobody touched, then the mark, then the headings.
func givenEnd(doc string, start int, last parts) int {
	if last.ok {
		if at, ok := suffixAt(doc, last.tail); ok && at >= start {
			return at
		}
	}
	if at := strings.LastIndex(doc[start:], "\n"+endMarkStem); at >= 0 {
		at += start + 1
		at += lineLength(doc[at:])
		return at + blankLine(doc[at:])
	}
	for h := range knownHeadings(doc[start:]) {
		return start + h.start
	}
	return len(doc)
}

// suffixAt finds where tail begins when doc ends with it, whatever the line ends.
func suffixAt(doc, tail string) (int, bool) {
	doc, tail = strings.TrimRight(doc, " \t\r\n"), tidy(tail)
	at := len(doc)
	for range strings.Count(tail, "\n") + 1 {
		if at = strings.LastIndexByte(doc[:max(at, 0)], '\n'); at < 0 {
			break
		}
	}
	at++
	return at, tail != "" && tidy(doc[at:]) == tail
}

// ending is what stands between the person's bytes and the next heading.
func ending(given string) string {
	if fence := openFence(given); fence != "" {
		return "\n\n" + fence + "\n" + endMarkClosed + "\n\n"
	}
	doubt := strings.Contains(given, endMarkStem)
	for range knownHeadings(given) {
		doubt = true
		break
	}
	if doubt {
		return "\n\n" + endMark + "\n\n"
	}
	return "\n\n"
}

// cutEnding takes ending away again; trim takes away "\n\n".
func cutEnding(section string, trim func(string) string) string {
	section = trim(section)
	mark := section[strings.LastIndexByte(section, '\n')+1:]
	switch strings.TrimRight(mark, " \t\r") {
	case endMark:
		return trim(section[:len(section)-len(mark)])
	case endMarkClosed:
		section = trimLineEnd(section[:len(section)-len(mark)])
		fence := section[strings.LastIndexByte(section, '\n')+1:]
		return trim(section[:len(section)-len(fence)])
	}
	return section
}

// trimWritten takes away exactly what Render wrote, so that a Given that ends
// in a carriage return keeps it.
func trimWritten(s string) string { return strings.TrimSuffix(s, "\n\n") }

// trimBlankLine takes away one line end and one blank line before it.
func trimBlankLine(s string) string { return trimLineEnd(trimLineEnd(s)) }

func trimLineEnd(s string) string {
	if cut, ok := strings.CutSuffix(s, "\r\n"); ok {
		return cut
	}
	return strings.TrimSuffix(s, "\n")
}

// blankLine is the length of a blank line at the start of s, or 0.
func blankLine(s string) int {
	switch {
	case strings.HasPrefix(s, "\n"):
		return 1
	case strings.HasPrefix(s, "\r\n"):
		return 2
	}
	return 0
}

// lineLength is the length of the first line of s with its line end.
func lineLength(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i + 1
	}
	return len(s)
}

// tidy is text without the traces that editors leave: line ends, and blanks at
// the end.
func tidy(s string) string {
	s = strings.ReplaceAll(strings.TrimPrefix(s, "\ufeff"), "\r\n", "\n")
	return strings.TrimRight(s, " \t\r\n")
}

func sameText(a, b string) bool {
	return strings.TrimLeft(tidy(a), "\n") == strings.TrimLeft(tidy(b), "\n")
}

// shownGiven is the part of Given that fits into budget bytes: all of it, or
// the first lines and a line that says where the rest is.
func shownGiven(given string, budget int) string {
	if len(given)+len(ending(given)) <= budget {
		return given
	}
	notice := cutNotice(len(given))
	room := budget - len(notice)
	for room > 0 {
		shown := cutAtLine(given, room)
		if over := len(shown) + len(notice) + len(ending(shown+notice)) - budget; over > 0 {
			room = min(room-1, len(shown)-over)
			continue
		}
		return shown + notice
	}
	return strings.TrimSpace(notice)
}

func cutNotice(size int) string {
	return fmt.Sprintf("\n\n> The rest of Given is kept in given.md beside this file (%d bytes in all).", size)
}

// cutAtLine is the start of text, at most room bytes, up to a line's end; the
// start of a line where the first line is longer.
func cutAtLine(text string, room int) string {
	if len(text) <= room {
		return text
	}
	if at := strings.LastIndexByte(text[:room], '\n'); at > 0 {
		return text[:at]
	}
	for room > 0 && !utf8.RuneStart(text[room]) {
		room--
	}
	return text[:room]
}
