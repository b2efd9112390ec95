package builtin

import "unsafe"

// hasSIMD is true: every arm64 processor runs the kernels of use_kernel_arm64.s.
func hasSIMD() bool { return true }

//go:noescape
func tileNEON(y, x, w *float32, ys, xs, ws, rows, n, k int)

//go:noescape
func unpackNEON(dst *float32, src *byte, scale float32, n int)

// addTiles is addProduct for a multiple of four rows; nothing may be empty.
func addTiles(y, x, w view, n, rows, cols int) {
	_, _, _ = y.row(n-1, rows), x.row(n-1, cols), w.row(rows-1, cols)
	tileNEON(&y.data[0], &x.data[0], &w.data[0], y.stride, x.stride, w.stride, rows, n, cols)
}

// unpackFast is unpack for at least one weight.
func unpackFast(dst []float32, w string, scale float32) {
	dst = dst[:len(w)]
	unpackNEON(&dst[0], unsafe.StringData(w), scale, len(w))
}
