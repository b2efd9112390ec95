package vasana

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

// The stored form, all little-endian, varints as in encoding/binary:
//
//	magic "VSNG", format 2, flags (1: from a NeighbourSource)
//	semantic, percentile, low, high, threshold   float64 bits
//	dimension, frame, rows                       uvarint
//	a print per row                              8 bytes each
//	per row: count, then gaps between the near rows below it   uvarint
//	CRC-32C over everything before               4 bytes
//
// The mean is not stored: it is taken again from the rows.
const (
	magic = "VSNG"
	// format also rises when the constants of the frame change: a graph that was
	// stored with others would have another threshold.
	format   byte = 2
	sourced  byte = 1
	headSize      = len(magic) + 2 + 5*8
)

// castagnoli is made where it is used, to keep the package without state.
func checksum(data []byte) uint32 {
	return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
}

// MarshalBinary writes the graph as a cache file holds it. It knows no text
// and no vector, only which rows are near.
func (g *Graph) MarshalBinary() ([]byte, error) {
	out := make([]byte, 0, headSize+8*len(g.prints)+2*len(g.lower)+2*len(g.ends)+64)
	out = append(out, magic...)
	out = append(out, format, g.flags())
	p := g.params
	for _, f := range []float64{p.Semantic, p.Percentile, p.SemanticLow, p.SemanticHigh, g.threshold} {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(f))
	}
	for _, n := range []int{g.dim, g.frame, len(g.ends)} {
		out = binary.AppendUvarint(out, uint64(n))
	}
	for _, print := range g.prints {
		out = binary.LittleEndian.AppendUint64(out, print)
	}
	for i := range g.ends {
		near := g.below(i)
		out = binary.AppendUvarint(out, uint64(len(near)))
		last := -1
		for _, j := range near {
			out = binary.AppendUvarint(out, uint64(int(j)-last-1))
			last = int(j)
		}
	}
	return binary.LittleEndian.AppendUint32(out, checksum(out)), nil
}

func (g *Graph) flags() byte {
	if g.source != nil {
		return sourced
	}
	return 0
}

// UnmarshalBinary reads a stored graph into one made with the same parameters
// and, if any, its source. The next Update drops what does not belong to the
// rows it is given, so a stale cache costs time and nothing else. On
// ErrDamaged and ErrOther the graph stays as it was: go on with an Update, and
// write the cache anew.
func (g *Graph) UnmarshalBinary(data []byte) error {
	fail := func(what string, err error) error {
		return &Error{Op: "read stored graph", What: what, Hint: "it is made again from the store", Err: err}
	}
	if len(data) < headSize+4 || string(data[:len(magic)]) != magic {
		return fail("not a graph", ErrDamaged)
	}
	body, sum := data[:len(data)-4], binary.LittleEndian.Uint32(data[len(data)-4:])
	if checksum(body) != sum {
		return fail("wrong checksum", ErrDamaged)
	}
	if body[len(magic)] != format {
		return fail(fmt.Sprintf("format %d", body[len(magic)]), ErrOther)
	}
	var floats [5]float64
	for i := range floats {
		floats[i] = math.Float64frombits(binary.LittleEndian.Uint64(body[len(magic)+2+8*i:]))
	}
	made := Params{Semantic: floats[0], Percentile: floats[1], SemanticLow: floats[2], SemanticHigh: floats[3]}
	if !made.sameEdges(g.params) || body[len(magic)+1] != g.flags() {
		return fail("made with other parameters", ErrOther)
	}
	next := Graph{params: g.params, source: g.source, threshold: floats[4], loaded: true}
	r := reader{data: body[headSize:]}
	next.dim = r.count(math.MaxInt32)
	next.frame = r.count(math.MaxInt32)
	n := r.count(len(r.data) / 8)
	if r.bad || next.frame != frameSize(n) {
		return fail("sizes do not agree", ErrDamaged)
	}
	next.prints = make([]uint64, n)
	for i := range next.prints {
		next.prints[i] = r.fixed()
	}
	next.ends = make([]int, n)
	for i := range next.ends {
		last := -1
		for range r.count(i) {
			last += 1 + r.count(i-1-last-1)
			next.lower = append(next.lower, uint32(last))
		}
		next.ends[i] = len(next.lower)
	}
	if r.bad || len(r.data) != 0 {
		return fail("lists do not agree", ErrDamaged)
	}
	*g = next
	return nil
}

// reader takes numbers off the front and remembers whether all were there and
// in range.
type reader struct {
	data []byte
	bad  bool
}

// count reads a uvarint in [0, most].
func (r *reader) count(most int) int {
	v, size := binary.Uvarint(r.data)
	if r.bad || size <= 0 || most < 0 || v > uint64(most) {
		r.bad = true
		return 0
	}
	r.data = r.data[size:]
	return int(v)
}

func (r *reader) fixed() uint64 {
	if r.bad || len(r.data) < 8 {
		r.bad = true
		return 0
	}
	v := binary.LittleEndian.Uint64(r.data)
	r.data = r.data[8:]
	return v
}
