package fold

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawUnit draws a unit vector. The components come from a coarse grid, so
// that equal similarities and equal rows are frequent.
func drawUnit(t *rapid.T, dim int, label string) []float32 {
	v := rapid.SliceOfN(rapid.IntRange(-3, 3), dim, dim).Draw(t, label)
	unit := make([]float32, dim)
	var sum float64
	for i, x := range v {
		unit[i] = float32(x)
		sum += float64(x * x)
	}
	if sum == 0 {
		unit[0], sum = 1, 1
	}
	for i := range unit {
		unit[i] = float32(float64(unit[i]) / math.Sqrt(sum))
	}
	return unit
}

func appendAll(t testing.TB, m *Matrix, rows [][]float32) {
	t.Helper()
	for i, r := range rows {
		if err := m.Append(r); err != nil {
			t.Fatalf("row %d: %v", i, err)
		}
	}
}

func checkRows(t testing.TB, what string, m *Matrix, want [][]float32) {
	t.Helper()
	if m.Len() != len(want) {
		t.Fatalf("%s: %d rows, want %d", what, m.Len(), len(want))
	}
	for i, r := range want {
		if !slices.Equal(m.Row(i), r) {
			t.Fatalf("%s: row %d is %v, want %v", what, i, m.Row(i), r)
		}
	}
}

func TestCheckVectorNamesTheFault(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for _, c := range []struct {
		name string
		v    []float32
		kind error
		says string
	}{
		{"short", []float32{1}, ErrDimension, "dimension 1 where 3"},
		{"long", []float32{1, 0, 0, 0}, ErrDimension, "dimension 4 where 3"},
		{"none", nil, ErrDimension, "dimension 0 where 3"},
		{"nan", []float32{1, nan, 0}, ErrNotFinite, "component 1"},
		{"infinite", []float32{1, 0, inf}, ErrNotFinite, "component 2"},
		{"zero", []float32{0, 0, 0}, ErrZeroVector, "zero"},
		{"too long", []float32{1.002, 0, 0}, ErrNotUnit, "1.002"},
		{"too short", []float32{0, 0.998, 0}, ErrNotUnit, "0.998"},
		{"huge", []float32{math.MaxFloat32, math.MaxFloat32, 0}, ErrNotUnit, "e+38"},
		{"tiny", []float32{math.SmallestNonzeroFloat32, 0, 0}, ErrNotUnit, "length"},
		{"within tolerance", []float32{1.0009, 0, 0}, nil, ""},
		{"within tolerance below", []float32{0, 0.9991, 0}, nil, ""},
		{"unit", []float32{0.6, 0, -0.8}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := NewMatrix(3)
			for _, err := range []error{CheckVector(c.v, 3), m.Append(c.v)} {
				if c.kind == nil {
					if err != nil {
						t.Fatalf("refused: %v", err)
					}
					continue
				}
				var typed *VectorError
				if !errors.Is(err, c.kind) || !errors.As(err, &typed) || !strings.Contains(err.Error(), c.says) {
					t.Fatalf("error %v, want kind %q saying %q", err, c.kind, c.says)
				}
			}
			if want := map[bool]int{true: 1, false: 0}[c.kind == nil]; m.Len() != want {
				t.Fatalf("%d rows after Append, want %d", m.Len(), want)
			}
			if got := m.Nearest(c.v, 1, 1, nil); c.kind != nil && got != nil {
				t.Fatalf("a refused query has neighbours %v", got)
			}
		})
	}
}

func TestMatrixOfNoDimensionRefusesAll(t *testing.T) {
	for _, dim := range []int{0, -4} {
		m := NewMatrix(dim)
		if err := m.Append([]float32{1}); !errors.Is(err, ErrDimension) {
			t.Errorf("dim %d: %v", dim, err)
		}
		if err := m.Append(nil); !errors.Is(err, ErrZeroVector) {
			t.Errorf("dim %d, empty vector: %v", dim, err)
		}
		if got := m.Nearest(nil, 3, 1, nil); got != nil {
			t.Errorf("dim %d: neighbours %v", dim, got)
		}
	}
}

func TestAppendCopies(t *testing.T) {
	m := NewMatrix(2)
	v := []float32{1, 0}
	if err := m.Append(v); err != nil {
		t.Fatal(err)
	}
	v[0] = 7
	checkRows(t, "after the caller wrote", m, [][]float32{{1, 0}})
	if r := m.Row(0); cap(r) != 2 {
		t.Fatalf("a row has room for %d components: an append to it would write the next row", cap(r))
	}
}

// Any tree of prefixes, appended to in any order, behaves as if each were a
// copy of its own.
func TestPrefixesAreIsolated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const dim = 2
		type pair struct {
			m    *Matrix
			rows [][]float32
		}
		start := pair{m: NewMatrix(dim)}
		// The interesting places are the ends of blocks and of their growth.
		fill := rapid.SampledFrom([]int{0, 1, 7, 8, 9, 255, 256, 257, 300, 511, 512, 600}).Draw(t, "fill")
		angle := 0.0
		next := func() []float32 {
			angle++
			return []float32{float32(math.Cos(angle)), float32(math.Sin(angle))}
		}
		for range fill {
			start.rows = append(start.rows, next())
		}
		for _, r := range start.rows {
			if err := start.m.Append(r); err != nil {
				t.Fatal(err)
			}
		}
		all := []pair{start}
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				i := rapid.IntRange(0, len(all)-1).Draw(t, "matrix")
				for range rapid.SampledFrom([]int{1, 2, 9, 260}).Draw(t, "count") {
					v := next()
					if err := all[i].m.Append(v); err != nil {
						t.Fatal(err)
					}
					all[i].rows = append(all[i].rows, v)
				}
			},
			"prefix": func(t *rapid.T) {
				if len(all) == 8 {
					t.Skip("enough")
				}
				from := all[rapid.IntRange(0, len(all)-1).Draw(t, "matrix")]
				n := rapid.IntRange(-1, len(from.rows)+1).Draw(t, "rows")
				cut := min(max(n, 0), len(from.rows))
				all = append(all, pair{from.m.Prefix(n), slices.Clip(from.rows[:cut])})
			},
			"": func(t *rapid.T) {
				for _, p := range all {
					if p.m.Len() != len(p.rows) {
						t.Fatalf("%d rows, want %d", p.m.Len(), len(p.rows))
					}
					// The last rows are where blocks are cut and shared; further
					// down a look at some of them is enough.
					for i := 0; i < len(p.rows); i++ {
						if i%37 != 0 && i < len(p.rows)-20 && i%blockRows > 2 {
							continue
						}
						if r := p.rows[i]; !slices.Equal(p.m.Row(i), r) {
							t.Fatalf("row %d is %v, want %v", i, p.m.Row(i), r)
						}
					}
				}
			},
		})
	})
}

func TestPrefixSharesMemoryAndSmallStoresAreSmall(t *testing.T) {
	const dim = 512
	v := make([]float32, dim)
	v[3] = 1
	m := NewMatrix(dim)
	for range 10 {
		if err := m.Append(v); err != nil {
			t.Fatal(err)
		}
	}
	if room := cap(m.blocks[0]) / dim; room > 16 {
		t.Errorf("ten rows hold room for %d", room)
	}
	for range 600 {
		if err := m.Append(v); err != nil {
			t.Fatal(err)
		}
	}
	p := m.Prefix(300)
	if &p.Row(299)[0] != &m.Row(299)[0] {
		t.Error("a prefix copied its rows")
	}
	if got := testing.AllocsPerRun(20, func() { m.Prefix(500) }); got > 2 {
		t.Errorf("a prefix takes %v allocations", got)
	}
}

// A prefix may be read while its origin grows: the race detector holds this.
func TestPrefixIsReadBesideAppend(t *testing.T) {
	m := NewMatrix(2)
	appendAll(t, m, slices.Repeat([][]float32{{1, 0}}, 300))
	p := m.Prefix(290)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 50 {
			if got := p.Nearest([]float32{0, 1}, 3, 2, nil); len(got) != 3 || got[0].Similarity != 0 {
				t.Errorf("neighbours %v", got)
			}
		}
	}()
	appendAll(t, m, slices.Repeat([][]float32{{0, 1}}, 400))
	<-done
	checkRows(t, "origin", m, append(slices.Repeat([][]float32{{1, 0}}, 300), slices.Repeat([][]float32{{0, 1}}, 400)...))
}
