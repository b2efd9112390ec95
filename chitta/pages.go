package chitta

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	bolt "go.etcd.io/bbolt"
)

// depth says how much of the file inspect reads.
type depth int

const (
	// branches reads what leads to the records: a small part of a large file.
	branches depth = iota
	// everything reads every page that holds something.
	everything
)

// Layout of bbolt's pages: a header, then elements of one size.
const (
	pageHeader   = 16 // id, flags, count, overflow
	pageElement  = 16 // leaf: flags, offset, key and value length; branch: offset, key length, page
	flagBranch   = 0x01
	flagLeaf     = 0x02
	flagMeta     = 0x04
	flagFreelist = 0x10
	flagBucket   = 0x01
	firstPage    = 2 // after the two that say where the rest is
)

// inspector walks the trees of one transaction as they stand in the file. bbolt
// follows damaged pages blindly: in circles, over the end, for ever.
type inspector struct {
	file        *os.File
	size, limit uint64
	how         depth
	seen        map[uint64]bool
	// buffer holds the page that is read now.
	buffer []byte
}

// inspect returns ErrDamaged when following the pages could lead astray. path
// is where the file of the transaction lies now.
func inspect(tx *bolt.Tx, path string, how depth) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w, err := inspectTrees(tx, file, how)
	if err != nil {
		return err
	}
	return w.free(readHeads(file, int64(w.size)).newest().freelist)
}

// inspectTrees is inspect without the list of free pages, which others may
// change meanwhile.
func inspectTrees(tx *bolt.Tx, file *os.File, how depth) (*inspector, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < tx.Size() {
		return nil, fmt.Errorf("%w: the file was cut off: it has %d of %d bytes", ErrDamaged, info.Size(), tx.Size())
	}
	size := uint64(tx.DB().Info().PageSize)
	w := &inspector{file: file, size: size, limit: uint64(tx.Size()) / size, how: how, seen: map[uint64]bool{}}
	buckets, err := w.tree(uint64(tx.Cursor().Bucket().Root()), true)
	for _, root := range buckets {
		if err == nil {
			_, err = w.tree(root, false)
		}
	}
	return w, err
}

// free sees that no page in use is on the list of free ones: it would be
// written over by what comes next.
func (w *inspector) free(id uint64) error {
	if id == noFreelist {
		return nil // it is gathered anew when the file is opened
	}
	if err := w.claim(id); err != nil {
		return err
	}
	page, flags, err := w.page(id)
	if err != nil {
		return err
	}
	list, count := page[pageHeader:], uint64(binary.NativeEndian.Uint16(page[10:]))
	if flags != flagFreelist {
		return fmt.Errorf("%w: page %d is not the one that belongs there", ErrDamaged, id)
	}
	const many = 0xffff // then the number stands in front of the list
	if count == many {
		count, list = binary.NativeEndian.Uint64(list), list[8:]
	}
	if count > uint64(len(list))/8 {
		return fmt.Errorf("%w: page %d says that it is larger than it can be", ErrDamaged, id)
	}
	for i := range count {
		if free := binary.NativeEndian.Uint64(list[8*i:]); w.claim(free) != nil {
			return fmt.Errorf("%w: page %d says that page %d is free, which it cannot be", ErrDamaged, id, free)
		}
	}
	return nil
}

// tree walks one tree, level by level; all its leaves are on one level. It
// returns the roots of the buckets in the leaves, where they are read.
func (w *inspector) tree(root uint64, top bool) (buckets []uint64, err error) {
	for level := []uint64{root}; len(level) > 0; {
		var next []uint64
		for i, id := range level {
			if err := w.claim(id); err != nil {
				return nil, err
			}
			if i > 0 && len(next) == 0 && !top && w.how == branches {
				continue // leaves, like the first of the level
			}
			page, leaf, err := w.read(id)
			if err != nil {
				return nil, err
			}
			inside, err := children(id, page, leaf)
			if err != nil {
				return nil, err
			}
			if leaf {
				buckets = append(buckets, inside...)
			} else {
				next = append(next, inside...)
			}
		}
		level = next
	}
	return buckets, nil
}

// claim sees that a page lies in the file and is reached once.
func (w *inspector) claim(id uint64) error {
	if id < firstPage || id >= w.limit {
		return fmt.Errorf("%w: something leads to page %d, of %d", ErrDamaged, id, w.limit)
	}
	if w.seen[id] {
		return fmt.Errorf("%w: page %d is reached in two ways", ErrDamaged, id)
	}
	w.seen[id] = true
	return nil
}

// read returns a page of a tree with those that it runs over into. It is good
// until the next one is read.
func (w *inspector) read(id uint64) (page []byte, leaf bool, err error) {
	page, flags, err := w.page(id)
	if err != nil {
		return nil, false, err
	}
	if flags != flagBranch && flags != flagLeaf {
		return nil, false, fmt.Errorf("%w: page %d is not the one that belongs there", ErrDamaged, id)
	}
	if pageHeader+uint64(binary.NativeEndian.Uint16(page[10:]))*pageElement > uint64(len(page)) {
		return nil, false, fmt.Errorf("%w: page %d says that it is larger than it can be", ErrDamaged, id)
	}
	return page, flags == flagLeaf, nil
}

// page reads a page of any kind with those that it runs over into, and claims
// the latter.
func (w *inspector) page(id uint64) (page []byte, flags uint16, err error) {
	if w.buffer == nil {
		w.buffer = make([]byte, w.size)
	}
	page = w.buffer[:w.size]
	if _, err := w.file.ReadAt(page, int64(id*w.size)); err != nil {
		return nil, 0, err
	}
	own, flags, over := binary.NativeEndian.Uint64(page), binary.NativeEndian.Uint16(page[8:]), uint64(binary.NativeEndian.Uint32(page[12:]))
	if own != id {
		return nil, 0, fmt.Errorf("%w: page %d is not the one that belongs there", ErrDamaged, id)
	}
	if over >= w.limit-id {
		return nil, 0, fmt.Errorf("%w: page %d says that it is larger than it can be", ErrDamaged, id)
	}
	for i := range over {
		if err := w.claim(id + 1 + i); err != nil {
			return nil, 0, err
		}
	}
	if over == 0 {
		return page, flags, nil
	}
	if whole := (over + 1) * w.size; uint64(cap(w.buffer)) < whole {
		w.buffer = append(make([]byte, 0, whole), page...)
	}
	page = w.buffer[:(over+1)*w.size]
	_, err = w.file.ReadAt(page[w.size:], int64((id+1)*w.size))
	return page, flags, err
}

// children checks the elements of a page and returns the pages that they lead
// to: of a branch all, of a leaf the roots of buckets.
func children(id uint64, page []byte, leaf bool) ([]uint64, error) {
	var out []uint64
	for i := range uint64(binary.NativeEndian.Uint16(page[10:])) {
		at := pageHeader + i*pageElement
		element := page[at : at+pageElement]
		word := func(n int) uint64 { return uint64(binary.NativeEndian.Uint32(element[4*n:])) }
		start, end := at+word(0), at+word(0)+word(1)
		if leaf {
			start = at + word(1) + word(2)
			end = start + word(3)
		}
		if end > uint64(len(page)) {
			return nil, fmt.Errorf("%w: page %d says that it is larger than it can be", ErrDamaged, id)
		}
		switch {
		case !leaf:
			out = append(out, binary.NativeEndian.Uint64(element[8:]))
		case word(0)&flagBucket != 0:
			if end-start < 16 {
				return nil, fmt.Errorf("%w: page %d has a bucket that is cut short", ErrDamaged, id)
			}
			if root := binary.NativeEndian.Uint64(page[start:]); root != 0 {
				out = append(out, root)
			} else if err := checkInline(id, page[start+16:end]); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// checkInline checks a bucket that is so small that it lies in a value: a page of
// its own kind without a number, which bbolt follows unseen, in a circle where
// it is not a leaf.
func checkInline(id uint64, page []byte) error {
	if uint64(len(page)) < pageHeader || binary.NativeEndian.Uint16(page[8:]) != flagLeaf ||
		pageHeader+uint64(binary.NativeEndian.Uint16(page[10:]))*pageElement > uint64(len(page)) {
		return fmt.Errorf("%w: page %d has a bucket that is not as it was written", ErrDamaged, id)
	}
	inside, err := children(id, page, true)
	if err == nil && len(inside) > 0 {
		err = fmt.Errorf("%w: page %d has a bucket in a bucket", ErrDamaged, id)
	}
	return err
}
