package reactivation_test

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"testing"

	"github.com/jivad/jivad/reactivation"
)

// wantBits is the digest of a thousand strikes on one store of impressions. It
// is the same on every processor; it changes only with the mathematics, and then
// every digest of every store does.
const wantBits = 0xf873b321ae39c2b0

func TestBitsAreTheSameEverywhere(t *testing.T) {
	digest := fnv.New64a()
	put := func(values ...float64) {
		for _, x := range values {
			var raw [8]byte
			binary.LittleEndian.PutUint64(raw[:], math.Float64bits(x))
			digest.Write(raw[:])
		}
	}
	seed := uint64(1)
	draw := func() float64 { // a linear congruential generator: the same everywhere
		seed = seed*6364136223846793005 + 1442695040888963407
		return float64(seed>>11) / (1 << 53)
	}
	guna := func() reactivation.Guna {
		return must[reactivation.Guna](t)(reactivation.NewGuna(draw(), draw(), draw()))
	}
	p := reactivation.Default()
	store := make([]reactivation.Impression, 16)
	for k := range store {
		store[k] = reactivation.Impression{Reinforcement: 1, Guna: guna()}
	}
	for k := range 1000 {
		i := &store[k%len(store)]
		force := reactivation.Force{Intensity: draw(), Novelty: draw(), Emotion: draw(), Match: draw()}
		e := reactivation.Stimulus{Weight: must[float64](t)(force.Weight()), Match: draw(), Guna: guna()}
		i.Age += math.Floor(40 * draw())
		i.Reinforcement = must[float64](t)(p.Soften(*i, e))
		o := must[reactivation.Outcome](t)(p.Collide(*i, e, 1+draw()/2))
		i.Reinforcement, i.Guna = o.Reinforcement, o.Guna
		if o.Reset {
			i.Age = 0
		}
		put(o.Reinforcement, o.Depth, o.Snap, o.Guna.Tamas, o.Guna.Rajas, o.Guna.Sattva)
	}
	if got := digest.Sum64(); got != wantBits {
		t.Errorf("the digest is %#x; expected %#x", got, uint64(wantBits))
	}
}
