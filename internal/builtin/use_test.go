package builtin

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shared returns the path of a file of the shared test data, or skips the test.
func shared(t testing.TB, elem ...string) string {
	t.Helper()
	root := os.Getenv("JIVAD_SHARED")
	if root == "" {
		dir, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
				break
			}
			up := filepath.Dir(dir)
			if up == dir {
				t.Skip("no go.mod above the test: cannot find the shared data")
			}
			dir = up
		}
		root = filepath.Join(dir, "..", "shared")
	}
	path := filepath.Join(append([]string{root}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("shared test data is absent (set JIVAD_SHARED to its folder): %v", err)
	}
	return path
}

func newModel(t testing.TB) *useModel {
	t.Helper()
	m, err := parseUSE(useBlob)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

func tokenIDs(m *useModel, text string) []int {
	var s lattice
	var out tokens
	m.vocab.tokenize(text, &s, &out)
	ids := make([]int, len(out.ids))
	for i, id := range out.ids {
		ids[i] = int(id)
	}
	return ids
}

func both(t *testing.T, run func(t *testing.T, m *useModel)) {
	m := newModel(t)
	if m.simd {
		t.Run("assembly", func(t *testing.T) { run(t, m) })
	}
	plain := *m
	plain.simd = false
	t.Run("plain", func(t *testing.T) { run(t, &plain) })
}

func TestPublishedVectors(t *testing.T) {
	data, err := os.ReadFile(shared(t, "models", "use-lite", "vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Text   string
		Vector []float32
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 10 {
		t.Fatalf("only %d vectors in the file", len(cases))
	}
	both(t, func(t *testing.T, m *useModel) {
		s := newUSEScratch()
		for _, c := range cases {
			m.vocab.tokenize(c.Text, &s.lattice, &s.toks)
			if c.Text == "" {
				if len(s.toks.ids) != 0 {
					t.Errorf("empty text gave tokens %v", s.toks.ids)
				}
				continue
			}
			got := make([]float32, useDim)
			m.encode(s.toks.ids[:min(useTokens, len(s.toks.ids))], s, got)
			cos := cosine(got, c.Vector)
			t.Logf("%.5f %3d %.40q", cos, len(s.toks.ids), c.Text)
			if !(cos >= 0.995) {
				t.Errorf("cosine %.5f to the published vector of %q, want 0.995 or more", cos, c.Text)
			}
		}
	})
}

func TestEncodeEqualsReference(t *testing.T) {
	text := strings.Repeat("Walked to the wood by moonlight; the frost was hard, and we spoke of nothing but home. ", 8)
	both(t, func(t *testing.T, m *useModel) {
		ref := newReference(m)
		all, _ := ref.encode(strings.TrimSpace(text))
		s := newUSEScratch()
		for _, n := range []int{128, 1, 2, 3, 5, 32, 33} {
			ids := all[:n]
			short := make([]uint16, n)
			for i, id := range ids {
				short[i] = uint16(id)
			}
			got := make([]float32, useDim)
			m.encode(short, s, got)
			if cos := cosine(got, ref.vector(ids)); !(cos > 0.99999) {
				t.Errorf("%d tokens: cosine %.7f to the reference", n, cos)
			}
		}
	})
}
