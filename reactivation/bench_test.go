package reactivation_test

import (
	"testing"

	"github.com/jivad/jivad/reactivation"
)

func BenchmarkDepth(b *testing.B) {
	p := reactivation.Default()
	for b.Loop() {
		if _, err := p.Depth(3, 17); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCollide(b *testing.B) {
	p := reactivation.Default()
	g := must[reactivation.Guna](b)(reactivation.NewGuna(0.3, 0.5, 0.6))
	i := reactivation.Impression{Reinforcement: 3, Age: 17, Guna: g}
	e := reactivation.Stimulus{Weight: 0.7, Match: 0.6, Guna: reactivation.Rajas()}
	for b.Loop() {
		if _, err := p.Collide(i, e, 1.1); err != nil {
			b.Fatal(err)
		}
	}
}
