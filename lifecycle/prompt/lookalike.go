package prompt

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folded is a text as it looks: small letters, ASCII where something looks like
// it, nothing that is not seen.
type folded struct {
	text string
	// from gives, for each byte of text and for its end, where what it stands for
	// begins in the original.
	from []int
}

func foldText(text string) folded {
	out := make([]byte, 0, len(text))
	from := make([]int, 0, len(text)+1)
	put := func(r rune, at int) {
		n := len(out)
		out = utf8.AppendRune(out, r)
		for range len(out) - n {
			from = append(from, at)
		}
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		at := i
		i += size
		switch {
		case r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == 0x85 || r == 0x2028 || r == 0x2029:
			put('\n', at)
		case r == '\t':
			put(r, at)
		case r < 0x20 || r == 0x7f || unseen(r):
			continue
		case r < utf8.RuneSelf:
			if 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
			put(r, at)
		case plain(r):
			put(r, at)
		default:
			for _, c := range looks(r) {
				put(c, at)
			}
		}
	}
	return folded{string(out), append(from, len(text))}
}

// unseen tells whether a letter takes no room of its own.
func unseen(r rune) bool {
	if r < 0xa0 {
		return r >= 0x80
	}
	switch r {
	case 0x115f, 0x1160, 0x3164, 0xffa0, 0x2800, 0x034f, 0x17b4, 0x17b5: // fillers
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me, unicode.Variation_Selector)
}

// plain tells of the letters of which there are many and none looks like ASCII.
func plain(r rune) bool {
	return r >= 0x3041 && r <= 0x30ff || r >= 0x4e00 && r <= 0x9fff || r >= 0xac00 && r <= 0xd7a3
}

// looks gives what a letter looks like.
func looks(r rune) []rune {
	if c, ok := lookalikes[r]; ok {
		return []rune{c}
	}
	if unicode.Is(unicode.Zs, r) {
		return []rune{' '}
	}
	var out []rune
	for _, c := range norm.NFKD.String(string(r)) {
		if unseen(c) {
			continue
		}
		if l, ok := lookalikes[c]; ok {
			c = l
		}
		out = append(out, unicode.ToLower(c))
	}
	return out
}

// lookalikes that no normal form knows of.
var lookalikes = lookalikesOf(map[rune]string{
	'<':  "‹〈⟨〈❮❰˂᚜≺⧼",
	'>':  "›〉⟩〉❯❱˃᚛≻⧽",
	'|':  "∣ǀ│┃❘❙❚¦│⏐⎮⎪︱丨ㅣ▏▕",
	'[':  "【〔⟦⦗〖❲⁅",
	']':  "】〕⟧⦘〗❳⁆",
	':':  "∶꞉ː˸։׃܃܄⁚︓᛬",
	'_':  "▁＿ˍ⎽",
	'/':  "∕⁄╱⧸",
	'#':  "♯＃",
	'-':  "–—−‐‑‒―",
	'a':  "аАαΑ",
	'b':  "ВвβΒ",
	'c':  "сСϲ",
	'd':  "ԁ",
	'e':  "еЕεΕ",
	'h':  "һНн",
	'i':  "іІιΙıӏ",
	'j':  "јЈ",
	'k':  "КкκΚ",
	'm':  "МмΜ",
	'n':  "пΝո",
	'o':  "оОοΟօ",
	'p':  "рРρΡ",
	'r':  "г",
	's':  "ѕЅ",
	't':  "ТтτΤ",
	'u':  "υս",
	'v':  "ѵν",
	'x':  "хХχΧ",
	'y':  "уУγΥү",
	'\'': "’‘",
	'"':  "”“„",
})

func lookalikesOf(table map[rune]string) map[rune]rune {
	out := map[rune]rune{}
	for plain, others := range table {
		for _, r := range others {
			out[r] = plain
		}
	}
	return out
}
