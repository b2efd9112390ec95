package vasana

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"testing"
)

// The same rows give the same graph on every processor: nothing here may be
// fused or depend on a library's rounding, so the rows are made of integers.
func TestGraphIsTheSameOnEveryProcessor(t *testing.T) {
	random := generator(42)
	m := matrix{dim: 37}
	for range 330 {
		row := make([]float32, m.dim)
		theme := random.below(m.dim)
		var square float64
		for k := range row {
			x := random.below(2001) - 700
			if k == theme {
				x += 3000
			}
			row[k] = float32(x)
			square += float64(x * x) // whole numbers: exact
		}
		for k := range row {
			row[k] = float32(float64(row[k]) / math.Sqrt(square))
		}
		m.rows = append(m.rows, row)
	}
	data, err := updated(t, DefaultParams(), m).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	const want = "7cebf25cf5b6d7a8"
	if got := hex.EncodeToString(sum[:8]); got != want {
		t.Errorf("the stored graph hashes to %s, want %s", got, want)
	}
}
