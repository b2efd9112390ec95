package builtin

import (
	"strings"
	"unicode/utf8"

	"github.com/jonreiter/govader"
)

const (
	// lexiconWords is how many words are scored at once. VADER was made for
	// sentences: over a whole page its sum saturates and one "but" would weigh
	// everything before it down.
	lexiconWords = 32
	// lexiconPieces bounds the work for one text: of a longer text that many
	// pieces, evenly spaced from the first to the last, stand for the whole.
	lexiconPieces = 96
	// longestWord is where a run without spaces stops being a word of the lexicon.
	longestWord = 48
)

// signals is what the words of a text say by themselves.
type signals struct {
	// compound is the mean of VADER's compound score over the pieces, -1 to 1.
	compound float64
	// swing is the mean of its size whatever the sign, 0 to 1: how strongly
	// the pieces speak even where they contradict each other.
	swing float64
	// positive and negative are the shares of the text that speak either way, 0 to 1.
	positive, negative float64
	// shouts is the number of exclamation marks per sentence, at most 1.
	shouts float64
	// asks is the number of question marks per sentence, at most 1.
	asks float64
}

// lexicon reads English words by VADER (Hutto and Gilbert 2014). Its tables
// are written once, here, and only read afterwards, so that it may be shared.
type lexicon struct {
	vader *govader.SentimentIntensityAnalyzer
}

func newLexicon() *lexicon { return &lexicon{govader.NewSentimentIntensityAnalyzer()} }

// read scores normalised text. Text in another language, or none at all, gives zeros.
func (l *lexicon) read(text string) signals {
	var s signals
	s.shouts, s.asks = marks(text)
	pieces := lexiconSplit(text)
	if len(pieces) == 0 {
		return s
	}
	n := float64(len(pieces))
	for _, piece := range pieces {
		v := l.vader.PolarityScores(piece)
		s.compound += v.Compound / n
		s.swing += max(v.Compound, -v.Compound) / n
		s.positive += v.Positive / n
		s.negative += v.Negative / n
	}
	return s
}

// lexiconSplit cuts text into at most lexiconPieces runs of about lexiconWords
// words, ended at a sentence's end where there is one in the second half.
// VADER cuts at single spaces only, hence every run of white space becomes one.
func lexiconSplit(text string) []string {
	var spans [][2]int // first and last byte of each piece
	words, first, last, good := 0, -1, 0, -1
	i := 0
	for word := range strings.FieldsSeq(text) {
		at := i + strings.Index(text[i:], word)
		i = at + len(word)
		if first < 0 {
			first = at
		}
		words++
		last = i
		if words > lexiconWords/2 && strings.ContainsAny(word[len(word)-1:], ".!?") {
			good = i
		}
		if words >= lexiconWords || good == i {
			spans = append(spans, [2]int{first, last})
			words, first, good = 0, -1, -1
		}
	}
	if words > 0 {
		spans = append(spans, [2]int{first, last})
	}
	if len(spans) > lexiconPieces {
		kept := make([][2]int, lexiconPieces)
		for k := range kept {
			kept[k] = spans[k*(len(spans)-1)/(lexiconPieces-1)]
		}
		spans = kept
	}
	pieces := make([]string, 0, len(spans))
	var b strings.Builder
	for _, span := range spans {
		b.Reset()
		for word := range strings.FieldsSeq(text[span[0]:span[1]]) {
			if len(word) > longestWord {
				word = shorten(word)
			}
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(word)
		}
		pieces = append(pieces, b.String())
	}
	return pieces
}

// shorten keeps the first whole characters of a very long run.
func shorten(word string) string {
	n := longestWord
	for n > 0 && !utf8.RuneStart(word[n]) {
		n--
	}
	return word[:n]
}

// marks gives the exclamation and question marks per sentence, each at most 1,
// in the scripts that have their own signs for them too.
func marks(text string) (shouts, asks float64) {
	var sentences, shout, ask float64
	open := false
	for _, r := range text {
		switch r {
		case '!', '！':
			shout++
		case '?', '？', ';': // the last is the Greek one
			ask++
		case '.', '。', '।', '…':
		default:
			open = true
			continue
		}
		if open {
			sentences++
		}
		open = false
	}
	if open {
		sentences++
	}
	if sentences == 0 {
		sentences = 1
	}
	return min(1, shout/sentences), min(1, ask/sentences)
}
