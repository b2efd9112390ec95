//go:build !amd64 && !arm64

package builtin

func hasSIMD() bool { return false }

func addTiles(y, x, w view, n, rows, cols int) { addPlain(y, x, w, n, 0, rows, cols) }

func unpackFast(dst []float32, w string, scale float32) {
	for i := range w {
		dst[i] = float32(int8(w[i])) * scale
	}
}
