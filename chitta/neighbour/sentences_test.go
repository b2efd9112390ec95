package neighbour_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/jivad/jivad/chitta/neighbour"
	"github.com/jivad/jivad/internal/builtin"
)

// sentenceVectors embeds every fourth sentence of the shared diaries (all with
// JIVAD_ALL_SENTENCES set) with the built-in embedder. The vectors are kept in the temporary folder, under a name made of
// everything that they depend on.
func sentenceVectors(t testing.TB) [][]float32 {
	t.Helper()
	sentences := diarySentences(t)
	if os.Getenv("JIVAD_ALL_SENTENCES") == "" {
		fourth := sentences[:0:0]
		for i := 0; i < len(sentences); i += 4 {
			fourth = append(fourth, sentences[i])
		}
		sentences = fourth
	}
	embedder, err := builtin.NewEmbedder(builtin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// Two sentences embedded now tell a changed model of the same name apart.
	hash := sha256.New()
	fmt.Fprintf(hash, "%s %d\n", embedder.ID(), embedder.Dim())
	for _, i := range []int{0, len(sentences) / 2} {
		v, err := embedder.Embed(context.Background(), sentences[i])
		if err != nil {
			t.Fatal(err)
		}
		hash.Write(rawVector(v))
	}
	for _, s := range sentences {
		fmt.Fprintln(hash, s)
	}
	path := filepath.Join(os.TempDir(), fmt.Sprintf("jivad-sentences-%x.f32", hash.Sum(nil)[:8]))
	if raw, err := os.ReadFile(path); err == nil && len(raw)%(4*embedder.Dim()) == 0 {
		var rows [][]float32
		for row := range bytesChunks(raw, 4*embedder.Dim()) {
			v := make([]float32, embedder.Dim())
			for i := range v {
				v[i] = math.Float32frombits(binary.LittleEndian.Uint32(row[4*i:]))
			}
			rows = append(rows, v)
		}
		return rows
	}
	all := make([][]float32, len(sentences))
	var group errgroup.Group
	group.SetLimit(2 * runtime.GOMAXPROCS(0))
	for i, s := range sentences {
		group.Go(func() (err error) {
			all[i], err = embedder.Embed(context.Background(), s)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	var raw bytes.Buffer
	for _, v := range all {
		raw.Write(rawVector(v))
	}
	if err := os.WriteFile(path+".part", raw.Bytes(), 0o600); err == nil {
		err = os.Rename(path+".part", path)
		if err != nil {
			t.Logf("the vectors are not kept: %v", err)
		}
	}
	return all
}

func bytesChunks(raw []byte, size int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for ; len(raw) >= size; raw = raw[size:] {
			if !yield(raw[:size]) {
				return
			}
		}
	}
}

func rawVector(v []float32) []byte {
	raw := make([]byte, 0, 4*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return raw
}

// diarySentences splits the shared diaries into distinct sentences of at least
// twenty bytes, in the order of files and entries.
func diarySentences(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(sharedFolder(t), "data", "diaries", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Skip("the shared diaries are not here: set JIVAD_SHARED to the folder that holds data/diaries")
	}
	var sentences []string
	seen := map[string]bool{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(bytes.NewReader(raw))
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			var entry struct{ Text string }
			if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
				t.Fatalf("%s: %v", filepath.Base(file), err)
			}
			ends := func(r rune) bool { return strings.ContainsRune(".!?;。！？\n", r) }
			for _, s := range strings.FieldsFunc(entry.Text, ends) {
				if s = strings.Join(strings.Fields(s), " "); len(s) >= 20 && !seen[s] {
					seen[s] = true
					sentences = append(sentences, s)
				}
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return sentences
}

// sharedFolder is $JIVAD_SHARED, or the folder "shared" beside the checkout.
func sharedFolder(t testing.TB) string {
	t.Helper()
	if folder := os.Getenv("JIVAD_SHARED"); folder != "" {
		return folder
	}
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for folder != filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return filepath.Join(folder, "..", "shared")
		}
		folder = filepath.Dir(folder)
	}
	t.Skip("no go.mod above the working folder")
	return ""
}

// BenchmarkSentences asks a store of real diary sentences. The first run embeds
// them, which takes minutes.
func BenchmarkSentences(b *testing.B) {
	neighbour.CompareWithExact(b, sentenceVectors(b), 23)
}
