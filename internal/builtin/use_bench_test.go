package builtin

import (
	"context"
	"runtime"
	"strings"
	"testing"
)

const hundredWords = `Rose before six and walked to the weir while the mist still lay on the water. The heron was at his usual place and let me come within a stone's throw. At breakfast Anna read me her brother's letter, full of complaints about the harvest and the price of seed. I worked until noon at the accounts, which will not come right, and went to bed early with a headache and the feeling that something had been forgotten. In the night it rained hard on the roof and I lay awake thinking about the summer we spent at the lake, years ago.`

// BenchmarkReference and BenchmarkEncode read the same 128 tokens: the first plainly, the second
// as the embedder does.
func BenchmarkReference(b *testing.B) {
	ref := newReference(newModel(b))
	ids, _ := ref.encode(normalize(hundredWords + " " + hundredWords))
	ids = ids[:useTokens]
	for b.Loop() {
		ref.vector(ids)
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, n := range []int{1, 8, 32, 128} {
		b.Run(sizeName(n), func(b *testing.B) { benchmarkEncode(b, n, newModel(b)) })
	}
}

func BenchmarkEncodePlain(b *testing.B) {
	m := newModel(b)
	m.simd = false
	for _, n := range []int{8, 128} {
		b.Run(sizeName(n), func(b *testing.B) { benchmarkEncode(b, n, m) })
	}
}

// BenchmarkProduct multiplies 128 tokens of 512 values with 8 rows, as mul does with every step.
func BenchmarkProduct(b *testing.B) {
	const n, rows, cols = useTokens, 8, 512
	y, x, w := view{make([]float32, n*rows), rows}, view{make([]float32, n*cols), cols}, view{make([]float32, rows*cols), cols}
	run := func(name string, product func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				product()
			}
			b.ReportMetric(n*rows*cols*float64(b.N)/b.Elapsed().Seconds()/1e9, "GMAC/s")
		})
	}
	m := newModel(b)
	if m.simd {
		run("assembly", func() { m.addProduct(y, x, w, n, rows, cols) })
	}
	run("plain", func() { addPlain(y, x, w, n, 0, rows, cols) })
}

func sizeName(n int) string { return map[int]string{1: "1", 8: "8", 32: "32", 128: "128"}[n] }

func benchmarkEncode(b *testing.B, n int, m *useModel) {
	s := newUSEScratch()
	m.vocab.tokenize(normalize(hundredWords+" "+hundredWords), &s.lattice, &s.toks)
	ids, dst := s.toks.ids[:n], make([]float32, useDim)
	b.ReportAllocs()
	for b.Loop() {
		m.encode(ids, s, dst)
	}
}

func BenchmarkEmbed100Words(b *testing.B) {
	e, err := NewEmbedder(Options{})
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Join(strings.Fields(hundredWords)[:100], " ")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Embed(context.Background(), text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTokenize(b *testing.B) {
	m := newModel(b)
	text := normalize(strings.Repeat(hundredWords+" ", 20))
	var s lattice
	var out tokens
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		m.vocab.tokenize(text, &s, &out)
	}
}

func BenchmarkGram(b *testing.B) {
	text := normalize(hundredWords)
	s, dst := newGramScratch(), make([]float32, Dim)
	b.ReportAllocs()
	for b.Loop() {
		gramVector(text, s, dst)
	}
}

// BenchmarkNewEmbedder also reports what an idle embedder keeps on the heap.
func BenchmarkNewEmbedder(b *testing.B) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept, err := NewEmbedder(Options{})
	if err != nil {
		b.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	for b.Loop() {
		if _, err := NewEmbedder(Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/1024, "idle-KB")
	runtime.KeepAlive(kept)
}
