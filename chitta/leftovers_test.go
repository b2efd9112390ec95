package chitta_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jivad/jivad/chitta"
)

// A process that is killed while it makes its store leaves a second name of the
// same file. It must go: after a forgetting it would be the file of before.
func TestLeftoversGoAtTheStart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "odd [name]*")
	open := func() {
		t.Helper()
		s, err := chitta.Open(t.Context(), chitta.Options{Dir: dir, Embedder: "test/1", Dim: dim})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	open()
	if err := os.Link(filepath.Join(dir, chitta.FileName), filepath.Join(dir, chitta.FileName+".new-4711")); err != nil {
		t.Fatal(err)
	}
	left := []string{chitta.FileName + ".new-12", chitta.FileName + ".rewrite", "cache/0/graph.tmp", "cache/0/snapshots/000000000007.snap.tmp"}
	for _, name := range left {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mine := filepath.Join(dir, "notes.tmp")
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open()
	for _, name := range append(left, chitta.FileName+".new-4711") {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			t.Errorf("%s was left", name)
		}
	}
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("a file that is not ours was removed: %v", err)
	}
}
