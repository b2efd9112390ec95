package chitta_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

const benchDim = 512

func benchOptions(dir string) chitta.Options {
	return chitta.Options{Dir: dir, Embedder: "test/512", Dim: benchDim}
}

// benchExperience is like an entry of a diary: 512 dimensions with a common part.
func benchExperience(seed uint64) fold.Experienced {
	r := rand.New(rand.NewPCG(seed, 7))
	e := experience(seed)
	e.Embedder, e.AlwaysCreate = "test/512", true
	e.Embedding = make([]float32, benchDim)
	var n float64
	for i := range e.Embedding {
		e.Embedding[i] = float32(r.NormFloat64() + 0.8)
		n += float64(e.Embedding[i]) * float64(e.Embedding[i])
	}
	for i := range e.Embedding {
		e.Embedding[i] = float32(float64(e.Embedding[i]) / math.Sqrt(n))
	}
	return e
}

// entryText is about as long as an entry of a diary: a hundred words.
func entryText(seed uint64) *chitta.Text {
	return &chitta.Text{Body: strings.Repeat(fmt.Sprintf("entry %06d says ", seed), 40)}
}

// filled returns a folder with a store of n impressions, made once a run of the
// machine: it takes a while.
func filled(b *testing.B, n int) string {
	b.Helper()
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("jivad-bench-%d-%d", n, benchDim))
	s, err := chitta.Open(b.Context(), benchOptions(dir))
	if err != nil {
		b.Fatal(err)
	}
	have := 0
	_ = s.View(func(st *fold.State) error { have = len(st.Impressions); return nil })
	for seed := uint64(have) + 1; have < n; {
		var batch chitta.Batch
		if number := uint32(seed/50) + 1; sessionNumber(s) != number {
			if sessionNumber(s) > 0 {
				batch.Entries = append(batch.Entries, chitta.Entry{Body: fold.SessionClosed{Number: sessionNumber(s)}})
			}
			batch.Entries = append(batch.Entries, chitta.Entry{Body: fold.SessionOpened{Number: sessionNumber(s) + 1}})
		}
		for range min(25, n-have) {
			batch.Entries = append(batch.Entries, chitta.Entry{Body: benchExperience(seed), Text: entryText(seed)})
			seed++
			have++
		}
		if _, err := s.Append(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
	return dir
}

func sessionNumber(s *chitta.Store) (n uint32) {
	_ = s.View(func(st *fold.State) error { n = st.Session.Number; return nil })
	return n
}

// Start-up: newest snapshot, its vectors, the tail.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("impressions=%d", n), func(b *testing.B) {
			dir := filled(b, n)
			for b.Loop() {
				s, err := chitta.Open(b.Context(), benchOptions(dir))
				if err != nil {
					b.Fatal(err)
				}
				if err := s.Close(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// One event made durable and folded in a store of 10,000, alone in its
// transaction, with the bytes and syncs that it costs.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("impressions=%d", n), func(b *testing.B) {
			dir := b.TempDir()
			if err := os.CopyFS(dir, os.DirFS(filled(b, n))); err != nil {
				b.Fatal(err)
			}
			unix.Sync() // what the copy left to write is not the store's
			s, err := chitta.Open(b.Context(), benchOptions(dir))
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close(context.Background()) //nolint:errcheck // a benchmark
			seed := uint64(1 << 40)
			written, pages, commits := deviceBytes(b, dir), s.PageBytes(), s.Commits()
			for b.Loop() {
				seed++
				_, err := s.Append(b.Context(), chitta.Batch{Entries: []chitta.Entry{{Body: benchExperience(seed), Text: entryText(seed)}}})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			b.ReportMetric(float64(deviceBytes(b, dir)-written)/float64(b.N), "device-B/op")
			b.ReportMetric(float64(s.PageBytes()-pages)/float64(b.N), "page-B/op")
			b.ReportMetric(2*float64(s.Commits()-commits)/float64(b.N), "fsyncs/op")
			if perEvent := (s.PageBytes() - pages) / int64(b.N); perEvent > mostPerEvent || s.Commits()-commits > int64(b.N) {
				b.Errorf("%d bytes of pages and %d transactions for %d events", perEvent, s.Commits()-commits, b.N)
			}
		})
	}
}

// mostPerEvent is what one event may write, in bytes.
const mostPerEvent = 64 << 10

// An event that stands alone costs one transaction, which is two syncs, and a
// bounded number of pages, however large the store is.
func TestWhatAnEventCosts(t *testing.T) {
	s := open(t, t.TempDir(), func(o *chitta.Options) { o.Embedder, o.Dim = "test/512", benchDim })
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	seed, events := uint64(0), 0
	for _, size := range []int{0, 150, 600} {
		var batch chitta.Batch
		for ; events < size; events++ {
			seed++
			batch.Entries = append(batch.Entries, chitta.Entry{Body: benchExperience(seed), Text: entryText(seed)})
		}
		if _, err := s.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		const alone = 40
		pages, commits := s.PageBytes(), s.Commits()
		for range alone {
			seed++
			events++
			mustAppend(t, s, chitta.Entry{Body: benchExperience(seed), Text: entryText(seed)})
		}
		if n := s.Commits() - commits; n != alone {
			t.Errorf("%d transactions for %d events", n, alone)
		}
		if n := (s.PageBytes() - pages) / alone; n > mostPerEvent || n < 4<<10 {
			t.Errorf("at %d events: %d bytes of pages for one", size, n)
		}
	}
}

// Each transaction is two syncs, and one more where the file grows.
func TestSyncsAreCounted(t *testing.T) {
	s := open(t, t.TempDir(), func(o *chitta.Options) {
		o.Embedder, o.Dim, o.SnapshotEvery = "test/512", benchDim, 1<<30
	})
	mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
	grown, still := 0, 0
	for seed := range uint64(60) {
		size, syncs := s.Size(), s.Syncs()
		mustAppend(t, s, chitta.Entry{Body: benchExperience(seed + 1), Text: entryText(seed + 1)})
		want := int64(2)
		if s.Size() != size {
			want++
			grown++
		} else {
			still++
		}
		if n := s.Syncs() - syncs; n != want {
			t.Fatalf("%d syncs for entry %d, want %d", n, seed, want)
		}
	}
	if grown == 0 || still == 0 {
		t.Errorf("the file grew %d times and did not %d times", grown, still)
	}
	// One that is refused costs none.
	syncs := s.Syncs()
	if _, err := s.Append(t.Context(), chitta.Batch{Entries: []chitta.Entry{{Body: fold.SessionOpened{Number: 9}}}}); err == nil || s.Syncs() != syncs {
		t.Errorf("%v, %d syncs", err, s.Syncs()-syncs)
	}
}

// deviceBytes is what was written so far to the block device under dir, by
// everybody: run on a quiet machine. The kernel's account of this process alone
// (/proc/self/io) counts whole large folios where a few pages of them are dirty
// and says six times as much as reaches the disk.
func deviceBytes(b *testing.B, dir string) int64 {
	b.Helper()
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		b.Fatal(err)
	}
	name := fmt.Sprintf("/sys/dev/block/%d:%d/stat", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev))) //nolint:unconvert // uint32 on some architectures
	data, err := os.ReadFile(name)
	if err != nil {
		return 0 // a file system without a device of its own
	}
	fields := strings.Fields(string(data))
	const sectorsWritten, sector = 6, 512
	n, err := strconv.ParseInt(fields[sectorsWritten], 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return n * sector
}
