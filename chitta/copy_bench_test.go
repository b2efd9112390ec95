package chitta

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/internal/ledger"
)

// rawStore is a store's file with n events of 2 KB and their texts, which was never
// folded; made once a run of the machine.
func rawStore(b *testing.B, n uint64) (*Store, fold.Event) {
	b.Helper()
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("jivad-bench-raw-%d", n))
	path := filepath.Join(dir, FileName)
	x := one(1)
	x.Embedding = make([]float32, 512)
	for i := range x.Embedding {
		x.Embedding[i] = float32(i%7) + 0.5
	}
	e := fold.Event{Body: x}
	data, err := fold.Encode(e)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			b.Fatal(err)
		}
		f, err := newFiller(context.Background(), path)
		if err != nil {
			b.Fatal(err)
		}
		err = fillMeta(f, Meta{Schema: schemaVersion, ID: "0190aaaa-aaaa-7aaa-8aaa-aaaaaaaaaaaa"})
		for seq := uint64(1); seq <= n && err == nil; seq++ {
			err = f.put(events.Bucket(), sequenceKey(seq), ledger.Record(seq, data))
		}
		for seq := uint64(1); seq <= n && err == nil; seq++ {
			k := sequenceKey(seq)
			err = f.put(bucketTexts, k, seal(bucketTexts, k, bytes.Repeat([]byte{'x'}, 1200)))
		}
		if err != nil {
			b.Fatal(err)
		}
		bucket, err := f.bucket(events.Bucket())
		if err != nil || bucket.SetSequence(n) != nil || f.commit() != nil || f.db.Sync() != nil || f.db.Close() != nil {
			b.Fatal("the store could not be made", err)
		}
	}
	p, err := openPages(path, false)
	if err != nil {
		b.Fatal(err)
	}
	s := &Store{opts: Options{Dir: dir}, db: &database{db: p.db, file: p.file}, touched: &touched{}, log: slog.New(slog.DiscardHandler), file: path}
	b.Cleanup(func() { _ = s.db.close() })
	var r FileReport
	if err := s.view(func(tx *bolt.Tx) error { return s.describe(tx, &r) }); err != nil {
		b.Fatal(err)
	}
	return s, e
}

// A copy beside one writer: in many looks, as backups are made, and in one read
// transaction, as bbolt does it.
func BenchmarkCopy(b *testing.B) {
	for _, n := range []uint64{20_000, 100_000} {
		s, e := rawStore(b, n)
		ways := map[string]func(path string) error{
			"looks": func(path string) error {
				return s.copyTo(context.Background(), path, func(string, uint64, uint64) {})
			},
			"transaction": s.copyRaw,
		}
		for _, way := range []string{"looks", "transaction"} {
			b.Run(fmt.Sprintf("events=%d/%s", n, way), func(b *testing.B) {
				dir := b.TempDir()
				stop, done := make(chan struct{}), make(chan []time.Duration)
				go func() {
					var took []time.Duration
					for {
						select {
						case <-stop:
							done <- took
							return
						default:
						}
						began := time.Now()
						if err := appendRaw(s, e); err != nil {
							b.Error(err)
						}
						took = append(took, time.Since(began))
					}
				}()
				s.longestRead.Store(0)
				i := 0
				for b.Loop() {
					i++
					if !s.touched.begin(func(error) {}) {
						b.Fatal("another copy is being made")
					}
					if err := ways[way](filepath.Join(dir, fmt.Sprint(i))); err != nil {
						b.Fatal(err)
					}
					s.touched.end()
				}
				close(stop)
				took := <-done
				slices.Sort(took)
				b.ReportMetric(float64(s.longestRead.Load())/1e6, "longest-read-ms")
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1e3, "write-p50-ms")
				b.ReportMetric(float64(took[len(took)-1].Microseconds())/1e3, "write-max-ms")
				if way == "looks" {
					began := time.Now()
					if _, err := CheckFile(context.Background(), filepath.Join(dir, fmt.Sprint(i)), CheckOptions{}); err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(time.Since(began).Milliseconds()), "check-ms")
				}
			})
		}
	}
}

// appendRaw writes an event and its text and folds nothing.
func appendRaw(s *Store, e fold.Event) error {
	return s.update(func(tx *bolt.Tx) error {
		data, err := fold.Encode(e)
		if err != nil {
			return err
		}
		seq, err := events.Append(tx, data)
		if err != nil {
			return err
		}
		return s.put(tx, bucketTexts, sequenceKey(seq), bytes.Repeat([]byte{'y'}, 1200))
	})
}
