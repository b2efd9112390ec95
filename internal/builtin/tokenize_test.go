package builtin

import (
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The tokeniser must cut as the reference does, which looks every substring up in a map. Two cuts
// of one word may be equally probable, "n"+"nn" and "nn"+"n": either is right, as long as it
// spells the word and is as probable as the best one.
func TestTokensEqualReference(t *testing.T) {
	m := newModel(t)
	ref := newReference(m)
	texts := make([]string, len(m.vocab.scores))
	for text, piece := range ref.tok {
		texts[piece.id] = text
	}
	check := func(t interface {
		Helper()
		Fatalf(string, ...any)
	}, text string) {
		t.Helper()
		text = normalize(text)
		var s lattice
		var out tokens
		m.vocab.tokenize(text, &s, &out)
		if text == "" {
			if len(out.ids) != 0 {
				t.Fatalf("empty text gave %v", out.ids)
			}
			return
		}
		want, best := ref.encode(text)
		if slices.EqualFunc(out.ids, want, func(a uint16, b int) bool { return int(a) == b }) {
			return
		}
		got, spelling := float64(unknownScore*(out.runes-out.known)), "(?s)^"
		for _, id := range out.ids {
			if id == unknownPiece { // a run of characters, whose price is in got already
				spelling += ".+"
				continue
			}
			got += float64(m.vocab.scores[id])
			spelling += regexp.QuoteMeta(texts[id])
		}
		spells := regexp.MustCompile(spelling + "$").MatchString(wordMark + strings.ReplaceAll(text, " ", wordMark))
		if !spells || math.Abs(got-best) > 1e-6*float64(len(out.ids))*math.Abs(best) {
			t.Fatalf("%q: ids %v are %s at %v, reference %v at %v", text, out.ids, spelling, got, want, best)
		}
	}
	for _, text := range []string{"the cat sat on the mat", "Toothache.", "naïve café — “quoted” £5…", "今日は坐禅をした。", "x今y日z", "a 今 日 b",
		"<s> </s> extra_token_id_1", "\uFFFD\uFFFD a", "ﬁ ½ ①", "πα∫", strings.Repeat("q", 300), "\u2581\u2581a \u2581", hundredWords, "don't don’t DON'T", "a bnnn"} {
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

// A word is cut the same way wherever it stands, also where two cuts of it are equally probable.
func TestAWordIsCutTheSameEverywhere(t *testing.T) {
	m := newModel(t)
	words := rapid.StringOfN(rapid.RuneFrom([]rune("abneinst.é日\U0001F642")), 1, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		before, word := words.Draw(t, "before"), words.Draw(t, "word")
		alone, after := tokenIDs(m, word), tokenIDs(m, before+" "+word)
		if !slices.Equal(alone, after[len(after)-len(alone):]) {
			t.Fatalf("%q alone %v, after %q %v", word, alone, before, after)
		}
	})
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
