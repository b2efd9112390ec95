package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	bolt "go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"github.com/jivad/jivad/internal/ledger"
)

var log = ledger.NewLog("events")

func database(t testing.TB) *bolt.DB {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := db.Update(log.Create); err != nil {
		t.Fatal(err)
	}
	return db
}

func fill(t testing.TB, db *bolt.DB, n int) {
	t.Helper()
	err := db.Update(func(tx *bolt.Tx) error {
		for i := range n {
			if seq, err := log.Append(tx, fmt.Appendf(nil, "payload %d", i+1)); err != nil || seq != uint64(i+1) {
				return fmt.Errorf("sequence %d: %w", seq, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// words folds a stretch of the log into the list of its payloads.
func words(t testing.TB, db *bolt.DB, after, to uint64, keep func(string) bool) ([]string, error) {
	var out []string
	err := ledger.Replay(t.Context(), log.In(db), after, to, ledger.Rules[string]{
		Decode:  func(_ uint64, b []byte) (string, error) { return string(b), nil },
		Resolve: func(s string) (string, bool) { return s, keep == nil || keep(s) },
		Step:    func(s string) error { out = append(out, s); return nil },
	})
	return out, err
}

// A fold over any stretch, in pages or not, is the fold of its parts; a fold
// without some events is the fold of the others.
func TestReplayIsTheFoldOfItsParts(t *testing.T) {
	const n = 700 // several pages
	db := database(t)
	fill(t, db, n)
	whole, err := words(t, db, 0, n, nil)
	if err != nil || len(whole) != n {
		t.Fatalf("%d records, %v", len(whole), err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		from := rapid.Uint64Range(0, n).Draw(rt, "from")
		cut := rapid.Uint64Range(from, n).Draw(rt, "cut")
		to := rapid.Uint64Range(cut, n+5).Draw(rt, "to")
		a, err1 := words(t, db, from, cut, nil)
		b, err2 := words(t, db, cut, to, nil)
		if err := errors.Join(err1, err2); err != nil {
			rt.Fatal(err)
		}
		if got := slices.Concat(a, b); !slices.Equal(got, whole[from:min(to, n)]) {
			rt.Fatalf("%d records from %d to %d by %d", len(got), from, to, cut)
		}
		mod := rapid.IntRange(2, 9).Draw(rt, "leave out")
		left, err := words(t, db, 0, n, func(s string) bool { return len(s)%mod != 0 })
		if err != nil {
			rt.Fatal(err)
		}
		want := slices.DeleteFunc(slices.Clone(whole), func(s string) bool { return len(s)%mod == 0 })
		if !slices.Equal(left, want) {
			rt.Fatal("the fold without some events is not the fold of the others")
		}
	})
}

// Any flipped bit of a record, and a record in another one's place, is told.
func TestDamageIsTold(t *testing.T) {
	db := database(t)
	fill(t, db, 3)
	bucket := func(tx *bolt.Tx) *bolt.Bucket { return tx.Bucket([]byte("events")) }
	key := func(seq byte) []byte { return []byte{0, 0, 0, 0, 0, 0, 0, seq} }
	var good []byte
	get := func() (err error) {
		return db.View(func(tx *bolt.Tx) error { _, err := log.Get(tx, 2); return err })
	}
	put := func(record []byte) {
		t.Helper()
		if err := db.Update(func(tx *bolt.Tx) error { return bucket(tx).Put(key(2), record) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.View(func(tx *bolt.Tx) error { good = slices.Clone(bucket(tx).Get(key(2))); return nil }); err != nil {
		t.Fatal(err)
	}
	for bit := range len(good) * 8 {
		bad := slices.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		put(bad)
		if err := get(); !errors.Is(err, ledger.ErrDamaged) {
			t.Fatalf("bit %d flipped: %v", bit, err)
		}
	}
	for cut := range good {
		put(good[:cut])
		if err := get(); !errors.Is(err, ledger.ErrDamaged) {
			t.Fatalf("cut to %d bytes: %v", cut, err)
		}
	}
	var other []byte
	if err := db.View(func(tx *bolt.Tx) error { other = slices.Clone(bucket(tx).Get(key(3))); return nil }); err != nil {
		t.Fatal(err)
	}
	put(other)
	if err := get(); !errors.Is(err, ledger.ErrDamaged) {
		t.Errorf("the record of another place: %v", err)
	}
	if _, err := words(t, db, 0, 3, nil); !errors.Is(err, ledger.ErrDamaged) {
		t.Errorf("a replay over it: %v", err)
	}
	put(good)
	if err := get(); err != nil {
		t.Errorf("mended: %v", err)
	}
	err := db.View(func(tx *bolt.Tx) error { _, err := log.Get(tx, 9); return err })
	var where *ledger.RecordError
	if !errors.Is(err, ledger.ErrNoRecord) || !errors.As(err, &where) || where.Sequence != 9 {
		t.Errorf("a record that is not there: %v", err)
	}
}

func TestReplayStopsWhenAsked(t *testing.T) {
	db := database(t)
	fill(t, db, 10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := ledger.Replay(ctx, log.In(db), 0, 10, ledger.Rules[string]{
		Decode: func(uint64, []byte) (string, error) { return "", nil },
		Step:   func(string) error { t.Error("a step after the end"); return nil },
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func mark(seq uint64) ledger.Mark { return ledger.Mark{Sequence: seq, Store: "s", Generation: 2} }

func TestSnapshotsAreReadBackOrRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "snapshots")
	s := ledger.NewSnapshots(dir)
	if all, err := s.Sequences(); err != nil || len(all) != 0 {
		t.Fatalf("an empty folder: %v, %v", all, err)
	}
	if err := s.Save(mark(7), []byte("state")); err != nil {
		t.Fatal(err)
	}
	m, payload, err := s.Load(7)
	if err != nil || string(payload) != "state" || m.Store != "s" || m.Generation != 2 {
		t.Fatalf("%+v %q %v", m, payload, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	write := func(data []byte) {
		t.Helper()
		if err := os.WriteFile(files[0], data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for bit := range len(whole) * 8 {
		bad := slices.Clone(whole)
		bad[bit/8] ^= 1 << (bit % 8)
		write(bad)
		if _, _, err := s.Load(7); !errors.Is(err, ledger.ErrSnapshot) {
			t.Fatalf("bit %d flipped: %v", bit, err)
		}
	}
	for cut := range whole {
		write(whole[:cut])
		if _, _, err := s.Load(7); !errors.Is(err, ledger.ErrSnapshot) {
			t.Fatalf("cut to %d: %v", cut, err)
		}
	}
	write(whole)
	if err := os.Rename(files[0], filepath.Join(dir, "000000000009.snap")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Load(9); !errors.Is(err, ledger.ErrSnapshot) {
		t.Errorf("a snapshot under another's name: %v", err)
	}
}

// However many are taken, a few dozen stay: the newest, the first, and older ones
// at growing distances, so that a fold never starts much farther back than it must.
func TestOldSnapshotsThinOut(t *testing.T) {
	s := ledger.NewSnapshots(t.TempDir())
	const every, last = 500, 200_000
	for seq := uint64(every); seq <= last; seq += every {
		if err := s.Save(mark(seq), nil); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.Sequences()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) > 40 || all[0] != last || all[len(all)-1] != every {
		t.Errorf("%d kept, from %d to %d", len(all), all[len(all)-1], all[0])
	}
	for i := 1; i < len(all); i++ {
		if gap, age := all[i-1]-all[i], last-all[i]; gap > every && gap > age {
			t.Errorf("nothing between %d and %d", all[i], all[i-1])
		}
	}
	if err := s.Drop(50_000); err != nil {
		t.Fatal(err)
	}
	left, err := s.Sequences()
	if err != nil || len(left) == 0 || left[0] >= 50_000 {
		t.Errorf("after dropping: %v, %v", left, err)
	}
}

// A record that is replaced keeps its place and has a checksum of its own; where
// there is none nothing is written.
func TestReplace(t *testing.T) {
	db := database(t)
	fill(t, db, 3)
	if err := db.Update(func(tx *bolt.Tx) error { return log.Replace(tx, 2, []byte("another")) }); err != nil {
		t.Fatal(err)
	}
	if got, err := words(t, db, 0, 9, nil); err != nil || !slices.Equal(got, []string{"payload 1", "another", "payload 3"}) {
		t.Errorf("%q, %v", got, err)
	}
	for _, seq := range []uint64{0, 4} {
		if err := db.Update(func(tx *bolt.Tx) error { return log.Replace(tx, seq, nil) }); !errors.Is(err, ledger.ErrNoRecord) {
			t.Errorf("record %d: %v", seq, err)
		}
	}
}
