package lifecycle_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/jivad/jivad/internal/builtin"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/export"
)

// An export of a store, and what a rebuild of it takes: it folds all of it.
func BenchmarkExport(b *testing.B) {
	for _, n := range []int{1000, 12_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := built(b, copyOfAged(b, n))
			defer c.Close(context.Background()) //nolint:errcheck // a benchmark that only reads
			var bytes int64
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				w, err := export.Create(filepath.Join(b.TempDir(), fmt.Sprint(i)))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := c.Export(b.Context(), nil, w.Put); err != nil {
					b.Fatal(err)
				}
				m, err := w.Commit()
				if err != nil {
					b.Fatal(err)
				}
				bytes = 0
				for _, f := range m.Files {
					bytes += f.Bytes
				}
			}
			b.ReportMetric(float64(bytes)/float64(n), "bytes/entry")
		})
	}
}

func BenchmarkRebuild(b *testing.B) {
	for _, n := range []int{1000, 12_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := built(b, copyOfAged(b, n))
			w, err := export.Create(filepath.Join(b.TempDir(), "export"))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := c.Export(b.Context(), nil, w.Put); err != nil {
				b.Fatal(err)
			}
			if _, err := w.Commit(); err != nil {
				b.Fatal(err)
			}
			if err := c.Close(context.Background()); err != nil {
				b.Fatal(err)
			}
			e, err := builtin.NewEmbedder(builtin.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				x, err := export.Open(b.Context(), w.Path())
				if err != nil {
					b.Fatal(err)
				}
				if _, err := lifecycle.Rebuild(b.Context(), lifecycle.Options{Dir: b.TempDir(), Embedder: e}, x, nil); err != nil {
					b.Fatal(err)
				}
				if err := x.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
