package chitta

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"runtime"
)

// arithmetic names how this machine and this build compute the functions that
// the dynamics use. Two machines of the same name fold the same events to the
// same bits; the exponential and the logarithm differ in their last bit between
// architectures, processors and releases of Go.
func arithmetic() string {
	h := sha256.New()
	var b [8]byte
	put := func(x float64) {
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(x))
		h.Write(b[:])
	}
	for i := range 512 {
		x := float64(i)*0.0390625 + 0.001
		put(math.Exp(-x))
		put(math.Expm1(-x))
		put(math.Log(x))
		put(math.Log1p(x))
		put(math.Sqrt(x))
	}
	return runtime.GOARCH + "-" + hex.EncodeToString(h.Sum(nil)[:4])
}
