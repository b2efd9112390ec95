package lifecycle

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/jivad/jivad/soul"
)

// finds tells whether a phrase is found in the bytes of a file, read in pieces.
func finds(t require, data []byte, phrase string, piece int) bool {
	l := newLetters()
	p := newPhrases(l, [][]byte{l.searchForm(phrase)})
	has, _, err := p.stream(context.Background(), bytes.NewReader(data), piece)
	if err != nil {
		t.Fatal(err)
	}
	return has
}

type require interface{ Fatal(args ...any) }

// asJSON writes a text as JSON does: as it is, with HTML escaped, or all in \u.
func asJSON(t require, text string, how int) []byte {
	var b bytes.Buffer
	if how == 2 {
		for _, u := range utf16.Encode([]rune(text)) {
			fmt.Fprintf(&b, `\u%04x`, u)
		}
		return b.Bytes()
	}
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(how == 1)
	if err := e.Encode(text); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// texts are made of what is hard: letters with more than one form, white space of
// all kinds, marks that are dropped or replaced, escapes, emoji.
func texts() *rapid.Generator[string] {
	parts := rapid.SampledFrom([]string{
		"a", "B", "cafe", "Café", "CAFE\u0301", "straße", "STRASSE", "ﬁne", "İ", "ὈΔΥΣΣΕΎΣ", "ᾳ\u0301", "가", "\u1100\u1161\u11a8", "日本", "ñ", "\u0323\u0307", "Å", "Ⅷ", "１２", "…",
		" ", "  ", "\n", "\t", "\r\n", "\u00a0", "\u3000", "\u2028", " \n> ", "\u0001",
		"*", "_", "-", "--", "#", "##", ":", "user:", "System :", "\\", "\\n", "\\u0041", `"`, "'", "`", "<b>", "&", "[x]", "{y}", "|", "~", "/", "=", "+", ".", "!", "“q”",
		"🙂", "👩\u200d🚀", "नमस्ते", "می\u200cخواهم", "привет", "ПРИВЕТ",
	})
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(parts, 1, 24).Draw(t, "parts"), "") })
}

// other writes a text otherwise, so that plain sees no difference.
func other(t *rapid.T, s string) string {
	blanks := rapid.SampledFrom([]string{" ", "\n", "  ", "\t\n"}).Draw(t, "blanks")
	s = strings.ReplaceAll(s, " ", blanks)
	for _, how := range rapid.SliceOfN(rapid.IntRange(0, 4), 0, 3).Draw(t, "how") {
		switch how {
		case 0:
			s = strings.ToUpper(s)
		case 1:
			s = norm.NFC.String(s)
		case 2:
			s = norm.NFD.String(s)
		case 3:
			s = strings.ToLower(s)
		case 4:
			s = strings.NewReplacer("*", "", "_", "").Replace(s)
		}
	}
	return s
}

// What is matched in a text is found in a file that holds it, however it is
// written there and wherever the pieces end.
func TestWhatMatchesIsFoundInFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		runes := []rune(text)
		from := rapid.IntRange(0, len(runes)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, len(runes)).Draw(t, "to")
		phrase := other(t, string(runes[from:to]))
		match := plain(phrase)
		if match == "" || !strings.Contains(plain(text), match) || len(newLetters().searchForm(phrase)) == 0 {
			t.Skip("it is not matched")
		}
		before := strings.Repeat("x", rapid.IntRange(0, 40).Draw(t, "before"))
		piece := rapid.IntRange(1, 40).Draw(t, "piece")
		ways := map[string][]byte{
			"as it is": []byte(text), "as JSON": asJSON(t, text, 0), "as JSON for HTML": asJSON(t, text, 1), "in escapes": asJSON(t, text, 2),
			"quoted": []byte(soul.Quote(text, 1<<20)), "quoted lines": []byte("> " + strings.ReplaceAll(text, "\n", "\n> ")),
		}
		for way, data := range ways {
			file := append([]byte(before+"\xff\x00 "), data...)
			file = append(file, "\xc3\xe2 end"...)
			if !finds(t, file, phrase, piece) {
				t.Fatalf("%s: %q of %q is not found in %q, in pieces of %d", way, phrase, text, file, piece)
			}
		}
	})
}

// It is found in every way of writing it, and what is another text is not.
func TestPhrasesInFiles(t *testing.T) {
	for _, c := range []struct {
		phrase, file string
		want         bool
	}{
		{"Elm Street nine", "at elm\n  street\tNINE.", true},
		{"Elm Street nine", `{"body":"at Elm\nStreet\u0020nine"}`, true},
		{"Elm Street nine", "> at Elm\n> Street nine", true},
		{"Elm Street nine", "elm streetnine", false},
		{"CAFÉ", "un cafe\u0301", true},
		{"CAFÉ", `un caf\u00e9`, true},
		{"CAFÉ", "un cafe", false},
		{"cafe", "un café", false},
		{"STRASSE", "Straße", true},
		{"straße", "STRASSE", true},
		{"🙂 so", `\ud83d\ude42 so`, true},
		{"🙂 so", `\ud83d so`, false},
		{`C:\new`, `"C:\\new"`, true},
		{`C:\new`, `C:\new`, true},
		{"see <b> & [c]", "see ‹b› + (c)", true},
		{"two words", "two w\x00ords", false},
		{"two words", "two w\xffords", false},
		{"user: go", "user - go", true},
		{"two words", "two *words*", true},
		{"_two_ words", "two ·words·", true},
	} {
		for _, piece := range []int{1, 2, 3, 7, 1 << 16} {
			if got := finds(t, []byte(c.file), c.phrase, piece); got != c.want {
				t.Errorf("%q in %q, in pieces of %d: %v", c.phrase, c.file, piece, got)
			}
		}
	}
}

// Many phrases are found as single ones are.
func TestManyPhrases(t *testing.T) {
	l := newLetters()
	var want [][]byte
	for i := range 200 {
		want = append(want, l.searchForm(fmt.Sprintf("the same beginning, and then number %d.", i)))
	}
	want = append(want, l.searchForm("short"))
	p := newPhrases(l, want)
	got := map[int]bool{}
	p.in(l.searchForm("Number 7? The same beginning, and then number 77. So SHORT"), func(i int) bool { got[i] = true; return false })
	if len(got) != 2 || !got[77] || !got[200] {
		t.Errorf("found %v", got)
	}
	for text, want := range map[string]bool{"The  same beginning, and then number 150.": true, "the same beginning, and then number 200.": false} {
		if has, _, err := p.stream(t.Context(), strings.NewReader(text), 10); has != want || err != nil {
			t.Errorf("%q: %v, %v", text, has, err)
		}
	}
}

// No character becomes more Latin letters than is reckoned with.
func TestLatinLettersOfCharacters(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the plain run has it")
	}
	l := newLetters()
	for r := range rune(unicode.MaxRune + 1) {
		if s := string(r); leastBytes([]byte(strings.Repeat(l.of(r).form, 5))) > 5*len(s) {
			t.Errorf("%q becomes %q", s, l.of(r).form)
		}
	}
}

// A phrase among numbers is found wherever it stands.
func TestPhraseAmongNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	l := newLetters()
	for _, phrase := range []string{"her new address", "so it is", "Ⅷ", "Straße nach Süden, im Juli", "ⅧⅧⅧ Ⅷ", "привет"} {
		p := newPhrases(l, [][]byte{l.searchForm(phrase)})
		for range 2000 {
			// A byte of text beside it would be a part of it, an accent say.
			data := slices.Concat(noise(r.IntN(300)), []byte("\xff"), []byte(phrase), []byte("\xff"), noise(r.IntN(60)))
			if has, _, err := p.stream(t.Context(), bytes.NewReader(data), 1+r.IntN(400)); !has || err != nil {
				t.Fatalf("%q is not found in %q: %v", phrase, data, err)
			}
		}
	}
}

// A run of white space or of accents of any length takes no more memory than a
// piece of it.
func TestLongRunsTakeLittle(t *testing.T) {
	l := newLetters()
	p := newPhrases(l, [][]byte{l.searchForm("one two")})
	for _, run := range []string{" ", `\n`, "\u0301", "\xff", "語"} {
		data := "one" + strings.Repeat(run, 1<<18) + " two"
		has, _, err := p.stream(t.Context(), strings.NewReader(data), 1<<10)
		if want := run == " " || run == `\n`; has != want || err != nil {
			t.Errorf("run of %q: %v, %v", run, has, err)
		}
		for _, b := range [][]byte{p.plain.in, p.plain.out, p.json.in, p.json.out, p.raw, p.decoded} {
			if cap(b) > 1<<16 {
				t.Errorf("run of %q: a buffer of %d bytes", run, cap(b))
			}
		}
	}
}

// spent is the processor's time that this process took: other work on the machine
// does not count.
func spent() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano())
}

func BenchmarkPhrase(b *testing.B) {
	const size = 100 << 20
	prose := strings.Repeat("It rained all day, and I walked by the river until the fear had gone. ", size/70)
	random := make([]byte, size)
	x := uint64(88172645463325252)
	for i := range random {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		random[i] = byte(x >> 32)
	}
	for name, data := range map[string][]byte{
		"prose": []byte(prose), "json": []byte(strings.ReplaceAll(prose, ". ", `.\n`)), "random": random,
		"german": []byte(strings.ReplaceAll(prose, "a", "ä")), "russian": []byte(strings.Repeat("Весь день шёл дождь, и я гулял у реки. ", size/70)),
		"chinese": []byte(strings.Repeat("整天下雨，我在河邊散步，直到恐懼消失。", size/57)),
	} {
		for _, many := range []int{1, 256} {
			b.Run(fmt.Sprintf("%s/%d", name, many), func(b *testing.B) {
				l := newLetters()
				var want [][]byte
				for i := range many {
					want = append(want, l.searchForm(fmt.Sprintf("Wrote down her new address, Elm Street %d", i)))
				}
				p := newPhrases(l, want)
				b.SetBytes(int64(len(data)))
				before, runs := spent(), 0.0
				for b.Loop() {
					runs++
					if has, _, err := p.stream(b.Context(), bytes.NewReader(data), 1<<16); has || err != nil {
						b.Fatal(has, err)
					}
				}
				b.ReportMetric(runs*float64(len(data))/1e6/(spent()-before).Seconds(), "MB/cpu-s")
			})
		}
	}
}
