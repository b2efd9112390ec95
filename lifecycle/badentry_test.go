package lifecycle_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// picky refuses one word.
type picky struct{ hashed }

func (e picky) Embed(ctx context.Context, text string) ([]float32, error) {
	if strings.Contains(text, "unembeddable") {
		return nil, errors.New("no vector")
	}
	return e.hashed.Embed(ctx, text)
}

// One entry that cannot be taken does not keep out the others: those of its
// file, of other days, of other files.
func TestOneBadEntryKeepsNoOtherOut(t *testing.T) {
	w := newWorld(t)
	w.opts.Embedder = picky{hashed{64}}
	w.opts.Diary = filepath.Join(w.dir, "diary")
	if err := os.MkdirAll(w.opts.Diary, 0o700); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("long ", lifecycle.MaxNote/4)
	for name, text := range map[string]string{
		"a.md": "## 2026-03-01\n\nbefore\n\n## 2026-03-02\n\n" + long + "\n\n## 2026-03-03\n\nafter\n",
		"b.md": "## 2026-03-04\n\nunembeddable\n",
		"c.md": "## 2026-03-05\n\nhistory\n\n## 2026-03-10\n\ntoday\n",
	} {
		if err := os.WriteFile(filepath.Join(w.opts.Diary, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := w.live(t)
	err := c.TakeIn(t.Context(), "a.md", "b.md", "c.md")
	if !errors.Is(err, lifecycle.ErrTooLong) || !strings.Contains(err.Error(), "a.md line 5") || !strings.Contains(err.Error(), "no vector") {
		t.Errorf("told: %v", err)
	}
	if n := c.Impressions(); n != 4 {
		t.Errorf("%d of the 4 good entries were remembered", n)
	}
}

func TestImportLeavesOutWhatIsTooLong(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	r, err := c.Import(t.Context(), []lifecycle.Note{
		{Date: "2024-01-01", Text: "one", Source: "a.md"},
		{Date: "2024-01-02", Text: strings.Repeat("x", lifecycle.MaxNote+1), Source: "a.md"},
		{Date: "2024-01-03", Text: "three", Source: "a.md"},
	}, nil)
	if err != nil || r.New != 2 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "a.md 2024-01-02") {
		t.Errorf("%+v %v", r, err)
	}
}
