package builtin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Heads are the weights of the assessor: one linear head for each output over
// the Inputs, then the Mapping from their readings to a judgement. The
// program in train makes them.
type Heads struct {
	// Weights are float, rounded to 8 bits with one scale for each output and
	// half of the vector when written.
	Weights [Outputs][Inputs]float64
	Bias    [Outputs]float64
	Mapping Mapping
}

// errHeads is what every fault of the packed heads wraps.
var errHeads = errors.New("the built-in assessor's weights are damaged: build jivad again from a clean checkout")

const headsMagic = "JVH1"

// headsSize is the length of the packed heads in bytes.
var headsSize = len(headsMagic) + Outputs*(2*(4+Dim)+4*signalInputs+4) + 4*mappingValues

// Pack writes the heads in their file form, rounding them.
func (h *Heads) Pack() []byte {
	b := make([]byte, 0, headsSize)
	b = append(b, headsMagic...)
	f32 := func(v float64) { b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v))) }
	for o := range Outputs {
		for half := range 2 {
			row := h.Weights[o][half*Dim : (half+1)*Dim]
			var greatest float64
			for _, w := range row {
				greatest = max(greatest, math.Abs(w))
			}
			scale := float64(float32(greatest / 127))
			f32(scale)
			for _, w := range row {
				if scale > 0 {
					w /= scale
				}
				b = append(b, byte(int8(max(-127, min(127, math.Round(w))))))
			}
		}
		for _, w := range h.Weights[o][2*Dim:] {
			f32(w)
		}
		f32(h.Bias[o])
	}
	for _, v := range h.Mapping.values() {
		f32(*v)
	}
	return b
}

// ParseHeads reads packed heads; a damaged file is an error.
func ParseHeads(b string) (*Heads, error) {
	if len(b) != headsSize || b[:len(headsMagic)] != headsMagic {
		return nil, fmt.Errorf("%w: %d bytes instead of %d, or another beginning", errHeads, len(b), headsSize)
	}
	b = b[len(headsMagic):]
	h := new(Heads)
	finite := true
	f32 := func() float64 {
		v := float64(math.Float32frombits(binary.LittleEndian.Uint32([]byte(b[:4]))))
		b = b[4:]
		finite = finite && !math.IsNaN(v) && !math.IsInf(v, 0)
		return v
	}
	for o := range Outputs {
		for half := range 2 {
			scale := f32()
			for i := range Dim {
				h.Weights[o][half*Dim+i] = float64(int8(b[i])) * scale
			}
			b = b[Dim:]
		}
		for i := range signalInputs {
			h.Weights[o][2*Dim+i] = f32()
		}
		h.Bias[o] = f32()
	}
	for _, v := range h.Mapping.values() {
		*v = f32()
	}
	if !finite || h.Mapping.Pleasant < 0 {
		return nil, fmt.Errorf("%w: a value is not finite or below its range", errHeads)
	}
	return h, nil
}

// Raw gives the outputs of the heads for the inputs of one text, unbounded.
func (h *Heads) Raw(inputs []float64) (out [Outputs]float64) {
	for o := range Outputs {
		sum := h.Bias[o]
		row := h.Weights[o][:len(inputs)]
		for i, x := range inputs {
			sum += float64(row[i] * x)
		}
		out[o] = sum
	}
	return out
}
