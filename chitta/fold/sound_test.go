package fold_test

import (
	"errors"
	"testing"

	"github.com/jivad/jivad/chitta/fold"
)

// An embedder may change while a session stands open that has no events yet, or
// before one goes on: its sum has the new dimension then.
func TestTheEmbedderChangesBeforeTheFirstEvent(t *testing.T) {
	one := fold.Experienced{ID: fold.ID{1}, Embedder: "b/1", Embedding: []float32{0, 0, 1}}
	one.Judgement.Assessor, one.Judgement.Guna.Sattva = "test", 1
	for name, bodies := range map[string][]fold.Body{
		"while it is open":  {fold.SessionOpened{Number: 1}, fold.EmbedderChanged{Embedder: "b/1", Dim: 3}, one},
		"before it goes on": {fold.SessionOpened{Number: 1}, fold.SessionClosed{Number: 1}, fold.EmbedderChanged{Embedder: "b/1", Dim: 3}, fold.SessionOpened{Number: 1}, one},
	} {
		s := fold.NewState()
		for i, b := range append([]fold.Body{fold.EmbedderChanged{Embedder: "a/1", Dim: 2}}, bodies...) {
			if _, err := fold.Step(s, fold.Event{Header: fold.Header{Sequence: uint64(i + 1)}, Body: b}, nil); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if c := s.Session.Centroid(); len(c) != 3 || c[2] != 1 {
			t.Errorf("%s: centroid %v", name, c)
		}
	}
}

// A snapshot whose parts lead to impressions that are not there is refused.
func TestAStateThatLeadsNowhereIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(*fold.State){
		"context": func(s *fold.State) { s.Session.Context = []uint32{0, 1 << 31} },
		"link":    func(s *fold.State) { s.Links = append(s.Links, fold.Link{Acted: []uint32{uint32(len(s.Impressions))}}) },
		"sum":     func(s *fold.State) { s.Session.Sum = s.Session.Sum[1:] },
		"no sum":  func(s *fold.State) { s.Session.Sum = nil },
	} {
		s := mustFold(t, fold.NewState(), seedHistory())
		if _, err := fold.DecodeState(s.Encode(), s.Vectors); err != nil {
			t.Fatal(err)
		}
		spoil(s)
		if _, err := fold.DecodeState(s.Encode(), s.Vectors); !errors.Is(err, fold.ErrDecode) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
