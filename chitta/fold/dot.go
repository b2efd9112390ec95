package fold

// lanes is how many partial sums a dot product keeps: component i goes to sum i mod 8.
const lanes = 8

// Dot returns the cosine of two unit vectors of one length, clamped to [-1,1].
//
// It is computed in float32 in one fixed order: eight sums, component i going
// to sum i mod 8, added pairwise at the end. No product is fused with the
// addition, so the bits are the same on every architecture. Where the lengths
// differ the result is 0.
func Dot(a, b []float32) float32 {
	if len(a) != len(b) {
		return 0
	}
	var s [lanes]float32
	whole := len(a) &^ (lanes - 1)
	if whole > 0 {
		addProducts(&s, a[:whole], b[:whole])
	}
	for i := whole; i < len(a); i++ {
		s[i-whole] += float32(a[i] * b[i])
	}
	sum := ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
	return min(max(sum, -1), 1)
}

// addPlain is addProducts in plain Go. The conversion of each product forbids
// the compiler to fuse it with the addition.
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
