package lifecycle

import (
	"slices"
	"strings"
	"unicode"

	"github.com/jivad/jivad/lifecycle/prompt"
)

// An answer repeats what the person said at times, in quotation marks or without any. That
// stays theirs: an entry of the same words is as much of an experience as any other.

const (
	// mostHeard is how much of what was said before in a conversation an answer is held
	// against, in bytes; a model that reads more is a large one.
	mostHeard = 128 << 10
	// heardOfEach is how much of each impression, in bytes: more than is woven in.
	heardOfEach = 4 * prompt.ChatMemoryRunes
)

// HeardIn are the words of the person, beside the last that was said, that an answer can
// repeat: what was woven in for it, and what they said before in the conversation, whose
// messages are given the oldest first.
func HeardIn(w Woven, history []ChatMessage) (texts []string) {
	for _, r := range w.Recalled {
		texts = append(texts, clip(r.Impression.Text, heardOfEach))
	}
	room := mostHeard
	for _, m := range slices.Backward(history) {
		if m.Role != "user" {
			continue
		}
		if room -= len(m.Content); room < 0 {
			break
		}
		texts = append(texts, m.Content)
	}
	return texts
}

// theirWords are the runs of words of the person that the answer to a turn may repeat, with
// those that SOUL.md quotes.
func (c *Companion) theirWords(p *prepared) (map[uint64]bool, error) {
	doc, err := c.lastWritten()
	if err != nil {
		return nil, err
	}
	_, quoted := partsOf(string(doc))
	out := map[uint64]bool{}
	for _, text := range append([]string{p.note.Text, quoted}, p.heard...) {
		for _, x := range runsIn(text) {
			out[x] = true
		}
	}
	return out, nil
}

// framed is an answer of the built-in reflection without what it brings back, which is one
// quotation on a line, whatever marks are in it.
func framed(answer string) string {
	var b strings.Builder
	for line := range strings.Lines(answer) {
		from, to := strings.Index(line, "“"), strings.LastIndex(line, "”")
		if from >= 0 && to > from {
			line = line[:from] + line[to:]
		}
		b.WriteString(line)
	}
	return b.String()
}

// closers are what ends a quotation that a mark begins: in German and English, in French
// either way round, and so on.
var closers = map[rune]string{
	'“': "”", '”': "”", '„': "“”", '‟': "”", '‘': "’", '‚': "‘’", '«': "»", '»': "«", '‹': "›", '›': "‹",
	'「': "」", '『': "』", '《': "》", '〈': "〉", '"': `"`, '\'': "'", '＂': "＂",
}

// ambiguous marks begin a quotation only where one of their closers follows in the line:
// they are apostrophes and inches too, or end quotations elsewhere.
const ambiguous = `"'＂‘‚”»›`

// spoken is an answer without what it quotes.
func spoken(answer string) string {
	var b strings.Builder
	var open []rune // what began the quotations that are not ended
	runes := []rune(answer)
	for i, r := range runes {
		switch {
		case len(open) > 0 && strings.ContainsRune(closers[open[len(open)-1]], r) && ends(runes, i):
			open = open[:len(open)-1]
		case begins(runes, i):
			open = append(open, r)
		case len(open) == 0:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// begins tells whether a quotation begins at a place of a text.
func begins(text []rune, i int) bool {
	r := text[i]
	if closers[r] == "" {
		return false
	}
	if !strings.ContainsRune(ambiguous, r) {
		return true
	}
	if i > 0 && (unicode.IsLetter(text[i-1]) || unicode.IsDigit(text[i-1])) || i+1 == len(text) || unicode.IsSpace(text[i+1]) {
		return false
	}
	for j := i + 1; j < len(text) && text[j] != '\n'; j++ {
		if strings.ContainsRune(closers[r], text[j]) && ends(text, j) {
			return true
		}
	}
	return false
}

// ends tells whether a mark that ends quotations does at this place: an apostrophe within
// a word does not.
func ends(text []rune, i int) bool {
	return text[i] != '\'' && text[i] != '’' || i+1 == len(text) || !unicode.IsLetter(text[i+1])
}
