package prompt

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	fenceOpen  = "---- data ----"
	fenceClose = "---- end of data ----"
	// linePrefix stands before each line of data: what closes a fence stands
	// nowhere behind it.
	linePrefix = "| "
)

// Quote fences a text as data, neutralised. Every line of it, whatever ends lines in
// any script, gets a prefix that the closing fence lacks, so nothing inside can end
// it. Of a text longer than maxRunes code points the beginning is kept, and the
// fence says so; maxRunes < 0 is 0.
func Quote(text string, maxRunes int) string {
	text, cut := Clip(text, maxRunes)
	var out strings.Builder
	out.WriteString(fenceOpen + "\n")
	for line := range strings.SplitSeq(oneKindOfLine(Neutral(text)), "\n") {
		out.WriteString(linePrefix + line + "\n")
	}
	out.WriteString(fenceClose)
	if cut > 0 {
		fmt.Fprintf(&out, " (%d letters more are left out)", cut)
	}
	return out.String()
}

// Clip keeps the first maxRunes code points of a text, as valid UTF-8, and tells how
// many were cut.
func Clip(text string, maxRunes int) (kept string, cut int) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxRunes {
		return text, 0
	}
	n, at := 0, len(text)
	for i := range text {
		if n++; n == maxRunes+1 || maxRunes < 0 {
			at = i
			break
		}
	}
	return text[:at], utf8.RuneCountInString(text[at:])
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

func oneKindOfLine(text string) string { return lineEnds.Replace(text) }

// oneLine is a text with single spaces.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
