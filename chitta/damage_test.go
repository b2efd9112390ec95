package chitta_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// lived makes a store with some sessions and edits and returns its file.
func lived(t *testing.T) []byte {
	dir := t.TempDir()
	s, err := chitta.Open(t.Context(), chitta.Options{Dir: dir, Embedder: "test/1", Dim: dim})
	if err != nil {
		t.Fatal(err)
	}
	for n := range uint32(12) {
		mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: n + 1}})
		for i := range uint64(5) {
			mustAppend(t, s, chitta.Entry{Body: experience(uint64(n)*5 + i), Text: text(i)})
		}
		_, err := s.Append(t.Context(), chitta.Batch{
			Entries: []chitta.Entry{{Body: fold.SessionClosed{Number: n + 1}}},
			Values:  []chitta.Value{{Name: fmt.Sprintf("record/%d", n), Data: bytes.Repeat([]byte{'x'}, 900)}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join(dir, chitta.FileName))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// harm damages a copy of a file in one of the ways of disks.
func harm(file []byte, way int, r *rand.Rand) []byte {
	const page = 4096
	b := bytes.Clone(file)
	switch pages := len(b) / page; way {
	case 0:
		return b[:r.IntN(len(b))]
	case 1:
		return b[:page*r.IntN(pages)]
	case 2:
		at := page * r.IntN(pages)
		clear(b[at : at+page])
	case 3: // where bbolt keeps its numbers
		for range 1 + r.IntN(3) {
			b[page*r.IntN(pages)+r.IntN(64)] ^= 1 << r.IntN(8)
		}
	case 4: // pages that changed places
		i, j := page*r.IntN(pages), page*r.IntN(pages)
		copy(b[i:i+page], file[j:j+page])
	default:
		for range 1 + r.IntN(30) {
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
	}
	return b
}

func TestDamageIsToldAndNeverWrittenOver(t *testing.T) {
	file := lived(t)
	trials := 300
	if testing.Short() {
		trials = 60
	}
	dir := t.TempDir()
	path := filepath.Join(dir, chitta.FileName)
	refused := 0
	for i := range trials {
		b := harm(file, i%6, rand.New(rand.NewPCG(uint64(i), 9)))
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := chitta.Open(t.Context(), chitta.Options{Dir: dir, Embedder: "test/1", Dim: dim})
		if err != nil {
			refused++
			if errors.Is(err, chitta.ErrLocked) {
				t.Fatalf("trial %d: an earlier trial kept the file", i)
			}
			if !errors.Is(err, chitta.ErrDamaged) {
				t.Errorf("trial %d: not told as damage: %v", i, err)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(after, b) {
				t.Errorf("trial %d: the damaged file was changed", i)
			}
			continue
		}
		if _, err := s.Verify(t.Context(), chitta.VerifyOptions{Full: true}); err != nil {
			t.Errorf("trial %d: verify: %v", i, err)
		}
		_ = s.Texts(0, func(uint64, chitta.Text) error { return nil })
		_ = s.Values("", func(string, []byte) error { return nil })
		_, _ = s.Append(t.Context(), chitta.Batch{Entries: []chitta.Entry{{Body: fold.SessionOpened{Number: 13}}, {Body: experience(uint64(1000 + i))}}})
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("trial %d: close: %v", i, err)
		}
	}
	if refused < trials/4 {
		t.Errorf("%d of %d damaged files were refused", refused, trials)
	}
}

func TestAnEmptyFileIsNoNewStore(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, chitta.FileName)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := chitta.Open(context.Background(), chitta.Options{Dir: dir}); !errors.Is(err, chitta.ErrDamaged) {
		t.Errorf("got %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("the file was written: %v %v", info, err)
	}
}
