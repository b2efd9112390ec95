package chitta_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// embedders are those that the tests change between; the first is that of experience.
var embedders = []struct {
	id  string
	dim int
}{{"test/1", dim}, {"other/1", 5}, {"test/2", dim}, {"wide/1", 700}}

// vectorBy is the vector that an embedder gives the wording of a seed.
func vectorBy(seed uint64, by int) []float32 {
	if by == 0 {
		return experience(seed).Embedding
	}
	r := rand.New(rand.NewPCG(seed, uint64(100+by)))
	v := make([]float32, embedders[by].dim)
	var n float64
	for i := range v {
		v[i] = float32(r.NormFloat64())
		n += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(n))
	}
	return v
}

// bits are a vector's bytes as files hold them.
func bits(v []float32) (b []byte) {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func experienceBy(seed uint64, by int) fold.Experienced {
	x := experience(seed)
	x.Embedder, x.Embedding = embedders[by].id, vectorBy(seed, by)
	return x
}

// textless tells of wordings whose text is not kept, so that they get no new vector.
func textless(seed uint64) bool { return seed%6 == 5 }

// reembedding changes to an embedder; wording says what the entries are now.
func reembedding(by int, wording map[uint64]uint64) chitta.Reembedding {
	return chitta.Reembedding{
		Embedder: embedders[by].id, Dim: embedders[by].dim,
		Vector: func(_ context.Context, seq uint64) ([]float32, error) {
			if seed := wording[seq]; !textless(seed) {
				return vectorBy(seed, by), nil
			}
			return nil, nil
		},
	}
}

// entries writes one session of entries and ends it; it returns their wordings.
func entries(t testing.TB, s *chitta.Store, n int) map[uint64]uint64 {
	t.Helper()
	wording := map[uint64]uint64{}
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	for i := range uint64(n) {
		wording[mustAppend(t, s, chitta.Entry{Body: experience(i), Text: text(i)})[0].Sequence] = i
	}
	mustAppend(t, s, chitta.Entry{Body: fold.SessionClosed{Number: 1}})
	return wording
}

// What is there stays as it is under new vectors, texts and records too, and a
// start finds the same.
func TestReembedLeavesWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	wording := entries(t, s, 500)
	src := chitta.Source{Path: "diary.md", Entries: []chitta.SourceEntry{{Key: experience(3).Key, Sequence: 5}}}
	if _, err := s.Append(t.Context(), chitta.Batch{Values: []chitta.Value{{Name: "a", Data: []byte("1")}, {Name: "b", Data: []byte("2")}, {Name: "c", Data: []byte("3")}}, Sources: []chitta.Source{src}}); err != nil {
		t.Fatal(err)
	}
	before := s.Snapshot()
	x := reembedding(3, wording)
	x.Values = []chitta.Value{{Name: "b", Data: []byte("new")}, {Name: "c"}, {Name: "d", Data: []byte("4")}}
	r, err := s.Reembed(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	look := func(when string) {
		t.Helper()
		after := s.Snapshot()
		unplaced := 0
		for i, m := range after.Impressions {
			seed := wording[m.Sequence]
			if m.Unplaced != textless(seed) {
				t.Fatalf("%s: impression %d has a place: %v", when, i, !m.Unplaced)
			}
			if m.Unplaced {
				unplaced++
			} else if string(bits(after.Vectors.Row(i))) != string(bits(vectorBy(seed, 3))) {
				t.Fatalf("%s: impression %d has another vector", when, i)
			}
			m.Unplaced = false
			if m != before.Impressions[i] {
				t.Fatalf("%s: impression %d was %+v and is %+v", when, i, before.Impressions[i], m)
			}
			if b, err := s.TextOf(m.Sequence); err != nil || b.Body != text(seed).Body {
				t.Fatalf("%s: text of %d: %v", when, i, err)
			}
			if seq, ok := s.Has(m.Key); !ok || seq != m.Sequence {
				t.Fatalf("%s: entry %d is not known", when, i)
			}
		}
		if unplaced != r.Unplaced || unplaced == 0 || r.After != after.Digest() || after.Sequence != r.Sequence {
			t.Fatalf("%s: %+v, %d without a place", when, r, unplaced)
		}
		for name, want := range map[string]string{"a": "1", "b": "new", "c": "", "d": "4"} {
			if got, err := s.Value(name); string(got) != want || (want == "") != errors.Is(err, chitta.ErrNotFound) {
				t.Errorf("%s: record %s is %q, %v", when, name, got, err)
			}
		}
		if got, err := s.SourceAt("diary.md"); err != nil || len(got.Entries) != 1 || got.Entries[0] != src.Entries[0] {
			t.Errorf("%s: %+v, %v", when, got, err)
		}
		v, err := s.Verify(t.Context(), chitta.VerifyOptions{Full: true})
		if err != nil || !v.OK() {
			t.Fatalf("%s: %v %+v", when, err, v)
		}
	}
	look("at once")
	if want := len(before.Impressions) + len(before.Links); r.Stored >= want || r.Stored < want*3/4 || r.Before != before.Digest() {
		t.Errorf("%+v of %d", r, want)
	}
	for _, caches := range []bool{true, false} {
		if err := s.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if !caches {
			if err := os.RemoveAll(filepath.Join(dir, "cache")); err != nil {
				t.Fatal(err)
			}
		}
		s = open(t, dir, func(o *chitta.Options) { o.Embedder, o.Dim = embedders[3].id, embedders[3].dim })
		look(fmt.Sprintf("after a start, with caches: %v", caches))
		if at := s.Start().Snapshot; (at == r.Sequence) != caches {
			t.Errorf("it started from %d", at)
		}
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	_, err = chitta.Open(t.Context(), chitta.Options{Dir: dir, Embedder: "test/1", Dim: dim})
	if !errors.Is(err, chitta.ErrEmbedder) {
		t.Fatalf("the old embedder: %v", err)
	}
	for _, part := range []string{"wide/1 (700 dimensions)", "test/1 (16 dimensions)", "jivad reembed"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

// An edit or a new judgement of an entry from before a change of embedder gives
// what the entry would have given, had it said so at once: with the vector that
// its words had then, and the new words' vector from the change on.
func TestEditsAcrossReembed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 25).Draw(rt, "entries")
		target := rapid.IntRange(0, n-1).Draw(rt, "target")
		by := rapid.IntRange(1, 2).Draw(rt, "embedder")
		early, late := rapid.Bool().Draw(rt, "edited before"), rapid.Bool().Draw(rt, "edited after")
		judged := rapid.Bool().Draw(rt, "judged after") || !late
		restart := rapid.Bool().Draw(rt, "restart")

		vectorOf, wordsOf, judgedAs := uint64(target), uint64(target), uint64(target)
		if early {
			vectorOf, wordsOf, judgedAs = 1000, 1000, 1000
		}
		rowOf := wordsOf
		if late {
			wordsOf, rowOf, judgedAs = 2000, 2000, 2000
		}
		if judged {
			judgedAs = 3000
		}
		life := func(said bool) [32]byte {
			dir := mkdir(rt)
			defer os.RemoveAll(dir) //nolint:errcheck // of a test
			o := chitta.Options{Dir: dir, Embedder: "test/1", Dim: dim, SnapshotEvery: rapid.IntRange(2, 40).Draw(rt, "snapshots")}
			s, err := chitta.Open(context.Background(), o)
			if err != nil {
				rt.Fatal(err)
			}
			do := func(bodies ...fold.Body) uint64 {
				var list []chitta.Entry
				for _, b := range bodies {
					list = append(list, chitta.Entry{Body: b})
				}
				r, err := s.Append(context.Background(), chitta.Batch{Entries: list})
				if err != nil {
					rt.Fatal(err)
				}
				return r[len(r)-1].Sequence
			}
			wording := map[uint64]uint64{}
			var at uint64
			for i := range n {
				x := experience(uint64(i))
				if i%4 == 0 {
					if i > 0 {
						do(fold.SessionClosed{Number: uint32(i / 4)})
					}
					do(fold.SessionOpened{Number: uint32(i/4 + 1)})
				}
				if i == target && said {
					x.Key, x.Judgement, x.Embedding = experience(wordsOf).Key, experience(judgedAs).Judgement, vectorBy(vectorOf, 0)
				}
				seq := do(x)
				wording[seq] = uint64(i)
				if i == target {
					at = seq
				}
			}
			do(fold.SessionClosed{Number: uint32((n-1)/4 + 1)})
			edit := func(seed uint64, by int) {
				x := experienceBy(seed, by)
				do(fold.Superseded{Target: at, Key: x.Key, Embedding: x.Embedding, Embedder: x.Embedder, Judgement: x.Judgement})
			}
			if early && !said {
				edit(1000, 0)
				wording[at] = 1000
			}
			if said {
				wording[at] = rowOf
			}
			x := reembedding(by, wording)
			if late { // an edit brings a vector, also where the text was not kept before
				given := x.Vector
				x.Vector = func(ctx context.Context, seq uint64) ([]float32, error) {
					if said && seq == at {
						return vectorBy(2000, by), nil
					}
					return given(ctx, seq)
				}
			}
			if _, err := s.Reembed(context.Background(), x); err != nil {
				rt.Fatal(err)
			}
			if restart {
				o.Embedder, o.Dim = embedders[by].id, embedders[by].dim
				if err := s.Close(context.Background()); err != nil {
					rt.Fatal(err)
				}
				if s, err = chitta.Open(context.Background(), o); err != nil {
					rt.Fatal(err)
				}
			}
			do(fold.SessionOpened{Number: uint32((n-1)/4 + 2)}, experienceBy(4000, by))
			if late && !said {
				edit(2000, by)
			}
			if judged && !said {
				do(fold.Reassessed{Target: at, Judgement: experience(3000).Judgement})
			}
			do(experienceBy(4001, by))
			v, err := s.Verify(context.Background(), chitta.VerifyOptions{Full: true})
			if err != nil || !v.OK() {
				rt.Fatalf("%v: %+v", err, v.Findings)
			}
			if err := s.Close(context.Background()); err != nil {
				rt.Fatal(err)
			}
			return v.Digest
		}
		if life(false) != life(true) {
			rt.Fatal("the edited store is not the one that said so at once")
		}
	})
}

// What is no vector is refused by its kind, and nothing has changed.
func TestReembedRefusals(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	wording := entries(t, s, 30)
	before := digest(s)
	failing := errors.New("no")
	of := func(change func(v []float32) []float32) chitta.Reembedding {
		x := reembedding(2, wording)
		given, n := x.Vector, 0
		x.Vector = func(ctx context.Context, seq uint64) ([]float32, error) {
			v, err := given(ctx, seq)
			if n++; n == 20 {
				v = change(vectorBy(1, 2))
				if v == nil {
					err = failing
				}
			}
			return v, err
		}
		return x
	}
	for name, c := range map[string]struct {
		x    chitta.Reembedding
		want error
	}{
		"zeros":           {of(func(v []float32) []float32 { clear(v); return v }), fold.ErrZeroVector},
		"NaN":             {of(func(v []float32) []float32 { v[3] = float32(math.NaN()); return v }), fold.ErrNotFinite},
		"infinity":        {of(func(v []float32) []float32 { v[0] = float32(math.Inf(1)); return v }), fold.ErrNotFinite},
		"too short":       {of(func(v []float32) []float32 { return v[:dim-1] }), fold.ErrDimension},
		"empty":           {of(func([]float32) []float32 { return []float32{} }), fold.ErrDimension},
		"not unit":        {of(func(v []float32) []float32 { v[0] += 2; return v }), fold.ErrNotUnit},
		"failed embedder": {of(func([]float32) []float32 { return nil }), failing},
		"no dimension":    {chitta.Reembedding{Embedder: "x", Vector: of(nil).Vector}, fold.ErrEvent},
		"no name":         {chitta.Reembedding{Dim: 3, Vector: of(nil).Vector}, fold.ErrEvent},
	} {
		if _, err := s.Reembed(t.Context(), c.x); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*rewrite*")); digest(s) != before || len(left) > 0 {
			t.Errorf("%s: it has changed something: %v", name, left)
		}
	}
	for _, b := range []fold.Body{
		fold.EmbedderChanged{Embedder: "x", Dim: 3},
		fold.EmbedderChanged{Embedder: "x", Dim: 3, Rows: fold.NewMatrix(3)},
		fold.EmbedderChanged{Embedder: "test/1", Dim: dim, Rows: s.Snapshot().Vectors},
		fold.EmbedderChanged{Embedder: "test/1", Dim: dim, Digest: [32]byte{1}},
	} {
		if _, err := s.Append(t.Context(), chitta.Batch{Entries: []chitta.Entry{{Body: b}}}); err == nil {
			t.Errorf("appended: %+v", b)
		}
	}
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 2}}, chitta.Entry{Body: experience(900)})
	before = digest(s)
	if _, err := s.Reembed(t.Context(), reembedding(2, wording)); !errors.Is(err, fold.ErrSession) || digest(s) != before {
		t.Errorf("with an open session: %v", err)
	}
	for _, stage := range []string{"vectors", "write"} {
		mustAppend(t, s, chitta.Entry{Body: fold.SessionClosed{Number: 2}})
		ctx, cancel := context.WithCancel(t.Context())
		x := reembedding(2, wording)
		x.Progress = func(now string, done, _ uint64) {
			if now == stage && done > 10 {
				cancel()
			}
		}
		if _, err := s.Reembed(ctx, x); !errors.Is(err, context.Canceled) {
			t.Errorf("given up in %s: %v", stage, err)
		}
		cancel()
		mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 2}})
		if left, _ := filepath.Glob(filepath.Join(dir, "*rewrite*")); digest(s) != before || len(left) > 0 {
			t.Errorf("given up in %s: it has changed something: %v", stage, left)
		}
	}
}

// copyFiles is what a power cut leaves: every file as it is at this moment.
func copyFiles(t testing.TB, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// Whenever the process is killed, what is found is the store with the old vectors
// or the one with the new, and both are whole.
func TestReembedKilledAnywhere(t *testing.T) {
	dir, cuts := t.TempDir(), t.TempDir()
	s := open(t, dir, nil)
	wording := entries(t, s, 40)
	old := digest(s)
	n := 0
	cut := func() {
		copyFiles(t, dir, filepath.Join(cuts, fmt.Sprint(n)))
		n++
	}
	x := reembedding(3, wording)
	x.Progress = func(string, uint64, uint64) { cut() }
	r, err := s.Reembed(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	during := n
	cut()
	// The new database in its place, caches of before still there and none of its own.
	copyFiles(t, dir, filepath.Join(cuts, fmt.Sprint(n)))
	if err := os.Rename(filepath.Join(cuts, fmt.Sprint(n), "cache", "1"), filepath.Join(cuts, fmt.Sprint(n), "cache", "0")); err != nil {
		t.Fatal(err)
	}
	n++
	if during < 60 {
		t.Fatalf("only %d moments", during)
	}
	for i := range n {
		at := filepath.Join(cuts, fmt.Sprint(i))
		s, err := chitta.Open(t.Context(), chitta.Options{Dir: at})
		if err != nil {
			t.Fatalf("moment %d: %v", i, err)
		}
		want := r.After
		if i < during {
			want = old
		}
		v, err := s.Verify(t.Context(), chitta.VerifyOptions{Full: true})
		if err != nil || !v.OK() || v.Digest != want {
			t.Errorf("moment %d of %d: %v %+v", i, during, err, v)
		}
		if left, _ := filepath.Glob(filepath.Join(at, "*rewrite*")); len(left) > 0 {
			t.Errorf("moment %d: left behind: %v", i, left)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := os.RemoveAll(at); err != nil {
			t.Fatal(err)
		}
	}
}
