package lifecycle_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/export"
)

// under is the companion under another embedder.
func (w *world) under(t testing.TB, c *lifecycle.Companion, e lifecycle.Embedder) *lifecycle.Companion {
	t.Helper()
	w.end(t, c)
	w.reembed(t, e)
	return w.live(t)
}

// A companion that changed its embedder again and again, with edits and something
// forgotten between, is made of its export, and of the export of that one.
func TestAnExportHoldsEveryEmbedder(t *testing.T) {
	w := newWorld(t)
	w.opts.Diary = filepath.Join(w.dir, "d")
	if err := os.MkdirAll(w.opts.Diary, 0o700); err != nil {
		t.Fatal(err)
	}
	c := w.live(t)
	file := func(c *lifecycle.Companion, n int) {
		t.Helper()
		text := fmt.Sprintf("# 1911-01-03\n\nA wording of the river, %d.\n\n# 1911-01-04\n\nNoise again.\n", n)
		if err := os.WriteFile(filepath.Join(w.opts.Diary, "a.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c.TakeIn(t.Context(), "a.md"); err != nil {
			t.Fatal(err)
		}
	}
	list := days(40)
	if _, err := c.Import(t.Context(), list, nil); err != nil {
		t.Fatal(err)
	}
	for i, e := range []lifecycle.Embedder{embedderOf[1], embedderOf[2], embedderOf[0], embedderOf[1]} {
		file(c, i)
		w.write(t, c, fmt.Sprintf("Walked along the river, %d.", i))
		if i == 3 {
			if _, err := c.Forget(t.Context(), lifecycle.ForgetQuery{Match: "number 8,"}, nil); err != nil {
				t.Fatal(err)
			}
		}
		c = w.under(t, c, e)
	}
	file(c, 4)
	folder, report := exported(t, c)
	var vectors []string
	for _, f := range mustGlob(t, filepath.Join(folder, "vectors-*.jsonl")) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Count(data, []byte("\n")) < 30 || bytes.Contains(data, []byte("river")) {
			t.Errorf("%s: %d lines", f, bytes.Count(data, []byte("\n")))
		}
		vectors = append(vectors, filepath.Base(f))
	}
	if len(vectors) != 4 {
		t.Errorf("%v", vectors)
	}
	other, r := rebuilt(t, w, folder)
	if r.StateDigest != report.StateDigest || r.Agrees != "bit for bit" {
		t.Fatalf("%+v of %+v", r, report)
	}
	d := other.live(t)
	second, _ := exported(t, d)
	sameFiles(t, folder, second)
	third, r := rebuilt(t, other, second)
	if r.StateDigest != report.StateDigest {
		t.Fatalf("%+v", r)
	}
	e := third.live(t)
	sameTold(t, c, d, false)
	sameTold(t, c, e, false)

	// Forgetting folds from before the changes, on all sides.
	for _, x := range []*lifecycle.Companion{c, d, e} {
		if _, err := x.Forget(t.Context(), lifecycle.ForgetQuery{Match: "number 13,"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if digestOf(t, c) != digestOf(t, d) || digestOf(t, c) != digestOf(t, e) {
		t.Error("after a forgetting the states differ")
	}
	c, d = w.under(t, c, embedderOf[0]), other.under(t, d, embedderOf[0])
	if digestOf(t, c) != digestOf(t, d) {
		t.Error("under another embedder the states differ")
	}
}

func mustGlob(t testing.TB, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// An export without the vectors of its embedders, with checksums that match, is
// refused, and nothing of it is there.
func TestAnExportWithoutItsVectorsIsRefused(t *testing.T) {
	w, _ := history(t, 10)
	w.reembed(t, newAnother())
	c := w.live(t)
	folder, _ := exported(t, c)
	for what, x := range map[string]struct {
		lines func([]byte) []byte
		file  string
	}{
		"without the last": {func(b []byte) []byte {
			lines := bytes.SplitAfter(b, []byte("\n"))
			return bytes.Join(lines[:len(lines)-2], nil)
		}, export.FileManifest},
		"without any": {func([]byte) []byte { return nil }, export.FileManifest},
		"exchanged": {func(b []byte) []byte {
			lines := bytes.SplitAfter(b, []byte("\n"))
			lines[0], lines[1] = lines[1], lines[0]
			return bytes.Join(lines, nil)
		}, ""},
	} {
		t.Run(what, func(t *testing.T) {
			bad := t.TempDir()
			if err := os.CopyFS(bad, os.DirFS(folder)); err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(mustGlob(t, filepath.Join(bad, "vectors-*"))[0])
			data, err := os.ReadFile(filepath.Join(bad, name))
			if err != nil {
				t.Fatal(err)
			}
			resum(t, bad, name, x.lines(data))
			other := newWorld(t)
			other.opts.Embedder = w.opts.Embedder
			from, err := export.Open(t.Context(), bad)
			if err != nil {
				t.Fatal(err)
			}
			defer from.Close() //nolint:errcheck // opened for reading
			_, err = lifecycle.Rebuild(t.Context(), other.opts, from, nil)
			var at *export.Error
			if want := x.file; !errors.As(err, &at) || want != "" && at.File != want || want == "" && (at.File != name || at.Line != 2) {
				t.Errorf("%v", err)
			}
			if d := other.live(t); d.Impressions() != 0 {
				t.Error("half of it is there")
			}
			if left := mustGlob(t, filepath.Join(other.dir, "*rewrite*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// What is kept of texts, and what tendencies were, comes along.
func TestAnExportTellsWhatWasKeptAndWhatWas(t *testing.T) {
	w := newWorld(t)
	fading(w, 2)
	w.opts.Retention = lifecycle.Retention{"health": lifecycle.KeepNone, "communications": lifecycle.KeepGist}
	c := w.live(t)
	list := alike(60, 1911, 2)
	for i := range list {
		list[i].Source = "import:old.md"
		list[i].Category = []string{"behavioural", "health", "communications"}[i%7%3]
	}
	if _, err := c.Import(t.Context(), list, nil); err != nil {
		t.Fatal(err)
	}
	var members [][16]byte
	folder, _ := exported(t, c)
	for _, l := range experiences(t, folder)[:3] {
		id, err := export.ParseID(l.ID)
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, id)
	}
	if err := c.Vanish(t.Context(), "gone", 4, members...); err != nil {
		t.Fatal(err)
	}
	folder, report := exported(t, c)
	kept := map[string]int{}
	for _, l := range experiences(t, folder) {
		kept[l.Kept]++
		if l.Kept == export.KeptBuried && (l.Source != "" || l.Text != nil) {
			t.Errorf("%+v", l)
		}
	}
	if len(kept) != 4 || slices.Contains([]int{kept["full"], kept["gist"], kept["none"], kept["buried"]}, 0) {
		t.Fatalf("%v: the test shows little", kept)
	}
	tendencies, err := os.ReadFile(filepath.Join(folder, export.FileTendencies))
	if err != nil || !bytes.Contains(tendencies, []byte(`"id": "gone"`)) || bytes.Count(tendencies, []byte(`"peak"`)) < 2 {
		t.Errorf("%s, %v", tendencies, err)
	}
	other, r := rebuilt(t, w, folder)
	if r.StateDigest != report.StateDigest {
		t.Errorf("%+v", r)
	}
	d := other.live(t)
	sameTold(t, c, d, false)
	sameTexts(t, d, folder)
	if seen, err := d.Seen(); err != nil || len(seen) == 0 {
		t.Errorf("%v, %v", seen, err)
	}
	again, _ := exported(t, d)
	sameFiles(t, folder, again)
	sameLife(t, c, d, true)
	// The file still has what is buried, and brings nothing back.
	for _, x := range []*lifecycle.Companion{c, d} {
		before := digestOf(t, x)
		if r, err := x.Import(context.Background(), list, nil); err != nil || r.New != 0 || digestOf(t, x) != before {
			t.Errorf("%+v, %v", r, err)
		}
	}
}
