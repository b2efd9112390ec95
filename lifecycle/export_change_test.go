package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/diary"
	"github.com/jivad/jivad/lifecycle/export"
)

// edited is a companion with one file of the diary, which edit rewrites.
func edited(t *testing.T) (w *world, c *lifecycle.Companion, edit func(n int)) {
	w = newWorld(t)
	w.opts.Diary = filepath.Join(w.dir, "d")
	if err := os.MkdirAll(w.opts.Diary, 0o700); err != nil {
		t.Fatal(err)
	}
	c = w.live(t)
	edit = func(n int) {
		text := fmt.Sprintf("# 2026-02-01\n\nWording %d of it.\n\n# 2026-02-02\n\nAnother day.\n", n)
		if err := os.WriteFile(filepath.Join(w.opts.Diary, "a.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c.TakeIn(context.Background(), "a.md"); err != nil {
			t.Fatal(err)
		}
	}
	edit(0)
	return w, c, edit
}

// An entry that is edited while it is exported is of one wording in all files,
// with the vector and the state of that wording.
func TestAnExportIsOfOneMoment(t *testing.T) {
	w, c, edit := edited(t)
	folder, err := export.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close() //nolint:errcheck // what matters is committed
	begun := 0
	r, err := c.Export(t.Context(), nil, func(p lifecycle.ExportPart) error {
		if p.File == export.FileImpressions && p.New {
			if begun++; begun <= 2 {
				edit(begun)
			}
			if _, err := c.Write(t.Context(), lifecycle.Note{Text: fmt.Sprintf("Written while it goes on, %d.", begun)}); err != nil {
				return err
			}
		}
		return folder.Put(p)
	})
	if err != nil || begun != 3 {
		t.Fatalf("begun %d times, %v", begun, err)
	}
	if _, err := folder.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{export.FileImpressions, "diary.md"} {
		data, err := os.ReadFile(filepath.Join(folder.Path(), name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), "Wording 2 of it.") || strings.Contains(string(data), "Wording 1") || strings.Contains(string(data), "Wording 0") || strings.Contains(string(data), "goes on, 3") {
			t.Errorf("%s:\n%s", name, data)
		}
	}
	_, rebuilt := rebuilt(t, w, folder.Path())
	if rebuilt.StateDigest != r.StateDigest || rebuilt.Entries != 4 {
		t.Errorf("%+v, %+v", rebuilt, r)
	}
}

func TestAnExportThatIsOvertakenAgainAndAgainIsGivenUp(t *testing.T) {
	_, c, edit := edited(t)
	n := 0
	_, err := c.Export(t.Context(), nil, func(p lifecycle.ExportPart) error {
		if p.File == export.FileImpressions {
			n++
			edit(n)
		}
		return nil
	})
	if !errors.Is(err, lifecycle.ErrChanging) || n != 5 {
		t.Errorf("%v after %d", err, n)
	}
}

func TestAnExportEndsWithItsContextAndWithItsReader(t *testing.T) {
	_, c, _ := edited(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := c.Export(ctx, nil, func(lifecycle.ExportPart) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := c.Export(t.Context(), nil, func(lifecycle.ExportPart) error { return io.ErrShortWrite }); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("%v", err)
	}
}

// A companion that has lived nothing yet can be exported, and is made of it again.
func TestNothingCanBeExportedToo(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	folder, r := exported(t, c)
	if r.Entries != 0 || r.Sessions != 0 {
		t.Errorf("%+v", r)
	}
	other, again := rebuilt(t, w, folder)
	if again.StateDigest != r.StateDigest {
		t.Errorf("%+v", again)
	}
	sameLife(t, c, other.live(t), true)
}

// forgedExport writes an export again, with lines changed and all checksums right.
func forgedExport(t *testing.T, folder string, change func(i int, l *export.Experience), manifest func(*export.Manifest)) string {
	t.Helper()
	x, err := export.Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close() //nolint:errcheck // opened for reading
	out, err := export.Create(filepath.Join(t.TempDir(), "forged"))
	if err != nil {
		t.Fatal(err)
	}
	e := export.NewEncoder(out.Put)
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for n := range x.Manifest.Files {
			if !yield(n) {
				return
			}
		}
	}) {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if name != export.FileImpressions {
			if err := e.Whole(name, data); err != nil {
				t.Fatal(err)
			}
			continue
		}
		e.File(name)
		for i, l := range experiences(t, folder) {
			change(i, &l)
			if err := e.Line(l); err != nil {
				t.Fatal(err)
			}
		}
	}
	m := x.Manifest
	manifest(&m)
	if err := e.Finish(m); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Commit(); err != nil {
		t.Fatal(err)
	}
	return out.Path()
}

// What was forged so well that every checksum is right is refused by the fold, or
// by what the export itself says, and nothing of it is there.
func TestAForgedExportIsRefused(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	var notes []lifecycle.Note
	for i := range 6 {
		notes = append(notes, lifecycle.Note{Text: fmt.Sprintf("Sat by the river and counted to %d.", i), Date: fmt.Sprintf("1911-05-%02d", i/2+1)})
	}
	if _, err := c.Import(t.Context(), notes, nil); err != nil {
		t.Fatal(err)
	}
	folder, _ := exported(t, c)
	plain := func(*export.Manifest) {}
	same := func(int, *export.Experience) {}
	on := func(line int, f func(l *export.Experience)) func(int, *export.Experience) {
		return func(i int, l *export.Experience) {
			if i == line-1 {
				f(l)
			}
		}
	}
	for name, x := range map[string]struct {
		change   func(int, *export.Experience)
		manifest func(*export.Manifest)
		file     string
		line     int
	}{
		"a judgement out of range":    {on(3, func(l *export.Experience) { l.Judgement.Intensity = 1.5 }), plain, export.FileImpressions, 3},
		"a vector that is no unit":    {on(4, func(l *export.Experience) { l.Embedding = export.Floats(make([]float32, 64)) }), plain, export.FileImpressions, 4},
		"a vector of another length":  {on(4, func(l *export.Experience) { l.Embedding = export.Floats([]float32{1}) }), plain, export.FileImpressions, 4},
		"another embedder":            {on(2, func(l *export.Experience) { l.Embedder = "other" }), plain, export.FileImpressions, 2},
		"another session":             {on(2, func(l *export.Experience) { l.Session = 9 }), plain, export.FileImpressions, 2},
		"a date that is none":         {on(2, func(l *export.Experience) { s := "1911-02-30"; l.Date = &s }), plain, export.FileImpressions, 2},
		"an id that is none":          {on(5, func(l *export.Experience) { l.ID = "x" }), plain, export.FileImpressions, 5},
		"a place that is taken":       {on(5, func(l *export.Experience) { l.Order-- }), plain, export.FileImpressions, 5},
		"another depth today":         {on(2, func(l *export.Experience) { l.Today.Depth += 1e-6 }), plain, export.FileImpressions, 2},
		"an impression less":          {on(2, func(l *export.Experience) { l.Today = nil }), plain, export.FileImpressions, 0},
		"another judgement":           {on(4, func(l *export.Experience) { l.Judgement.Emotion = 0.999 }), plain, export.FileImpressions, 0},
		"another digest":              {same, func(m *export.Manifest) { m.StateDigest = strings.Repeat("0", 64) }, export.FileManifest, 0},
		"a record less":               {same, func(m *export.Manifest) { m.Counts.Records-- }, export.FileManifest, 0},
		"an own share out of range":   {on(4, func(l *export.Experience) { l.OwnShare = 2 }), plain, export.FileImpressions, 4},
		"a valence that is forgotten": {on(6, func(l *export.Experience) { l.Judgement.Valence = 0 }), plain, export.FileManifest, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bad := forgedExport(t, folder, x.change, x.manifest)
			other := newWorld(t)
			from, err := export.Open(t.Context(), bad)
			if err == nil {
				defer from.Close() //nolint:errcheck // opened for reading
				_, err = lifecycle.Rebuild(t.Context(), other.opts, from, nil)
			}
			var at *export.Error
			if !errors.As(err, &at) || x.file != "" && at.File != x.file || at.Line != x.line && x.line != 0 {
				t.Fatalf("%v", err)
			}
			if strings.Contains(err.Error(), "river") {
				t.Errorf("the error quotes what was written: %v", err)
			}
			d := other.live(t)
			if d.Impressions() != 0 {
				t.Error("half of it is there")
			}
			if left, _ := filepath.Glob(filepath.Join(other.dir, "*rewrite*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			// The same folder takes the one that is whole.
			other.end(t, d)
			good, err := export.Open(t.Context(), folder)
			if err != nil {
				t.Fatal(err)
			}
			defer good.Close() //nolint:errcheck // opened for reading
			if _, err := lifecycle.Rebuild(t.Context(), other.opts, good, nil); err != nil {
				t.Error(err)
			}
		})
	}
	// The fold of another machine may differ in the last bits, and is told.
	other := newWorld(t)
	bad := forgedExport(t, folder, same, func(m *export.Manifest) { m.StateDigest, m.Arithmetic = strings.Repeat("0", 64), []string{"other"} })
	from, err := export.Open(t.Context(), bad)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close() //nolint:errcheck // opened for reading
	if r, err := lifecycle.Rebuild(t.Context(), other.opts, from, nil); err != nil || r.Agrees != "within 1e-09" {
		t.Errorf("%+v, %v", r, err)
	}
}

// A whole diary: exported, rebuilt to the same state, and its Markdown read as the
// same entries.
func TestExportsOfDiaries(t *testing.T) {
	wantDiaries(t)
	list := readDiary(t, "dwordsworth_1798_1803", ".jsonl")
	w := realWorld(t)
	c := w.live(t)
	if _, err := c.Import(t.Context(), list, nil); err != nil {
		t.Fatal(err)
	}
	folder, report := exported(t, c)
	t.Logf("%+v", report)
	other, r := rebuilt(t, w, folder)
	if r.StateDigest != report.StateDigest || r.Agrees != "bit for bit" || r.Entries != len(list) || len(r.Notes) > 0 {
		t.Fatalf("%+v", r)
	}
	d := other.live(t)
	again, _ := exported(t, d)
	sameFiles(t, folder, again)
	sameTexts(t, d, folder)
	sameLife(t, c, d, true)
	files, err := diary.Read(filepath.Join(folder, "diary.md"), diary.Options{})
	if err != nil || len(files[0].Entries) != len(list) {
		t.Fatalf("%d entries of %d, %v", len(files[0].Entries), len(list), err)
	}
	var notes []lifecycle.Note
	for _, e := range files[0].Entries {
		notes = append(notes, lifecycle.Note{Text: e.Text, Date: e.Date, Label: e.Label})
	}
	if ordinary, err := d.Import(t.Context(), notes, nil); err != nil || ordinary.Duplicates != len(list)-report.Altered {
		t.Errorf("%+v, %v", ordinary, err)
	}
}
