package chitta

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"

	"github.com/jivad/jivad/gate"
	"github.com/jivad/jivad/reactivation"
)

// arithmetic names how this machine and this build compute the dynamics. Two
// machines of the same name fold the same events to the same bits. The dynamics
// are written so that all machines have one name; the name is what tells a
// fault in that apart from damage to a store.
func arithmetic() string {
	h := sha256.New()
	var b [8]byte
	put := func(x float64, err error) {
		if err != nil {
			x = math.NaN()
		}
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(x))
		h.Write(b[:])
	}
	rp, gp := reactivation.Default(), gate.Default()
	similarities := make([]float64, 0, 64)
	for i := range 64 {
		x := float64(i) / 64
		put(rp.Depth(float64(9*x)+0.1, float64(40*x)))
		put(rp.Reinforcement(float64(0.9 * x)))
		put(rp.Hardness(float64(100 * x)))
		similarities = append(similarities, float64(x*x))
	}
	r, err := gp.Read(similarities, gate.Load{Inertia: 0.25, Reactivity: 0.125})
	put(r.Focus, err)
	put(r.Effective, err)
	return hex.EncodeToString(h.Sum(nil)[:6])
}
