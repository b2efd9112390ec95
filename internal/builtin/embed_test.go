package builtin

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func newEmbedder(t testing.TB, opts Options) *Embedder {
	t.Helper()
	e, err := NewEmbedder(opts)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func embed(t testing.TB, e *Embedder, text string) []float32 {
	t.Helper()
	v, err := e.Embed(context.Background(), text)
	if err != nil {
		t.Fatalf("%.40q: %v", text, err)
	}
	return v
}

// checkUnit fails unless v is finite and of length 1.
func checkUnit(t testing.TB, what string, v []float32) {
	t.Helper()
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if len(v) != Dim || !(math.Abs(math.Sqrt(sum)-1) < 1e-5) { // NaN fails the comparison
		t.Errorf("%s: %d values of length %v, want %d of length 1", what, len(v), math.Sqrt(sum), Dim)
	}
}

func TestAnyTextGivesAUnitVector(t *testing.T) {
	e := newEmbedder(t, Options{MaxPieces: 3})
	for name, text := range map[string]string{
		"one word":          "Toothache.",
		"one letter":        "a",
		"a full stop":       ".",
		"dashes":            "-- --",
		"a long letter":     strings.Repeat("q", 1<<20),
		"long words":        strings.Repeat("Donaudampfschifffahrt", 4000),
		"emoji":             "🙂",
		"joined emoji":      "👩‍👩‍👧‍👦🏳️‍🌈",
		"not UTF-8":         "\xff\xfe\x80abc\xc0",
		"only bad bytes":    "\xff\xff",
		"lone marks":        "\u0301\u0308",
		"replacement":       "\uFFFD",
		"control symbols":   "<s> </s> extra_token_id_1",
		"word mark":         "\u2581\u2581 \u2581",
		"NUL inside":        "a\x00b",
		"private use":       "\uE000\uF8FF",
		"not a character":   "\uFFFE\U0010FFFF",
		"Japanese":          "九月十一日　晴、滞在。",
		"Sanskrit":          "पश्यैतां पाण्डुपुत्राणामाचार्य महतीं चमूम्।",
		"Arabic":            "ذهبت اليوم إلى السوق",
		"Thai":              "วันนี้ฝนตกทั้งวัน",
		"mixed":             "Sat zazen 坐禅 in der Früh, c'était calme 🙂",
		"many combining":    "a" + strings.Repeat("\u0301", 5000),
		"expands in NFKC":   strings.Repeat("\uFDFA", 500),
		"line separators":   "a\u2028b\u2029c\r\nd",
		"control then word": "\x1b[31mred\x1b[0m",
	} {
		p, err := e.Parts(context.Background(), text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkUnit(t, name, embed(t, e, text))
		checkUnit(t, name+", n-gram half", p.Gram)
		if p.USE != nil {
			checkUnit(t, name+", encoder half", p.USE)
		}
		if !(p.Known >= 0 && p.Known <= 1 && p.Fit >= 0 && p.Fit <= 1 && p.Share >= 0 && p.Share <= englishShare) {
			t.Errorf("%s: known %v, fit %v, share %v", name, p.Known, p.Fit, p.Share)
		}
		if (p.USE == nil) != (p.Share == 0) {
			t.Errorf("%s: share %v, encoder half has %d values", name, p.Share, len(p.USE))
		}
	}
}

func TestBlankTextIsRefused(t *testing.T) {
	e := newEmbedder(t, Options{})
	for _, text := range []string{"", " ", "\n\t\r", "\u3000\u00a0", "\u200b\ufeff", "\x00\x01", "\u00ad"} {
		if v, err := e.Embed(context.Background(), text); v != nil || !errors.Is(err, ErrNothingToEmbed) {
			t.Errorf("%q gave %d values and error %v, want ErrNothingToEmbed", text, len(v), err)
		}
	}
	if _, err := NewEmbedder(Options{MaxPieces: -1}); err == nil {
		t.Error("a negative MaxPieces was accepted")
	}
}

// countdown is a context that is cancelled once Err has been asked a number of times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestCancelBetweenPieces(t *testing.T) {
	e := newEmbedder(t, Options{})
	text := strings.Repeat("We walked to the weir. ", 60) // four pieces
	for left := range 4 {
		v, err := e.Embed(&countdown{context.Background(), left}, text)
		if v != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after %d pieces: %d values, error %v, want context.Canceled", left, len(v), err)
		}
	}
}

func TestSameTextSameBits(t *testing.T) {
	e := newEmbedder(t, Options{})
	texts := []string{"a", "It rained all day and we stayed in.", hundredWords, "今日は坐禅をした。", "Heute war ich müde und blieb zu Hause."}
	want := make([][]float32, len(texts))
	for i, text := range texts {
		want[i] = embed(t, e, text)
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for round := range 6 {
				i := (worker + round) % len(texts)
				if got, err := e.Embed(context.Background(), texts[i]); err != nil || !slices.Equal(got, want[i]) {
					t.Errorf("text %d gave other bits beside other work (error %v)", i, err)
				}
			}
		})
	}
	wg.Wait()
}

// Spelling that differs only in encoding or white space is the same text.
func TestNormalisedTextsAreEqual(t *testing.T) {
	e := newEmbedder(t, Options{})
	for _, pair := range [][2]string{
		{"café", "cafe\u0301"}, {"ﬁne", "fine"}, {"a  b\n\nc ", "a b c"}, {"１２３", "123"},
		{"\ufeffMonday", "Monday"}, {"ﾃｽﾄ", "テスト"}, {"soft\u00adhyphen", "softhyphen"}, {"I don’t", "I don't"},
	} {
		if !slices.Equal(embed(t, e, pair[0]), embed(t, e, pair[1])) {
			t.Errorf("%q and %q have different vectors", pair[0], pair[1])
		}
	}
}

func TestMeaningIsNearer(t *testing.T) {
	e := newEmbedder(t, Options{})
	for _, c := range []struct{ text, near, far string }{
		{"The cat sat on the mat.", "A kitten was sitting on the rug.", "Stock markets fell sharply today."},
		{"I feel sad and lonely tonight.", "Gloomy evening, missing my friends.", "The pump needs a new valve."},
		{"Toothache.", "My tooth hurts badly.", "We sailed at noon with a fair wind."},
		{"Früh aufgestanden, Spaziergang im Wald.", "Spaziergang durch den Wald, dann früh zu Bett.", "Abends im Theater mit Richard."},
		{"九月十一日　晴、滞在。午前中行乞。", "九月十二日　晴、滞在。午後行乞。", "峠を越えて海へ出た。"},
	} {
		v := embed(t, e, c.text)
		if near, far := cosine(v, embed(t, e, c.near)), cosine(v, embed(t, e, c.far)); !(near > far+0.1) {
			t.Errorf("%q: %.3f to %q, %.3f to %q", c.text, near, c.near, far, c.far)
		}
	}
}

func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, limit := rapid.IntRange(0, 300).Draw(t, "spans"), rapid.IntRange(1, 64).Draw(t, "limit")
		spans := make([]span, n)
		for i := range spans {
			spans[i] = span{i, i + 1}
		}
		kept := spread(spans, limit)
		if len(kept) != min(n, limit) {
			t.Fatalf("kept %d of %d with limit %d", len(kept), n, limit)
		}
		for i := 1; i < len(kept); i++ {
			if kept[i].from <= kept[i-1].from {
				t.Fatalf("span %d does not follow span %d", i, i-1)
			}
		}
		if n > 0 && kept[0] != spans[0] || limit > 1 && n > 0 && kept[len(kept)-1] != spans[n-1] {
			t.Fatal("the first or the last span is missing")
		}
	})
}

func FuzzEmbed(f *testing.F) {
	for _, text := range []string{"", "Toothache.", "\xff\x00", "今日は", "a\u0301\u0301", "👩‍👩‍👧", "\u2581<s>", "ᄀᄁᄂ각"} {
		f.Add(text)
	}
	e := newEmbedder(f, Options{MaxPieces: 2})
	f.Fuzz(func(t *testing.T, text string) {
		v, err := e.Embed(context.Background(), text)
		if err != nil {
			if !errors.Is(err, ErrNothingToEmbed) {
				t.Fatal(err)
			}
			return
		}
		checkUnit(t, "vector", v)
	})
}
