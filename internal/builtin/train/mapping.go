package main

import (
	_ "embed"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jivad/jivad/internal/builtin"
)

// anchors are sentences written for this purpose, each plainly of one guna.
//
//go:embed anchors.tsv
var anchors string

// diaries are the population on whose spread the judgement is placed.
var diaries = [...]string{"amiel_1848_1881", "barbellion_1903_1917", "dwordsworth_1798_1803", "scott_1910_1912", "thoreau_1837_1846"}

// every: one diary entry in so many is read; their spread needs no more.
const every = 6

// anchored is a sentence and the guna that should be greatest: 0, 1, 2.
type anchored struct {
	language, text string
	guna           int
}

var gunaNames = [3]string{"tamas", "rajas", "sattva"}

func readAnchors(table string) ([]anchored, error) {
	var out []anchored
	for n, line := range strings.Split(strings.TrimSpace(table), "\n") {
		f := strings.Split(line, "\t")
		if len(f) != 3 || !slices.Contains(gunaNames[:], f[1]) {
			return nil, fmt.Errorf("line %d of the sentences: want language, guna and sentence", n+1)
		}
		out = append(out, anchored{f[0], f[2], slices.Index(gunaNames[:], f[1])})
	}
	return out, nil
}

// reading is a text as the mapping gets it.
type reading struct {
	raw   [builtin.Readings]float64
	trust float64
}

func (t *trainer) readings(h *builtin.Heads, texts []string) ([]reading, error) {
	if err := t.cache.fill(t.ctx, t.embedder, texts); err != nil {
		return nil, err
	}
	out := make([]reading, len(texts))
	for i, text := range texts {
		var in [builtin.Inputs]float64
		trust := t.reader.Read(text, t.vector(text), in[:])
		out[i] = reading{builtin.RawReadings(h, in[:]), trust}
	}
	return out, nil
}

func (t *trainer) diary(name string) ([]string, error) {
	all, err := readDiary(filepath.Join(t.options.diaries, name+".jsonl"))
	if err != nil {
		return nil, err
	}
	var texts []string
	for i := 0; i < len(all); i += every {
		texts = append(texts, all[i])
	}
	if t.options.limit > 0 {
		texts = some(texts, max(1, t.options.limit/50))
	}
	return texts, nil
}

// fitMapping measures the diaries and fits the guna weights on the anchors.
func (t *trainer) fitMapping(h *builtin.Heads) error {
	m := &h.Mapping
	perDiary := make([][]reading, len(diaries))
	var all []reading
	for d, name := range diaries {
		texts, err := t.diary(name)
		if err != nil {
			return err
		}
		if perDiary[d], err = t.readings(h, texts); err != nil {
			return err
		}
		all = append(all, perDiary[d]...)
	}
	for k := range builtin.Readings {
		// Every diary weighs the same, however many entries it has.
		var center, variance float64
		for _, d := range perDiary {
			center += mean(rawColumn(d, k)) / float64(len(diaries))
		}
		for _, d := range perDiary {
			own := rawColumn(d, k)
			off := mean(own) - center
			variance += (deviation(own)*deviation(own) + off*off) / float64(len(diaries))
		}
		m.Center[k], m.Spread[k] = center, math.Sqrt(variance)
	}
	taught, err := readAnchors(anchors)
	if err != nil {
		return err
	}
	texts := make([]string, len(taught))
	for i, a := range taught {
		texts[i] = a.text
	}
	read, err := t.readings(h, texts)
	if err != nil {
		return err
	}
	z := make([]builtin.Reading, len(read))
	for i, r := range read {
		z[i] = m.Standardise(r.raw, r.trust)
	}
	if err := fitGunas(m, z, taught, perDiary); err != nil {
		return err
	}

	var intensity, emotion, pleasant []float64
	for _, r := range all {
		z := m.Standardise(r.raw, r.trust)
		intensity = append(intensity, builtin.RawIntensity(z))
		emotion = append(emotion, builtin.RawEmotion(z))
		pleasant = append(pleasant, math.Abs(r.raw[0]-3))
	}
	m.Intensity, m.Emotion = rangeOf(intensity), rangeOf(emotion)
	slices.Sort(pleasant)
	m.Pleasant = quantile(pleasant, 0.95)
	return nil
}

func rawColumn(rs []reading, k int) []float64 {
	out := make([]float64, len(rs))
	for i, r := range rs {
		out[i] = r.raw[k]
	}
	return out
}

func rangeOf(v []float64) builtin.Range {
	slices.Sort(v)
	return builtin.Range{Low: quantile(v, 0.05), Middle: quantile(v, 0.5), High: quantile(v, 0.95)}
}

// prior is what the mapping believes before it has seen a sentence, in the
// words of the tradition: tamas is dull, low and powerless, rajas stirred,
// sattva calm, clear and kind. The columns are tamas, rajas, sattva.
var prior = map[string][3]float64{
	"valence":           {-0.5, 0, 0.5},
	"arousal":           {-0.7, 1, -0.5},
	"dominance":         {-0.3, 0, 0.3},
	"anger":             {0, 0.4, -0.2},
	"anticipation":      {0, 0.2, 0},
	"fear":              {0, 0.3, 0},
	"joy":               {-0.3, 0, 0.3},
	"sadness":           {0.5, 0, 0},
	"surprise":          {0, 0.3, 0},
	"trust":             {0, -0.2, 0.4},
	"exclamation marks": {0, 0.3, 0},
}

// holds are tried in turn: how strongly the weights are held near the prior.
var holds = [...]float64{0.05, 0.1, 0.2, 0.4}

// fitGunas chooses the hold by anchors that were left out, then fits on all.
func fitGunas(m *builtin.Mapping, z []builtin.Reading, taught []anchored, perDiary [][]reading) error {
	diaries := make([][]builtin.Reading, len(perDiary))
	for d, rs := range perDiary {
		for _, r := range rs {
			diaries[d] = append(diaries[d], m.Standardise(r.raw, r.trust))
		}
	}
	most, chosen := -1, 0.0
	for _, hold := range holds {
		right := 0
		for fold := range folds {
			var keptZ []builtin.Reading
			var kept []anchored
			for i := range taught {
				if i%folds != fold {
					keptZ, kept = append(keptZ, z[i]), append(kept, taught[i])
				}
			}
			trial := *m
			softmaxFit(&trial, keptZ, kept, diaries, hold)
			for i := fold; i < len(taught); i += folds {
				s := trial.Shares(z[i])
				if s[taught[i].guna] == max(s[0], s[1], s[2]) {
					right++
				}
			}
		}
		fmt.Printf("\nAnchors left out, hold %g: %d of %d right.\n", hold, right, len(taught))
		if right > most {
			most, chosen = right, hold
		}
	}
	softmaxFit(m, z, taught, diaries, chosen)
	spread(m, diaries)
	return nil
}

// softmaxFit is multinomial logistic regression held near the prior, by plain
// gradient descent: sixty sentences and fourteen readings ask for no more. The
// constants are not fitted but balanced on the diaries again and again.
func softmaxFit(m *builtin.Mapping, z []builtin.Reading, taught []anchored, diaries [][]builtin.Reading, hold float64) {
	const (
		turns  = 10
		rounds = 100
		step   = 0.1
	)
	m.Sharpness = 1
	m.Guna = [3][builtin.Readings + 1]float64{}
	var start [3][builtin.Readings]float64
	for k := range builtin.Readings {
		for g := range start {
			start[g][k] = prior[builtin.ReadingName(k)][g]
			m.Guna[g][k] = start[g][k]
		}
	}
	for range turns {
		balance(m, diaries)
		for range rounds {
			var slope [3][builtin.Readings]float64
			for i, a := range taught {
				p := m.Shares(z[i])
				for g := range slope {
					off := p[g]
					if g == a.guna {
						off--
					}
					for k, v := range z[i] {
						slope[g][k] += off * v
					}
				}
			}
			for g := range slope {
				for k := range slope[g] {
					m.Guna[g][k] -= step * (slope[g][k]/float64(len(taught)) + hold*(m.Guna[g][k]-start[g][k]))
				}
			}
		}
	}
	balance(m, diaries)
}

// balance sets the constants so that the diaries together have the three
// gunas in equal shares, and gives the greatest share of every entry.
func balance(m *builtin.Mapping, diaries [][]builtin.Reading) (top []float64) {
	for range 40 {
		var shares [3]float64
		top = top[:0]
		for _, d := range diaries {
			for _, z := range d {
				s := m.Shares(z)
				for g := range s {
					shares[g] += s[g] / float64(len(d)*len(diaries))
				}
				top = append(top, max(s[0], s[1], s[2]))
			}
		}
		for g := range shares {
			m.Guna[g][builtin.Readings] += math.Log(1.0/3/shares[g]) / m.Sharpness
		}
	}
	slices.Sort(top)
	return top
}

// decided is the greatest share of the median diary entry.
const decided = 0.6

// spread sets the sharpness so that the diaries' entries spread over the
// triangle: the sentences say what leads where, the diaries how far.
func spread(m *builtin.Mapping, diaries [][]builtin.Reading) {
	low, high := 0.05, 5.0
	for range 30 {
		m.Sharpness = (low + high) / 2
		if quantile(balance(m, diaries), 0.5) < decided {
			low = m.Sharpness
		} else {
			high = m.Sharpness
		}
	}
}

// report prints what the mapping does with diaries and sentences.
func (t *trainer) report(h *builtin.Heads) error {
	m := &h.Mapping
	fmt.Print("\n| reading | diaries' mean | spread | tamas | rajas | sattva |\n|---|---|---|---|---|---|\n")
	for k := range builtin.Readings {
		fmt.Printf("| %s | %.3f | %.3f | %+.2f | %+.2f | %+.2f |\n", builtin.ReadingName(k), m.Center[k], m.Spread[k], m.Guna[0][k], m.Guna[1][k], m.Guna[2][k])
	}
	fmt.Printf("| constant | | | %+.2f | %+.2f | %+.2f |\n", m.Guna[0][builtin.Readings], m.Guna[1][builtin.Readings], m.Guna[2][builtin.Readings])
	fmt.Printf("\nSharpness %.3f. Intensity range %.3f, emotion range %.3f, pleasant %.3f.\n", m.Sharpness, m.Intensity, m.Emotion, m.Pleasant)

	fmt.Print("\n| diary | entries | mean shares T R S | greatest T R S | greatest share, median | intensity 5/50/95 % | emotion 5/50/95 % | valence 5/50/95 % |\n|---|---|---|---|---|---|---|---|\n")
	a := builtin.NewAssessorOf(h, t.reader)
	for _, name := range append(diaries[:], "gita_arnold", "yoga_sutras_johnston", "pepys_1660", "schnitzler_1897", "goncourt_1851_1861", "santoka_gyokotsu_1930") {
		texts, err := t.diary(name)
		if err != nil {
			return err
		}
		if err := t.cache.fill(t.ctx, t.embedder, texts); err != nil {
			return err
		}
		var shares, greatest [3]float64
		var top, intensity, emotion, valence []float64
		for _, text := range texts {
			j, s, err := a.Judge(text, t.vector(text))
			if err != nil {
				return err
			}
			for g := range s {
				shares[g] += s[g] / float64(len(texts))
			}
			g := slices.Index(s[:], max(s[0], s[1], s[2]))
			greatest[g] += 100 / float64(len(texts))
			top = append(top, s[g])
			intensity, emotion, valence = append(intensity, j.Intensity), append(emotion, j.Emotion), append(valence, j.Valence)
		}
		slices.Sort(top)
		fmt.Printf("| %s | %d | %.2f %.2f %.2f | %.0f%% %.0f%% %.0f%% | %.2f | %s | %s | %s |\n", name, len(texts), shares[0], shares[1], shares[2], greatest[0], greatest[1], greatest[2], quantile(top, 0.5), fivePoints(intensity), fivePoints(emotion), fivePoints(valence))
	}
	if err := t.passages(a); err != nil {
		return err
	}
	taught, err := readAnchors(anchors)
	if err != nil {
		return err
	}
	if err := t.checkSentences(a, "anchors (trained on)", taught, false); err != nil {
		return err
	}
	raw, err := os.ReadFile(t.options.sentences)
	if err != nil {
		return err
	}
	kept, err := readAnchors(string(raw))
	if err != nil {
		return err
	}
	return t.checkSentences(a, "sentences written beforehand", kept, true)
}

// passages gives the mean shares of the clauses of the Song Celestial that
// name exactly one of the gunas.
func (t *trainer) passages(a *builtin.Assessor) error {
	chapters, err := readDiary(filepath.Join(t.options.diaries, "gita_arnold.jsonl"))
	if err != nil {
		return err
	}
	names := [3][]string{{"Ignoran", "Tamas", "sloth"}, {"Passion", "Rajas", "Impulse"}, {"Soothfast", "Sattwa"}}
	fmt.Print("\n| clauses of the Gita that name | clauses | mean shares T R S |\n|---|---|---|\n")
	for g, words := range names {
		var mean [3]float64
		n := 0.0
		for _, chapter := range chapters {
			for clause := range strings.FieldsFuncSeq(strings.Join(strings.Fields(chapter), " "), func(r rune) bool { return strings.ContainsRune(".;:!?", r) }) {
				named := 0
				for other := range names {
					if slices.ContainsFunc(names[other], func(w string) bool { return strings.Contains(clause, w) }) {
						named |= 1 << other
					}
				}
				if named != 1<<g {
					continue
				}
				if err := t.cache.fill(t.ctx, t.embedder, []string{clause}); err != nil {
					return err
				}
				_, s, err := a.Judge(clause, t.vector(clause))
				if err != nil {
					return err
				}
				for k := range s {
					mean[k] += s[k]
				}
				n++
			}
		}
		fmt.Printf("| %s | %.0f | %.2f %.2f %.2f |\n", strings.Join(words, ", "), n, mean[0]/n, mean[1]/n, mean[2]/n)
	}
	return nil
}

func fivePoints(v []float64) string {
	slices.Sort(v)
	return fmt.Sprintf("%.2f/%.2f/%.2f", quantile(v, 0.05), quantile(v, 0.5), quantile(v, 0.95))
}

func (t *trainer) checkSentences(a *builtin.Assessor, title string, sentences []anchored, list bool) error {
	texts := make([]string, len(sentences))
	for i, s := range sentences {
		texts[i] = s.text
	}
	if err := t.cache.fill(t.ctx, t.embedder, texts); err != nil {
		return err
	}
	var confusion [3][3]int
	right, total := map[string]int{}, map[string]int{}
	for _, s := range sentences {
		j, shares, err := a.Judge(s.text, t.vector(s.text))
		if err != nil {
			return err
		}
		g := slices.Index(shares[:], max(shares[0], shares[1], shares[2]))
		confusion[s.guna][g]++
		total[s.language]++
		if g == s.guna {
			right[s.language]++
		} else if list {
			fmt.Fprintf(os.Stderr, "%s for %s (%.2f %.2f %.2f, I %.2f E %.2f V %+.2f): %s\n", gunaNames[g], gunaNames[s.guna], shares[0], shares[1], shares[2], j.Intensity, j.Emotion, j.Valence, s.text)
		}
	}
	fmt.Printf("\n%s:", title)
	for _, language := range []string{"en", "de", "fr", "ja"} {
		if total[language] > 0 {
			fmt.Printf(" %s %d of %d", language, right[language], total[language])
		}
	}
	fmt.Print("\n\n| meant | tamas | rajas | sattva |\n|---|---|---|---|\n")
	for g, row := range confusion {
		fmt.Printf("| %s | %d | %d | %d |\n", gunaNames[g], row[0], row[1], row[2])
	}
	return nil
}
