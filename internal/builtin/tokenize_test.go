package builtin

import (
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The tokeniser must cut as the reference does, which looks every substring up in a map.
func TestTokensEqualReference(t *testing.T) {
	m := newModel(t)
	ref := newReference(m)
	check := func(t interface {
		Helper()
		Fatalf(string, ...any)
	}, text string) {
		t.Helper()
		text = normalize(text)
		got := tokenIDs(m, text)
		if text == "" {
			if len(got) != 0 {
				t.Fatalf("empty text gave %v", got)
			}
			return
		}
		if want := ref.encode(text); !slices.Equal(got, want) {
			t.Fatalf("%q: ids %v, reference %v", text, got, want)
		}
	}
	for _, text := range []string{"the cat sat on the mat", "Toothache.", "naïve café — “quoted” £5…", "今日は坐禅をした。", "x今y日z", "a 今 日 b",
		"<s> </s> extra_token_id_1", "\uFFFD\uFFFD a", "ﬁ ½ ①", "πα∫", strings.Repeat("q", 300), "\u2581\u2581a \u2581", hundredWords, "don't don’t DON'T"} {
		check(t, text)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, rapid.String().Draw(t, "text")) })
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.StringOfN(rapid.RuneFrom([]rune("abcdeinrst .,'\u2581éß日\U0001F642")), 0, 60, -1).Draw(t, "text"))
	})
	for _, diary := range []string{"dwordsworth_1798_1803", "schnitzler_1897", "tosa_nikki_0935"} {
		data, err := os.ReadFile(shared(t, "data", "diaries", diary+".md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(data[:min(len(data), 40000)]), "\n") {
			check(t, line)
		}
	}
}

func TestSplitCoversAllTokens(t *testing.T) {
	m := newModel(t)
	size := len(m.vocab.scores)
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfN(rapid.Uint16Max(uint16(size-1)), 0, 1000).Draw(t, "ids")
		limit := rapid.IntRange(2, useTokens).Draw(t, "limit")
		at := 0
		for _, p := range m.vocab.split(ids, limit) {
			if p.from != at || p.len() < 1 || p.len() > limit {
				t.Fatalf("span %v after %d with limit %d", p, at, limit)
			}
			at = p.to
		}
		if at != len(ids) {
			t.Fatalf("spans end at %d of %d", at, len(ids))
		}
	})
}

func TestSplitEndsAtSentences(t *testing.T) {
	m := newModel(t)
	var s lattice
	var out tokens
	text := normalize(strings.Repeat("We walked to the weir. ", 60))
	m.vocab.tokenize(text, &s, &out)
	for _, p := range m.vocab.split(out.ids, useTokens) {
		if !m.vocab.stops[out.ids[p.to-1]] {
			t.Errorf("span %v ends inside a sentence", p)
		}
	}
}
