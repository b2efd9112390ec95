package fold_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/reactivation"
)

func TestTopForIsARankingOfWhatIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := mustFold(t, fold.NewState(), history(t))
		if s.Dim == 0 {
			t.Skip("no store yet")
		}
		query, k := unit(t, "query"), rapid.IntRange(0, 20).Draw(t, "k")
		before := s.Digest()
		got, err := s.TopFor(query, k)
		if err != nil || len(got) > k || len(got) > len(s.Impressions) {
			t.Fatalf("%d of %d asked for: %v", len(got), k, err)
		}
		seen := map[int]bool{}
		for i, r := range got {
			depth, err := s.Depth(r.Index)
			if err != nil {
				t.Fatal(err)
			}
			if want := depth * max(0, float64(fold.Dot(s.Vectors.Row(r.Index), query))); seen[r.Index] || r.Influence <= 0 || r.Influence != want {
				t.Fatalf("rank %d: %+v, want relevance %v", i, r, want)
			}
			seen[r.Index] = true
		}
		s.Params.Reactivation.MMR = 1 // relevance alone: falling
		plain, err := s.TopFor(query, k)
		if err != nil || len(plain) != len(got) {
			t.Fatalf("%d with variety, %d without: %v", len(got), len(plain), err)
		}
		for i := 1; i < len(plain); i++ {
			if plain[i].Influence > plain[i-1].Influence {
				t.Fatalf("not in order: %+v", plain)
			}
		}
		if len(got) > 0 && got[0] != plain[0] {
			t.Fatalf("the most relevant comes first: %+v, %+v", got[0], plain[0])
		}
		s.Params.Reactivation.MMR = fold.DefaultParams().Reactivation.MMR
		if s.Digest() != before {
			t.Fatal("asking changed the state")
		}
	})
}

// Twelve copies of one thought leave room for another one.
func TestCopiesOfOneThoughtDoNotFillTheContext(t *testing.T) {
	s := fold.NewState()
	seq := uint64(0)
	step := func(b fold.Body) {
		seq++
		e := fold.Event{Header: fold.Header{Sequence: seq}, Body: b}
		if _, err := fold.Step(s, e, near(s, e)); err != nil {
			t.Fatal(err)
		}
	}
	step(fold.EmbedderChanged{Embedder: "test/1", Dim: 3})
	step(fold.SessionOpened{Number: 1})
	query := []float32{1, 0, 0}
	thought, other := []float32{0.8, 0.6, 0}, []float32{0.8, -0.6, 0} // as near to the query, far from each other
	for i := range 13 {
		v := thought
		if i == 6 {
			v = other
		}
		e := fold.Experienced{Embedder: "test/1", Embedding: v, AlwaysCreate: true,
			Judgement: fold.Judgement{Assessor: "t", Intensity: 0.1, Guna: reactivation.Sattva()}}
		e.ID[0], e.Key[0] = byte(i+1), byte(i+1)
		step(e)
	}
	for i := range s.Impressions {
		s.Impressions[i].Reinforcement = 1
	}
	s.Impressions[6].Reinforcement = 0.8 // the least relevant of all, and still it is wanted
	got, err := s.TopFor(query, 4)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, r := range got {
		found = found || r.Index == 6
	}
	if !found {
		t.Errorf("the other thought is not among %+v", got)
	}
	if _, err := s.TopFor([]float32{0, 0, 0}, 4); !errors.Is(err, fold.ErrZeroVector) {
		t.Errorf("a zero query: %v", err)
	}
}
