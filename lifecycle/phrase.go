package lifecycle

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// A phrase is looked for in files in a form that everything has which the
// program writes of a text: what plain makes of it, and then with one character
// for those that SOUL.md has instead of others. What plain finds in a text is
// therefore found in a file that holds it, as it was given, as JSON or quoted.

const (
	blank   = ' '
	nothing = 0
	// barrier stands for bytes that are no text. No form of a phrase has it.
	barrier = 0xff
	// longestCluster bounds the bytes of one letter with its accents.
	longestCluster = 4 << 10
)

// leveled is the character that stands for r in the form of searching: blank for
// what parts words, nothing for what has no weight.
func leveled(r rune) rune {
	switch r {
	case ':': // goes where it would make a word a speaker
		return blank
	case '*', '_', '-', '~', '=', '#', '+', '&', '<', '>', '‹', '›', '·', '▁', unicode.ReplacementChar:
		return nothing
	case '`':
		return '\''
	case '|', '\\':
		return '/'
	case '[', '{':
		return '('
	case ']', '}':
		return ')'
	case '“', '”':
		return '"'
	case '\u200c', '\u200d': // they join letters
		return r
	}
	switch {
	case unicode.IsSpace(r) || unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
		return blank
	case !unicode.IsGraphic(r):
		return nothing
	}
	return r
}

// level is leveled of an ASCII character in small, with 1 for one that is blank,
// and for one that goes.
type level struct {
	form        byte
	blank, gone int
}

var levels = func() (t [utf8.RuneSelf]level) {
	for b := range t {
		t[b].form = byte(leveled(unicode.ToLower(rune(b))))
		switch t[b].form {
		case blank:
			t[b].blank = 1
		case nothing:
			t[b].gone = 1
		}
	}
	return t
}()

// letter is what is known of one character.
type letter struct {
	// form is what it becomes where it stands alone.
	form string
	// begins says that it joins nothing that comes before it.
	begins bool
}

// letters remembers what characters become.
type letters struct {
	pages [0x110]*[256]letter // of the first planes
	fold  cases.Caser
}

func newLetters() *letters { return &letters{fold: cases.Fold()} }

// of gives what is known of r; the result is good until the next call.
func (l *letters) of(r rune) letter {
	page := int(r >> 8)
	if page >= len(l.pages) {
		return l.look(r)
	}
	p := l.pages[page]
	if p == nil {
		p = new([256]letter)
		for i := range p {
			p[i] = l.look(rune(page<<8 | i))
		}
		l.pages[page] = p
	}
	return p[r&0xff]
}

func (l *letters) look(r rune) letter {
	s := string(r)
	return letter{form: l.formOf(s), begins: norm.NFKC.PropertiesString(s).BoundaryBefore()}
}

// formOf is the form of one letter with all its accents; white space is not yet
// squeezed.
func (l *letters) formOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r = leveled(r); r == nothing {
			return -1
		}
		return r
	}, l.fold.String(norm.NFKC.String(s)))
}

// reading turns bytes into the form of searching, piece by piece.
type reading struct {
	letters *letters
	// in are bytes behind which more has to be seen, out is the form of those before.
	in, out []byte
	// blank says that out ends in one, or that nothing is there yet.
	blank bool
	// least is how many bytes of text a phrase takes, or fewer than it does.
	least int
}

// add reads on. With last there is nothing behind p.
func (r *reading) add(p []byte, last bool) {
	r.in = append(r.in, p...)
	used := r.take(r.in, last)
	r.in = r.in[:copy(r.in, r.in[used:])]
}

// take reads src as far as what follows does not matter, and says how far.
func (r *reading) take(src []byte, last bool) int {
	i, from := 0, 0                  // from is where the last letter began
	mark, was := len(r.out), r.blank // and what there was before it
	for i < len(src) {
		if n := asciiRun(src[i:]); n > 0 {
			from = i + n - 1 // which an accent may follow
			r.ascii(src[i:from])
			mark, was = len(r.out), r.blank
			r.ascii(src[from : i+n])
			i += n
			continue
		}
		c, n := decode(src[i:])
		if n == 0 { // no text, or cut off
			if !last && !utf8.FullRune(src[i:]) {
				break
			}
			r.foreign()
			i++
			i += noText(src[i:], r.least)
			from, mark, was = i, len(r.out), r.blank
			continue
		}
		l := r.letters.of(c)
		if !l.begins && from < i {
			// It belongs to the letter before, which is made anew.
			end, whole := r.clusterEnd(src, from, i+n, last)
			if !whole {
				break
			}
			r.out, r.blank = r.out[:mark], was
			r.emit(r.letters.formOf(string(src[from:end])))
			i = end
			from, mark, was = i, len(r.out), r.blank
			continue
		}
		from, mark, was = i, len(r.out), r.blank
		r.emit(l.form)
		i += n
	}
	if last {
		return i
	}
	r.out, r.blank = r.out[:mark], was
	return from
}

// clusterEnd is where the letter that begins at from ends, with all that joins it
// behind end. It is not whole where src must be longer to tell.
func (r *reading) clusterEnd(src []byte, from, end int, last bool) (int, bool) {
	for end-from < longestCluster {
		if end == len(src) || !last && !utf8.FullRune(src[end:]) {
			return end, last
		}
		c, n := decode(src[end:])
		if src[end] < utf8.RuneSelf || n == 0 || r.letters.of(c).begins {
			return end, true
		}
		end += n
	}
	return end, true
}

// decode is the first character that is not ASCII; n is 0 where there is none.
func decode(p []byte) (c rune, n int) {
	b := p[0]
	switch {
	case b < 0xc2 || b > 0xf4:
		return 0, 0
	case b < 0xe0:
		if len(p) > 1 && p[1]&0xc0 == 0x80 {
			return rune(b&0x1f)<<6 | rune(p[1]&0x3f), 2
		}
		return 0, 0
	}
	c, n = utf8.DecodeRune(p)
	if c == utf8.RuneError && n == 1 {
		return 0, 0
	}
	return c, n
}

// ascii takes characters that stand alone. Which of them go is computed without a
// branch: where words end cannot be foretold.
func (r *reading) ascii(src []byte) {
	n := len(r.out)
	r.out = slices.Grow(r.out, len(src))[:n+len(src)]
	to, at := r.out[n:], 0
	was := 0
	if r.blank {
		was = 1
	}
	for _, b := range src {
		l := levels[b&0x7f]
		to[at] = l.form
		at += 1 ^ (l.gone | l.blank&was)
		was = l.blank | l.gone&was
	}
	r.out, r.blank = r.out[:n+at], was == 1
}

// foreign takes a byte that is no text.
func (r *reading) foreign() {
	if k := len(r.out); k == 0 || r.out[k-1] != barrier {
		r.out = append(r.out, barrier)
	}
	r.blank = false
}

func (r *reading) emit(form string) {
	for i := range len(form) {
		if form[i] == blank && r.blank {
			continue
		}
		r.out = append(r.out, form[i])
		r.blank = form[i] == blank
	}
}

// keep lets go of all of the form but its last bytes.
func (r *reading) keep(most int) { r.out = r.out[:copy(r.out, tailOf(r.out, most))] }

// same tells whether two readings go on alike, as far as their last bytes tell.
func (r *reading) same(other *reading, most int) bool {
	return r.blank == other.blank && bytes.Equal(r.in, other.in) && bytes.Equal(tailOf(r.out, most), tailOf(other.out, most))
}

// become makes it go on as another does.
func (r *reading) become(other *reading, most int) {
	r.in, r.out, r.blank = append(r.in[:0], other.in...), append(r.out[:0], tailOf(other.out, most)...), other.blank
}

func tailOf(p []byte, most int) []byte { return p[max(0, len(p)-most):] }

// noText is how much at the beginning of src, which comes after a byte that is no
// text, holds less than so many bytes of text in one piece. It is for vectors and
// other numbers, of which most of a store is.
func noText(src []byte, least int) int {
	const worth = 6 // chance makes shorter pieces of text
	if least < worth {
		return 0
	}
	const high, pairs = 0x8080808080808080, 0x00ffffffffffffff
	begin, at := 0, 0 // of a piece of text, and where its end is looked for
	for ; at+8 <= len(src); at += 7 {
		w := binary.LittleEndian.Uint64(src[at:])
		multi := w & high           // bytes that are not ASCII
		follow := multi &^ (w << 1) // those that go on with a character
		after := follow >> 8        // whether the next one does
		broken := (multi&^follow&^after | after&^multi) & pairs
		for ; broken != 0; broken &= broken - 1 {
			end := at + bits.TrailingZeros64(broken)/8 + 1
			if end-begin >= least {
				return begin
			}
			begin = end
		}
	}
	return begin
}

// asciiRun is the length of the ASCII at the beginning.
func asciiRun(p []byte) int {
	const mask = 0x8080808080808080
	i := 0
	for i+8 <= len(p) {
		high := binary.LittleEndian.Uint64(p[i:]) & mask
		if high != 0 {
			return i + bits.TrailingZeros64(high)/8
		}
		i += 8
	}
	for i < len(p) && p[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// searchForm is the form in which a text is searched.
func (l *letters) searchForm(text string) []byte {
	r := reading{letters: l, blank: true}
	r.add([]byte(text), true)
	return bytes.TrimRight(r.out, " ")
}

// unescape appends what a JSON string in src stands for, as far as what follows
// does not matter, and says how far that is.
func unescape(dst, src []byte, last bool) ([]byte, int) {
	const longest = len(`\ud83d\ude00`)
	i := 0
	for i < len(src) {
		n := bytes.IndexByte(src[i:], '\\')
		if n < 0 {
			return append(dst, src[i:]...), len(src)
		}
		dst = append(dst, src[i:i+n]...)
		i += n
		if !last && len(src)-i < longest {
			return dst, i
		}
		c, size := escaped(src[i:])
		dst = utf8.AppendRune(dst, c)
		i += size
	}
	return dst, i
}

// escaped is the character that an escape at the beginning of p stands for, with
// its length; a backslash where it is none.
func escaped(p []byte) (rune, int) {
	if len(p) < 2 {
		return '\\', 1
	}
	switch p[1] {
	case '"', '\\', '/':
		return rune(p[1]), 2
	case 'b', 'f', 'n', 'r', 't':
		return '\n', 2
	case 'u':
		c, ok := hex4(p[2:])
		if !ok {
			break
		}
		if c < 0xd800 || c > 0xdfff {
			return c, 6
		}
		if low, ok := hex4(bytes.TrimPrefix(p[6:], []byte(`\u`))); ok && c < 0xdc00 && bytes.HasPrefix(p[6:], []byte(`\u`)) && low >= 0xdc00 && low <= 0xdfff {
			return (c-0xd800)<<10 + (low - 0xdc00) + 0x10000, 12
		}
		return unicode.ReplacementChar, 6
	}
	return '\\', 1
}

func hex4(p []byte) (rune, bool) {
	if len(p) < 4 {
		return 0, false
	}
	var c rune
	for _, b := range p[:4] {
		switch {
		case '0' <= b && b <= '9':
			c = c<<4 | rune(b-'0')
		case 'a' <= b|0x20 && b|0x20 <= 'f':
			c = c<<4 | rune(b|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return c, true
}
