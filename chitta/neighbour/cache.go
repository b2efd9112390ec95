package neighbour

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"time"

	"github.com/jivad/jivad/chitta/fold"
)

// ErrCache is wrapped by every error of Load. A saved index is derived from
// the store: after this error train anew, with Update, and save again.
var ErrCache = errors.New("the saved neighbour index does not fit")

// The saved form, all numbers little-endian:
//
//	magic      8 bytes "jivadNB1"
//	key        uint32 length, then the store key
//	rows       uint32 dimension, uint32 rows, uint32 CRC-32C of the rows' bits
//	cells      uint32 cells, probes, asked of the graph, trained on; uint64 seed
//	guard      uint32 queries, float64 recall, float64 share scanned,
//	           int64 nanoseconds exact, int64 two-level
//	centroids  cells × dimension × float32
//	cell       one uint32 for each row; noCell for a row that is in none
//	check      uint32 CRC-32C of everything before
//
// The graph is not saved: building it takes a moment, and the library's own
// format cannot tell a damaged file.
const (
	cacheMagic = "jivadNB1"
	// fixedBytes is the length of all fields but key, centroids and cell.
	fixedBytes = 8 + 4 + 3*4 + 4*4 + 8 + 4 + 4*8 + 4
	maxKey     = 256
	noCell     = math.MaxUint32
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Save writes the training of the index, so that Load can spare it at the next
// start. Removed rows are not saved. The error is ErrNothingToMeasure where
// there is no training, or the writer's.
func (x *Index) Save(w io.Writer) error {
	v := x.view.Load()
	if v.cells == nil {
		return ErrNothingToMeasure
	}
	if len(x.options.StoreKey) > maxKey {
		return fmt.Errorf("neighbour index: the store key has %d bytes and may have %d", len(x.options.StoreKey), maxKey)
	}
	c, put := v.cells, binary.LittleEndian
	raw := make([]byte, 0, savedBytes(len(x.options.StoreKey), c.centroids.Len(), x.dim, v.rows.Len()))
	raw = append(raw, cacheMagic...)
	raw = put.AppendUint32(raw, uint32(len(x.options.StoreKey)))
	raw = append(raw, x.options.StoreKey...)
	for _, n := range []uint32{
		uint32(x.dim), uint32(v.rows.Len()), rowsChecksum(v.rows),
		uint32(c.centroids.Len()), uint32(c.probes), uint32(c.ask), uint32(c.trainedOn),
	} {
		raw = put.AppendUint32(raw, n)
	}
	raw = put.AppendUint64(raw, x.options.Seed)
	raw = put.AppendUint32(raw, uint32(v.measured.queries))
	for _, n := range []uint64{
		math.Float64bits(v.measured.recall), math.Float64bits(v.measured.scanned),
		uint64(v.measured.exact), uint64(v.measured.twoLevel),
	} {
		raw = put.AppendUint64(raw, n)
	}
	for i := range c.centroids.Len() {
		raw = appendVector(raw, c.centroids.Row(i))
	}
	cell := make([]uint32, v.rows.Len())
	for i := range cell {
		cell[i] = noCell
	}
	for i, list := range c.lists {
		for _, r := range list {
			cell[r] = uint32(i)
		}
	}
	for _, n := range cell {
		raw = put.AppendUint32(raw, n)
	}
	raw = put.AppendUint32(raw, crc32.Checksum(raw, castagnoli))
	if _, err := w.Write(raw); err != nil {
		return fmt.Errorf("saving the neighbour index: %w", err)
	}
	return nil
}

// Load takes the training that Save wrote and puts it in force over m, which
// must begin with the very rows that were saved; later rows are assigned to the
// cells at once. The store key and the seed must be those of the options.
//
// Every error wraps ErrCache, for damage of any kind as well as for a file of
// another store, and leaves the index as it was. The recall in the report is
// the saved one until Guard measures again.
func (x *Index) Load(r io.Reader, m *fold.Matrix) error {
	x.updating.Lock()
	defer x.updating.Unlock()
	if m.Dim() != x.dim {
		return fmt.Errorf("%w: the matrix has dimension %d and the index %d", ErrCache, m.Dim(), x.dim)
	}
	x.writing.Lock()
	x.cut = math.MaxInt
	x.writing.Unlock()
	v, err := x.parse(r, m)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCache, err)
	}
	saved := v.rows.Len()
	v.rows = m.Prefix(m.Len())
	if v.cells, err = v.cells.withRows(context.Background(), v.rows, v.live(saved), x.options.Workers); err != nil {
		return fmt.Errorf("%w: %w", ErrCache, err)
	}
	x.install(v)
	return nil
}

func savedBytes(key, cells, dim, rows int) int {
	return fixedBytes + key + 4*cells*dim + 4*rows
}

// parse reads no more than an index of m can hold, and looks at nothing before
// the checksum of everything is right.
func (x *Index) parse(r io.Reader, m *fold.Matrix) (*view, error) {
	largest := savedBytes(maxKey, m.Len(), m.Dim(), m.Len())
	raw, err := io.ReadAll(io.LimitReader(r, int64(largest)+1))
	switch {
	case err != nil:
		return nil, err
	case len(raw) > largest:
		return nil, errors.New("it is longer than an index of this store can be")
	case len(raw) < fixedBytes:
		return nil, fmt.Errorf("it has only %d bytes", len(raw))
	case !bytes.HasPrefix(raw, []byte(cacheMagic)):
		return nil, errors.New("it is not a saved index of this version")
	}
	body, check := raw[:len(raw)-4], binary.LittleEndian.Uint32(raw[len(raw)-4:])
	if crc32.Checksum(body, castagnoli) != check {
		return nil, errors.New("its checksum is wrong")
	}
	in := reader{body[len(cacheMagic):]}
	if key := in.take(int(min(in.uint32(), maxKey))); string(key) != x.options.StoreKey {
		return nil, errors.New("it belongs to another store")
	}
	dim, rows, sum := int(in.uint32()), int(in.uint32()), in.uint32()
	count, probes, ask, trainedOn := int(in.uint32()), int(in.uint32()), int(in.uint32()), int(in.uint32())
	seed, queries := in.uint64(), int(in.uint32())
	measured := measurement{
		queries: queries, recall: in.float64(), scanned: in.float64(),
		exact: time.Duration(in.uint64()), twoLevel: time.Duration(in.uint64()),
	}
	switch {
	case dim != m.Dim():
		return nil, fmt.Errorf("its vectors have dimension %d, those of the store %d", dim, m.Dim())
	case rows < 1 || rows > m.Len():
		return nil, fmt.Errorf("it covers %d rows, the store has %d", rows, m.Len())
	case count < 1 || count > rows || probes < 1 || probes > count || ask < 0 || ask > count || trainedOn < 0 || trainedOn > rows:
		return nil, fmt.Errorf("%d cells, %d probes and training on %d rows cannot be", count, probes, trainedOn)
	case len(in.rest) != 4*count*dim+4*rows:
		return nil, fmt.Errorf("%d bytes are left for %d cells and %d rows", len(in.rest), count, rows)
	case seed != x.options.Seed:
		return nil, fmt.Errorf("it was trained with seed %d, not %d", seed, x.options.Seed)
	case !(measured.recall >= 0 && measured.recall <= 1 && measured.scanned >= 0 && measured.scanned <= 1) || measured.exact < 0 || measured.twoLevel < 0 || queries < 0:
		return nil, errors.New("its measurements are out of range")
	}
	v := &view{rows: m.Prefix(rows), measured: measured}
	if rowsChecksum(v.rows) != sum {
		return nil, errors.New("the rows of the store are not those that it was made from")
	}
	centroids, vector := fold.NewMatrix(dim), make([]float32, dim)
	for range count {
		for d := range vector {
			vector[d] = math.Float32frombits(in.uint32())
		}
		if err := centroids.Append(vector); err != nil {
			return nil, fmt.Errorf("centroid %d: %w", centroids.Len(), err)
		}
	}
	v.cells = newCells(centroids, trainedOn)
	v.cells.probes = probes
	if v.cells.ask = ask; ask > 0 {
		v.cells.graph = buildGraph(centroids, seed)
	}
	for r := range rows {
		switch c := in.uint32(); {
		case c == noCell:
		case int64(c) >= int64(count):
			return nil, fmt.Errorf("row %d is in cell %d of %d", r, c, count)
		default:
			v.cells.lists[c] = append(v.cells.lists[c], uint32(r))
		}
	}
	return v, nil
}

// reader takes numbers off the front of some bytes; behind their end it gives zeros.
type reader struct{ rest []byte }

func (r *reader) take(n int) []byte {
	n = min(n, len(r.rest))
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) uint32() uint32 {
	var four [4]byte
	copy(four[:], r.take(4))
	return binary.LittleEndian.Uint32(four[:])
}

func (r *reader) uint64() uint64 {
	low := r.uint32()
	return uint64(low) | uint64(r.uint32())<<32
}

func (r *reader) float64() float64 { return math.Float64frombits(r.uint64()) }

func appendVector(raw []byte, v []float32) []byte {
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return raw
}

// rowsChecksum is the CRC-32C of the bits of all rows.
func rowsChecksum(m *fold.Matrix) uint32 {
	var sum uint32
	var raw []byte
	for i := range m.Len() {
		raw = appendVector(raw[:0], m.Row(i))
		sum = crc32.Update(sum, castagnoli, raw)
	}
	return sum
}
