package builtin

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// hasSIMD says whether this processor runs the kernels of use_kernel_amd64.s. HasAVX2 also means
// that the system saves the wide registers.
func hasSIMD() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA }

//go:noescape
func tileAVX2(y, x, w *float32, ys, xs, ws, rows, n, k int)

//go:noescape
func unpackAVX2(dst *float32, src *byte, scale float32, n int)

// addTiles is addProduct for a multiple of four rows; nothing may be empty.
func addTiles(y, x, w view, n, rows, cols int) {
	_, _, _ = y.row(n-1, rows), x.row(n-1, cols), w.row(rows-1, cols)
	tileAVX2(&y.data[0], &x.data[0], &w.data[0], y.stride, x.stride, w.stride, rows, n, cols)
}

// unpackFast is unpack for at least one weight.
func unpackFast(dst []float32, w string, scale float32) {
	dst = dst[:len(w)]
	unpackAVX2(&dst[0], unsafe.StringData(w), scale, len(w))
}
