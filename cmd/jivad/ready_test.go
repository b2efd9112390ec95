package main

import (
	"bufio"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/internal/builtin"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/reactivation"
)

// quick stands in for the built-in models where only the size of a store counts.
type quick struct{}

func (quick) ID() string { return (&builtin.Embedder{}).ID() }
func (quick) Dim() int   { return builtin.Dim }

// Embed scatters vectors round forty topics.
func (quick) Embed(_ context.Context, text string) ([]float32, error) {
	sum := fnv.New64a()
	_, _ = io.WriteString(sum, text)
	chance := rand.New(rand.NewPCG(sum.Sum64(), 1))
	topic := rand.New(rand.NewPCG(sum.Sum64()%40, 2))
	v := make([]float32, builtin.Dim)
	var square float64
	for i := range v {
		x := topic.NormFloat64() + 1.2*chance.NormFloat64()
		v[i] = float32(x)
		square += x * x
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(square))
	}
	return v, nil
}

func (quick) Assess(context.Context, lifecycle.Experience) (fold.Judgement, error) {
	g, err := reactivation.NewGuna(0.5, 0.3, 0.8)
	return fold.Judgement{Assessor: "quick/1", Intensity: 0.5, Emotion: 0.4, Guna: g}, err
}

// benchStore makes the store of a benchmark: of JIVAD_BENCH_IMPRESSIONS, or usually so
// many, in the folder that JIVAD_BENCH_DIR names, where it is kept, or in one that goes.
func benchStore(b *testing.B, usually int) (dir string, n int) {
	b.Helper()
	n = usually
	if text := os.Getenv("JIVAD_BENCH_IMPRESSIONS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	if dir = os.Getenv("JIVAD_BENCH_DIR"); dir == "" {
		dir = filepath.Join(b.TempDir(), "d")
	}
	fill(b, dir, n)
	return dir, n
}

// BenchmarkReady measures a start, from the arguments to the line that says
// ready, on a store of JIVAD_BENCH_IMPRESSIONS (default 2000). Where
// JIVAD_BENCH_DIR names a folder the store is made in it and kept.
func BenchmarkReady(b *testing.B) {
	dir, _ := benchStore(b, 2000)
	for b.Loop() {
		ctx, cancel := context.WithCancel(b.Context())
		out, in := io.Pipe()
		a := &app{stdin: eof{}, stdout: in, stderr: io.Discard, version: "bench", environ: []string{"HOME=" + dir}}
		ended := make(chan int, 1)
		go func() { ended <- a.run(ctx, []string{"--data", dir, "run"}) }()
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		cancel()
		if code := <-ended; code != exitOK {
			b.Fatalf("exit code %d", code)
		}
		b.StartTimer()
	}
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// fill makes a companion with n impressions, fifty a day.
func fill(b *testing.B, dir string, n int) {
	b.Helper()
	a := &app{stdin: eof{}, stdout: io.Discard, stderr: os.Stderr, version: "bench", environ: []string{"HOME=" + dir}}
	if code := a.run(b.Context(), []string{"--data", dir, "--quiet", "init", "--yes"}); code != exitOK {
		b.Fatalf("init: exit code %d", code)
	}
	notes := make([]lifecycle.Note, n)
	for i := range notes {
		notes[i] = lifecycle.Note{Text: fmt.Sprintf("Entry number %d of a long life.", i), Date: fmt.Sprintf("%04d-01-01", 1000+i/50)}
	}
	c, err := lifecycle.Open(b.Context(), lifecycle.Options{Dir: dir, Embedder: quick{}, Assessor: quick{}})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := c.Import(b.Context(), notes, nil); err != nil {
		b.Fatal(err)
	}
	if err := c.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
}
