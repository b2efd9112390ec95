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
	"slices"
	"syscall"
	"testing"
	"time"

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
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("jivad-aged-v2-%d-%s", n, filepath.Base(e.ID())))
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

// copyOfAged is a folder of its own with n synthetic impressions.
func copyOfAged(b *testing.B, n int) string {
	b.Helper()
	dir := b.TempDir()
	if n > 0 {
		if err := os.CopyFS(dir, os.DirFS(aged(b, n))); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// 400 entries of Dorothy Wordsworth's journal, a session a day, into an empty
// store and into one of 12,000 impressions: the time should hardly grow. Both are
// fed in turns, ten days each, so that a busy machine slows both alike; ratio is
// of the time that passed, cpu-ratio of the time that the processors worked.
func BenchmarkImport(b *testing.B) {
	const size, turn = 12_000, 10
	list := readDiary(b, "dwordsworth_1798_1803", ".jsonl")[:400]
	for b.Loop() {
		b.StopTimer()
		var into [2]*lifecycle.Companion
		var passed, worked [2]time.Duration
		for k, n := range []int{0, size} {
			into[k] = built(b, copyOfAged(b, n))
		}
		b.StartTimer()
		for part := range slices.Chunk(list, turn) {
			for k, c := range into {
				began, before := time.Now(), processorTime(b)
				r, err := c.Import(b.Context(), part, nil)
				if err != nil || r.New != len(part) {
					b.Fatalf("%+v, %v", r, err)
				}
				passed[k] += time.Since(began)
				worked[k] += processorTime(b) - before
			}
		}
		b.StopTimer()
		perMinute := func(d time.Duration) float64 { return float64(len(list)) / d.Minutes() }
		b.ReportMetric(perMinute(passed[0]), "entries/min")
		b.ReportMetric(perMinute(passed[1]), "entries/min-into-12000")
		b.ReportMetric(passed[1].Seconds()/passed[0].Seconds(), "ratio")
		b.ReportMetric(worked[1].Seconds()/worked[0].Seconds(), "cpu-ratio")
		b.ReportMetric((worked[1]-worked[0]).Seconds()*1000/float64(len(list)), "cpu-ms-more/entry")
		for _, c := range into {
			if err := c.Close(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
	}
}

// processorTime is what all cores together have worked for this process.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// The end of a session of one entry, by stores of different sizes. The embedder
// costs nothing here, so that what is left is the session's own.
func BenchmarkSessionEnd(b *testing.B) {
	for _, n := range []int{1_000, 12_000} {
		b.Run(fmt.Sprintf("impressions=%d", n), func(b *testing.B) {
			e, err := builtin.NewEmbedder(builtin.Options{})
			if err != nil {
				b.Fatal(err)
			}
			a, err := builtin.NewAssessor()
			if err != nil {
				b.Fatal(err)
			}
			c, err := lifecycle.Open(b.Context(), lifecycle.Options{Dir: copyOfAged(b, n), Embedder: quick{e}, Assessor: a})
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close(context.Background()) //nolint:errcheck // a benchmark
			var worked time.Duration
			for k := 0; b.Loop(); k++ {
				b.StopTimer()
				if _, err := c.Write(b.Context(), lifecycle.Note{Text: fmt.Sprintf("The river and the slow walk, %d.", k)}); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				before := processorTime(b)
				if _, err := c.EndSession(b.Context()); err != nil {
					b.Fatal(err)
				}
				worked += processorTime(b) - before
			}
			b.ReportMetric(worked.Seconds()*1000/float64(b.N), "cpu-ms/op")
		})
	}
}

// quick has the name of an embedder, but draws vectors from the text's bytes.
type quick struct{ lifecycle.Embedder }

func (q quick) Embed(_ context.Context, text string) ([]float32, error) {
	sum := sha256.Sum256([]byte(text))
	r := rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:]), 1))
	v := make([]float32, q.Dim())
	var length float64
	for i := range v {
		x := 0.7 + r.NormFloat64()
		v[i] = float32(x)
		length += x * x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(length))
	}
	return v, nil
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

// Forgetting one entry of ten thousand: the last, one from the middle, the first.
// The earlier it is, the more is folded again; it may take 30 s.
func BenchmarkForget(b *testing.B) {
	const size = 10_000
	for _, number := range []int{size - 5, size / 2, 2} {
		b.Run(fmt.Sprintf("entry=%d", number), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				c := built(b, copyOfAged(b, size))
				b.StartTimer()
				r, err := c.Forget(b.Context(), lifecycle.ForgetQuery{Match: fmt.Sprintf("number %d.", number)}, nil)
				if err != nil || r.Forgotten != 1 || r.Left.Events+r.Left.Texts+len(r.Left.Files) != 0 {
					b.Fatalf("%+v, %v", r, err)
				}
				b.StopTimer()
				const longest = 30
				if r.Seconds > longest {
					b.Errorf("it took %.1f s, more than %d", r.Seconds, longest)
				}
				if err := c.Close(context.Background()); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
