package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jivad/jivad/chitta/fold"
)

// bare lines of a file, without their checksums.
func unsealedLines(t testing.TB, data []byte) []byte {
	t.Helper()
	var out []byte
	for line := range bytes.Lines(data) {
		object, ok := unsealed(bytes.TrimSuffix(line, []byte("\n")))
		if !ok {
			t.Fatal("a line is not sealed")
		}
		out = append(append(out, object...), '\n')
	}
	return out
}

// forged is an export of which one file holds other data, with checksums that match.
func forged(t testing.TB, good fstest.MapFS, name string, data []byte) fstest.MapFS {
	t.Helper()
	files := maps.Clone(good)
	if strings.HasSuffix(name, ".jsonl") {
		var lines []byte
		for line := range bytes.Lines(data) {
			if line = bytes.TrimRight(line, "\r\n"); len(line) > 1 {
				lines = append(append(lines, sealed(bytes.Clone(line))...), '\n')
			}
		}
		data = lines
	}
	files[name] = &fstest.MapFile{Data: data}
	if name == FileManifest {
		return files
	}
	var m Manifest
	if _, err := decode(good[FileManifest].Data, &m); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	m.Files[name] = FileInfo{Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:]), Lines: bytes.Count(data, []byte("\n"))}
	manifest, err := marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	files[FileManifest] = &fstest.MapFile{Data: manifest}
	return files
}

// rowed is a change of embedder with the rows that its vectors make.
func rowed(state *fold.State, r Record) (fold.Event, error) {
	b, ok := r.Event.Body.(fold.EmbedderChanged)
	if !ok || r.Vectors == nil {
		return r.Event, nil
	}
	given, last := map[uint64][]float32{}, uint64(0)
	err := r.Vectors(func(order uint64, v []float32) error {
		if order <= last || order >= r.Event.Sequence || fold.CheckVector(v, b.Dim) != nil {
			panic(fmt.Sprintf("a vector of %d components for the entry at %d, after %d", len(v), order, last))
		}
		given[order], last = v, order
		return nil
	})
	if err != nil {
		return r.Event, err
	}
	if b.Dim < 1 || b.Dim > 1<<14 {
		return r.Event, nil // the fold refuses it
	}
	b.Rows = fold.NewMatrix(b.Dim)
	for _, m := range state.Impressions {
		if v := given[m.Sequence]; v == nil {
			b.Rows.AppendUnplaced()
		} else if err := b.Rows.Append(v); err != nil {
			return r.Event, err
		}
	}
	r.Event.Body = b
	return r.Event, nil
}

// Whatever stands in a file, with checksums that match: it is read or refused with
// the file's name, never a panic. What is read can be written to the log, and is
// folded or refused.
func FuzzRead(f *testing.F) {
	good := small(f)
	names := slices.Sorted(maps.Keys(good))
	for i, name := range names {
		data := good[name].Data
		if strings.HasSuffix(name, ".jsonl") {
			data = unsealedLines(f, data)
		}
		f.Add(uint8(i), data)
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		name := names[int(which)%len(names)]
		x, err := openFS(context.Background(), forged(t, good, name, data))
		var at *Error
		if err != nil {
			if !errors.As(err, &at) || at.File == "" {
				t.Fatalf("%s: %v", name, err)
			}
			return
		}
		state, last := fold.NewState(), uint64(0)
		refused := errors.New("the fold refuses it")
		err = x.Records(context.Background(), func(r Record) error {
			if last++; r.Event.Sequence != last {
				t.Fatalf("order %d after %d", r.Event.Sequence, last-1)
			}
			b, err := fold.Encode(r.Event)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fold.Decode(last, b); err != nil {
				if _, params := r.Event.Body.(fold.ParamsChanged); !params {
					t.Fatalf("written to the log it is not read again: %v", err)
				}
			}
			var near []fold.Candidate
			if e, ok := r.Event.Body.(fold.Experienced); ok && len(e.Embedding) == state.Dim {
				near = state.Vectors.Nearest(e.Embedding, state.Params.Gate.Candidates, 1, nil)
			}
			e, err := rowed(state, r)
			if err != nil {
				return err
			}
			if _, err := fold.Step(state, e, near); err != nil {
				return refused
			}
			return nil
		})
		if err != nil && !errors.As(err, &at) {
			t.Fatalf("%s: %v", name, err)
		}
	})
}
