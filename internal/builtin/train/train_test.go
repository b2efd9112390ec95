package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/jivad/jivad/internal/builtin"
)

// TestSameBytes trains twice and compares. It needs the labelled data and some
// minutes, hence it asks for JIVAD_TRAIN: "some" reads a part of the data
// twice, "all" reads everything once and compares with the committed weights.
func TestSameBytes(t *testing.T) {
	how := os.Getenv("JIVAD_TRAIN")
	if how == "" {
		t.Skip("set JIVAD_TRAIN=some (a minute) or all (a quarter of an hour)")
	}
	shared := os.Getenv("JIVAD_SHARED")
	if shared == "" {
		shared = "../../../../shared"
	}
	o := options{
		labelled:  filepath.Join(shared, "data", "labelled"),
		diaries:   filepath.Join(shared, "data", "diaries"),
		sentences: "../testdata/gunas.tsv",
		cache:     os.Getenv("JIVAD_TRAIN_CACHE"),
	}
	if _, err := os.Stat(o.labelled); err != nil {
		t.Skipf("the labelled data is not here (set JIVAD_SHARED): %v", err)
	}
	made := func() []byte {
		out := filepath.Join(t.TempDir(), "heads.bin")
		if err := run(t.Context(), o, out); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if how == "all" {
		committed, err := os.ReadFile("../heads.bin")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(made(), committed) {
			t.Error("training anew gives other weights than ../heads.bin; train and commit them")
		}
		return
	}
	o.limit = 400
	o.cache = filepath.Join(t.TempDir(), "cache")
	first := made()
	o.cache = ""
	if !bytes.Equal(first, made()) {
		t.Error("training twice gives different bytes")
	}
}

func TestScores(t *testing.T) {
	near := func(name string, got, want float64) {
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	near("correlation", pearson([]float64{1, 2, 3, 4}, []float64{2, 4, 6, 9}), 11.5/math.Sqrt(5*26.75))
	near("correlation of opposites", pearson([]float64{1, 2, 3}, []float64{3, 2, 1}), -1)
	near("correlation with a constant", pearson([]float64{1, 2, 3}, []float64{5, 5, 5}), 0)
	near("absolute error", absoluteError([]float64{1, 2}, []float64{2, 0}), 1.5)
	score, truth := []float64{0.9, 0.8, 0.3, 0.2}, []bool{true, false, true, false}
	near("F1", f1(score, truth, 0.5), 0.5)
	near("threshold", bestThreshold(score, truth), 0.25)
	near("area", areaUnderCurve(score, truth), 0.75)
	near("quantile", quantile([]float64{1, 2, 3}, 0.25), 1.5)
}

// TestRidge: without a penalty a plane is found again, with a great one only
// the mean is left.
func TestRidge(t *testing.T) {
	var samples []sample
	for i := range 60 {
		a, b := float32(i%7), float32(i%5)
		samples = append(samples, sample{x: []float32{a, b}, y: []float64{2*float64(a) - float64(b) + 3}, fold: i % folds})
	}
	m := gather(samples, folds)
	for leave := -1; leave < folds; leave++ {
		w, err := m.solve(leave, func(int) float64 { return 1e-9 })
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{2, -1, 3} {
			if got := w.At(i, 0); math.Abs(got-want) > 1e-6 {
				t.Errorf("fold %d left out: weight %d is %v, want %v", leave, i, got, want)
			}
		}
	}
	w, err := m.solve(-1, func(int) float64 { return 1e12 })
	if err != nil {
		t.Fatal(err)
	}
	if got, want := w.At(2, 0), mean(column(samples, 0)); math.Abs(got-want) > 1e-6 {
		t.Errorf("with a great penalty the constant is %v, want the mean %v", got, want)
	}
}

func TestAnchors(t *testing.T) {
	taught, err := readAnchors(anchors)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("../testdata/gunas.tsv")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := readAnchors(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	counts := [3]int{}
	for _, a := range taught {
		seen[a.text] = true
		counts[a.guna]++
	}
	if counts[0] != counts[1] || counts[1] != counts[2] {
		t.Errorf("the anchors are not balanced: %v", counts)
	}
	for _, k := range kept {
		if seen[k.text] {
			t.Errorf("trained on a sentence that is kept for checking: %s", k.text)
		}
	}
	if builtin.EmotionName(builtin.Emotions) != "" || builtin.ReadingName(builtin.Readings) != "" {
		t.Error("names out of range")
	}
}
