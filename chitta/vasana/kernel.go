package vasana

import "math"

// lanes is how many partial sums a dot product keeps.
const lanes = 8

// dot is the inner product of two rows of equal length. The order of the sums
// is fixed and no product is fused, so that every machine gives the same bits.
// Against float64 the error stays under 1e-6 for unit rows.
func dot(a, b []float32) float32 {
	var s [lanes]float32
	whole := len(a) &^ (lanes - 1)
	if whole > 0 {
		addProducts(&s, a[:whole], b[:whole])
	}
	for k := whole; k < len(a); k++ {
		s[0] += float32(a[k] * b[k])
	}
	return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
}

// addPlain is addProducts in plain Go.
func addPlain(s *[lanes]float32, a, b []float32) {
	s0, s1, s2, s3, s4, s5, s6, s7 := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
	for len(a) >= lanes && len(b) >= lanes {
		s0 += float32(a[0] * b[0])
		s1 += float32(a[1] * b[1])
		s2 += float32(a[2] * b[2])
		s3 += float32(a[3] * b[3])
		s4 += float32(a[4] * b[4])
		s5 += float32(a[5] * b[5])
		s6 += float32(a[6] * b[6])
		s7 += float32(a[7] * b[7])
		a, b = a[lanes:], b[lanes:]
	}
	*s = [lanes]float32{s0, s1, s2, s3, s4, s5, s6, s7}
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
