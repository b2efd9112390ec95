package evidence

import (
	"fmt"
	"testing"
)

// BenchmarkGate decides about an act of high consequence that rests on three of 10,000
// claims; and, beside it, on all of them.
func BenchmarkGate(b *testing.B) {
	const n = 10_000
	all := make([]*Claim, n)
	for i := range all {
		all[i] = sound()
		all[i].ID = fmt.Sprint("c", i)
	}
	p, act := Default(), Act{"shut the valve", High, true, true}
	for name, claims := range map[string][]*Claim{"three of 10000": {all[7], all[n/2], all[n-1]}, "all 10000": all} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if d := p.Gate(act, claims, trusted); d.Verdict != Allow {
					b.Fatal(d)
				}
			}
		})
	}
}
