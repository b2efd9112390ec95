package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/lifecycle"
)

func TestMask(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Nothing to see.", "Nothing to see."},
		{"", ""},
		// e-mail
		{"Write to ada.lovelace+x@example.co.uk, please.", "Write to [e-mail], please."},
		{"jürgen@müller.example", "[e-mail]"},
		{"почта иван@пример.рф сегодня", "почта [e-mail] сегодня"},
		{"我的邮箱是 wang@example.com。明天见", "我的邮箱是 [e-mail]。明天见"},
		{"ａｄａ＠ｅｘａｍｐｌｅ．ｃｏｍ", "[e-mail]"},
		{"ada@example。com は", "[e-mail] は"},
		{"ada (at) example (dot) com", "[e-mail]"},
		{"ada[at]example.com", "[e-mail]"},
		{"ada @ example.com", "[e-mail]"},
		{"root@localhost", "[e-mail]"},
		{"a\u00adda@exam\u200bple.com", "[e-mail]"},
		{"Meet @ noon, 5 @ 3 euros", "Meet @ noon, 5 @ 3 euros"},
		// links
		{"See https://example.com/a?b=c#d.", "See [link]."},
		{"(https://example.com/x)", "([link])"},
		{"HTTP://EXAMPLE.COM and www.example.org!", "[link] and [link]!"},
		{"example.com/diary/1911 and heise.de, too", "[link] and [link], too"},
		{"見てhttps://example.jp/日記、ね", "見て[link]、ね"},
		{"tel:+436641234567 mailto:ada@example.com", "[link] [link]"},
		{"It was late.The rain, e.g. or i.e. or z.B. and/or", "It was late.The rain, e.g. or i.e. or z.B. and/or"},
		// accounts and cards
		{"AT61 1904 3002 3457 3201 paid for it", "[account] paid for it"},
		{"iban DE89370400440532013000.", "iban [account]."},
		{"gb29nwbk60161331926819", "[account]"},
		{"GB29 NWBK 6016 1331 9268 19", "[account]"},
		{"MT84 MALT 0110 0001 2345 MTLC AST0 01S", "[account]"},
		{"Card 4111 1111 1111 1111, or 4111-1111-1111-1111", "Card [account], or [account]"},
		{"4111111111111111", "[account]"},
		{"In 12 weeks I will have seen them all again", "In 12 weeks I will have seen them all again"},
		// telephones
		{"Call +43 664 123 45 67 tonight", "Call [phone] tonight"},
		{"Tel. 01/234 56 78-90", "Tel. [phone]"},
		{"(0664) 1234567", "[phone]"},
		{"0043 1 2345678", "[phone]"},
		{"06641234567", "[phone]"},
		{"電話は０３－１２３４－５６７８です", "電話は[phone]です"},
		{"رقمي ٠١٢٣ ٤٥٦ ٧٨٩٠", "رقمي [phone]"},
		{"मेरा नंबर ९८७६५ ४३२१०", "मेरा नंबर [phone]"},
		{"call 555‑0123‑99", "call [phone]"},
		// long numbers
		{"Passport P1234567, booking 482913", "Passport [number], booking [number]"},
		{"电话13800138000打给我", "电话[number]打给我"},
		{"1 234 567 stars", "[number] stars"},
		{"48.2081743", "[number]"},
		// handles
		{"Wrote to @ada_l and @Ådne.", "Wrote to [handle] and [handle]."},
		{"@ada@example.social", "[handle]"},
		{"＠太郎 さん", "[handle] さん"},
		// what is none of these
		{"2024-05-01, 1.5.2024, 01/05/24, 2024/5/1", "2024-05-01, 1.5.2024, 01/05/24, 2024/5/1"},
		{"On 2024-05-01 10:30 and 10:30 2024-05-01", "On 2024-05-01 10:30 and 10:30 2024-05-01"},
		{"1939-1945 and 1914–1918", "1939-1945 and 1914–1918"},
		{"10 000 steps in 95 minutes, 3.14, 12,500.50, 99.9 %", "10 000 steps in 95 minutes, 3.14, 12,500.50, 99.9 %"},
		{"Zip 10115, flat 12/3, 1911", "Zip 10115, flat 12/3, 1911"},
		{"12\n34\n56\n78", "12\n34\n56\n78"},
		{"一九一一年五月二日", "一九一一年五月二日"},
	} {
		if got := lifecycle.Mask(c.text); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
}

func TestGist(t *testing.T) {
	long := strings.Repeat("The rain went on. ", 30)
	for _, c := range []struct{ name, text, want string }{
		{"short", "Rain.\n\nSat  by the window. ", "Rain. Sat by the window."},
		{"as many sentences as fit", long, strings.TrimSpace(strings.Repeat("The rain went on. ", 11))},
		{"a sentence too long", strings.Repeat("rain and ", 60), strings.TrimSpace(strings.Repeat("rain and ", 22)) + "…"},
		{"no spaces", strings.Repeat("雨", 300), strings.Repeat("雨", 199) + "…"},
		{"one endless word", strings.Repeat("a", 300), strings.Repeat("a", 199) + "…"},
		{"details", "Ada rang from 0664 1234567. Her new address is ada@example.com.", "Ada rang from [phone]. Her new address is [e-mail]."},
		{"details on two lines", "My number is 0664\n1234567.", "My number is [phone]."},
		{"sentences of another script", strings.Repeat("雨が降る。", 50), strings.Repeat("雨が降る。", 40)},
		{"empty", " \n ", ""},
		{"only a detail", "https://example.com/" + strings.Repeat("x", 70<<10), "[link]"},
	} {
		if got := lifecycle.Gist(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	cut := lifecycle.Gist(strings.Repeat("x ", 96) + "ada@example.com and so on and on")
	if strings.Contains(cut, "[") {
		t.Errorf("half of what stands for a detail is left: %q", cut)
	}
}

// secrets draws a detail, with what of it must not be left.
func secrets() *rapid.Generator[[2]string] {
	return rapid.Custom(func(t *rapid.T) [2]string {
		digits := func(low, high int) string {
			return rapid.StringMatching(fmt.Sprintf(`[1-9][0-9]{%d,%d}`, low-1, high-1)).Draw(t, "digits")
		}
		name := rapid.StringMatching(`[a-zäßéжλ]{3,12}`).Draw(t, "name")
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			return [2]string{name + "q@" + name + ".example", name + "q@"}
		case 1:
			d := digits(9, 12)
			return [2]string{"+" + d[:2] + " " + d[2:5] + " " + d[5:], d[5:]}
		case 2:
			d := digits(6, 30)
			return [2]string{d, d}
		case 3:
			return [2]string{"https://" + name + ".example/" + name + "zz", name + "zz"}
		case 4:
			return [2]string{"@" + name + "qq", name + "qq"}
		default:
			d := digits(18, 18)
			return [2]string{"AT" + d[:2] + " " + d[2:6] + " " + d[6:10] + " " + d[10:14] + " " + d[14:], d[10:14] + " " + d[14:]}
		}
	})
}

// Whatever a text holds, its gist is short, has no detail in it, and is the same
// every time; and the words round the details are left by Mask.
func TestGistHoldsNoDetail(t *testing.T) {
	words := rapid.OneOf(
		rapid.StringMatching(`[A-Za-zÄöüß]{1,9}[.,;!?]?`), rapid.SampledFrom([]string{"雨が降った。", "今日は", "नमस्ते", "مرحبا", "слово.", "👩‍🔬", "1911", "\n", "[", "]", "@", "…", "12", "\u200b"}),
		rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		var left []string
		for range rapid.IntRange(0, 40).Draw(t, "words") {
			if rapid.IntRange(0, 5).Draw(t, "secret") == 0 {
				s := secrets().Draw(t, "detail")
				text.WriteString(s[0] + " ")
				left = append(left, s[1])
				continue
			}
			text.WriteString(words.Draw(t, "word") + rapid.SampledFrom([]string{" ", " ", "", "\n"}).Draw(t, "space"))
		}
		gist := lifecycle.Gist(text.String())
		if n := utf8.RuneCountInString(gist); n > lifecycle.GistLength {
			t.Fatalf("%d letters: %q", n, gist)
		}
		if found := lifecycle.Details(gist); len(found) > 0 {
			t.Fatalf("%q has %+v", gist, found)
		}
		for _, s := range left {
			if strings.Contains(gist, s) {
				t.Fatalf("%q is in %q", s, gist)
			}
		}
		if again := lifecycle.Gist(text.String()); again != gist {
			t.Fatalf("%q, then %q", gist, again)
		}
		if again := lifecycle.Gist(gist); again != gist && !strings.HasSuffix(gist, "…") {
			t.Fatalf("the gist of %q is %q", gist, again)
		}
	})
}

func FuzzDetails(f *testing.F) {
	f.Add("ada@example.com +43 664 1234567 https://x.example/y @ada AT611904300234573201 2024-05-01")
	f.Add("\xff\xfe@\xff.com 1\u200b2\u200b3\u200b4\u200b5\u200b6\u200b7")
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, d := range lifecycle.Details(text) {
			if d.Start < at || d.End <= d.Start || d.End > len(text) {
				t.Fatalf("%+v in %d bytes, after %d", d, len(text), at)
			}
			at = d.End
		}
		if g := lifecycle.Gist(text); utf8.RuneCountInString(g) > lifecycle.GistLength || len(lifecycle.Details(g)) > 0 {
			t.Fatalf("%q", g)
		}
	})
}

func BenchmarkGist(b *testing.B) {
	text := strings.Repeat("Ada rang from 0664 1234567 about the rain, the river and the long way home. ", 500)
	for b.Loop() {
		lifecycle.Gist(text)
	}
}
