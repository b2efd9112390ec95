package lifecycle_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/export"
)

// exported writes a companion's export into a new folder.
func exported(t testing.TB, c *lifecycle.Companion) (string, lifecycle.ExportReport) {
	t.Helper()
	w, err := export.Create(filepath.Join(t.TempDir(), "export"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // what matters is committed
	r, err := c.Export(t.Context(), nil, w.Put)
	if err != nil {
		t.Fatal(err)
	}
	m, err := w.Commit()
	if err != nil {
		t.Fatal(err)
	}
	if m.StateDigest != r.StateDigest || m.Counts.Experiences != r.Entries {
		t.Fatalf("%+v, and the manifest %+v", r, m)
	}
	return w.Path(), r
}

// rebuilt makes the companion of an export in a fresh world.
func rebuilt(t testing.TB, from *world, folder string) (*world, lifecycle.RebuildReport) {
	t.Helper()
	w := newWorld(t)
	w.opts.Embedder, w.opts.Assessor, w.opts.MergeAlike, w.opts.Params = from.opts.Embedder, from.opts.Assessor, from.opts.MergeAlike, from.opts.Params
	w.opts.SnapshotEvery = from.opts.SnapshotEvery
	w.clock.set(from.clock.now)
	w.end(t, w.live(t)) // as jivad init leaves it
	x, err := export.Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close() //nolint:errcheck // opened for reading
	r, err := lifecycle.Rebuild(t.Context(), w.opts, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w, r
}

// sameFiles sees that two exports hold the same, but for when they were made.
func sameFiles(t testing.TB, a, b string) {
	t.Helper()
	list, err := os.ReadDir(a)
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadDir(b)
	if err != nil || len(other) != len(list) {
		t.Fatalf("%d files and %d, %v", len(list), len(other), err)
	}
	for _, f := range list {
		if f.Name() == export.FileManifest {
			continue
		}
		x, err := os.ReadFile(filepath.Join(a, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		y, err := os.ReadFile(filepath.Join(b, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(x, y) {
			at := 0
			for at < min(len(x), len(y)) && x[at] == y[at] {
				at++
			}
			t.Errorf("%s differs from byte %d on:\n%q\n%q", f.Name(), at, x[at:min(len(x), at+200)], y[at:min(len(y), at+200)])
		}
	}
}

// sameLife sees that two companions go on in the same way: the same entries leave
// the same state, the same SOUL.md and the same tendencies.
func sameLife(t testing.TB, a, b *lifecycle.Companion) {
	t.Helper()
	for _, c := range []*lifecycle.Companion{a, b} {
		for _, text := range []string{"The river was high and brown.", "A letter came, and rain.", "Walked to the mill with a friend."} {
			if _, err := c.Write(context.Background(), lifecycle.Note{Text: text}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.EndSession(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if x, y := digestOf(t, a), digestOf(t, b); x != y {
		t.Errorf("after one session more the states are %s and %s", x, y)
	}
	x, err := a.Soul(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	y, err := b.Soul(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if x.Text != y.Text {
		t.Errorf("SOUL.md differs:\n%s\n%s", x.Text, y.Text)
	}
}

// defaultParams are those that a world lives with unless it says otherwise.
func defaultParams() fold.Params {
	p := fold.DefaultParams()
	p.Gate = p.Gate.Unscaled()
	return p
}
