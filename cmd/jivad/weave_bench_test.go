package main

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/jivad/jivad/internal/builtin"
	"github.com/jivad/jivad/lifecycle"
)

// BenchmarkWeave measures what a conversation is kept waiting for alone, on the store of
// BenchmarkDoor: all of it, and the embedding in it. The processors' time says more
// than the clock's where other work runs beside it; it counts both processors where
// both work.
func BenchmarkWeave(b *testing.B) {
	dir, n := benchStore(b, 10_000)
	embedder, err := builtin.NewEmbedder(builtin.Options{})
	if err != nil {
		b.Fatal(err)
	}
	assessor, err := builtin.NewAssessor()
	if err != nil {
		b.Fatal(err)
	}
	c, err := lifecycle.Open(b.Context(), lifecycle.Options{Dir: dir, Embedder: embedder, Assessor: assessor, KeepOpen: true})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = c.Close(b.Context()) }()
	if _, err := c.Doctor(b.Context()); err != nil {
		b.Fatal(err)
	}
	for _, stage := range []struct {
		name string
		run  func(said string) error
	}{
		{"embedding", func(said string) error { _, err := embedder.Embed(b.Context(), said); return err }},
		{"reminded", func(said string) error {
			_, err := c.Recall(b.Context(), lifecycle.RecallQuery{Text: said, Limit: 6, Reminded: true})
			return err
		}},
		{"whole", func(said string) error { _, err := c.Weave(b.Context(), said, 6); return err }},
	} {
		b.Run(stage.name, func(b *testing.B) {
			runtime.GC()
			var took []time.Duration
			b.ReportAllocs()
			before := processors(b)
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				if err := stage.run(fmt.Sprintf("What did I say of the river, of the long walk home and of entry number %d?", i*37%n)); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			worked := processors(b) - before
			slices.Sort(took)
			b.ReportMetric(worked.Seconds()*1e3/float64(len(took)), "cpu-ms/op")
			b.ReportMetric(took[len(took)/2].Seconds()*1e3, "ms-median")
			b.ReportMetric(took[0].Seconds()*1e3, "ms-at-best")
		})
	}
}

// processors is what all of them together have worked for this process.
func processors(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
