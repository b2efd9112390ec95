package builtin

import (
	"math"
	"math/bits"
	"slices"
	"unicode"
	"unicode/utf8"
)

const (
	gramBits    = 14
	gramSlots   = 1 << gramBits // counters of distinct n-grams; two that share one are one gram from then on
	gramSeed    = 0x9e3779b97f4a7c15
	wordGramMin = 4 // the borders of a word count as characters: a word of two letters is one gram,
	wordGramMax = 5 // one of ten is seventeen, which weighs rare words up without a table of them
	runGramMin  = 2 // scripts without spaces
	runGramMax  = 3
)

// gramScratch counts the n-grams of one text.
type gramScratch struct {
	counts []uint32
	runes  []rune // of the word or run being read
}

func newGramScratch() *gramScratch { return &gramScratch{counts: make([]uint32, gramSlots)} }

type charClass uint8

const (
	classBreak  charClass = iota // space and punctuation
	classLetter                  // of a script with spaces, or a digit
	classRun                     // of a script without
	classSymbol                  // stands alone: an emoji, a sign
)

func classify(r rune) charClass {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return classLetter
		}
		return classBreak
	case r == 'ー': // lengthens a katakana vowel; Unicode files it under Common
		return classRun
	case unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r):
		if r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan) {
			return classRun
		}
		return classLetter
	case unicode.IsSymbol(r):
		return classSymbol
	}
	return classBreak
}

// gramVector writes the unit vector of the character n-grams of normalised text into dst and
// reports false when the text is empty. Each distinct n-gram adds ±√count to one of len(dst)
// places chosen by its hash, so that texts sharing rare strings lie near each other in any script.
func gramVector(text string, s *gramScratch, dst []float32) bool {
	clear(s.counts)
	s.runes = s.runes[:0]
	counted := false
	previous := classBreak
	for _, r := range text {
		class := classify(r)
		if class != previous && len(s.runes) > 0 {
			s.flush(previous)
			counted = true
		}
		previous = class
		switch class {
		case classLetter, classRun:
			s.runes = append(s.runes, unicode.ToLower(r))
		case classSymbol:
			s.count(mixRune(gramSeed, r))
			counted = true
		}
	}
	if len(s.runes) > 0 {
		s.flush(previous)
		counted = true
	}
	if !counted { // nothing but punctuation: then that is what the text is about
		for _, r := range text {
			s.count(mixRune(gramSeed, r))
			counted = true
		}
	}
	if counted {
		s.fold(dst)
	}
	return counted
}

// mixRune adds one character to a hash (the folded multiply of wyhash).
func mixRune(h uint64, r rune) uint64 {
	hi, lo := bits.Mul64(h^uint64(r), 0xd6e8feb86659fd93)
	return (hi ^ lo) + gramSeed
}

func (s *gramScratch) count(h uint64) { s.counts[h>>(64-gramBits)]++ }

// flush counts the n-grams of the word or run gathered in s.runes and empties it.
func (s *gramScratch) flush(class charClass) {
	low, high := runGramMin, runGramMax
	if class == classLetter {
		low, high = wordGramMin, wordGramMax
		s.runes = append(slices.Insert(s.runes, 0, '<'), '>')
	}
	n := len(s.runes)
	low = min(low, n) // a shorter one is a gram by itself
	for i := range n {
		h := uint64(gramSeed)
		for k := 1; k <= high && i+k <= n; k++ {
			h = mixRune(h, s.runes[i+k-1])
			if k >= low {
				s.count(h)
			}
		}
	}
	s.runes = s.runes[:0]
}

// fold projects the counters onto dst and scales it to unit length.
func (s *gramScratch) fold(dst []float32) {
	clear(dst)
	for slot, c := range s.counts {
		if c == 0 {
			continue
		}
		weight := float32(math.Sqrt(float64(c)))
		h := uint32(slot+1) * 2654435769
		h ^= h >> 15
		h *= 2246822519
		h ^= h >> 13
		if h&1 != 0 {
			weight = -weight
		}
		dst[h>>1%uint32(len(dst))] += weight
	}
	unit(dst) // the first axis, should every gram have met its opposite
}
