package builtin

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// wordMark (U+2581) stands where a word begins: the vocabulary writes "▁cat" for " cat".
	wordMark = "\u2581"
	// firstPiece is the id of the first real piece; the ids below it are control symbols that no text may produce.
	firstPiece = 6
	// unknownPiece stands for a run of characters that the vocabulary does not hold.
	unknownPiece = 0
	// unknownScore is the log probability charged for one unknown character.
	unknownScore = -20
)

// normalize brings text into the one form both halves of the embedder read: NFKC, every run of
// white space and control characters as one space, format characters (zero-width marks, soft
// hyphens) removed, no space at either end. Bytes that are not UTF-8 become U+FFFD.
func normalize(text string) string {
	text = norm.NFKC.String(strings.ToValidUTF8(text, "\uFFFD"))
	var b strings.Builder
	b.Grow(len(text))
	pending := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r) || unicode.Is(unicode.Cc, r):
			pending = b.Len() > 0
			continue
		case unicode.Is(unicode.Cf, r):
			continue
		case r == '\u2019' || r == '\u2018' || r == '\u02bc':
			r = '\''
		}
		if pending {
			b.WriteByte(' ')
			pending = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// vocabulary is the piece list of the sentence encoder, as a trie over bytes.
//
// The edges of the trie sit in one open-addressed table (node<<8|byte → node): some 200 KB
// for 8,000 pieces, built in about a millisecond, with no pointer for the collector to follow.
type vocabulary struct {
	keys   []uint32 // 0 = free slot
	kids   []uint16
	pieces []uint16  // node → piece id, 0 = no piece ends here
	scores []float32 // piece id → log probability
	starts []bool    // piece id → begins a word
	stops  []bool    // piece id → ends a sentence
	mark   uint16    // node of wordMark
}

const edgeSlots = 1 << 15 // 18,354 edges: a little over half full

func edgeSlot(key uint32) uint32 { return key * 2654435769 >> 17 }

func newVocabulary(size int) *vocabulary {
	return &vocabulary{
		keys:   make([]uint32, edgeSlots),
		kids:   make([]uint16, edgeSlots),
		pieces: make([]uint16, 1, 20000),
		scores: make([]float32, size),
		starts: make([]bool, size),
		stops:  make([]bool, size),
	}
}

// add enters piece id. A text that occurs twice keeps its first id. It reports false when the table is full.
func (v *vocabulary) add(id int, text string, score float32) bool {
	v.scores[id] = score
	v.starts[id] = strings.HasPrefix(text, wordMark)
	v.stops[id] = strings.ContainsAny(text, ".!?")
	if id < firstPiece || text == "" {
		return true
	}
	node := uint16(0)
	for i := 0; i < len(text); i++ {
		key := uint32(node)<<8 | uint32(text[i]) + 1
		slot := edgeSlot(key)
		for v.keys[slot] != 0 && v.keys[slot] != key {
			slot = (slot + 1) & (edgeSlots - 1)
		}
		if v.keys[slot] == 0 {
			if len(v.pieces) > edgeSlots*3/4 {
				return false
			}
			v.keys[slot], v.kids[slot] = key, uint16(len(v.pieces))
			v.pieces = append(v.pieces, 0)
		}
		node = v.kids[slot]
	}
	if v.pieces[node] == 0 {
		v.pieces[node] = uint16(id)
	}
	if text == wordMark {
		v.mark = node
	}
	return true
}

// child follows one byte; it returns 0 where the trie ends.
func (v *vocabulary) child(node uint16, b byte) uint16 {
	key := uint32(node)<<8 | uint32(b) + 1
	for slot := edgeSlot(key); ; slot = (slot + 1) & (edgeSlots - 1) {
		switch v.keys[slot] {
		case key:
			return v.kids[slot]
		case 0:
			return 0
		}
	}
}

// tokens is a tokenised text.
type tokens struct {
	ids   []uint16
	runes int // characters of the text, spaces not counted
	known int // of these, covered by pieces of the vocabulary
}

// lattice is the scratch of the tokeniser.
type lattice struct {
	best []float32 // best[i]: score of the best way to cut the first i bytes of the word
	from []int32   // where the last piece of that way begins
	id   []uint16  // and which piece it is
	word []byte
}

// tokenize cuts normalised text into the most probable pieces (unigram model, Viterbi).
// No piece of the vocabulary reaches over a word mark, so each word is cut by itself:
// the same word is cut the same way wherever it stands, and the scratch stays small.
func (v *vocabulary) tokenize(text string, s *lattice, out *tokens) {
	out.ids, out.runes, out.known = out.ids[:0], 0, 0
	if text == "" {
		return
	}
	for rest := text; ; {
		end := strings.IndexByte(rest, ' ')
		if end < 0 {
			v.cutWord(rest, s, out)
			return
		}
		v.cutWord(rest[:end], s, out)
		rest = rest[end+1:]
	}
}

func (v *vocabulary) cutWord(word string, s *lattice, out *tokens) {
	s.word = append(append(s.word[:0], wordMark...), word...)
	n := len(s.word)
	s.grow(n + 1)
	best, from, id := s.best[:n+1], s.from[:n+1], s.id[:n+1]
	for i := range best {
		best[i] = -math.MaxFloat32
	}
	best[0] = 0
	for i := 0; i < n; {
		_, width := utf8.DecodeRune(s.word[i:])
		out.runes++
		alone, base := false, best[i]
		for j, node := i, uint16(0); j < n; {
			if node = v.child(node, s.word[j]); node == 0 {
				break
			}
			j++
			p := v.pieces[node]
			if p == 0 {
				continue
			}
			alone = alone || j == i+width
			if score := base + v.scores[p]; score > best[j] {
				best[j], from[j], id[j] = score, int32(i), p
			}
		}
		if j := i + width; !alone && base+unknownScore > best[j] {
			best[j], from[j], id[j] = base+unknownScore, int32(i), unknownPiece
		}
		i += width
	}
	out.runes-- // the word mark is not a character of the text
	first, unknown := len(out.ids), 0
	for j := n; j > 0; j = int(from[j]) {
		if id[j] == unknownPiece {
			unknown++ // an unknown piece is always one character
			if k := len(out.ids); k > first && out.ids[k-1] == unknownPiece {
				continue // a run of unknown characters is one piece
			}
		}
		out.ids = append(out.ids, id[j])
	}
	out.known -= unknown
	out.known += utf8.RuneCountInString(word)
	for a, z := first, len(out.ids)-1; a < z; a, z = a+1, z-1 {
		out.ids[a], out.ids[z] = out.ids[z], out.ids[a]
	}
}

func (s *lattice) grow(n int) {
	if cap(s.best) < n {
		n += n / 2
		s.best, s.from, s.id = make([]float32, n), make([]int32, n), make([]uint16, n)
	}
	s.best, s.from, s.id = s.best[:cap(s.best)], s.from[:cap(s.from)], s.id[:cap(s.id)]
}

// shrink lets go of the room that one monstrous word took.
func (s *lattice) shrink() {
	if cap(s.best) > 1<<14 {
		*s = lattice{}
	}
}

// span is a half-open range of token positions.
type span struct{ from, to int }

func (p span) len() int { return p.to - p.from }

// split cuts ids into spans of at most limit tokens, each ending where it disturbs least: after
// the last sentence end in its second half, else before the last word in its second half, else at
// the limit.
func (v *vocabulary) split(ids []uint16, limit int) []span {
	var spans []span
	for from := 0; from < len(ids); {
		to := from + limit
		if to >= len(ids) {
			to = len(ids)
		} else {
			to = v.breakBefore(ids, from+limit/2, to)
		}
		spans = append(spans, span{from, to})
		from = to
	}
	return spans
}

func (v *vocabulary) breakBefore(ids []uint16, low, high int) int {
	word := 0
	for i := high; i > low; i-- {
		if !v.starts[ids[i]] {
			continue
		}
		if v.stops[ids[i-1]] {
			return i
		}
		if word == 0 {
			word = i
		}
	}
	if word != 0 {
		return word
	}
	return high
}
