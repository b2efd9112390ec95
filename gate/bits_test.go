package gate_test

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"testing"

	"github.com/jivad/jivad/gate"
)

// wantBits is the digest of a hundred readings; it is the same on every
// processor, and changes only with the mathematics.
const wantBits = 0xf0a0c9ef4c87f409

func TestBitsAreTheSameEverywhere(t *testing.T) {
	digest := fnv.New64a()
	seed := uint64(1)
	draw := func() float64 { // a linear congruential generator: the same everywhere
		seed = seed*6364136223846793005 + 1442695040888963407
		return float64(seed>>11) / (1 << 53)
	}
	for range 100 {
		s := make([]float64, 1+int(256*draw()))
		for i := range s {
			s[i] = 0.2 + float64(0.6*draw())
		}
		r := read(t, gate.Default(), s, gate.Load{Inertia: draw()})
		for _, x := range []float64{r.Mean, r.Deviation, r.Entropy, r.Focus, r.K, r.Theta, r.Effective, r.Floor} {
			var raw [8]byte
			binary.LittleEndian.PutUint64(raw[:], math.Float64bits(x))
			digest.Write(raw[:])
		}
	}
	if got := digest.Sum64(); got != wantBits {
		t.Errorf("the digest is %#x; expected %#x", got, uint64(wantBits))
	}
}
