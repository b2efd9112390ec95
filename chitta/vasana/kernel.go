package vasana

import "math"

// lanes is how many partial sums a dot product keeps.
const lanes = 8

// dot is the inner product of two rows of equal length. The order of the sums
// is fixed and no product is fused, so that every machine gives the same bits.
// Against float64 the error stays under 1e-6 for unit rows.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	k := 0
	for ; k+lanes <= len(a); k += lanes {
		x, y := (*[lanes]float32)(a[k:k+lanes]), (*[lanes]float32)(b[k:k+lanes])
		s0 += float32(x[0] * y[0])
		s1 += float32(x[1] * y[1])
		s2 += float32(x[2] * y[2])
		s3 += float32(x[3] * y[3])
		s4 += float32(x[4] * y[4])
		s5 += float32(x[5] * y[5])
		s6 += float32(x[6] * y[6])
		s7 += float32(x[7] * y[7])
	}
	for ; k < len(a); k++ {
		s0 += float32(a[k] * b[k])
	}
	return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
}

// squares is the squared length of a row in float64. A float32 squared is
// exact there, so fusing cannot change it.
func squares(row []float32) float64 {
	var s0, s1, s2, s3 float64
	k := 0
	for ; k+4 <= len(row); k += 4 {
		x := (*[4]float32)(row[k : k+4])
		s0 += float64(x[0]) * float64(x[0])
		s1 += float64(x[1]) * float64(x[1])
		s2 += float64(x[2]) * float64(x[2])
		s3 += float64(x[3]) * float64(x[3])
	}
	for ; k < len(row); k++ {
		s0 += float64(row[k]) * float64(row[k])
	}
	return (s0 + s1) + (s2 + s3)
}

// noDirection is the centred length under which a row counts as equal to the
// mean: what is left there is rounding.
const noDirection = 1e-6

// centre writes row − mean, scaled to length 1, into dst and returns the length
// before scaling. Where nothing is left to scale it is 0 and dst all zeros,
// which is near nothing.
func centre(dst, row, mean []float32) float64 {
	if len(row) == 0 {
		clear(dst)
		return 0
	}
	mean, dst = mean[:len(row)], dst[:len(row)]
	for k, x := range row {
		dst[k] = x - mean[k]
	}
	length := math.Sqrt(squares(dst))
	if length < noDirection {
		clear(dst)
		return 0
	}
	scale := float32(1 / length)
	for k := range dst {
		dst[k] *= scale
	}
	return length
}
