package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/jivad/jivad/internal/builtin"
)

const (
	folds = 5
	// signalPenalty is small: a handful of word signals need no holding back.
	signalPenalty = 1
)

// lent is how much a subtitle line with a reading lent from English counts
// against a rated sentence: enough to give other languages their own middle,
// too little to make English worse.
const lent = 0.05

var languages = [...]string{"en", "de", "fr"}

// penalties are tried in turn for the values of the vector.
var penalties = [...]float64{1, 3, 10}

// trainer holds everything that was read, as inputs of the heads.
type trainer struct {
	ctx      context.Context
	embedder *builtin.Embedder
	reader   *builtin.InputReader
	cache    *vectorCache
	options  options
	emobank  []sample            // three outputs
	xed      map[string][]sample // eight outputs, 0 or 1
}

func newTrainer(ctx context.Context, o options) (*trainer, error) {
	e, err := builtin.NewEmbedder(builtin.Options{})
	if err != nil {
		return nil, err
	}
	c, err := openCache(o.cache)
	if err != nil {
		return nil, err
	}
	t := &trainer{ctx: ctx, embedder: e, reader: builtin.NewInputReader(), cache: c, options: o, xed: map[string][]sample{}}
	deal := rand.New(rand.NewPCG(20, 26))
	rows, err := readEmoBank(o.labelled)
	if err != nil {
		return nil, err
	}
	rows = some(rows, o.limit)
	texts := make([]string, len(rows))
	for i, r := range rows {
		texts[i] = r.text
	}
	inputs, err := t.inputs(texts)
	if err != nil {
		return nil, err
	}
	for i, r := range rows {
		t.emobank = append(t.emobank, sample{x: inputs[i], y: r.vad[:], fold: deal.IntN(folds)})
	}
	for _, language := range languages {
		lines, left, err := readXED(o.labelled, language)
		if err != nil {
			return nil, err
		}
		lines = some(lines, o.limit)
		texts := make([]string, len(lines))
		for i, l := range lines {
			texts[i] = l.text
		}
		inputs, err := t.inputs(texts)
		if err != nil {
			return nil, err
		}
		dealt := map[string]int{} // the same line twice lands in the same fold
		for i, l := range lines {
			y := make([]float64, builtin.Emotions)
			for k, yes := range l.emotions {
				if yes {
					y[k] = 1
				}
			}
			if _, again := dealt[l.text]; !again {
				dealt[l.text] = deal.IntN(folds)
			}
			t.xed[language] = append(t.xed[language], sample{x: inputs[i], y: y, fold: dealt[l.text]})
		}
		fmt.Printf("XED %s: %d lines read, %d broken ones left out.\n", language, len(lines), left)
	}
	return t, nil
}

func some[T any](all []T, limit int) []T {
	if limit > 0 && limit < len(all) {
		return all[:limit]
	}
	return all
}

// inputs embeds texts and gives what the heads read of each.
func (t *trainer) inputs(texts []string) ([][]float32, error) {
	if err := t.cache.fill(t.ctx, t.embedder, texts); err != nil {
		return nil, err
	}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		var in [builtin.Inputs]float64
		t.reader.Read(text, t.vector(text), in[:])
		x := make([]float32, builtin.Inputs)
		for j, v := range in {
			x[j] = float32(v)
		}
		out[i] = x
	}
	return out, nil
}

// vector is the embedder's vector of a text that the cache holds.
func (t *trainer) vector(text string) []float32 {
	return t.embedder.Rejoin(text, t.cache.seen[cacheKey(text)])
}

func penalty(vector float64) func(i int) float64 {
	return func(i int) float64 {
		if i < 2*builtin.Dim {
			return vector
		}
		return signalPenalty
	}
}

// withoutWords leaves the word signals out.
func withoutWords(vector float64) func(i int) float64 {
	return func(i int) float64 {
		if i < 2*builtin.Dim {
			return vector
		}
		return 1e12
	}
}

func withoutVector(i int) float64 {
	if i < 2*builtin.Dim {
		return 1e12
	}
	return signalPenalty
}

// heldOut predicts every sample by heads that never saw its fold.
func heldOut(m *moments, samples []sample, penalty func(int) float64) ([][]float64, error) {
	out := make([][]float64, m.outputs)
	for o := range out {
		out[o] = make([]float64, len(samples))
	}
	for f := range folds {
		w, err := m.solve(f, penalty)
		if err != nil {
			return nil, err
		}
		for i, s := range samples {
			if s.fold != f {
				continue
			}
			for o := range out {
				out[o][i] = predict(w, s.x, o)
			}
		}
	}
	return out, nil
}

func column(samples []sample, o int) []float64 {
	out := make([]float64, len(samples))
	for i, s := range samples {
		out[i] = s.y[o]
	}
	return out
}

// fitAffect trains valence, arousal and dominance on EmoBank. German and
// French have no such ratings: their subtitle lines are given the mean
// reading of English lines with the same emotions.
func (t *trainer) fitAffect(h *builtin.Heads) error {
	english := gather(t.emobank, folds)
	var chosen, best float64
	fmt.Printf("\n| EmoBank, %d-fold, %d sentences | valence r | MAE | arousal r | MAE | dominance r | MAE |\n|---|---|---|---|---|---|---|\n", folds, len(t.emobank))
	line := func(name string, held [][]float64) (sum float64) {
		fmt.Printf("| %s ", name)
		for o := range 3 {
			truth := column(t.emobank, o)
			r := pearson(held[o], truth)
			fmt.Printf("| %.3f | %.3f ", r, absoluteError(held[o], truth))
			sum += r
		}
		fmt.Println("|")
		return sum
	}
	for _, p := range penalties {
		held, err := heldOut(english, t.emobank, penalty(p))
		if err != nil {
			return err
		}
		if r := line(fmt.Sprintf("vector and words, penalty %g", p), held); r > best {
			best, chosen = r, p
		}
	}
	for _, other := range []struct {
		name    string
		penalty func(int) float64
	}{{"vector alone", withoutWords(chosen)}, {"words alone", withoutVector}} {
		held, err := heldOut(english, t.emobank, other.penalty)
		if err != nil {
			return err
		}
		line(other.name, held)
	}
	teacher, err := english.solve(-1, penalty(chosen))
	if err != nil {
		return err
	}
	table, err := emotionAffect(t.xed["en"], teacher)
	if err != nil {
		return err
	}
	all := append([]sample(nil), t.emobank...)
	for _, language := range languages[1:] {
		for _, s := range t.xed[language] {
			y := make([]float64, 3)
			for o := range y {
				y[o] = table.At(builtin.Emotions, o)
				for k, v := range s.y {
					y[o] += v * table.At(k, o)
				}
			}
			all = append(all, sample{x: s.x, y: y, fold: s.fold, weight: lent})
		}
	}
	joint := gather(all, folds)
	held, err := heldOut(joint, all, penalty(chosen))
	if err != nil {
		return err
	}
	line("as shipped (with German and French)", [][]float64{held[0][:len(t.emobank)], held[1][:len(t.emobank)], held[2][:len(t.emobank)]})
	from := len(t.emobank)
	for _, language := range languages[1:] {
		to := from + len(t.xed[language])
		fmt.Printf("\n%s, agreement with the readings lent from English (%d lines): r", language, to-from)
		for o := range 3 {
			fmt.Printf(" %.3f", pearson(held[o][from:to], column(all[from:to], o)))
		}
		fmt.Println()
		from = to
	}
	w, err := joint.solve(-1, penalty(chosen))
	if err != nil {
		return err
	}
	store(h, w, 0)
	return nil
}

// emotionAffect regresses the teacher's readings of English subtitle lines on
// their emotions: one row for each emotion, then the constant.
func emotionAffect(lines []sample, teacher *mat.Dense) (*mat.Dense, error) {
	var samples []sample
	for _, s := range lines {
		x := make([]float32, builtin.Emotions)
		for k, v := range s.y {
			x[k] = float32(v)
		}
		y := make([]float64, 3)
		for o := range y {
			y[o] = predict(teacher, s.x, o)
		}
		samples = append(samples, sample{x: x, y: y})
	}
	return gather(samples, 1).solve(-1, func(int) float64 { return 1 })
}

// fitEmotions trains Plutchik's emotions on the subtitles of all languages.
func (t *trainer) fitEmotions(h *builtin.Heads) error {
	var all []sample
	for _, language := range languages {
		all = append(all, t.xed[language]...)
	}
	m := gather(all, folds)
	var best [][]float64
	var chosen, top float64
	for _, p := range penalties {
		held, err := heldOut(m, all, penalty(p))
		if err != nil {
			return err
		}
		var sum float64
		for k := range held {
			sum += areaUnderCurve(held[k], truths(all, k))
		}
		if sum > top {
			top, chosen, best = sum, p, held
		}
	}
	fmt.Printf("\n| XED, %d-fold, penalty %g | lines | macro-F1 | all-yes F1 | macro-AUC ", folds, chosen)
	for k := range builtin.Emotions {
		fmt.Printf("| %s ", builtin.EmotionName(k))
	}
	fmt.Print("|\n|---|---|---|---|---")
	for range builtin.Emotions {
		fmt.Print("|---")
	}
	fmt.Println("|")
	from := 0
	for _, language := range languages {
		to := from + len(t.xed[language])
		var sum, base, area float64
		var cells string
		for k := range builtin.Emotions {
			f, b := foldedF1(best[k][from:to], all[from:to], k)
			sum += f / builtin.Emotions
			base += b / builtin.Emotions
			area += areaUnderCurve(best[k][from:to], truths(all[from:to], k)) / builtin.Emotions
			cells += fmt.Sprintf("| %.3f ", f)
		}
		fmt.Printf("| %s | %d | %.3f | %.3f | %.3f %s|\n", language, to-from, sum, base, area, cells)
		from = to
	}
	english := len(t.xed["en"])
	for k := range builtin.Emotions {
		h.Mapping.Threshold[k] = bestThreshold(best[k][:english], truths(all[:english], k))
	}
	w, err := m.solve(-1, penalty(chosen))
	if err != nil {
		return err
	}
	store(h, w, 3)
	return nil
}

// foldedF1 gives the F1 of emotion k where every fold is cut at the threshold
// that the other folds chose, and the F1 of calling every line true.
func foldedF1(score []float64, samples []sample, k int) (f, everything float64) {
	truth := truths(samples, k)
	shifted := make([]float64, len(score))
	for fold := range folds {
		var s []float64
		var y []bool
		for i := range samples {
			if samples[i].fold != fold {
				s, y = append(s, score[i]), append(y, truth[i])
			}
		}
		at := bestThreshold(s, y)
		for i := range samples {
			if samples[i].fold == fold {
				shifted[i] = score[i] - at
			}
		}
	}
	return f1(shifted, truth, 0), f1(make([]float64, len(score)), truth, -1)
}

func truths(samples []sample, k int) []bool {
	out := make([]bool, len(samples))
	for i, s := range samples {
		out[i] = s.y[k] > 0.5
	}
	return out
}

// store copies solved weights into the heads from output first on.
func store(h *builtin.Heads, w *mat.Dense, first int) {
	rows, outputs := w.Dims()
	for o := range outputs {
		for i := range rows - 1 {
			h.Weights[first+o][i] = w.At(i, o)
		}
		h.Bias[first+o] = w.At(rows-1, o)
	}
}
