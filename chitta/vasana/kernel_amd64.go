package vasana

// addProducts adds a·b to the eight sums, component i to sum i mod 8. Both have
// one length, a multiple of 8 and not 0. The eight sums lie in two registers of
// four, which every amd64 processor has; each place is multiplied, rounded, added
// and rounded as addPlain does it.
func addProducts(s *[lanes]float32, a, b []float32) { addProductsSSE(s, &a[0], &b[0], len(a)) }

//go:noescape
func addProductsSSE(s *[lanes]float32, a, b *float32, n int)
