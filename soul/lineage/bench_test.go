package lineage_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/jivad/jivad/soul/lineage"
)

// filled is a lineage of n distillates of as many lives, each signed, merged by size in a batch.
func filled(b *testing.B, n, size int) *lineage.Lineage {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(n))) //nolint:gosec // to be repeated
	l := lineage.New(root, identity)
	batch := make([]*lineage.Distillate, 0, size)
	for i := range n {
		d := made(rng, uint64(i), idOf('l', uint64(i)))
		if err := d.Sign(device(1)); err != nil {
			b.Fatal(err)
		}
		batch = append(batch, d)
		if len(batch) == size || i == n-1 {
			merge(b, l, batch...)
			batch = batch[:0]
		}
	}
	return l
}

// BenchmarkMerge takes one more distillate into a lineage.
func BenchmarkMerge(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			before := heap()
			l := filled(b, n, n)
			held := float64(heap()-before) / float64(n)
			rng := rand.New(rand.NewPCG(2, 2)) //nolint:gosec // to be repeated
			next := uint64(n)
			b.ResetTimer()
			for b.Loop() {
				merge(b, l, made(rng, next, idOf('l', next)))
				next++
			}
			b.ReportMetric(held, "heap-B/distillate")
			runtime.KeepAlive(l)
		})
	}
}

// BenchmarkExcise gives a lineage of 100,000 without one of its lives: from the first
// batch, and from the last.
func BenchmarkExcise(b *testing.B) {
	for _, size := range []int{100, 1_000} {
		l := filled(b, 100_000, size)
		for _, at := range []uint64{0, 99_999} {
			b.Run(fmt.Sprintf("batches=%d/life=%d", size, at), func(b *testing.B) {
				for b.Loop() {
					if l.Without(idOf('l', at)).Size() != 99_999 {
						b.Fatal("not one life less")
					}
				}
			})
		}
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkVerify reads 100,000 distillates from their bytes, each in its form and signed,
// and folds them anew.
func BenchmarkVerify(b *testing.B) {
	const n, size = 100_000, 1_000
	l := filled(b, n, size)
	var batches [][][]byte
	for i := range l.Batches() {
		var members [][]byte
		for _, digest := range l.Batch(i).Members {
			d, _ := l.Member(digest)
			data, err := d.Canonical()
			if err != nil {
				b.Fatal(err)
			}
			members = append(members, data)
		}
		batches = append(batches, members)
	}
	for b.Loop() {
		again := lineage.New(root, identity)
		for i, members := range batches {
			var ds []*lineage.Distillate
			for _, data := range members {
				d, err := lineage.ParseKept(data)
				if err != nil {
					b.Fatal(err)
				}
				if err := again.Admit(d); err != nil {
					b.Fatal(err)
				}
				ds = append(ds, d)
			}
			if batch, err := again.Merge(ds...); err != nil || batch.Version != l.Batch(i).Version {
				b.Fatal(err)
			}
		}
	}
}
