package chitta

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// Before bbolt changes a leaf it takes that apart, and believes every length in it:
// a damaged one makes it ask for gigabytes, or write the damage round. Of a large
// file the leaves are not read at the start, since they are nearly all of it. So
// each is read right before something in it is changed.

// sounds are the leaves that were read in the write transaction that is under way.
type sounds struct {
	db *bolt.DB
	tx int
	// leaves are the last ones by bucket.
	leaves map[string]soundLeaf
}

// soundLeaf holds the keys from low, up to but not with high; nil is no bound.
type soundLeaf struct {
	low, high []byte
	// beside says that those before and after it were read too.
	beside bool
}

func (l soundLeaf) holds(key []byte) bool {
	return bytes.Compare(l.low, key) <= 0 && (l.high == nil || bytes.Compare(key, l.high) < 0)
}

// sound sees that what stands under a key can be changed: that the pages lead
// there and that the leaf is as bbolt writes it. Where something is removed, bbolt
// may join the leaf with the one before or after it. It runs in a write
// transaction, before that has changed the leaf.
func (s *Store) sound(tx *bolt.Tx, bucket, key []byte, remove bool) error {
	if c := &s.sounds; c.db != tx.DB() || c.tx != tx.ID() {
		*c = sounds{db: tx.DB(), tx: tx.ID(), leaves: map[string]soundLeaf{}}
	}
	if l, ok := s.sounds.leaves[string(bucket)]; ok && l.holds(key) && (l.beside || !remove) {
		return nil
	}
	root := uint64(tx.Bucket(bucket).Root())
	if root == 0 {
		return nil // so small that it lies in the page of buckets, which was read
	}
	size := uint64(tx.DB().Info().PageSize)
	w := &inspector{file: s.db.file, size: size, limit: uint64(tx.Size()) / size, seen: map[uint64]bool{}}
	leaf, err := w.descend(root, key, remove)
	if err == nil {
		s.sounds.leaves[string(bucket)] = leaf
	}
	return err
}

// descend follows a key to its leaf and reads that.
func (w *inspector) descend(id uint64, key []byte, remove bool) (out soundLeaf, err error) {
	out.beside = remove
	var beside []uint64
	for {
		if err := w.claim(id); err != nil {
			return out, err
		}
		leaf, err := w.leaf(id)
		if err != nil {
			return out, err
		}
		if leaf {
			break
		}
		page, _, err := w.read(id)
		if err != nil {
			return out, err
		}
		next, err := children(id, page, false)
		if err != nil {
			return out, err
		}
		if len(next) == 0 {
			return out, fmt.Errorf("%w: page %d leads nowhere", ErrDamaged, id)
		}
		at := 0
		for at+1 < len(next) && bytes.Compare(branchKey(page, at+1), key) <= 0 {
			at++
		}
		if at > 0 {
			out.low = slices.Clone(branchKey(page, at))
		}
		if at+1 < len(next) {
			out.high = slices.Clone(branchKey(page, at+1))
		}
		beside = nil
		if at > 0 {
			beside = append(beside, next[at-1])
		}
		if at+1 < len(next) {
			beside = append(beside, next[at+1])
		}
		id = next[at]
	}
	for _, id := range beside {
		if !remove {
			break
		}
		if err := w.claim(id); err != nil {
			return out, err
		}
		leaf, err := w.leaf(id)
		if err == nil && !leaf {
			err = fmt.Errorf("%w: page %d is not the one that belongs there", ErrDamaged, id)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// branchKey is the key of an element of a branch that was checked.
func branchKey(page []byte, i int) []byte {
	at := uint64(pageHeader + i*pageElement)
	start := at + uint64(binary.NativeEndian.Uint32(page[at:]))
	return page[start : start+uint64(binary.NativeEndian.Uint32(page[at+4:]))]
}

// leaf tells whether a page of a tree is a leaf, and sees of a leaf that its keys
// and values lie one behind the other, as bbolt writes them. It reads no values.
func (w *inspector) leaf(id uint64) (bool, error) {
	if w.buffer == nil {
		w.buffer = make([]byte, w.size)
	}
	page := w.buffer[:w.size]
	if _, err := w.file.ReadAt(page, int64(id*w.size)); err != nil {
		return false, err
	}
	own, flags, count, over := binary.NativeEndian.Uint64(page), binary.NativeEndian.Uint16(page[8:]),
		uint64(binary.NativeEndian.Uint16(page[10:])), uint64(binary.NativeEndian.Uint32(page[12:]))
	if own != id || flags != flagBranch && flags != flagLeaf {
		return false, fmt.Errorf("%w: page %d is not the one that belongs there", ErrDamaged, id)
	}
	end := pageHeader + count*pageElement
	if over >= w.limit-id || end > (over+1)*w.size {
		return false, fmt.Errorf("%w: page %d says that it is larger than it can be", ErrDamaged, id)
	}
	if flags == flagBranch {
		return false, nil
	}
	if end > w.size {
		page = append(make([]byte, 0, end), page...)[:end]
		if _, err := w.file.ReadAt(page[w.size:], int64((id+1)*w.size)); err != nil {
			return false, err
		}
	}
	for i := range count {
		at := pageHeader + i*pageElement
		word := func(n uint64) uint64 { return uint64(binary.NativeEndian.Uint32(page[at+4*n:])) }
		if at+word(1) != end || word(2) == 0 {
			return false, fmt.Errorf("%w: page %d is not as it was written", ErrDamaged, id)
		}
		if end += word(2) + word(3); end > (over+1)*w.size {
			return false, fmt.Errorf("%w: page %d says that it is larger than it can be", ErrDamaged, id)
		}
	}
	return true, nil
}
