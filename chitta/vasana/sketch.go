package vasana

import (
	"math"
	"math/bits"
)

// A sketch is a centred row in 6-bit steps, three to a machine word, so that
// one multiplication does the work of three. It decides nothing: it only tells
// which pairs cannot reach the threshold, by a bound that holds for certain,
// and the others are compared exactly. Comparing all pairs takes a third of
// the time that way, and the edges are the same.
//
// A number x of the row is kept as u = round(x/scale) + 32, in 1 to 63. The
// word u₀ + u₁·2²¹ + u₂·2⁴² times the word v₂ + v₁·2²¹ + v₀·2⁴² has
// u₀v₀ + u₁v₁ + u₂v₂ in the 21 bits from 42 on; over 176 words that sum and
// those below it stay under 2²¹, so nothing is carried over.
type sketch struct {
	scale float64
	sum   int64   // Σ (u − 32)
	rest  float64 // length of row − scale·(u − 32), and a little for rounding
}

const (
	field    = 21
	packed   = 3
	middle   = 32
	segment  = 176 // words whose sum fits a field
	steps    = 31  // on either side of middle
	rounding = 1e-5
	// sketchFrom is the number of rows in a strip from which sketches pay.
	sketchFrom = 16
	// sketchable: without 64-bit registers the products are too slow.
	sketchable = bits.UintSize == 64
)

func sketchWords(width int) int { return (width + packed - 1) / packed }

// sketchRow writes the sketch of a centred row into words, in the order for
// the left or the right side of a product.
func sketchRow(words []uint64, row []float32, right bool) sketch {
	var greatest uint32 // without a sign, float bits are in the order of the floats
	for _, x := range row {
		greatest = max(greatest, math.Float32bits(x)&^(1<<31))
	}
	clear(words)
	if greatest == 0 {
		return sketch{}
	}
	scale := math.Float32frombits(greatest) / steps
	inverse := 1 / scale
	var sum int64
	var square float32
	step := func(x float32) uint64 {
		u := int64(float32(x*inverse) + (middle + 0.5))
		sum += u
		rest := x - float32(scale*float32(u-middle))
		square += float32(rest * rest)
		return uint64(u)
	}
	word := 0
	for k := 0; k < len(row); k += packed {
		var u [packed]uint64
		for l, x := range row[k:min(k+packed, len(row))] {
			u[l] = step(x)
		}
		if right {
			u[0], u[2] = u[2], u[0]
		}
		words[word] = u[0] | u[1]<<field | u[2]<<(2*field)
		word++
	}
	return sketch{float64(scale), sum - middle*int64(len(row)), math.Sqrt(float64(square)) + rounding}
}

// mayReach says whether two rows of this width could have a cosine of
// threshold or more. With x̂ = scale·(u − 32) and rest e = |x − x̂|, for unit
// rows x·y ≤ x̂·ŷ + e_x + (1 + e_x)·e_y.
func mayReach(a, b []uint64, x, y sketch, width int, threshold float64) bool {
	product := packedDot(a, b) - middle*(x.sum+y.sum) - middle*middle*int64(width)
	bound := x.rest + float64((1+x.rest)*y.rest) + rounding
	return float64(float64(x.scale*y.scale)*float64(product))+bound >= threshold
}

// packedDot is Σ u·v of a left and a right sketch.
func packedDot(a, b []uint64) int64 {
	var total int64
	for len(a) > segment {
		total += packedSegment(a[:segment], b[:segment])
		a, b = a[segment:], b[segment:]
	}
	return total + packedSegment(a, b)
}

func packedSegment(a, b []uint64) int64 {
	b = b[:len(a)]
	var s, t uint64
	k := 0
	for ; k+8 <= len(a); k += 8 {
		x, y := (*[8]uint64)(a[k:k+8]), (*[8]uint64)(b[k:k+8])
		s += x[0]*y[0] + x[1]*y[1] + x[2]*y[2] + x[3]*y[3]
		t += x[4]*y[4] + x[5]*y[5] + x[6]*y[6] + x[7]*y[7]
	}
	for ; k < len(a); k++ {
		s += a[k] * b[k]
	}
	return int64((s + t) >> (2 * field) & (1<<field - 1))
}
