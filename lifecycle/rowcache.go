package lifecycle

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"

	"github.com/jivad/jivad/chitta/fold"
)

// rowKey names the vector of one wording of one entry.
type rowKey struct {
	id   fold.ID
	text [32]byte // SHA-256 of the words
}

// rowCache keeps on disk what was embedded so far, so that work that is ended in
// the middle, however roughly, goes on where it was. Each row has a checksum and
// is written at once; rows after a torn one are not believed.
type rowCache struct {
	mu   sync.Mutex
	file *os.File
	head []byte
	dim  int
	// at is where each row begins, end where the next one will.
	at  map[rowKey]int64
	end int64
}

var rowCacheTable = crc32.MakeTable(crc32.Castagnoli)

// openRowCache opens the cache of one embedder's vectors for one store. A file
// of anything else is begun anew.
func openRowCache(path, store string, e Embedder) (c *rowCache, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	c = &rowCache{head: fmt.Appendf(nil, "jivad reembed 1\n%s %d %q\n", store, e.Dim(), e.ID()), dim: e.Dim(), at: map[rowKey]int64{}}
	if c.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, err
	}
	if err := c.read(); err != nil {
		return nil, errors.Join(err, c.file.Close())
	}
	return c, nil
}

func (c *rowCache) rowSize() int { return 4 + len(fold.ID{}) + 32 + 4*c.dim }

// read finds the rows that are whole and cuts off what follows them.
func (c *rowCache) read() error {
	r := bufio.NewReaderSize(c.file, 1<<18)
	head := make([]byte, len(c.head))
	if _, err := io.ReadFull(r, head); err != nil || !bytes.Equal(head, c.head) {
		if err := c.file.Truncate(0); err != nil {
			return err
		}
		_, err := c.file.WriteAt(c.head, 0)
		c.end = int64(len(c.head))
		return err
	}
	c.end = int64(len(c.head))
	for row := make([]byte, c.rowSize()); ; c.end += int64(len(row)) {
		if _, err := io.ReadFull(r, row); err != nil {
			break
		}
		key, ok := c.keyOf(row)
		if !ok {
			break
		}
		c.at[key] = c.end
	}
	return c.file.Truncate(c.end)
}

// keyOf checks a row and reads what it is for.
func (c *rowCache) keyOf(row []byte) (k rowKey, ok bool) {
	if binary.LittleEndian.Uint32(row) != c.checksum(row[4:]) {
		return k, false
	}
	n := copy(k.id[:], row[4:])
	copy(k.text[:], row[4+n:])
	return k, true
}

// checksum covers the head too: a row is of one embedder.
func (c *rowCache) checksum(row []byte) uint32 {
	return crc32.Update(crc32.Checksum(c.head, rowCacheTable), rowCacheTable, row)
}

func (c *rowCache) has(k rowKey) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.at[k]
	return ok
}

// put keeps a vector.
func (c *rowCache) put(k rowKey, v []float32) error {
	row := make([]byte, 4, c.rowSize())
	row = append(append(row, k.id[:]...), k.text[:]...)
	for _, x := range v {
		row = binary.LittleEndian.AppendUint32(row, math.Float32bits(x))
	}
	binary.LittleEndian.PutUint32(row, c.checksum(row[4:]))
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.file.WriteAt(row, c.end); err != nil {
		return fmt.Errorf("keep a vector: %w", err)
	}
	c.at[k] = c.end
	c.end += int64(len(row))
	return nil
}

// get returns a vector that is there.
func (c *rowCache) get(k rowKey) ([]float32, error) {
	c.mu.Lock()
	at, ok := c.at[k]
	c.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("vector: %w", ErrNotFound)
	}
	row := make([]byte, c.rowSize())
	if _, err := c.file.ReadAt(row, at); err != nil {
		return nil, fmt.Errorf("vector: %w", err)
	}
	if have, ok := c.keyOf(row); !ok || have != k {
		return nil, fmt.Errorf("vector: what %s holds at %d is not what was written", c.file.Name(), at)
	}
	v := make([]float32, c.dim)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(row[len(row)-4*c.dim+4*i:]))
	}
	return v, nil
}

func (c *rowCache) close() error { return c.file.Close() }
