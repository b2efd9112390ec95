package fold_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta/fold"
)

const newDim = 5

// rowsFor draws new vectors for the impressions of s; some have none.
func rowsFor(t *rapid.T, s *fold.State) *fold.Matrix {
	m := fold.NewMatrix(newDim)
	for range s.Impressions {
		if rapid.IntRange(0, 3).Draw(t, "unplaced") == 0 {
			m.AppendUnplaced()
			continue
		}
		v := unit(t, "new")[:newDim]
		copy(v, []float32{0.6, 0, 0, 0, 0.8})
		swap := rapid.IntRange(0, 3).Draw(t, "turn")
		v[0], v[swap] = v[swap], v[0]
		if err := m.Append(v); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// migrated draws a state that was lived, then given new vectors; before is the
// state that it had.
func migrated(t *rapid.T) (before, after *fold.State, changed fold.Event) {
	s := mustFold(t, fold.NewState(), history(t))
	if s.Session.Open {
		mustFold(t, s, []fold.Event{{Header: fold.Header{Sequence: s.Sequence + 1}, Body: fold.SessionClosed{Number: s.Session.Number}}})
	}
	before = s.Clone()
	changed = fold.Event{Header: fold.Header{Sequence: s.Sequence + 1}, Body: fold.EmbedderChanged{Embedder: "test/2", Dim: newDim, Rows: rowsFor(t, s)}}
	return before, mustFold(t, s, []fold.Event{changed}), changed
}

// later draws what is lived under the new embedder.
func later(t *rapid.T, s *fold.State) []fold.Event {
	var log []fold.Event
	seq, number := s.Sequence, s.Session.Number
	add := func(b fold.Body) {
		seq++
		log = append(log, fold.Event{Header: fold.Header{Sequence: seq}, Body: b})
	}
	if number > 0 && rapid.Bool().Draw(t, "take up") {
		number-- // the last session goes on
	}
	for n := range rapid.IntRange(1, 12).Draw(t, "later") {
		if n == 0 || rapid.IntRange(0, 3).Draw(t, "close") == 0 {
			if n > 0 {
				add(fold.SessionClosed{Number: number})
			}
			number++
			add(fold.SessionOpened{Number: number, Date: "2026-03-01"})
		}
		x := experience(t, 5000+n)
		x.Embedder, x.Embedding = "test/2", []float32{0.8, 0, 0, 0.6, 0}
		if swap := rapid.IntRange(0, 4).Draw(t, "turn"); swap != 3 {
			x.Embedding[0], x.Embedding[swap] = x.Embedding[swap], x.Embedding[0]
		}
		add(x)
	}
	return log
}

// A new embedder leaves every impression what it is; only its vector is another.
func TestANewEmbedderLeavesCharactersAsTheyAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after, e := migrated(t)
		rows := e.Body.(fold.EmbedderChanged).Rows
		sum := 0
		if after.Session.Number > 0 { // it may be taken up again
			sum = newDim
		}
		if after.Embedder != "test/2" || after.Dim != newDim || len(after.Session.Sum) != sum || after.Session.Centroid() != nil {
			t.Fatalf("%s, %d dimensions, sum of %d", after.Embedder, after.Dim, len(after.Session.Sum))
		}
		for i, m := range after.Impressions {
			m.Unplaced = false
			if m != before.Impressions[i] {
				t.Fatalf("impression %d was %+v and is %+v", i, before.Impressions[i], m)
			}
			was, _ := before.Depth(i)
			if is, _ := after.Depth(i); is != was {
				t.Fatalf("depth %v and %v", was, is)
			}
			if after.Impressions[i].Unplaced != rows.Unplaced(i) || !slices.Equal(after.Vectors.Row(i), rows.Row(i)) {
				t.Fatalf("impression %d has another vector than it was given", i)
			}
		}
		if len(before.Impressions) > 0 && before.VectorDigest == after.VectorDigest {
			t.Fatal("the digest does not tell the vectors apart")
		}
	})
}

// The fold goes on after the change as ever, and may be cut anywhere into a
// snapshot, whose vectors must be the ones that belong to it.
func TestTheFoldGoesOnUnderTheNewEmbedder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, s, _ := migrated(t)
		log := later(t, s)
		whole := mustFold(t, s.Clone(), log)
		cut := rapid.IntRange(0, len(log)).Draw(t, "cut")
		first := mustFold(t, s, log[:cut])
		decoded, err := fold.DecodeState(first.Encode(), first.Vectors.Prefix(first.Vectors.Len()))
		if err != nil {
			t.Fatal(err)
		}
		second := mustFold(t, decoded, log[cut:])
		if found, n := fold.Difference(whole, second, 0, 3); n > 0 || whole.Digest() != second.Digest() {
			t.Fatalf("%d differences: %v", n, found)
		}
		if i := slices.IndexFunc(first.Impressions, func(m fold.Samskara) bool { return m.Unplaced }); i >= 0 {
			other := fold.NewMatrix(newDim)
			for range first.Impressions {
				if err := other.Append([]float32{1, 0, 0, 0, 0}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := fold.DecodeState(first.Encode(), other); !errors.Is(err, fold.ErrDecode) {
				t.Fatalf("joined to vectors that are not its own: %v", err)
			}
		}
	})
}

// What has no place is never woken nor brushed, whatever comes; it fades with
// the sessions like everything else.
func TestTheUnplacedOnlyFade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, s, _ := migrated(t)
		unplaced := map[int]fold.Samskara{}
		depths := map[int]float64{}
		for i, m := range s.Impressions {
			if m.Unplaced {
				unplaced[i] = m
				depths[i], _ = s.Depth(i)
			}
		}
		if len(unplaced) == 0 {
			t.Skip("all have a place")
		}
		number := s.Session.Number
		for _, e := range later(t, s) {
			out, err := fold.Step(s, e, near(s, e))
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range slices.Concat(out.Fired, out.Softened, out.Suppressed) {
				if _, ok := unplaced[int(i)]; ok {
					t.Fatalf("impression %d was touched", i)
				}
			}
			x, ok := e.Body.(fold.Experienced)
			if !ok {
				continue
			}
			found, err := s.TopFor(x.Embedding, 5)
			if err != nil || slices.ContainsFunc(found, func(r fold.Ranked) bool { return s.Impressions[r.Index].Unplaced }) {
				t.Fatalf("brought to mind: %v, %v", found, err)
			}
		}
		for i, was := range unplaced {
			if s.Impressions[i] != was {
				t.Fatalf("impression %d was %+v and is %+v", i, was, s.Impressions[i])
			}
			if d, _ := s.Depth(i); d > depths[i] || s.Session.Number > number && d == depths[i] {
				t.Fatalf("impression %d: depth %v, then %v", i, depths[i], d)
			}
		}
	})
}

// Vectors that do not belong to the state are refused, and nothing has changed.
func TestVectorsOfAnotherStateAreRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := mustFold(t, fold.NewState(), history(t))
		if len(s.Impressions) == 0 {
			t.Skip("nothing was lived")
		}
		before := s.Digest()
		refuse := func(b fold.EmbedderChanged, want error) {
			if _, err := fold.Step(s, fold.Event{Header: fold.Header{Sequence: s.Sequence + 1}, Body: b}, nil); !errors.Is(err, want) {
				t.Fatalf("%v, want %v", err, want)
			}
			if s.Digest() != before {
				t.Fatal("a refused change changed the state")
			}
		}
		good := fold.EmbedderChanged{Embedder: "test/2", Dim: newDim, Rows: rowsFor(t, s)}
		if s.Session.Open {
			refuse(good, fold.ErrSession)
			mustFold(t, s, []fold.Event{{Header: fold.Header{Sequence: s.Sequence + 1}, Body: fold.SessionClosed{Number: s.Session.Number}}})
			before = s.Digest()
		}
		refuse(fold.EmbedderChanged{Embedder: "test/2", Dim: newDim}, fold.ErrEmbedder)
		refuse(fold.EmbedderChanged{Embedder: "test/2", Dim: newDim + 1, Rows: good.Rows}, fold.ErrEmbedder)
		refuse(fold.EmbedderChanged{Embedder: "test/2", Dim: newDim, Rows: good.Rows.Prefix(good.Rows.Len() - 1)}, fold.ErrEmbedder)
		mustFold(t, s, []fold.Event{{Header: fold.Header{Sequence: s.Sequence + 1}, Body: good}})
		unplaced := slices.IndexFunc(s.Impressions, func(m fold.Samskara) bool { return m.Unplaced })
		if unplaced < 0 || s.Vectors.Placed() == 0 {
			return
		}
		mustFold(t, s, []fold.Event{{Header: fold.Header{Sequence: s.Sequence + 1}, Body: fold.SessionOpened{Number: s.Session.Number + 1}}})
		x := experience(t, 6000)
		x.Embedder, x.Embedding = "test/2", []float32{1, 0, 0, 0, 0}
		e := fold.Event{Header: fold.Header{Sequence: s.Sequence + 1}, Body: x}
		c := near(s, e)
		c[len(c)-1].Index = unplaced
		if _, err := fold.Step(s, e, c); !errors.Is(err, fold.ErrCandidates) {
			t.Fatalf("a candidate without a vector: %v", err)
		}
	})
}

// An edit under another embedder changes words and judgement at the old place and
// the vector where the embedder changed to its own, not later than that.
func TestEditsAcrossAChangeOfEmbedder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		original := fold.Event{Header: fold.Header{Sequence: 7}, Body: experience(t, 1)}
		edit := func(n int, embedder string) fold.Superseded {
			x := experience(t, n)
			return fold.Superseded{Target: 7, Key: x.Key, Embedding: x.Embedding, Embedder: embedder, Judgement: x.Judgement}
		}
		a1, b1, c1 := edit(2, "test/1"), edit(3, "test/2"), edit(4, "test/3")
		toB, toC := fold.EmbedderChanged{Embedder: "test/2", Dim: dim}, fold.EmbedderChanged{Embedder: "test/3", Dim: dim}
		var a fold.Amendments
		look := func(when string, words fold.Superseded, at, afterB, afterC []float32) {
			t.Helper()
			x := a.Resolve(original).Body.(fold.Experienced)
			if x.Key != words.Key || x.Judgement != words.Judgement || x.Embedder != "test/1" {
				t.Fatalf("%s: the words are not the last", when)
			}
			if !slices.Equal(x.Embedding, at) {
				t.Fatalf("%s: another vector at the place", when)
			}
			if !slices.Equal(a.VectorSince(7, 20, toB), afterB) || !slices.Equal(a.VectorSince(7, 40, toC), afterC) {
				t.Fatalf("%s: other vectors after the changes", when)
			}
		}
		add := func(seq uint64, b fold.Body) { a.Add(fold.Event{Header: fold.Header{Sequence: seq}, Body: b}) }
		add(10, a1)
		look("before any change", a1, a1.Embedding, nil, nil)
		add(30, b1) // the store changed to test/2 at 20
		look("after the first change", b1, a1.Embedding, b1.Embedding, nil)
		before := a.Clone()
		add(50, c1) // and to test/3 at 40
		look("after the second change", c1, a1.Embedding, b1.Embedding, c1.Embedding)
		if v := a.VectorSince(7, 45, toB); v != nil {
			t.Fatal("a wording of before the change, where the change has a newer one")
		}
		if before.VectorSince(7, 40, toC) != nil {
			t.Fatal("the clone knows of what came after it")
		}
		add(60, fold.Reassessed{Target: 7, Judgement: a1.Judgement})
		c1.Judgement = a1.Judgement
		look("judged again", c1, a1.Embedding, b1.Embedding, c1.Embedding)
	})
}

// Rows without a vector keep their numbers and are near nothing; a prefix and what
// is appended to it later know nothing of each other.
func TestRowsWithoutAVector(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 700).Draw(t, "rows") // several blocks
		every := rapid.IntRange(1, 9).Draw(t, "unplaced")
		offset := rapid.IntRange(0, 8).Draw(t, "offset")
		m := fold.NewMatrix(dim)
		rows := make([][]float32, n)
		for i := range rows {
			if (i+offset)%every == 0 {
				m.AppendUnplaced()
				continue
			}
			rows[i] = make([]float32, dim)
			rows[i][(i*7)%dim], rows[i][(i*7+1+i%3)%dim] = 0.6, 0.8
			if err := m.Append(rows[i]); err != nil {
				t.Fatal(err)
			}
		}
		cut := rapid.IntRange(0, n).Draw(t, "cut")
		p := m.Prefix(cut)
		p.AppendUnplaced()
		same := func(m *fold.Matrix, rows [][]float32) {
			t.Helper()
			placed := 0
			for i, r := range rows {
				if !slices.Equal(m.Row(i), r) || m.Unplaced(i) != (r == nil) || (m.Row(i) == nil) != (r == nil) {
					t.Fatalf("row %d is %v, want %v", i, m.Row(i), r)
				}
				if r != nil {
					placed++
				}
			}
			if m.Len() != len(rows) || m.Placed() != placed {
				t.Fatalf("%d rows, %d placed, want %d and %d", m.Len(), m.Placed(), len(rows), placed)
			}
			query := unit(t, "query")
			found := m.Nearest(query, len(rows), rapid.IntRange(1, 3).Draw(t, "workers"), nil)
			if len(found) != placed {
				t.Fatalf("%d found of %d", len(found), placed)
			}
			all := make([]uint32, len(rows))
			for i := range all {
				all[i] = uint32(i)
			}
			if !slices.Equal(found, m.NearestAmong(query, len(rows), nil, all)) {
				t.Fatal("two ways to search differ")
			}
			for _, c := range found {
				if rows[c.Index] == nil || c.Similarity != float64(fold.Dot(query, rows[c.Index])) {
					t.Fatalf("found %+v", c)
				}
			}
		}
		same(m, rows)
		same(p, append(slices.Clone(rows[:cut]), nil))
	})
}
