package fold_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta/fold"
)

func TestEventsSurviveTheirEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := experience(t, 5)
		params := fold.DefaultParams()
		params.Gate.KBase = rapid.Float64Range(0, 10).Draw(t, "k")
		bodies := []fold.Body{
			x,
			fold.SessionOpened{Number: 4, Date: "0934-12-21"},
			fold.SessionClosed{Number: 4, Reason: "idle"},
			fold.Superseded{Target: 3, Key: x.Key, Embedding: x.Embedding, Embedder: x.Embedder, Judgement: x.Judgement},
			fold.Reassessed{Target: 3, Judgement: x.Judgement},
			fold.ParamsChanged{Params: params},
			fold.EmbedderChanged{Embedder: "e", Dim: 512},
			fold.EmbedderChanged{Embedder: "e", Dim: 512, Stored: rapid.Uint32().Draw(t, "stored"), Digest: [32]byte{3}},
			fold.Excised{IDs: []fold.ID{x.ID}, Keys: []fold.Key{x.Key}, Before: [32]byte{1}, After: [32]byte{2}},
		}
		for _, b := range bodies {
			e := fold.Event{Header: fold.Header{Sequence: 9, Wall: rapid.Int64().Draw(t, "wall"), ClockTrusted: rapid.Bool().Draw(t, "trusted")}, Body: b}
			data, err := fold.Encode(e)
			if err != nil {
				t.Fatal(err)
			}
			got, err := fold.Decode(9, data)
			if err != nil || !reflect.DeepEqual(got, e) {
				t.Fatalf("%T: %+v, %v; want %+v", b, got, err, e)
			}
			for cut := range len(data) { // cut short anywhere, it is refused
				if _, err := fold.Decode(9, data[:cut]); err == nil {
					t.Fatalf("%T cut to %d of %d bytes was read", b, cut, len(data))
				}
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, b := range []fold.Body{fold.SessionOpened{Number: 1}, fold.EmbedderChanged{Embedder: "e", Dim: 3}, fold.EmbedderChanged{Embedder: "e", Dim: 3, Stored: 1, Digest: [32]byte{1}}, fold.Excised{IDs: []fold.ID{}, Keys: []fold.Key{}}, fold.ParamsChanged{Params: fold.DefaultParams()}} {
		data, err := fold.Encode(fold.Event{Body: b})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := fold.Decode(1, data)
		if err != nil {
			return
		}
		again, err := fold.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fold.Decode(1, again); err != nil {
			t.Fatalf("what was read cannot be written and read again: %v", err)
		}
	})
}

func FuzzDecodeState(f *testing.F) {
	s := fold.NewState()
	f.Add(s.Encode(), 0)
	f.Fuzz(func(t *testing.T, data []byte, dim int) {
		if rows, d, err := fold.VectorCount(data); err == nil && rows == 0 && d >= 0 && d < 1<<14 {
			_, _ = fold.DecodeState(data, fold.NewMatrix(d))
		}
		_, _ = fold.DecodeState(data, fold.NewMatrix(3))
	})
}
