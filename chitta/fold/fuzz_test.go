package fold_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta/fold"
)

// seedHistory is a log with every kind of event that folds.
func seedHistory() []fold.Event {
	return rapid.Custom(func(t *rapid.T) []fold.Event { return history(t) }).Filter(func(log []fold.Event) bool { return len(log) > 12 }).Example(7)
}

// Whatever bytes stand in the log: they are an event or refused, what is read is
// written back to the same bytes from then on, and it folds or is refused without
// a change to the state.
func FuzzEvent(f *testing.F) {
	log := seedHistory()
	x := fold.Experienced{}
	for _, e := range log {
		data, err := fold.Encode(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		if b, ok := e.Body.(fold.Experienced); ok {
			x = b
		}
	}
	for _, b := range []fold.Body{
		fold.Superseded{Target: 3, Key: x.Key, Embedding: x.Embedding, Embedder: x.Embedder, Judgement: x.Judgement},
		fold.Reassessed{Target: 3, Judgement: x.Judgement}, fold.ParamsChanged{Params: fold.DefaultParams()},
		fold.Excised{IDs: []fold.ID{x.ID}, Keys: []fold.Key{x.Key}}, fold.ModelChanged{Model: "a:b", Digest: "cd"},
	} {
		data, err := fold.Encode(fold.Event{Body: b})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := fold.Decode(uint64(len(log)+1), data)
		if err != nil {
			return
		}
		again, err := fold.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		same, err := fold.Decode(e.Sequence, again)
		if err != nil {
			t.Fatalf("what was read cannot be written and read again: %v", err)
		}
		if third, err := fold.Encode(same); err != nil || !bytes.Equal(third, again) {
			t.Fatalf("written a second time it is other bytes: %v", err)
		}
		var all fold.Amendments
		all.Add(e)
		s := mustFold(t, fold.NewState(), log)
		before := s.Digest()
		var candidates []fold.Candidate
		if x, ok := e.Body.(fold.Experienced); ok && len(x.Embedding) == s.Dim {
			candidates = near(s, e)
		}
		if _, err := fold.Step(s, all.Resolve(e), candidates); err != nil && s.Digest() != before {
			t.Fatalf("refused, and the state has changed: %v", err)
		}
	})
}

// Whatever bytes a snapshot holds: they are a state or refused, and a state that
// is read can be used.
func FuzzState(f *testing.F) {
	f.Add(fold.NewState().Encode())
	s := mustFold(f, fold.NewState(), seedHistory())
	f.Add(s.Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, d, err := fold.VectorCount(data)
		const most = 64
		if err != nil || rows > most || d < 0 || d > most {
			rows, d = 0, 0
		}
		vectors := fold.NewMatrix(d)
		v := make([]float32, d)
		for range rows {
			if d == 0 {
				return
			}
			v[0] = 1
			if err := vectors.Append(v); err != nil {
				t.Fatal(err)
			}
		}
		s, err := fold.DecodeState(data, vectors)
		if err != nil {
			return
		}
		_ = s.Clone()
		_, _ = s.Load()
		_, _ = s.Top(5)
		_ = s.Session.Centroid()
		for i := range s.Impressions {
			_, _ = s.Depth(i)
			_ = s.Age(i)
		}
		same, err := fold.DecodeState(s.Encode(), vectors)
		if err != nil || same.Digest() != s.Digest() {
			t.Fatalf("written and read again it is another: %v", err)
		}
		if found, _ := fold.Difference(s, same, 0, 3); len(found) > 0 {
			t.Fatalf("%v", found)
		}
	})
}
