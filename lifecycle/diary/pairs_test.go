package diary

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sharedDir is the folder of real diaries beside the repository.
func sharedDir(t testing.TB, parts ...string) string {
	t.Helper()
	dir := os.Getenv("JIVAD_SHARED")
	if dir == "" {
		root, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
				break
			}
			up := filepath.Dir(root)
			if up == root {
				t.Fatal("no go.mod above the test")
			}
			root = up
		}
		dir = filepath.Join(root, "..", "shared")
	}
	path := filepath.Join(append([]string{dir}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the real diaries are not here (%s); set JIVAD_SHARED", path)
	}
	return path
}

// The Markdown and the JSON form of every real diary hold the same entries.
func TestMarkdownAndJSONAgree(t *testing.T) {
	dir := sharedDir(t, "data", "diaries")
	pairs, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(pairs) == 0 {
		t.Fatal("no diaries", err)
	}
	// The writers' names of this one stand in the JSON form only: its Markdown
	// has nothing but dates in the headings.
	labelsOnlyInJSON := map[string]bool{"lewisclark_1804": true}
	total := 0
	for _, jsonPath := range pairs {
		base := strings.TrimSuffix(filepath.Base(jsonPath), ".jsonl")
		t.Run(base, func(t *testing.T) {
			want := readOne(t, jsonPath)
			got := readOne(t, strings.TrimSuffix(jsonPath, ".jsonl")+".md")
			if len(got.Entries) != len(want.Entries) {
				t.Fatalf("%d entries in Markdown, %d in JSON; notes %v", len(got.Entries), len(want.Entries), got.Notes)
			}
			total += len(got.Entries)
			for i, w := range want.Entries {
				g := got.Entries[i]
				if labelsOnlyInJSON[base] {
					if w.Label == "" || g.Label != "" {
						t.Fatalf("entry %d: labels %q and %q: take %s off the exceptions", i, g.Label, w.Label, base)
					}
					g.Label = w.Label
				}
				if g.Date != w.Date || g.Label != w.Label || g.Ordinal != i || w.Ordinal != i {
					t.Errorf("entry %d (line %d): date %q label %q ordinal %d, want %q %q", i, g.Line, g.Date, g.Label, g.Ordinal, w.Date, w.Label)
				}
				if Normalise(g.Text) != Normalise(w.Text) {
					t.Errorf("entry %d (line %d): the texts differ", i, g.Line)
				}
				if Key(g.Date, g.Text) != Key(w.Date, w.Text) {
					t.Errorf("entry %d (line %d): the keys differ", i, g.Line)
				}
			}
			if len(got.Headings) != 1 || got.Headings[0].Line != 1 {
				t.Errorf("headings %v, want the title", got.Headings)
			}
			if len(want.Notes) != 0 {
				t.Errorf("notes on the JSON form: %v", want.Notes)
			}
		})
	}
	t.Logf("%d entries of %d diaries agree", total, len(pairs))
}

func readOne(t testing.TB, path string) File {
	t.Helper()
	files, err := Read(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 {
		t.Fatalf("%d files, want 1", len(files))
	}
	return files[0]
}
