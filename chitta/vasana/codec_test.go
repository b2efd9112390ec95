package vasana

import (
	"errors"
	"testing"
)

func TestStoredGraphComesBack(t *testing.T) {
	m := life(420, 12, 5, 1)
	g := updated(t, DefaultParams(), m)
	data, err := g.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	back := NewGraph(DefaultParams())
	if err := back.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	if _, err := Detect(back, make([]Point, m.Len()), nil, 1); !errors.Is(err, ErrBehind) {
		t.Errorf("a stored graph was used before it met its rows: %v", err)
	}
	if err := back.Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if edges(back) != edges(g) {
		t.Error("the stored graph differs")
	}
	again, err := back.MarshalBinary()
	if err != nil || string(again) != string(data) {
		t.Errorf("stored again it has other bytes (%v)", err)
	}
}

func TestEveryFlippedBitIsNoticed(t *testing.T) {
	data, err := updated(t, DefaultParams(), life(30, 4, 2, 1)).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		for bit := range 8 {
			data[i] ^= 1 << bit
			g := NewGraph(DefaultParams())
			if err := g.UnmarshalBinary(data); !errors.Is(err, ErrDamaged) {
				t.Fatalf("bit %d of byte %d flipped: %v, want ErrDamaged", bit, i, err)
			}
			if g.Len() != 0 {
				t.Fatal("a damaged graph left something behind")
			}
			data[i] ^= 1 << bit
		}
	}
	for n := range data {
		if err := NewGraph(DefaultParams()).UnmarshalBinary(data[:n]); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut to %d bytes: %v, want ErrDamaged", n, err)
		}
	}
}

func TestGraphOfOtherParametersIsRefused(t *testing.T) {
	data, err := updated(t, DefaultParams(), life(30, 4, 2, 1)).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	p := DefaultParams()
	p.Percentile = 99
	if err := NewGraph(p).UnmarshalBinary(data); !errors.Is(err, ErrOther) {
		t.Errorf("another percentile: %v, want ErrOther", err)
	}
	g := NewGraph(DefaultParams())
	g.UseSource(func(int, float64) []int { return nil })
	if err := g.UnmarshalBinary(data); !errors.Is(err, ErrOther) {
		t.Errorf("an exact graph for one with a source: %v, want ErrOther", err)
	}
	p = DefaultParams()
	p.MinPoints, p.GunaCoherence = 5, 0.5
	if err := NewGraph(p).UnmarshalBinary(data); err != nil {
		t.Errorf("parameters that edges do not depend on: %v", err)
	}
}

// Whatever the bytes, behind a right checksum too: an error or a sound graph.
func FuzzUnmarshal(f *testing.F) {
	data, err := updated(f, DefaultParams(), life(30, 4, 2, 1)).MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data[:len(data)-4])
	f.Fuzz(func(t *testing.T, body []byte) {
		sum := checksum(body)
		g := NewGraph(DefaultParams())
		if g.UnmarshalBinary(append(body[:len(body):len(body)], byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24))) != nil {
			return
		}
		for i, j := range g.Near {
			if j >= i || i >= g.Len() {
				t.Fatalf("edge %d-%d of %d rows", i, j, g.Len())
			}
		}
	})
}
