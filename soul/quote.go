package soul

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

const (
	// MaxQuote is the greatest length of a quoted entry, in letters as a reader
	// counts them (grapheme clusters).
	MaxQuote = 160
	// maxCluster is the most bytes one letter may take. The longest family
	// emoji has 28; what is longer is a stack of accents to no purpose.
	maxCluster = 40
)

// Quote makes one harmless line of any text, at most letters grapheme clusters
// long and at most 4 bytes each on average: line breaks become blanks; control
// and invisible characters go; whatever could be Markdown, HTML, a template
// marker or a chat role is replaced by a character that looks alike. A cut
// shows as "…". Quote is idempotent and deterministic.
func Quote(text string, letters int) string {
	// Replacing can bring a role marker to light ("a**:" beside "user"), and
	// dropping can join clusters; a second pass sees the finished text.
	for range 4 {
		next := quoteOnce(text, letters)
		if next == text {
			break
		}
		text = next
	}
	return text
}

func quoteOnce(text string, letters int) string {
	// What lies far behind the cut is not even looked at: an entry may be long.
	text = strings.TrimLeft(plain(text, 8*max(letters, 0)+256), "#-+= ") // no heading, list or rule begins
	if strings.Contains(text, ":") {
		text = roles.ReplaceAllString(text, "$1 -")
	}
	return clip(text, letters)
}

// lookalike maps each character with a meaning to one without. Letters of one
// code point for one, so that lengths keep.
var lookalike = map[rune]rune{
	'<': '‹', '>': '›', '＜': '‹', '＞': '›', '`': '\'', '|': '/', '｜': '/', '\\': '/',
	'[': '(', ']': ')', '{': '(', '}': ')', '*': '·', '_': '-', '~': '-', '“': '"', '”': '"',
	'＃': '#', '▁': '-', '：': ':',
}

// roles are the words before a colon that chat templates take for a speaker.
var roles = regexp.MustCompile(`(?i)\b(system|assistant|user|human|developer|tool|function|model|instruction|instructions)\s*:`)

// plain replaces and drops characters, and squeezes blanks, dashes and hashes.
// It stops after about most bytes.
func plain(text string, most int) string {
	var b strings.Builder
	b.Grow(min(len(text), most))
	var last rune = ' ' // drops leading blanks
	run := 0
	for _, r := range text {
		if b.Len() > most {
			break
		}
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
			r = ' '
		case r == unicode.ReplacementChar:
			continue // bytes that are not UTF-8
		case !keeps(r):
			continue
		}
		if to, ok := lookalike[r]; ok {
			r = to
		}
		if r == '&' {
			r = '+' // no entity can stand for what was replaced
		}
		if r == last {
			run++
		} else {
			run = 1
		}
		last = r
		switch {
		case r == ' ' && run > 1, r == '#' && run > 1, (r == '-' || r == '=') && run > 2:
			continue
		}
		if b.Len() == 0 && r == ' ' {
			continue
		}
		b.WriteRune(r)
	}
	return strings.TrimRight(b.String(), " ")
}

// keeps says whether a character can be seen, or joins ones that can.
func keeps(r rune) bool {
	const zwnj, zwj = '\u200c', '\u200d' // Persian and Indic spelling, emoji
	return r == zwnj || r == zwj || unicode.IsGraphic(r)
}

// clip cuts at a letter border.
func clip(text string, letters int) string {
	var b strings.Builder
	count, rest, state := 0, text, -1
	keep := 0 // length of b where an ellipsis still fits
	for rest != "" {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if len(cluster) > maxCluster {
			continue
		}
		if count == letters || b.Len()+len(cluster) > 4*letters {
			if letters <= 0 {
				return ""
			}
			return strings.TrimRight(b.String()[:keep], " ") + "…"
		}
		if count < letters-1 && b.Len()+len(cluster)+len("…") <= 4*letters {
			keep = b.Len() + len(cluster)
		}
		b.WriteString(cluster)
		count++
	}
	return b.String()
}
