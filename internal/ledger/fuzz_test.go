package ledger_test

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jivad/jivad/internal/ledger"
)

// Whatever bytes a snapshot file holds, also behind a checksum that matches: it
// is read or refused as a cache that cannot be used.
func FuzzSnapshot(f *testing.F) {
	dir := f.TempDir()
	s := ledger.NewSnapshots(dir)
	if err := s.Save(ledger.Mark{Sequence: 7, Store: "s", Generation: 2, Arithmetic: []string{"a"}}, []byte("state")); err != nil {
		f.Fatal(err)
	}
	path := filepath.Join(dir, "000000000007.snap")
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole, false)
	f.Add(whole[:len(whole)-sha256.Size], true)
	f.Add(whole[:20], true)
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, data []byte, sum bool) {
		if sum {
			own := sha256.Sum256(data)
			data = append(slices.Clone(data), own[:]...)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		m, payload, err := s.Load(7)
		if err != nil {
			if !errors.Is(err, ledger.ErrSnapshot) {
				t.Fatal(err)
			}
			return
		}
		if m.Sequence != 7 || len(payload) > len(data) {
			t.Fatalf("%+v with %d bytes of %d", m, len(payload), len(data))
		}
	})
}
