package detail_test

import (
	"slices"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/jivad/jivad/soul/detail"
)

// Of each kind something is found, as it stands or behind the joints of its words, and
// nothing in what rules are made of.
func TestFind(t *testing.T) {
	found := map[detail.Kind]bool{}
	for _, c := range []struct {
		text string
		want detail.Kind
	}{
		{"tool a, argument b: ada@example.com", detail.Email}, {"a: ada (at) example (dot) com", detail.Email}, {"a: ask @ada", detail.Handle},
		{"a: https://x", detail.Link}, {"a: near 48.2082", detail.Coordinates}, {"a: Kärntnerstr. 5", detail.Address}, {"a: улица Ленина", detail.Address},
		{"a: DE89370400440532013000", detail.IBAN}, {"a: +43 664 123", detail.Phone}, {"a: 123456", detail.Number}, {"a: १२३४५६", detail.Number},
		{"a: as_12_rue_de_Rivoli", detail.Address}, {"a: sk_live_aZ8bY7cX6dW5eV4q", detail.Secret},
	} {
		got, ok := detail.Find(c.text)
		if found[got] = true; !ok || got != c.want {
			t.Errorf("%q: %q, not %q", c.text, got, c.want)
		}
	}
	for _, kind := range detail.Kinds() {
		if !found[kind] {
			t.Errorf("no %s is found", kind)
		}
	}
	for _, text := range []string{
		"tool fare_search, argument strategy: indexed", "tool x, argument day: a date written as YYYY-MM-DD", "answers, length: long ones, with details",
		"a: AT61 190", "tool sha256, argument utf_8: base64", "a: 雷雨天",
	} {
		if kind, ok := detail.Find(text); ok {
			t.Errorf("%q: %s", text, kind)
		}
	}
	if slices.Contains(detail.Kinds(), "") {
		t.Error("a kind without a name")
	}
}

// Digits of every script are read.
func TestDigits(t *testing.T) {
	seen := 0
	var all [][2]rune
	for _, r := range unicode.Nd.R16 {
		all = append(all, [2]rune{rune(r.Lo), rune(r.Hi)})
	}
	for _, r := range unicode.Nd.R32 {
		all = append(all, [2]rune{rune(r.Lo), rune(r.Hi)})
	}
	for _, r := range all {
		for from := r[0]; from <= r[1]; from += 10 {
			for i := range 10 {
				c := from + rune(i)
				if norm.NFKC.String(string(c)) != string(c) {
					continue // ASCII by then
				}
				if seen++; detail.Digit(c) != i {
					t.Errorf("%c is %d", c, detail.Digit(c))
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("%d digits", seen)
	}
}

func BenchmarkFind(b *testing.B) {
	for b.Loop() {
		detail.Find("tool fare_search, argument strategy: indexed lookup, with at most five candidates at once")
	}
}
