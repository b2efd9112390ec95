//go:build !amd64

package vasana

// addProducts adds a·b to the eight sums, component i to sum i mod 8. Both have
// one length, a multiple of 8 and not 0.
func addProducts(s *[lanes]float32, a, b []float32) { addPlain(s, a, b) }
