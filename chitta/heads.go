package chitta

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// The first two pages of the file are its heads: each says where the trees of one
// transaction begin, the last one and the one before it in turn. bbolt takes
// the later one of those that are whole. Where the last one was damaged it goes
// on with the one before and says nothing, as if what was written last had never
// been.

// Layout of a head, behind the header of its page.
const (
	headMagic   = 0xED0CDAED
	headVersion = 2
	headSize    = 64
	headSummed  = 56 // bytes that its checksum covers
	noFreelist  = ^uint64(0)
	// headsApart is how many transactions the heads may lie apart: one, or two
	// after the first transaction in a file that bbolt copied itself.
	headsApart = 2
)

// head is where one transaction's trees begin.
type head struct {
	whole bool
	// transaction counts writes; root and freelist are pages, limit is the first
	// page that is not in use.
	transaction, root, freelist, limit uint64
}

type heads [2]head

// readHeads reads both; what cannot be read is not whole.
func readHeads(file io.ReaderAt, pageSize int64) (h heads) {
	for i := range h {
		page := make([]byte, pageHeader+headSize)
		if _, err := file.ReadAt(page, int64(i)*pageSize); err == nil {
			h[i] = decodeHead(page[pageHeader:], pageSize)
		}
	}
	return h
}

func decodeHead(b []byte, pageSize int64) head {
	word := func(at int) uint32 { return binary.NativeEndian.Uint32(b[at:]) }
	long := func(at int) uint64 { return binary.NativeEndian.Uint64(b[at:]) }
	sum := fnv.New64a()
	_, _ = sum.Write(b[:headSummed])
	return head{
		whole: word(0) == headMagic && word(4) == headVersion && int64(word(8)) == pageSize && long(headSummed) == sum.Sum64(),
		root:  long(16), freelist: long(32), limit: long(40), transaction: long(48),
	}
}

// encodeHead is a page that begins with a head.
func encodeHead(id uint64, h head, pageSize int64) []byte {
	page := make([]byte, pageSize)
	binary.NativeEndian.PutUint64(page, id)
	binary.NativeEndian.PutUint16(page[8:], flagMeta)
	b := page[pageHeader:]
	for at, v := range map[int]uint32{0: headMagic, 4: headVersion, 8: uint32(pageSize)} {
		binary.NativeEndian.PutUint32(b[at:], v)
	}
	for at, v := range map[int]uint64{16: h.root, 32: h.freelist, 40: h.limit, 48: h.transaction} {
		binary.NativeEndian.PutUint64(b[at:], v)
	}
	sum := fnv.New64a()
	_, _ = sum.Write(b[:headSummed])
	binary.NativeEndian.PutUint64(b[headSummed:], sum.Sum64())
	return page
}

// newest is the head that the file is read by.
func (h heads) newest() head {
	if !h[0].whole || h[1].whole && h[1].transaction > h[0].transaction {
		return h[1]
	}
	return h[0]
}

// headFault is what is wrong with the heads of a file.
type headFault struct {
	text string
	// lost says that something was written later than what can be reached.
	lost bool
}

// checkHeads looks at both heads of an open file. The empty fault is none.
func checkHeads(tx *bolt.Tx, file io.ReaderAt) (headFault, error) {
	size := int64(tx.DB().Info().PageSize)
	h := readHeads(file, size)
	for i := range h {
		if h[i].whole {
			continue
		}
		f := headFault{text: fmt.Sprintf("page %d, one of the two that say where everything is, is not as it was written", i)}
		here := born{commits: tx.Bucket(bucketMeta).Sequence(), last: tx.Bucket(events.Bucket()).Sequence()}
		roots, err := findRoots(file, size)
		if err != nil {
			return f, err
		}
		if len(roots) > 0 && roots[0].after(here) {
			f.text += fmt.Sprintf(", and what was written last can be reached from there only (record %d, where the other one leads to %d)", roots[0].last, here.last)
			f.lost = true
		}
		return f, nil
	}
	if apart := max(h[0].transaction, h[1].transaction) - min(h[0].transaction, h[1].transaction); apart == 0 || apart > headsApart {
		return headFault{text: fmt.Sprintf("the two pages that say where everything is are %d writes apart, so the disk has lost one of them; the later one leads to everything", apart)}, nil
	}
	return headFault{}, nil
}

// born tells when a page was written: with which commit, and which was the last
// record then.
type born struct{ commits, last uint64 }

func (b born) after(c born) bool { return b.commits > c.commits || b.last > c.last }

// rootPage is the beginning of the trees of one transaction.
type rootPage struct {
	born
	page uint64
}

// findRoots looks through all pages, in use or not, for beginnings of the trees,
// the latest first.
func findRoots(file io.ReaderAt, size int64) ([]rootPage, error) {
	var out []rootPage
	page := make([]byte, size)
	for id := uint64(firstPage); ; id++ {
		if n, err := file.ReadAt(page, int64(id)*size); n < len(page) {
			if errors.Is(err, io.EOF) {
				break
			}
			return out, err
		}
		if b, ok := rootOf(id, page); ok {
			out = append(out, rootPage{b, id})
		}
	}
	slices.SortStableFunc(out, func(a, b rootPage) int {
		return cmp.Or(cmp.Compare(b.commits, a.commits), cmp.Compare(b.last, a.last))
	})
	return out, nil
}

// rootOf tells whether a page is the leaf that names our buckets, and when it
// was written.
func rootOf(id uint64, page []byte) (b born, ok bool) {
	if binary.NativeEndian.Uint64(page) != id || binary.NativeEndian.Uint16(page[8:]) != flagLeaf || binary.NativeEndian.Uint32(page[12:]) != 0 {
		return b, false
	}
	count := int(binary.NativeEndian.Uint16(page[10:]))
	if pageHeader+count*pageElement > len(page) {
		return b, false
	}
	if _, err := children(id, page, true); err != nil {
		return b, false
	}
	found := 0
	for i := range count {
		at := pageHeader + i*pageElement
		word := func(n int) int { return int(binary.NativeEndian.Uint32(page[at+4*n:])) }
		const sequence, least = 8, 16 // behind the bucket's root
		if word(0)&flagBucket == 0 || word(3) < least {
			return b, false
		}
		start := at + word(1)
		name, value := string(page[start:start+word(2)]), page[start+word(2):]
		switch name {
		case string(bucketMeta):
			b.commits = binary.NativeEndian.Uint64(value[sequence:])
			found++
		case string(events.Bucket()):
			b.last = binary.NativeEndian.Uint64(value[sequence:])
			found++
		}
	}
	return b, found == 2
}

// mender puts heads in place of those that a copy of a store has lost.
type mender struct {
	path  string
	size  int64
	limit uint64
	heads heads
	roots []rootPage
}

func newMender(path string) (*mender, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // opened for reading
	m := &mender{path: path}
	if m.size, err = pageSizeOf(file); err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	m.limit, m.heads = uint64(info.Size()/m.size), readHeads(file, m.size)
	m.roots, err = findRoots(file, m.size)
	return m, err
}

// lead has the lost heads lead to one of the roots. Whether the copy is good then
// is for the caller to see.
func (m *mender) lead(r rootPage) (err error) {
	file, err := os.OpenFile(m.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	next := uint64(firstPage) // bbolt writes transaction n to head n%2
	for _, h := range m.heads {
		if h.whole {
			next = h.transaction + 1
		}
	}
	for i, h := range m.heads {
		if h.whole {
			continue
		}
		made := head{root: r.page, freelist: noFreelist, limit: m.limit, transaction: next}
		if made.transaction%2 != uint64(i) {
			made.transaction++
		}
		if _, err := file.WriteAt(encodeHead(uint64(i), made, m.size), int64(i)*m.size); err != nil {
			return err
		}
	}
	return file.Sync()
}

// pageSizeOf finds the size of the pages by the heads, or takes the system's
// where both are lost.
func pageSizeOf(file io.ReaderAt) (int64, error) {
	for size := int64(1 << 10); size <= 16<<20; size <<= 1 {
		h := readHeads(file, size)
		if h[0].whole || h[1].whole {
			return size, nil
		}
	}
	return int64(os.Getpagesize()), nil
}
