package lifecycle_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/diary"
)

// Classical Japanese and Chinese, one file an entry: every file is an entry, and
// is found again by twelve letters from the middle of it.
func TestScriptsWithoutSpacesAreKeptAndFound(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the plain run has it")
	}
	for _, d := range []struct {
		name    string
		entries int
	}{{"tosa_nikki_0935", 55}, {"xuxiake_travel", 121}} {
		t.Run(d.name, func(t *testing.T) {
			list := readDiary(t, d.name, ".jsonl")
			folder := t.TempDir()
			for i, n := range list {
				if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%03d.txt", i)), []byte(n.Text+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			files, err := diary.Read(folder, diary.Options{Split: diary.SplitNone})
			if err != nil || len(files) != d.entries {
				t.Fatalf("%d files, %v", len(files), err)
			}
			var notes []lifecycle.Note
			for _, f := range files {
				for _, e := range f.Entries {
					notes = append(notes, lifecycle.Note{Text: e.Text, Source: f.Name})
				}
			}
			w := newWorld(t)
			c := w.live(t)
			r, err := c.Import(t.Context(), notes, nil)
			if err != nil || r.New != d.entries {
				t.Fatalf("%+v, %v", r, err)
			}
			chance := rand.New(rand.NewPCG(11, 13))
			for _, n := range notes {
				phrase := phraseOf(n.Text, chance)
				got, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: phrase, Limit: 5})
				if err != nil {
					t.Fatal(err)
				}
				found := false
				for _, x := range got {
					found = found || x.Impression.Source == n.Source
				}
				if !found {
					t.Errorf("%s is not found by %q", n.Source, phrase)
				}
			}
		})
	}
}
