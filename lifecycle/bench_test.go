package lifecycle_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/internal/builtin"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/reactivation"
)

// built opens a companion with the built-in models on a folder.
func built(b *testing.B, dir string) *lifecycle.Companion {
	b.Helper()
	e, err := builtin.NewEmbedder(builtin.Options{})
	if err != nil {
		b.Fatal(err)
	}
	a, err := builtin.NewAssessor()
	if err != nil {
		b.Fatal(err)
	}
	c, err := lifecycle.Open(b.Context(), lifecycle.Options{Dir: dir, Embedder: e, Assessor: a})
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// aged makes a folder with n synthetic impressions under the built-in
// embedder's name, once a run of the machine.
func aged(b *testing.B, n int) string {
	b.Helper()
	e, err := builtin.NewEmbedder(builtin.Options{})
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("jivad-aged-%d-%s", n, filepath.Base(e.ID())))
	s, err := chitta.Open(b.Context(), chitta.Options{Dir: dir, Embedder: e.ID(), Dim: e.Dim()})
	if err != nil {
		b.Fatal(err)
	}
	var have, number int
	_ = s.View(func(st *fold.State) error { have, number = len(st.Impressions), int(st.Session.Number); return nil })
	r := rand.New(rand.NewPCG(9, uint64(have)))
	for have < n {
		number++
		batch := chitta.Batch{Entries: []chitta.Entry{{Body: fold.SessionOpened{Number: uint32(number), Date: "1900-01-01"}}}}
		for range min(25, n-have) {
			have++
			batch.Entries = append(batch.Entries, chitta.Entry{
				Body: synthetic(b, r, uint64(have), e.ID(), e.Dim()), Text: &chitta.Text{Body: fmt.Sprintf("A synthetic entry, number %d.", have)},
			})
		}
		batch.Entries = append(batch.Entries, chitta.Entry{Body: fold.SessionClosed{Number: uint32(number)}})
		if _, err := s.Append(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
	// One session of its own leaves what every session leaves: the graph.
	c := built(b, dir)
	if _, err := c.Import(b.Context(), []lifecycle.Note{{Text: "The end of a long life of synthetic days.", Date: "1950-01-01"}}, nil); err != nil {
		b.Fatal(err)
	}
	if err := c.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
	return dir
}

// synthetic is one of a few hundred themes, plus noise, plus what is common to
// all entries of a life.
func synthetic(b *testing.B, r *rand.Rand, n uint64, embedder string, dim int) fold.Experienced {
	theme := rand.New(rand.NewPCG(17, n%400))
	v := make([]float32, dim)
	var length float64
	for i := range v {
		x := 0.7 + 0.8*theme.NormFloat64() + 0.6*r.NormFloat64()
		v[i] = float32(x)
		length += x * x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(length))
	}
	g, err := reactivation.NewGuna(r.Float64(), r.Float64(), r.Float64()+0.1)
	if err != nil {
		b.Fatal(err)
	}
	x := fold.Experienced{Embedder: embedder, Embedding: v, AlwaysCreate: true, Source: "synthetic", Category: "behavioural",
		Judgement: fold.Judgement{Assessor: "synthetic", Intensity: r.Float64(), Emotion: r.Float64(), Guna: g}}
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("synthetic"), n))
	copy(x.ID[:], sum[:16])
	copy(x.Key[:], sum[16:])
	return x
}

// 200 entries of Dorothy Wordsworth's journal, a session a day, into an empty
// store and into one of 12,000 impressions: the time should hardly grow.
func BenchmarkImport(b *testing.B) {
	list := readDiary(b, "dwordsworth_1798_1803", ".jsonl")[:200]
	for _, n := range []int{0, 12_000} {
		b.Run(fmt.Sprintf("into=%d", n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				dir := b.TempDir()
				if n > 0 {
					if err := os.CopyFS(dir, os.DirFS(aged(b, n))); err != nil {
						b.Fatal(err)
					}
				}
				c := built(b, dir)
				b.StartTimer()
				r, err := c.Import(b.Context(), list, nil)
				if err != nil || r.New != len(list) {
					b.Fatalf("%+v, %v", r, err)
				}
				b.StopTimer()
				b.ReportMetric(r.PerMinute, "entries/min")
				if err := c.Close(context.Background()); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}

// A question to stores of different sizes, texts read and all.
func BenchmarkRecall(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("impressions=%d", n), func(b *testing.B) {
			c := built(b, aged(b, n))
			defer c.Close(context.Background()) //nolint:errcheck // a benchmark
			for b.Loop() {
				if _, err := c.Recall(b.Context(), lifecycle.RecallQuery{Text: "what I wrote about number seven"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
