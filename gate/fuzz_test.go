package gate_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/jivad/jivad/gate"
)

// FuzzRead throws any bits at the gate as similarities, eight bytes each: they
// are refused, or the reading is one that can sort impressions.
func FuzzRead(f *testing.F) {
	pack := func(values ...float64) (raw []byte) {
		for _, x := range values {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(x))
		}
		return raw
	}
	f.Add(pack(), 0.0, 0.05, 2.0, 0.25, 0.2, true)
	f.Add(pack(0.4), 0.5, 0.05, 2.0, 0.25, 0.2, false)
	f.Add(pack(0.4, 0.41, -1, 1, 0.9), 1.0, 0.001, 100.0, 0.0, 0.0, true)
	f.Add(pack(math.NaN(), 2), 0.1, 1000.0, 0.0, 1.0, 1.0, false)
	f.Fuzz(func(t *testing.T, raw []byte, inertia, temperature, k, least, noise float64, literal bool) {
		p := gate.Default()
		p.Temperature, p.KBase, p.MinSimilarity, p.NoiseFloor = temperature, k, least, noise
		if literal {
			p.Mode = gate.Literal
		}
		var s []float64
		for ; len(raw) >= 8; raw = raw[8:] {
			s = append(s, math.Float64frombits(binary.LittleEndian.Uint64(raw)))
		}
		r, err := p.Read(s, gate.Load{Inertia: inertia})
		if err != nil {
			if r != (gate.Reading{}) {
				t.Fatalf("refused (%v), but %+v", err, r)
			}
			return
		}
		if !(r.Focus >= 0 && r.Focus <= 1 && r.Deviation >= 0 && math.Abs(r.Mean) <= 1+ulps && r.K >= 0) {
			t.Fatalf("reading %+v", r)
		}
		if !(r.Theta >= least && r.Effective >= r.Theta && r.Effective <= 1 && r.Floor >= noise && r.Floor <= r.Effective) {
			t.Fatalf("thresholds of %+v", r)
		}
	})
}
