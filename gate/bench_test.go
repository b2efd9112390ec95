package gate_test

import (
	"math"
	"testing"

	"github.com/jivad/jivad/gate"
)

func BenchmarkRead256(b *testing.B) {
	p := gate.Default()
	s := make([]float64, 256)
	for i := range s {
		s[i] = 0.45 + 0.2*math.Sin(float64(i))
	}
	for b.Loop() {
		if _, err := p.Read(s, gate.Load{Inertia: 0.3}); err != nil {
			b.Fatal(err)
		}
	}
}
