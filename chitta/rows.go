package chitta

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/internal/ledger"
)

// rowFile is the cache of the vectors: one checksummed row per impression, in
// order, so that snapshots need not repeat them; zeros stand for one without a
// vector. Rows beyond trusted are
// leftovers and are written over.
type rowFile struct {
	path    string
	meta    Meta
	trusted int
}

const rowMagic = "jivad vectors 1\n"

func openRows(path string, m Meta) *rowFile { return &rowFile{path: path, meta: m} }

func (f *rowFile) header(dim int) []byte {
	h := append([]byte(rowMagic), fmt.Sprintf("%s %d %d\n", f.meta.ID, f.meta.Generation, dim)...)
	return h
}

func (f *rowFile) trust(n int) { f.trusted = n }

// read returns the first n rows as a matrix of dimension dim.
func (f *rowFile) read(n, dim int) (*fold.Matrix, error) {
	m := fold.NewMatrix(dim)
	if n == 0 {
		return m, nil
	}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, fmt.Errorf("%w: vectors: %w", ledger.ErrSnapshot, err)
	}
	defer file.Close() //nolint:errcheck // opened for reading
	r := bufio.NewReaderSize(file, 1<<18)
	header := make([]byte, len(f.header(dim)))
	if _, err := io.ReadFull(r, header); err != nil || string(header) != string(f.header(dim)) {
		return nil, fmt.Errorf("%w: the vector file belongs to another store or is damaged", ledger.ErrSnapshot)
	}
	row, v := make([]byte, 4+4*dim), make([]float32, dim)
	for i := range n {
		if _, err := io.ReadFull(r, row); err != nil {
			return nil, fmt.Errorf("%w: vector %d: %w", ledger.ErrSnapshot, i, err)
		}
		if binary.LittleEndian.Uint32(row) != rowChecksum(i, row[4:]) {
			return nil, fmt.Errorf("%w: vector %d: checksum does not match", ledger.ErrSnapshot, i)
		}
		for j := range v {
			v[j] = math.Float32frombits(binary.LittleEndian.Uint32(row[4+4*j:]))
		}
		if zeros(v) { // an impression without a place
			m.AppendUnplaced()
			continue
		}
		if err := m.Append(v); err != nil {
			return nil, fmt.Errorf("%w: vector %d: %w", ledger.ErrSnapshot, i, err)
		}
	}
	return m, nil
}

// extend writes the rows of m that the file lacks. It is not synced: a torn row
// is found out by its checksum.
func (f *rowFile) extend(m *fold.Matrix) (err error) {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return fmt.Errorf("vectors: %w", err)
	}
	file, err := os.OpenFile(f.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("vectors: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	header := f.header(m.Dim())
	if f.trusted == 0 {
		if err := file.Truncate(0); err != nil {
			return fmt.Errorf("vectors: %w", err)
		}
		if _, err := file.WriteAt(header, 0); err != nil {
			return fmt.Errorf("vectors: %w", err)
		}
	}
	size := 4 + 4*m.Dim()
	at := int64(len(header)) + int64(f.trusted)*int64(size)
	if err := file.Truncate(at); err != nil {
		return fmt.Errorf("vectors: %w", err)
	}
	w := bufio.NewWriterSize(io.NewOffsetWriter(file, at), 1<<18)
	row := make([]byte, size)
	for i := f.trusted; i < m.Len(); i++ {
		clear(row)
		for j, x := range m.Row(i) {
			binary.LittleEndian.PutUint32(row[4+4*j:], math.Float32bits(x))
		}
		binary.LittleEndian.PutUint32(row, rowChecksum(i, row[4:]))
		if _, err := w.Write(row); err != nil {
			return fmt.Errorf("vectors: %w", err)
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("vectors: %w", err)
	}
	f.trusted = m.Len()
	return nil
}

func zeros(v []float32) bool {
	for _, x := range v {
		if x != 0 {
			return false
		}
	}
	return len(v) > 0
}

// rowChecksum covers the place too, so that a row in the wrong place shows.
func rowChecksum(i int, row []byte) uint32 {
	var at [8]byte
	binary.LittleEndian.PutUint64(at[:], uint64(i))
	return crc32.Update(crc32.Checksum(at[:], castagnoli), castagnoli, row)
}
