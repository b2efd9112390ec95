package distil_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/soul/lineage"
)

func TestWords(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // tokens between spaces
	}{
		{"The quick, brown fox.", "the quick brown fox"},
		{"fare_search({'strategy': 'eco-fast'})", "fare_search strategy eco fast"},
		{"ＦＡＲＥ ﬁnd Straße ΣΊΣΥΦΟΣ", "fare find strasse σίσυφοσ"},
		{"a\u00adn\u200bn\u2060a", "anna"},
		{"Жили-были дед и баба", "жили были дед и баба"},
		{"كـــتاب جديد", "كتاب جديد"},
		{"आज मौसम अच्छा है", "आज मौसम अच्छा है"},
		{"今天天气", "今 天 天 气"},
		{"ラーメンを3杯", "ラ ー メ ン を 3 杯"},
		{"ﾗｰﾒﾝ", "ラ ー メ ン"},
		{"ไปเที่ยว", "ไ ป เ ท ี ่ ย ว"},
		{"서울에서 만나자", "서울에서 만나자"},
		{"… — !", ""},
		{"3.14 a.b", "3.14 a.b"},
	} {
		if got := strings.Join(distil.Words(c.text), " "); got != c.want {
			t.Errorf("%q is %q, not %q", c.text, got, c.want)
		}
	}
	if got := strings.Join(distil.Parts("don't fare_search 3.14 _x_ a.b"), " "); got != "don t fare search 3 14 x a b" {
		t.Errorf("the parts are %q", got)
	}
}

func TestLeaks(t *testing.T) {
	for _, c := range []struct {
		trace, guidance string
		want            bool
	}{
		{"The quick brown fox jumps.", "tool a, argument b: quick brown fox", false},
		{"The quick brown fox jumps.", "tool a, argument b: quick brown fox jumps", true},
		{"The quick brown fox jumps.", "tool a, argument b: QUICK; Brown (fox) — jumps!", true},
		{"The quick brown fox jumps.", "tool a, argument b: fox brown quick the", false},
		{"The quick brown fox jumps.", "tool a, argument b: quick_brown_fox_jumps", true},
		{"The quick brown fox jumps.", "tool a, argument b: the quick_brown.fox", true},
		{"The quick_brown_fox_jumps now.", "tool a, argument b: quick_brown_fox_jumps", false}, // one word there too
		{"The quick_brown_fox_jumps now.", "tool a, argument b: quick brown fox jumps", true},
		{"the quick brown", "fox jumps: the quick brown", false},
		{"ﬁnd the Straße ＮＯＷ", "a b: find the strasse now", true},
		{"find the\u200b stra\u00adsse now", "a b: find the straße now", true},
		{"вчера мы были в театре", "a b: мы были в театре", true},
		{"вчера мы были в театре", "a b: мы были там", false},
		{"ذهبنا أمس إلى السوق معا", "a b: ذهبنا أمس إلى السوق", true},
		{"हम कल बाज़ार गए थे", "a b: हम कल बाज़ार गए", true},
		{"我昨天和妈妈去了医院看病", "a b: 妈妈去了医院看病", true},
		{"我昨天和妈妈去了医院看病", "a b: 妈妈去了医院看", false}, // seven
		{"きのう母と病院へ行きました", "a b: 母と病院へ行きま", true},
		{"เมื่อวานไปโรงพยาบาล", "a b: โรงพยาบา", true},
		{"ໄປໂຮງໝໍມື້ວານນີ້", "a b: ໂຮງໝໍມື້", true},
		{"ម្សិលមិញទៅមន្ទីរពេទ្យ", "a b: ម្សិលមិញ", true},
		{"မနေ့က ဆေးရုံသွားတယ်", "a b: ဆေးရုံသွား", true},
		{"Tokyo 東京駅で会う", "a b: tokyo 東京駅で会", false}, // a word and five characters
		{"Tokyo 東京駅で会う", "a b: tokyo 東京駅で会う", true},
		{`{"note": "we met \u0061t noon today"}`, "a b: we met at noon", true},
		{"", "a b: c d e f", false},
	} {
		trace := distil.Trace{Acts: []distil.Act{{Kind: distil.Call, Tool: "x", Outcome: distil.OK, Result: c.trace}}}
		if got := distil.Leaks(c.guidance, distil.NewIndex(trace), nil); len(got) > 0 != c.want {
			t.Errorf("%q of %q: %v", c.guidance, c.trace, got)
		}
	}
	// Arguments one behind the other are one text, different acts are not.
	trace := acts("tell whom=her what=all~of~it ok", "seen one two", "seen three four")
	for guidance, want := range map[string]bool{"a b: whom her what all": true, "a b: one two three four": false} {
		if got := distil.Leaks(guidance, distil.NewIndex(trace), nil); len(got) > 0 != want {
			t.Errorf("%q: %v", guidance, got)
		}
	}
	got := distil.Leaks("a b: the quick brown fox x one two three four", distil.NewIndex(acts("seen the quick brown fox", "seen one two three four five")), nil)
	want := []distil.Finding{{Kind: distil.KindRun, From: 2, To: 6}, {Kind: distil.KindRun, From: 7, To: 11}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// reference is the same by comparing every run with every run: whether there is any, of
// whatever length, and the words of the shortest ones.
func reference(guidance string, trace distil.Trace) (in []bool, leaks bool) {
	var texts [][]string
	known := map[string]bool{}
	for _, a := range trace.Acts {
		for _, text := range distil.Texts(a) {
			texts = append(texts, distil.Words(text), distil.Parts(text))
		}
	}
	for _, text := range texts {
		for _, w := range text {
			known[w] = true
		}
	}
	in = make([]bool, len(distil.Words(guidance)))
	for _, whole := range []func(string) bool{func(string) bool { return true }, func(w string) bool { return known[w] }} {
		reading, at := distil.PartsOf(guidance, whole)
		for i := range reading {
			shortest := true
			for j := i + 1; j <= len(reading); j++ {
				weight := 0
				for _, w := range reading[i:j] {
					weight += distil.Weigh(w)
				}
				if weight < 8 {
					continue
				}
				if slices.ContainsFunc(texts, func(text []string) bool { return runIn(text, reading[i:j]) }) {
					leaks = true
					for _, word := range at[i:j] {
						in[word] = in[word] || shortest
					}
				}
				shortest = false
			}
		}
	}
	return in, leaks
}

func runIn(text, run []string) bool {
	for i := 0; i+len(run) <= len(text); i++ {
		if slices.Equal(text[i:i+len(run)], run) {
			return true
		}
	}
	return false
}

// lexicon has few words, so that runs are met; of several scripts, joined and apart.
var lexicon = []string{
	"a", "b", "C", "d_e", "e", "d", "f.g", "ﬁ", "дом", "Мир", "كتاب", "घर", "今", "天", "去", "今天", "か", "き", "ー", "ไ", "ป", "ກ", "ខ", "မ", "서울",
	"1", "2.5", "x'y", "_a_", "\u200b", ",", ". ", "\n", "a_b_C_d",
}

func randomText(rng *rand.Rand, n, variety int) string {
	var b strings.Builder
	for range n {
		b.WriteString(lexicon[(rng.IntN(variety)*7)%len(lexicon)])
		if rng.IntN(3) > 0 {
			b.WriteString([]string{" ", " ", "_", ", ", "-", ""}[rng.IntN(6)])
		}
	}
	return b.String()
}

// The check finds in any sentence what comparing every run with every run finds.
func TestLeaksAgainstAReference(t *testing.T) {
	n := 10_000
	if testing.Short() {
		n /= 20
	}
	seed := rand.Uint64()
	found, clean := 0, 0
	for i := range n {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		variety := 2 + rng.IntN(len(lexicon))
		var trace distil.Trace
		for range 1 + rng.IntN(4) {
			text := randomText(rng, rng.IntN(24), variety)
			switch rng.IntN(3) {
			case 0:
				trace.Add(distil.Act{Kind: distil.Seen, Text: text})
			case 1:
				trace.Add(distil.Act{Kind: distil.Said, Text: text})
			default:
				trace.Add(distil.Act{Kind: distil.Call, Tool: "a", Outcome: distil.OK, Result: text, Arguments: distil.Arguments{distil.Text("b", randomText(rng, 3, variety))}})
			}
		}
		guidance := randomText(rng, rng.IntN(16), variety)
		if rng.IntN(3) > 0 { // a piece of it
			texts := distil.Texts(trace.Acts[rng.IntN(len(trace.Acts))])
			runes := []rune(texts[rng.IntN(len(texts))])
			from := rng.IntN(len(runes) + 1)
			guidance += " " + string(runes[from:from+rng.IntN(len(runes)-from+1)]) + randomText(rng, 2, variety)
		}
		want, leaks := reference(guidance, trace)
		got := make([]bool, len(want))
		for _, f := range distil.Leaks(guidance, distil.NewIndex(trace), nil) {
			for at := f.From; at < f.To; at++ {
				got[at] = true
			}
			found++
		}
		if !leaks {
			clean++
		}
		if !slices.Equal(got, want) || slices.Contains(got, true) != leaks {
			t.Fatalf("case %d of seed %d: %q of %+v: %v, not %v", i, seed, guidance, trace, got, want)
		}
	}
	if found < n/20 || clean < n/20 {
		t.Errorf("%d leaks and %d clean sentences in %d cases: too few to tell", found, clean, n)
	}
}

// What this program says itself is guidance, and no detector finds anything in it.
func TestOwnSentences(t *testing.T) {
	distil.Sentences(func(key, text string) {
		rule := lineage.Disposition{Key: key, Guidance: text, Confidence: 1}
		if err := rule.Check(); err != nil {
			t.Errorf("%s, %q: %v", key, text, err)
		}
		if got := distil.Leaks(text, distil.NewIndex(distil.Trace{}), append(distil.BuiltIn(), distil.NamesOf([]string{"Anna Muster"}))); len(got) > 0 {
			t.Errorf("%q: %v", text, got)
		}
	})
	keys := distil.Keys()
	slices.Sort(keys)
	if len(slices.Compact(slices.Clone(keys))) != len(keys) {
		t.Errorf("a key stands twice in %v", keys)
	}
	distil.Phrases(func(phrase, key string, heard []string) {
		if !slices.Equal(heard, []string{key}) {
			t.Errorf("%q of %s is heard as %v", phrase, key, heard)
		}
	})
}

func TestDetectors(t *testing.T) {
	names := distil.NamesOf([]string{"Anna Müller", "王小明", "Мария", "José", "X Æ"})
	all := append(distil.BuiltIn(), names)
	for _, c := range []struct {
		text string
		want distil.Kind
	}{
		{"tool a, argument b: ada@example.com", distil.KindEmail},
		{"a: ада@пример.рф", distil.KindEmail},
		{"a: ａｄａ＠ｅｘａｍｐｌｅ．ｃｏｍ", distil.KindEmail},
		{"a: ada (at) example (dot) com", distil.KindEmail},
		{"a: ada at example dot com", distil.KindEmail},
		{"a: ada@localhost", distil.KindEmail},
		{"a: ask @ada", distil.KindHandle},
		{"a: https://x", distil.KindLink},
		{"a: see www.example", distil.KindLink},
		{"a: example.com", distil.KindLink},
		{"a: example.xyz/a", distil.KindLink},
		{"a: mailto:x", distil.KindLink},
		{"a: AT61 1904 3002 3457 3201", distil.KindIBAN},
		{"a: gb29nwbk60161331926819", distil.KindIBAN},
		{"a: NO9386011117947", distil.KindIBAN},
		{"a: MT84MALT011000012345MTLCAST001S, too", distil.KindIBAN},
		{"a: ٠١٢٣ ٤٥٦ ٧٨٩٠", distil.KindPhone},
		{"a: +43 664 123", distil.KindPhone},
		{"a: 555-0123-99", distil.KindPhone},
		{"a: (0664) 123", distil.KindPhone},
		{"a: 123456", distil.KindNumber},
		{"a: x123456y", distil.KindNumber},
		{"a: १२३४५६", distil.KindNumber},
		{"a: 48.2082, 16.3738", distil.KindCoordinates},
		{"a: lat 48.2082", distil.KindCoordinates},
		{"a: 48.21 16.37", distil.KindCoordinates},
		{"a: 48°12'N", distil.KindCoordinates},
		{"a: 8FVC9G8F+6X", distil.KindCoordinates},
		{"a: near Mariahilfer Straße 12", distil.KindAddress},
		{"a: Kärntnerstr. 5", distil.KindAddress},
		{"a: 12 Old Baker Street", distil.KindAddress},
		{"a: 12 rue de Rivoli", distil.KindAddress},
		{"a: Via Roma 7", distil.KindAddress},
		{"a: улица Ленина", distil.KindAddress},
		{"a: 中山路12号", distil.KindAddress},
		{"a: 渋谷区神南1丁目", distil.KindAddress},
		{"a: anna", distil.KindName},
		{"a: ANNA'S", distil.KindName},
		{"a: Annas", distil.KindName},
		{"a: ask_Muller", distil.KindName},
		{"a: 王 小明", distil.KindName},
		{"a: марией or Мария", distil.KindName},
		{"a: jose", distil.KindName},
		{"a: sk_live_9aZ8bY7cX6dW5eV4", distil.KindSecret},
	} {
		var kinds []distil.Kind
		for _, f := range distil.Leaks(c.text, distil.NewIndex(distil.Trace{}), all) {
			kinds = append(kinds, f.Kind)
		}
		if !slices.Contains(kinds, c.want) {
			t.Errorf("%q: %v, not %s", c.text, kinds, c.want)
		}
	}
	for _, text := range []string{
		"tool fare_search, argument strategy: indexed", "tool x, argument n: 12345", "tool x, argument day: a date written as YYYY-MM-DD",
		"a: 0.5", "a: -3.25", "a: 5, 10", "a: by train via the north", "a: place an order", "a: e.g. this", "a: annual or banana", "a: x",
		"tool sha256, argument utf_8: base64", "a: AT61 190", "a: international_standard_of_words",
	} {
		if got := distil.Leaks(text, distil.NewIndex(distil.Trace{}), all); len(got) > 0 {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// IBANs that do not add up are none.
func TestIBANsAddUp(t *testing.T) {
	iban := func(text string) bool {
		return slices.ContainsFunc(distil.Leaks("a: "+text, distil.NewIndex(distil.Trace{}), distil.BuiltIn()), func(f distil.Finding) bool { return f.Kind == distil.KindIBAN })
	}
	for _, good := range []string{"DE89370400440532013000", "FR1420041010050500013M02606", "CH9300762011623852957"} {
		if !iban(good) || iban(strings.Replace(good, good[2:4], "11", 1)) {
			t.Errorf("%s, or one that does not add up", good)
		}
	}
}

// megabyte is a trace of a million bytes.
func megabyte() (trace distil.Trace) {
	rng := rand.New(rand.NewPCG(1, 2))
	for size := 0; size < 1<<20; {
		var b strings.Builder
		for range 200 {
			fmt.Fprintf(&b, "%s%d ", []string{"word", "Wörter", "слово", "of", "the", "天气"}[rng.IntN(6)], rng.IntN(500))
		}
		trace.Add(distil.Act{Kind: distil.Seen, Text: b.String()})
		size += b.Len()
	}
	return trace
}

func BenchmarkIndex(b *testing.B) {
	trace := megabyte()
	b.ReportAllocs()
	b.SetBytes(1 << 20)
	for b.Loop() {
		distil.NewIndex(trace)
	}
}

// Thirty-two rules against a trace of a million bytes, with every detector.
func BenchmarkLeaks(b *testing.B) {
	index := distil.NewIndex(megabyte())
	detectors := append(distil.BuiltIn(), distil.NamesOf([]string{"Anna Muster", "王小明"}))
	var rules []string
	for i := range lineage.MaxDispositions {
		rules = append(rules, fmt.Sprintf("tool fare_search, argument strategy%d: indexed lookup, with at most five candidates at once", i))
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range rules {
			distil.Leaks(r, index, detectors)
		}
	}
}
