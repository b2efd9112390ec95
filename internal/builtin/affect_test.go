package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/lifecycle"
)

// sharedDiary reads a diary of the shared test data, or skips.
func sharedDiary(t testing.TB, name string) []string {
	t.Helper()
	shared := os.Getenv("JIVAD_SHARED")
	if shared == "" {
		dir, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for dir != filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
				break
			}
			dir = filepath.Dir(dir)
		}
		shared = filepath.Join(dir, "..", "shared")
	}
	raw, err := os.ReadFile(filepath.Join(shared, "data", "diaries", name+".jsonl"))
	if err != nil {
		t.Skipf("the shared diaries are not here (set JIVAD_SHARED): %v", err)
	}
	var texts []string
	for line := range strings.SplitSeq(strings.TrimSpace(string(raw)), "\n") {
		var entry struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, entry.Text)
	}
	return texts
}

func TestHeadsFile(t *testing.T) {
	h, err := ParseHeads(headsBlob)
	if err != nil {
		t.Fatal(err)
	}
	if string(h.Pack()) != headsBlob {
		t.Error("packing what was read gives other bytes")
	}
	for _, n := range []int{0, 3, 4, 100, len(headsBlob) - 1} {
		if _, err := ParseHeads(headsBlob[:n]); !errors.Is(err, errHeads) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	if _, err := ParseHeads("XXXX" + headsBlob[4:]); !errors.Is(err, errHeads) {
		t.Error("another beginning is accepted")
	}
	nan := []byte(headsBlob)
	copy(nan[len(nan)-4:], "\xff\xff\xff\xff")
	if _, err := ParseHeads(string(nan)); !errors.Is(err, errHeads) {
		t.Error("a value that is not finite is accepted")
	}
	if len(h.Mapping.values()) != mappingValues {
		t.Errorf("mapping has %d values, the file %d", len(h.Mapping.values()), mappingValues)
	}
}

// TestHalvesApart: the two halves of a stored vector are told apart.
func TestHalvesApart(t *testing.T) {
	e, _ := assessTools()
	r := NewInputReader()
	for text, least := range map[string]float64{
		"A quiet, clear morning at the lake, and I was content.":    0.9,
		"Ein ruhiger, klarer Morgen am See, und ich war zufrieden.": 0.3,
		"静かな朝、心は澄んで、ありがたい。":                                         0,
	} {
		p, err := e.Parts(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		v := p.Vector()
		if again := e.Rejoin(text, p.USE); !slices.Equal(v, again) {
			t.Errorf("%q: joined again the vector differs", text)
		}
		var in [Inputs]float64
		trust := r.Read(text, v, in[:])
		if trust < least || trust > least+0.3 {
			t.Errorf("%q: trust %.2f", text, trust)
		}
		if p.USE == nil {
			continue
		}
		var cosine, length float64
		for i, x := range in[:Dim] {
			cosine += x * float64(p.USE[i])
			length += x * x
		}
		if cosine /= math.Sqrt(length); cosine < 0.97 {
			t.Errorf("%q: the encoder's half is found with a cosine of %.3f", text, cosine)
		}
	}
}

func TestLexicon(t *testing.T) {
	l := newLexicon()
	up, down := l.read("A good and happy day."), l.read("A bad and miserable day.")
	if up.compound <= 0.3 || down.compound >= -0.3 || up.positive <= down.positive {
		t.Errorf("up %+v, down %+v", up, down)
	}
	if s := l.read(normalize("not\ngood")); s.compound >= 0 {
		t.Errorf("a line break hides the negation: %+v", s)
	}
	if a, b := l.read(normalize("I don’t like it")), l.read("I don't like it"); a != b {
		t.Errorf("the typographic apostrophe changes the reading: %+v, %+v", a, b)
	}
	if s := l.read("Der Morgen"); s != (signals{}) {
		t.Errorf("German has English signals: %+v", s)
	}
	if s := l.read("Ach! Nein? 静か。だめ！"); s.shouts != 0.5 || s.asks != 0.25 {
		t.Errorf("marks per sentence: %+v", s)
	}
	mixed := l.read(strings.Repeat("A wonderful happy joyful triumph. ", 8) + strings.Repeat("A horrible miserable hateful crime. ", 8))
	if math.Abs(mixed.compound) > 0.4 || mixed.swing < 0.7 {
		t.Errorf("pieces that contradict each other: %+v", mixed)
	}
}

func TestLexiconSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.StringMatching(`[a-zé’!.]{0,70}`), 0, 400).Draw(t, "words"), rapid.SampledFrom([]string{" ", "\n\n", "\u2003"}).Draw(t, "between"))
		pieces := lexiconSplit(text)
		if len(pieces) > lexiconPieces {
			t.Fatalf("%d pieces", len(pieces))
		}
		words := 0
		for _, p := range pieces {
			n := len(strings.Fields(p))
			if n == 0 || n > lexiconWords {
				t.Fatalf("a piece of %d words", n)
			}
			words += n
		}
		if all := len(strings.Fields(text)); words != all {
			t.Fatalf("%d of %d words", words, all)
		}
	})
}

func TestRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-10, 10).Draw(t, "low")
		r := Range{low, low + rapid.Float64Range(0.01, 5).Draw(t, "mid"), 0}
		r.High = r.Middle + rapid.Float64Range(0.01, 5).Draw(t, "high")
		for v, want := range map[float64]float64{r.Low: 0.1, r.Middle: 0.5, r.High: 0.9} {
			if got := r.Place(v); math.Abs(got-want) > 1e-9 {
				t.Errorf("%v at %v is placed at %v, want %v", r, v, got, want)
			}
		}
		a, b := rapid.Float64Range(-50, 50).Draw(t, "a"), rapid.Float64Range(-50, 50).Draw(t, "b")
		if pa, pb := r.Place(min(a, b)), r.Place(max(a, b)); pa > pb || pa < 0 || pb > 1 {
			t.Errorf("%v: %v and %v placed at %v and %v", r, min(a, b), max(a, b), pa, pb)
		}
	})
	if got := (Range{1, 1, 1}).Place(7); got != 0.5 {
		t.Errorf("a range without width places at %v", got)
	}
}

func TestShares(t *testing.T) {
	h, err := ParseHeads(headsBlob)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		var raw [Readings]float64
		for k := range raw {
			raw[k] = rapid.Float64Range(-1e6, 1e6).Draw(t, "raw")
		}
		z := h.Mapping.Standardise(raw, rapid.Float64Range(0, 1).Draw(t, "trust"))
		s := h.Mapping.Shares(z)
		if sum := s[0] + s[1] + s[2]; math.Abs(sum-1) > 1e-12 || !(min(s[0], s[1], s[2]) >= 0) {
			t.Errorf("shares %v", s)
		}
	})
}

const assessed = hundredWords

func BenchmarkAssess(b *testing.B) {
	e, a := assessTools()
	for name, text := range map[string]string{"100words": assessed, "1word": "Toothache.", "8000words": strings.Repeat(assessed+" ", 80)} {
		v, err := e.Embed(context.Background(), text)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.Assess(context.Background(), lifecycle.Experience{Text: text, Embedding: v}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLexiconLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		newLexicon()
	}
}

func BenchmarkNewAssessor(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewAssessor(); err != nil {
			b.Fatal(err)
		}
	}
}
