package chitta

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/chitta/fold"
)

// leavesOf are the pages of a bucket's leaves, in order of the keys.
func leavesOf(t *testing.T, s *Store, bucket []byte) (leaves []uint64) {
	t.Helper()
	err := s.view(func(tx *bolt.Tx) error {
		size := uint64(tx.DB().Info().PageSize)
		w := &inspector{file: s.db.file, size: size, limit: uint64(tx.Size()) / size, seen: map[uint64]bool{}}
		var walk func(id uint64) error
		walk = func(id uint64) error {
			page, leaf, err := w.read(id)
			if err != nil || leaf {
				leaves = append(leaves, id)
				return err
			}
			next, err := children(id, page, false)
			for _, id := range next {
				if err == nil {
					err = walk(id)
				}
			}
			return err
		}
		return walk(uint64(tx.Bucket(bucket).Root()))
	})
	if err != nil {
		t.Fatal(err)
	}
	return leaves
}

// many is a store with texts in more leaves than one page leads to at a glance.
func many(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Dir: dir, Embedder: "test/1", Dim: 4, SnapshotEvery: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(t.Context()) })
	entries := []Entry{{Body: fold.SessionOpened{Number: 1}}}
	for n := range uint32(600) {
		entries = append(entries, Entry{Body: one(n), Text: &Text{Body: fmt.Sprintf("words %d %0500d", n, n)}})
	}
	if _, err := s.Append(t.Context(), Batch{Entries: entries}); err != nil {
		t.Fatal(err)
	}
	return s
}

// A leaf whose lengths are damaged is not given to bbolt to change: nothing is
// written, it is told, and no more is taken.
func TestADamagedLeafIsNotChanged(t *testing.T) {
	for name, harm := range map[string]func(page []byte){
		"the length of the last value":  func(p []byte) { binary.NativeEndian.PutUint32(last(p)[12:], math.MaxInt32) },
		"the length of the first value": func(p []byte) { binary.NativeEndian.PutUint32(p[pageHeader+12:], 3000) },
		"the length of a key":           func(p []byte) { binary.NativeEndian.PutUint32(last(p)[8:], 0) },
		"a place":                       func(p []byte) { binary.NativeEndian.PutUint32(last(p)[4:], 1<<30) },
		"the number of elements":        func(p []byte) { binary.NativeEndian.PutUint16(p[10:], math.MaxUint16) },
		"how far it runs over":          func(p []byte) { binary.NativeEndian.PutUint32(p[12:], 1<<20) },
		"its number":                    func(p []byte) { p[0]++ },
		"what it is":                    func(p []byte) { p[8] = flagMeta },
		"all of it":                     func(p []byte) { clear(p) },
	} {
		for _, bucket := range [][]byte{events.Bucket(), bucketTexts} {
			t.Run(fmt.Sprintf("%s/%s", bucket, name), func(t *testing.T) {
				dir := t.TempDir()
				s := many(t, dir)
				leaves := leavesOf(t, s, bucket)
				at := int64(leaves[len(leaves)-1]) * int64(os.Getpagesize())
				page := make([]byte, os.Getpagesize())
				path := filepath.Join(dir, FileName)
				file, err := os.OpenFile(path, os.O_RDWR, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer file.Close() //nolint:errcheck // a test that is over
				if _, err := file.ReadAt(page, at); err != nil {
					t.Fatal(err)
				}
				harm(page)
				if _, err := file.WriteAt(page, at); err != nil {
					t.Fatal(err)
				}
				before, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				write := func(n uint32) error {
					_, err := s.Append(t.Context(), Batch{Entries: []Entry{{Body: one(n), Text: &Text{Body: "more"}}}})
					return err
				}
				if err := write(1000); !errors.Is(err, ErrDamaged) || !errors.Is(err, ErrBroken) {
					t.Errorf("it was written to: %v", err)
				}
				if fault := s.Fault(); !errors.Is(fault, ErrDamaged) {
					t.Errorf("told is %v", fault)
				}
				if err := write(1001); !errors.Is(err, ErrBroken) {
					t.Errorf("more was taken: %v", err)
				}
				if now, err := os.ReadFile(path); err != nil || string(now) != string(before) {
					t.Errorf("the file was changed (%v)", err)
				}
			})
		}
	}
}

// last is the last element of a leaf.
func last(page []byte) []byte {
	return page[pageHeader+(int(binary.NativeEndian.Uint16(page[10:]))-1)*pageElement:]
}

// Something is taken out only where the leaves beside it are whole too.
func TestADamagedLeafIsNotJoined(t *testing.T) {
	for _, side := range []int{-1, 0, 1, 2} {
		dir := t.TempDir()
		s := many(t, dir)
		leaves := leavesOf(t, s, bucketTexts)
		const at = 7
		file, err := os.OpenFile(filepath.Join(dir, FileName), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		var first []byte
		err = s.view(func(tx *bolt.Tx) error {
			w := &inspector{file: s.db.file, size: uint64(os.Getpagesize()), limit: uint64(tx.Size()) / uint64(os.Getpagesize()), seen: map[uint64]bool{}}
			page, _, err := w.read(leaves[at])
			if err == nil {
				start := pageHeader + binary.NativeEndian.Uint32(page[pageHeader+4:])
				first = append(first, page[start:start+8]...)
			}
			return err
		})
		if err == nil {
			_, err = file.WriteAt([]byte{0xff, 0xff, 0xff, 0x7f}, int64(leaves[at+side])*int64(os.Getpagesize())+pageHeader+12)
		}
		if err = errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		err = s.update(func(tx *bolt.Tx) error {
			if err := s.remove(tx, bucketTexts, first); err != nil {
				return err
			}
			return errNothing
		})
		if damaged := errors.Is(err, ErrDamaged); damaged != (side < 2) {
			t.Errorf("damage %d leaves on: %v", side, err)
		}
	}
}

// What of a file of 300 MB could be read at a start: what leads to the records, and
// all leaves without and with the values; with nothing of it in memory, and again.
func BenchmarkInspect(b *testing.B) {
	store, _ := rawStore(b, 56_000)
	if err := store.db.close(); err != nil { // what is mapped stays in memory
		b.Fatal(err)
	}
	path := filepath.Join(os.TempDir(), "jivad-bench-raw-56000", FileName)
	for _, cold := range []bool{true, false} {
		for _, how := range []string{"branches", "elements", "everything"} {
			b.Run(fmt.Sprintf("%s/cold=%v", how, cold), func(b *testing.B) {
				read := int64(0)
				for b.Loop() {
					b.StopTimer()
					if cold {
						dropCached(path)
					}
					before := bytesRead(b)
					b.StartTimer()
					db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
					if err != nil {
						b.Fatal(err)
					}
					err = db.View(func(tx *bolt.Tx) error {
						switch how {
						case "branches":
							return inspect(tx, path, branches)
						case "everything":
							return inspect(tx, path, everything)
						}
						return leavesAlone(tx, path)
					})
					if err = errors.Join(err, db.Close()); err != nil {
						b.Fatal(err)
					}
					read += bytesRead(b) - before
				}
				b.ReportMetric(float64(read)/float64(b.N)/1e6, "MB-read")
			})
		}
	}
}

// leavesAlone reads the elements of every leaf, and no values but those beside them.
func leavesAlone(tx *bolt.Tx, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // opened for reading
	w, err := inspectTrees(tx, file, branches)
	for _, id := range slices.Sorted(maps.Keys(w.seen)) {
		_, _ = w.leaf(id) // that one runs over into the next shows, and is no fault
	}
	return err
}

// bytesRead is what this process had the disk read so far.
func bytesRead(b *testing.B) (n int64) {
	data, err := os.ReadFile("/proc/self/io")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if _, err := fmt.Sscanf(line, "read_bytes: %d", &n); err == nil {
			return n
		}
	}
	return 0
}
