package fold

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/philippgille/chromem-go"
	"pgregory.net/rapid"
)

// slowNearest is the oracle: score everything, sort everything, cut.
func slowNearest(rows [][]float32, query []float32, n int, skip func(int) bool) []Candidate {
	var all []Candidate
	for i, r := range rows {
		if skip == nil || !skip(i) {
			all = append(all, Candidate{i, float64(slowDot(query, r))})
		}
	}
	slices.SortStableFunc(all, func(a, b Candidate) int { return cmp.Compare(b.Similarity, a.Similarity) })
	return all[:min(max(n, 0), len(all))]
}

// slowDot follows the definition of Dot by words: eight sums, pairwise.
func slowDot(a, b []float32) float32 {
	var sums [8]float32
	for i := range a {
		product := a[i] * b[i]
		sums[i%8] = sums[i%8] + float32(product)
	}
	even := float32(float32(sums[0]+sums[4]) + float32(sums[2]+sums[6]))
	odd := float32(float32(sums[1]+sums[5]) + float32(sums[3]+sums[7]))
	return min(max(even+odd, -1), 1)
}

func sameBits(a, b []Candidate) bool {
	return slices.EqualFunc(a, b, func(x, y Candidate) bool {
		return x.Index == y.Index && math.Float64bits(x.Similarity) == math.Float64bits(y.Similarity)
	})
}

func randomUnit(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	var sum float64
	for i := range v {
		v[i] = float32(r.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}

func TestNearestEqualsSortingEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 20).Draw(t, "dim")
		m := NewMatrix(dim)
		var rows [][]float32
		for range rapid.SampledFrom([]int{0, 1, 5, 8, 9, 40, 257}).Draw(t, "rows") {
			var r []float32
			if len(rows) > 0 && rapid.IntRange(0, 3).Draw(t, "repeat") == 0 {
				r = rows[rapid.IntRange(0, len(rows)-1).Draw(t, "of")]
			} else {
				r = drawUnit(t, dim, "row")
			}
			if err := m.Append(r); err != nil {
				t.Fatal(err)
			}
			rows = append(rows, r)
		}
		query := drawUnit(t, dim, "query")
		n := rapid.SampledFrom([]int{-1, 0, 1, 2, 7, 40, 300}).Draw(t, "n")
		var skip func(int) bool
		if modulus := rapid.IntRange(0, 3).Draw(t, "skip one in"); modulus > 0 {
			skip = func(i int) bool { return i%modulus == 0 }
		}
		want := slowNearest(rows, query, n, skip)
		if got := m.Nearest(query, n, 1, skip); !sameBits(got, want) {
			t.Fatalf("got %v\nwant %v", got, want)
		}
		// The same rows in lists, in another order, give the same answer.
		lists := make([][]uint32, 3)
		for i := len(rows) - 1; i >= 0; i-- {
			lists[i%3] = append(lists[i%3], uint32(i))
		}
		if got := m.NearestAmong(query, n, skip, lists...); !sameBits(got, want) {
			t.Fatalf("among all: got %v\nwant %v", got, want)
		}
	})
}

func TestNearestIsTheSameForAnyWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const dim = 24
	m := NewMatrix(dim)
	var rows [][]float32
	for i := range 9*rowsPerWorker + 77 {
		v := randomUnit(r, dim)
		if i%5 == 0 && i > 0 {
			v = rows[r.IntN(len(rows))] // ties, far apart
		}
		rows = append(rows, v)
	}
	appendAll(t, m, rows)
	skip := func(i int) bool { return i%7 == 3 }
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, n := range []int{1, 10, 256, 3000, len(rows) + 5} {
		query := rows[n%len(rows)]
		want := slowNearest(rows, query, n, skip)
		for _, procs := range []int{1, 2, 5} {
			runtime.GOMAXPROCS(procs)
			for _, workers := range []int{-1, 0, 1, 2, 3, 4, 7, 8, 9, 64} {
				if got := m.Nearest(query, n, workers, skip); !sameBits(got, want) {
					t.Fatalf("n %d, %d workers, %d processors: differs from the oracle", n, workers, procs)
				}
			}
		}
	}
}

func TestTiesGoToTheLowerRow(t *testing.T) {
	m := NewMatrix(3)
	for range 3000 {
		appendAll(t, m, [][]float32{{0, 1, 0}, {1, 0, 0}})
	}
	for _, workers := range []int{1, 2, 5} {
		got := m.Nearest([]float32{1, 0, 0}, 300, workers, nil)
		for i, c := range got {
			if c.Index != 2*i+1 || c.Similarity != 1 {
				t.Fatalf("%d workers: place %d is %v, want row %d", workers, i, c, 2*i+1)
			}
		}
	}
}

func TestSimilarityIsClamped(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		v := randomUnit(r, 64)
		for i := range v {
			v[i] *= 1.0004 // within the tolerance, so the raw dot passes 1
		}
		opposite := slices.Clone(v)
		for i := range opposite {
			opposite[i] = -opposite[i]
		}
		if s := Dot(v, v); s != 1 {
			t.Fatalf("similarity to itself is %v", s)
		}
		if s := Dot(v, opposite); s != -1 {
			t.Fatalf("similarity to the opposite is %v", s)
		}
	}
	if got := Dot([]float32{1}, []float32{1, 0}); got != 0 {
		t.Fatalf("vectors of two dimensions have similarity %v", got)
	}
}

// publishedCase is one matrix of testdata/nearest.json with the answers that
// every architecture must give to the bit. Vectors are little-endian float32
// in hex, similarities the bits of a float64 in hex.
type publishedCase struct {
	Dim     int              `json:"dim"`
	Rows    []string         `json:"rows"`
	Queries []publishedQuery `json:"queries"`
}

type publishedQuery struct {
	Vector  string            `json:"vector"`
	Nearest []publishedAnswer `json:"nearest"`
}

type publishedAnswer struct {
	Index      int    `json:"index"`
	Similarity string `json:"similarity"`
}

const publishedNearest = "testdata/nearest.json"

func TestPublishedNeighboursToTheBit(t *testing.T) {
	if os.Getenv("JIVAD_WRITE_VECTORS") != "" {
		writePublishedNearest(t)
	}
	raw, err := os.ReadFile(publishedNearest)
	if err != nil {
		t.Fatal(err)
	}
	var cases []publishedCase
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, c := range cases {
		m := NewMatrix(c.Dim)
		for _, r := range c.Rows {
			appendAll(t, m, [][]float32{decodeVector(t, r)})
		}
		for q, query := range c.Queries {
			got := m.Nearest(decodeVector(t, query.Vector), len(query.Nearest), 1, nil)
			if len(got) != len(query.Nearest) {
				t.Fatalf("dim %d, query %d: %d answers, want %d", c.Dim, q, len(got), len(query.Nearest))
			}
			for i, want := range query.Nearest {
				bits, err := strconv.ParseUint(want.Similarity, 16, 64)
				if err != nil {
					t.Fatal(err)
				}
				if got[i].Index != want.Index || math.Float64bits(got[i].Similarity) != bits {
					t.Errorf("dim %d, query %d, place %d: row %d %016x, published row %d %s",
						c.Dim, q, i, got[i].Index, math.Float64bits(got[i].Similarity), want.Index, want.Similarity)
				}
				compared++
			}
		}
	}
	if compared < 100 {
		t.Fatalf("only %d published answers", compared)
	}
}

func writePublishedNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(2026, 11))
	var cases []publishedCase
	for _, shape := range []struct{ dim, rows int }{{5, 24}, {19, 40}, {64, 40}, {512, 12}} {
		c := publishedCase{Dim: shape.dim}
		m := NewMatrix(shape.dim)
		for range shape.rows {
			v := randomUnit(r, shape.dim)
			appendAll(t, m, [][]float32{v})
			c.Rows = append(c.Rows, encodeVector(v))
		}
		for q := range 4 {
			v := randomUnit(r, shape.dim)
			if q == 3 {
				v = m.Row(2)
			}
			query := publishedQuery{Vector: encodeVector(v)}
			for _, n := range m.Nearest(v, 10, 1, nil) {
				query.Nearest = append(query.Nearest, publishedAnswer{n.Index, fmt.Sprintf("%016x", math.Float64bits(n.Similarity))})
			}
			c.Queries = append(c.Queries, query)
		}
		cases = append(cases, c)
	}
	raw, err := json.MarshalIndent(cases, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(publishedNearest), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(publishedNearest, append(raw, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

func encodeVector(v []float32) string {
	var raw []byte
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return hex.EncodeToString(raw)
}

func decodeVector(t *testing.T, s string) []float32 {
	t.Helper()
	raw, err := hex.DecodeString(s)
	if err != nil || len(raw)%4 != 0 {
		t.Fatalf("not a vector: %q", s)
	}
	v := make([]float32, len(raw)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return v
}

const benchDim = 512

func benchMatrix(b *testing.B, rows int) (*Matrix, [][]float32) {
	b.Helper()
	r := rand.New(rand.NewPCG(uint64(rows), 7))
	m := NewMatrix(benchDim)
	for range rows {
		appendAll(b, m, [][]float32{randomUnit(r, benchDim)})
	}
	queries := make([][]float32, 16)
	for i := range queries {
		queries[i] = randomUnit(r, benchDim)
	}
	return m, queries
}

// benchSizes leaves the large store to runs that ask for it.
func benchSizes() []int {
	if testing.Short() {
		return []int{1_000, 10_000}
	}
	return []int{1_000, 10_000, 100_000}
}

func BenchmarkNearest(b *testing.B) {
	for _, rows := range benchSizes() {
		m, queries := benchMatrix(b, rows)
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("rows=%d/workers=%d", rows, workers), func(b *testing.B) {
				b.SetBytes(int64(rows) * benchDim * 4)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					m.Nearest(queries[i%len(queries)], 256, workers, nil)
				}
			})
		}
		b.Run(fmt.Sprintf("rows=%d/read-only", rows), func(b *testing.B) {
			b.SetBytes(int64(rows) * benchDim * 4)
			var sum uint32
			for b.Loop() {
				sum += touch(m)
			}
			if sum == 1 {
				b.Log(sum)
			}
		})
	}
}

// touch reads every cache line of the matrix once and does nothing with it:
// the floor that memory sets to any scan.
func touch(m *Matrix) uint32 {
	var a, b, c, d uint32
	for _, block := range m.blocks {
		for len(block) >= 64 {
			a += math.Float32bits(block[0])
			b += math.Float32bits(block[16])
			c += math.Float32bits(block[32])
			d += math.Float32bits(block[48])
			block = block[64:]
		}
	}
	return a + b + c + d
}

// BenchmarkNearestOfChromem asks the same of the embedded vector store
// chromem-go, which spreads over all processors by itself.
func BenchmarkNearestOfChromem(b *testing.B) {
	for _, rows := range benchSizes()[1:] {
		m, queries := benchMatrix(b, rows)
		ctx := context.Background()
		collection, err := chromem.NewDB().CreateCollection("bench", nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		for i := range m.Len() {
			doc := chromem.Document{ID: strconv.Itoa(i), Embedding: m.Row(i)}
			if err := collection.AddDocument(ctx, doc); err != nil {
				b.Fatal(err)
			}
		}
		want := m.Nearest(queries[0], 256, 1, nil)
		got, err := collection.QueryEmbedding(ctx, queries[0], 256, nil, nil)
		if err != nil || len(got) != len(want) || got[0].ID != strconv.Itoa(want[0].Index) {
			b.Fatalf("chromem-go answers %d, %v", len(got), err)
		}
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			b.SetBytes(int64(rows) * benchDim * 4)
			for i := 0; b.Loop(); i++ {
				if _, err := collection.QueryEmbedding(ctx, queries[i%len(queries)], 256, nil, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
