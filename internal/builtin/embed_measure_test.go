package builtin

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// measured is a text with both halves at hand; the encoder's half is there even where Parts leaves it out.
type measured struct {
	Parts
	use []float32
}

func measure(t *testing.T, e *Embedder, text string) measured {
	t.Helper()
	p, err := e.Parts(context.Background(), text)
	if err != nil {
		t.Fatal(err)
	}
	m := measured{p, p.USE}
	if m.use == nil {
		s := newUSEScratch()
		e.model.vocab.tokenize(normalize(text), &s.lattice, &s.toks)
		m.use = make([]float32, Dim)
		if err := e.sentence(context.Background(), s.toks.ids, s, m.use); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// blends are the ways of joining the halves that were compared.
var blends = []struct {
	name   string
	vector func(m measured) []float32
}{
	{"encoder", func(m measured) []float32 { return m.use }},
	{"n-grams", func(m measured) []float32 { return m.Gram }},
	{"chosen", func(m measured) []float32 { return m.Vector() }},
	{"fixed .65", func(m measured) []float32 {
		m.USE, m.Share = m.use, 0.65
		return m.Vector()
	}},
	{"concat .65", func(m measured) []float32 { // 1024 values
		v := make([]float32, 2*Dim)
		for i := range Dim {
			v[i], v[Dim+i] = m.use[i]*float32(math.Sqrt(0.65)), m.Gram[i]*float32(math.Sqrt(0.35))
		}
		return v
	}},
	{"one of two", func(m measured) []float32 {
		if m.Fit > 0.5 {
			return m.use
		}
		return m.Gram
	}},
}

// TestMeasureBlend prints the measurements behind the blend and the scale of its cosines. It takes
// some minutes: set JIVAD_MEASURE=1.
func TestMeasureBlend(t *testing.T) {
	if os.Getenv("JIVAD_MEASURE") == "" {
		t.Skip("set JIVAD_MEASURE=1 to measure the blend on the diaries")
	}
	e := newEmbedder(t, Options{MaxPieces: 8})
	fmt.Printf("%-24s", "recall@5 of an entry")
	for _, b := range blends {
		fmt.Printf("%12s", b.name)
	}
	fmt.Println("   cosines of pairs, chosen: mean   5 %  50 %  95 % 99.5 %, nearest 5 % 50 % 95 %")
	for _, name := range []string{"schnitzler_1897", "goncourt_1851_1861", "salinas_grandes_1810", "santoka_gyokotsu_1930", "santoka_shikoku_1939",
		"tosa_nikki_0935", "xuxiake_travel", "gita_sanskrit", "scott_1910_1912", "barbellion_1903_1917", "dwordsworth_1798_1803"} {
		measureDiary(t, e, name)
	}
	measureSTS(t, e)
}

func measureDiary(t *testing.T, e *Embedder, name string) {
	texts := diaryTexts(t, name, 300)
	entries := make([]measured, len(texts))
	for i, text := range texts {
		entries[i] = measure(t, e, text)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var queries []measured
	var source []int
	for range 200 {
		i := rng.IntN(len(texts))
		if phrase := randomPhrase(rng, normalize(texts[i])); phrase != "" {
			queries, source = append(queries, measure(t, e, phrase)), append(source, i)
		}
	}
	fmt.Printf("%-24s", name)
	for _, b := range blends {
		found := 0
		vectors := vectorsOf(entries, b.vector)
		for k, q := range queries {
			v := b.vector(q)
			own, better := cosine(v, vectors[source[k]]), 0
			for _, w := range vectors {
				if cosine(v, w) > own {
					better++
				}
			}
			if better < 5 {
				found++
			}
		}
		fmt.Printf("%12.3f", float64(found)/float64(len(queries)))
	}
	vectors := vectorsOf(entries, measured.vector)
	var pairs, nearest []float64
	var sum float64
	for i := range vectors {
		top := -1.0
		for j := range vectors {
			if i == j {
				continue
			}
			c := cosine(vectors[i], vectors[j])
			top = max(top, c)
			if j < i {
				pairs = append(pairs, c)
				sum += c
			}
		}
		nearest = append(nearest, top)
	}
	slices.Sort(pairs)
	slices.Sort(nearest)
	fmt.Printf("%33.3f %6.3f %6.3f %6.3f %6.3f   %6.3f %6.3f %6.3f\n", sum/float64(len(pairs)), quantile(pairs, .05), quantile(pairs, .5), quantile(pairs, .95), quantile(pairs, .995),
		quantile(nearest, .05), quantile(nearest, .5), quantile(nearest, .95))
}

func (m measured) vector() []float32 { return m.Vector() }

func vectorsOf(ms []measured, vector func(measured) []float32) [][]float32 {
	vs := make([][]float32, len(ms))
	for i, m := range ms {
		vs[i] = vector(m)
	}
	return vs
}

// randomPhrase takes six words out of text, or twelve characters where words are not spaced.
func randomPhrase(rng *rand.Rand, text string) string {
	words := strings.Fields(text)
	runes := []rune(strings.ReplaceAll(text, " ", ""))
	if len(runes) > 9*len(words) {
		if len(runes) < 12 {
			return ""
		}
		from := rng.IntN(len(runes) - 11)
		return string(runes[from : from+12])
	}
	if len(words) < 6 {
		return ""
	}
	from := rng.IntN(len(words) - 5)
	return strings.Join(words[from:from+6], " ")
}

// measureSTS prints the rank correlation of cosine and human judgement.
func measureSTS(t *testing.T, e *Embedder) {
	pairs, gold := stsPairs(t)
	fmt.Printf("%-24s", "STS-B dev, Spearman")
	for _, b := range blends {
		cosines := make([]float64, len(pairs))
		for i, p := range pairs {
			cosines[i] = cosine(b.vector(measure(t, e, p[0])), b.vector(measure(t, e, p[1])))
		}
		fmt.Printf("%12.4f", spearman(gold, cosines))
	}
	fmt.Println()
}

// English must not suffer from the n-grams: the encoder alone reaches 0.853.
func TestEnglishSimilarity(t *testing.T) {
	if testing.Short() {
		t.Skip("embeds 750 sentences")
	}
	e := newEmbedder(t, Options{})
	pairs, gold := stsPairs(t)
	cosines := make([]float64, len(pairs))
	for i, p := range pairs {
		cosines[i] = cosine(embed(t, e, p[0]), embed(t, e, p[1]))
	}
	if r := spearman(gold, cosines); !(r >= 0.845) {
		t.Errorf("Spearman %.4f on STS-B dev, want 0.845 or more", r)
	} else {
		t.Logf("Spearman %.4f on %d pairs of STS-B dev", r, len(pairs))
	}
}

// An entry in a script the encoder cannot read must be found by a phrase of its own.
func TestOtherScriptsAreFound(t *testing.T) {
	e := newEmbedder(t, Options{})
	for _, c := range []struct {
		diary string
		want  float64
	}{{"santoka_gyokotsu_1930", 0.75}, {"tosa_nikki_0935", 0.9}, {"xuxiake_travel", 0.85}, {"gita_sanskrit", 0.85}} {
		texts := diaryTexts(t, c.diary, 200)
		vectors := make([][]float32, len(texts))
		for i, text := range texts {
			vectors[i] = embed(t, e, text)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		found, asked := 0, 0
		for range 100 {
			i := rng.IntN(len(texts))
			phrase := randomPhrase(rng, normalize(texts[i]))
			if phrase == "" {
				continue
			}
			asked++
			v := embed(t, e, phrase)
			own, better := cosine(v, vectors[i]), 0
			for _, w := range vectors {
				if cosine(v, w) > own {
					better++
				}
			}
			if better < 5 {
				found++
			}
		}
		recall := float64(found) / float64(asked)
		t.Logf("%s: recall@5 %.3f of %d phrases", c.diary, recall, asked)
		if !(recall >= c.want) {
			t.Errorf("%s: recall@5 %.3f, want %.2f", c.diary, recall, c.want)
		}
	}
}

// diaryTexts returns at most limit entries of a shared diary, evenly spaced.
func diaryTexts(t *testing.T, name string, limit int) []string {
	t.Helper()
	f, err := os.Open(shared(t, "data", "diaries", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var texts []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var entry struct{ Text string }
		if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
			t.Fatal(err)
		}
		if normalize(entry.Text) != "" {
			texts = append(texts, entry.Text)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(texts) <= limit {
		return texts
	}
	kept := make([]string, limit)
	for i := range kept {
		kept[i] = texts[i*len(texts)/limit]
	}
	return kept
}

func stsPairs(t *testing.T) (pairs [][2]string, gold []float64) {
	t.Helper()
	data, err := os.ReadFile(shared(t, "data", "labelled", "stsb_ccbysa_dev.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] {
		cells := strings.Split(line, "\t")
		score, err := strconv.ParseFloat(cells[0], 64)
		if err != nil {
			t.Fatal(err)
		}
		pairs, gold = append(pairs, [2]string{cells[3], cells[4]}), append(gold, score)
	}
	return pairs, gold
}

func quantile(sorted []float64, p float64) float64 { return sorted[int(p*float64(len(sorted)-1))] }

// spearman is the rank correlation of a and b; equal values share their mean rank.
func spearman(a, b []float64) float64 {
	x, y := ranks(a), ranks(b)
	mean := float64(len(x)-1) / 2
	var xy, xx, yy float64
	for i := range x {
		xy += (x[i] - mean) * (y[i] - mean)
		xx += (x[i] - mean) * (x[i] - mean)
		yy += (y[i] - mean) * (y[i] - mean)
	}
	return xy / math.Sqrt(xx*yy)
}

func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case x[i] < x[j]:
			return -1
		case x[i] > x[j]:
			return 1
		}
		return 0
	})
	r := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			r[order[k]] = float64(i+j-1) / 2
		}
		i = j
	}
	return r
}
