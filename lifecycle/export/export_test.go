package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/reactivation"
)

// small is a whole export, made of nothing.
func small(t testing.TB) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	e := NewEncoder(func(p Part) error {
		if p.New {
			files[p.File] = &fstest.MapFile{}
		}
		files[p.File].Data = append(files[p.File].Data, p.Data...)
		return nil
	})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	params, err := json.Marshal(fold.DefaultParams())
	must(err)
	g, err := reactivation.NewGuna(1, 2, 3)
	must(err)
	must(e.Whole(FileReadme, []byte(ReadmeText)))
	e.File(FileImpressions)
	for i, order := range []uint64{4, 5, 9} {
		x := fold.Experienced{Source: "write", Category: "health", Embedder: "test/1", Embedding: []float32{1, 0}, Judgement: fold.Judgement{Assessor: "a", Intensity: 0.1, Guna: g}}
		x.ID[0], x.Key[0] = byte(i+1), byte(i+1)
		l := NewExperience(order, uint32(1+i/2), fold.Header{Wall: 77, ClockTrusted: true}, x)
		text := fmt.Sprintf("text %d <&>\n今天", i)
		l.Text, l.Today, l.Kept = &text, &Today{Depth: 0.1, Reinforcement: 1.0000000000000002}, KeptFull
		switch i {
		case 0:
			l.Text, l.Kept = nil, KeptBuried
		case 1:
			l.Kept = KeptGist
			l.Beside = Beside{Summary: "今 <s>", Reason: "r", AnsweredBy: "b", OwnShare: 0.1}
		case 2:
			l.Embedder, l.Embedding = "test/2", Floats([]float32{0, 0, 1})
			l.Beside = Beside{Answer: "a\n“b”\u2028", AnsweredBy: "ollama/m@1"}
		}
		must(e.Line(l))
	}
	e.File(VectorsFile(7))
	must(e.Line(NewVector{Order: 4, ID: ID(fold.ID{1}), Embedding: Floats([]float32{0, 1, 0})}))
	must(e.Line(NewVector{Order: 5, ID: ID(fold.ID{2}), Embedding: Floats([]float32{1, 0, 0})}))
	e.File(FileSessions)
	must(e.Line(Session{Session: 1, Date: "2026-03-01", Bounds: []Bound{{Order: 3, What: Opened}, {Order: 6, What: Closed, Reason: "end"}}, Trend: json.RawMessage(`{"session":1}`)}))
	must(e.Line(Session{Session: 2, Bounds: []Bound{{Order: 8, What: Opened}}}))
	must(e.JSON(FileParameters, Settings{InForce: params, Changes: []ParamsChange{{Order: 2, Parameters: params}}, Embedders: []EmbedderChange{{Order: 1, Embedder: Embedder{"test/1", 2}}, {Order: 7, Embedder: Embedder{"test/2", 3}, Vectors: VectorsFile(7)}}}))
	e.File(FileForgotten)
	must(e.Line(NewRemoval(10, fold.Header{Wall: -1}, fold.Excised{IDs: []fold.ID{{9}}, Keys: []fold.Key{{8}}, Before: [32]byte{7}})))
	must(e.JSON(FileTendencies, Heritages{Sessions: []Heritage{{Session: 1, Identity: Floats([]float32{1, 0}), Tendencies: []Tendency{{ID: "t", Members: []string{}, Peak: Peak{0.5, 0.25}}}}},
		Vanished: []Vanished{{ID: "a", Members: []string{ID(fold.ID{1})}, Peak: Peak{0.75, 0.5}, FirstSession: 1, FoundIn: 1}, {ID: "b", Members: []string{}}}}))
	must(e.Whole(FileSoul, []byte("soul")))
	must(e.Whole(FileGiven, nil))
	must(e.Whole("diary.md", []byte("# 2026-03-01\n\ntext\n")))
	must(e.Finish(Manifest{Program: "test", Embedder: Embedder{"test/2", 3}, Counts: Counts{Records: 10, Experiences: 3}}))
	return files
}

// all reads everything.
func all(fsys fs.FS) (x *Folder, records []Record, err error) {
	if x, err = openFS(context.Background(), fsys); err != nil {
		return nil, nil, err
	}
	err = x.Records(context.Background(), func(r Record) error { records = append(records, r); return nil })
	return x, records, err
}

func TestAnExportIsReadAsItWasWritten(t *testing.T) {
	x, records, err := all(small(t))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []fold.Kind
	for i, r := range records {
		if r.Event.Sequence != uint64(i+1) {
			t.Errorf("record %d has the order %d", i, r.Event.Sequence)
		}
		kinds = append(kinds, r.Event.Body.Kind())
	}
	want := []fold.Kind{fold.KindEmbedderChanged, fold.KindParamsChanged, fold.KindSessionOpened, fold.KindExperienced, fold.KindExperienced, fold.KindSessionClosed, fold.KindEmbedderChanged, fold.KindSessionOpened, fold.KindExperienced, fold.KindExcised}
	if !reflect.DeepEqual(kinds, want) {
		t.Errorf("kinds %v", kinds)
	}
	third := records[8]
	if *third.Text != "text 2 <&>\n今天" || third.Today.Reinforcement != 1.0000000000000002 || third.Event.Wall != 77 || !third.Event.ClockTrusted || third.Line != 3 || third.File != FileImpressions {
		t.Errorf("%+v", third)
	}
	if a, b := records[4].Beside, third.Beside; a != (Beside{Summary: "今 <s>", Reason: "r", AnsweredBy: "b", OwnShare: 0.1}) || b != (Beside{Answer: "a\n“b”\u2028", AnsweredBy: "ollama/m@1"}) {
		t.Errorf("beside the texts: %+v, %+v", a, b)
	}
	removed := records[9].Event.Body.(fold.Excised)
	if removed.IDs[0] != (fold.ID{9}) || removed.Keys[0] != (fold.Key{8}) || removed.Before != [32]byte{7} {
		t.Errorf("%+v", removed)
	}
	if r := records[3]; !r.Gone || r.Gist || r.Text != nil {
		t.Errorf("buried: %+v", r)
	}
	if r := records[4]; r.Gone || !r.Gist || r.Text == nil {
		t.Errorf("a gist: %+v", r)
	}
	if third.Gist || third.Gone || third.Vectors != nil || records[0].Vectors != nil || records[6].Vectors == nil {
		t.Errorf("%+v", third)
	}
	if v := x.Vanished(); len(v) != 2 || v[0].Peak != (Peak{0.75, 0.5}) || x.Heritage()[0].Tendencies[0].Peak != (Peak{0.5, 0.25}) {
		t.Errorf("%+v", v)
	}
	soul, err := x.Soul()
	given, err2 := x.Given()
	if err != nil || err2 != nil || string(soul) != "soul" || given == nil || len(given) != 0 || len(x.Heritage()) != 1 || len(x.Sessions()) != 2 || x.Sessions()[1].Trend != nil {
		t.Errorf("%q %q %v %v", soul, given, err, err2)
	}
	if len(x.Notes) > 0 {
		t.Error(x.Notes)
	}
}

// One changed, lost or added byte anywhere is found, and the file is named; of
// what is read line by line, the line.
func TestAnyDamageIsFound(t *testing.T) {
	good := small(t)
	for name, file := range good {
		whole := bytes.Clone(file.Data)
		try := func(what string, data []byte, line int) {
			t.Helper()
			bad := fstest.MapFS{}
			for n, f := range good {
				bad[n] = f
			}
			bad[name] = &fstest.MapFile{Data: data}
			x, _, err := all(bad)
			if !needed(name) && name != FileManifest {
				if err != nil || len(x.Notes) != 1 || !strings.Contains(x.Notes[0], name) {
					t.Fatalf("%s, %s: %v", name, what, err)
				}
				return
			}
			var at *Error
			if name == FileManifest && err == nil {
				return // what it only tells, such as its date, holds nothing up
			}
			if !errors.As(err, &at) || name != FileManifest && at.File != name {
				t.Fatalf("%s, %s: %v", name, what, err)
			}
			if line > 0 && at.Line != line {
				t.Fatalf("%s, %s: said to be on line %d: %v", name, what, at.Line, err)
			}
			if strings.Contains(err.Error(), "今天") {
				t.Fatalf("the error quotes what was written: %v", err)
			}
		}
		byLine := strings.HasSuffix(name, ".jsonl")
		lineAt := func(i int) int {
			if !byLine {
				return 0
			}
			return 1 + bytes.Count(whole[:i], []byte("\n"))
		}
		for i := range whole {
			bad := bytes.Clone(whole)
			bad[i] ^= 1 << (i % 8)
			line := lineAt(i)
			if whole[i] == '\n' || bad[i] == '\n' || bad[i] == '\r' {
				line = 0 // lines are divided otherwise
			}
			try(fmt.Sprintf("byte %d", i), bad, line)
			try(fmt.Sprintf("cut to %d", i), whole[:i], 0)
		}
		try("a byte more", append(bytes.Clone(whole), 'x'), 0)
		if !byLine {
			continue
		}
		lines := bytes.SplitAfter(whole, []byte("\n"))
		lines = lines[:len(lines)-1]
		for i := range lines {
			without := bytes.Join(append(append([][]byte{}, lines[:i]...), lines[i+1:]...), nil)
			try(fmt.Sprintf("without line %d", i+1), without, 0)
			twice := bytes.Join(append(append([][]byte{}, lines[:i+1]...), lines[i:]...), nil)
			try(fmt.Sprintf("line %d twice", i+1), twice, i+2)
			if i > 0 {
				swapped := append([][]byte{}, lines...)
				swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
				try(fmt.Sprintf("lines %d and %d exchanged", i, i+1), bytes.Join(swapped, nil), i+1)
			}
		}
	}
	for name := range good {
		bad := fstest.MapFS{}
		for n, f := range good {
			if n != name {
				bad[n] = f
			}
		}
		x, _, err := all(bad)
		var at *Error
		if needed(name) || name == FileManifest {
			if !errors.As(err, &at) || at.File != name {
				t.Errorf("without %s: %v", name, err)
			}
		} else if err != nil || len(x.Notes) != 1 {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

func TestLinesAreSealed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		object, err := marshal(map[string]any{"a": rapid.String().Draw(t, "text"), "b": rapid.Float64().Draw(t, "number")})
		if err != nil {
			t.Fatal(err)
		}
		line := sealed(bytes.Clone(object))
		if !json.Valid(line) {
			t.Fatalf("%s is no JSON", line)
		}
		if got, ok := unsealed(line); !ok || !bytes.Equal(got, object) {
			t.Fatalf("%q was %q", got, object)
		}
		at := rapid.IntRange(0, len(line)-1).Draw(t, "byte")
		line[at] ^= byte(1 << rapid.IntRange(0, 7).Draw(t, "bit"))
		if got, ok := unsealed(line); ok {
			t.Fatalf("%q passes as %q", line, got)
		}
	})
}

// Numbers come back to the same bits.
func TestNumbersComeBackToTheBit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := fold.Experienced{Date: "1911-05-01", Source: rapid.String().Draw(t, "source"), Category: "health", Embedder: "e", AlwaysCreate: rapid.Bool().Draw(t, "create")}
		j := &x.Judgement
		j.Assessor = "a"
		f := rapid.Float64()
		j.Intensity, j.Emotion, j.Valence = f.Draw(t, "i"), f.Draw(t, "e"), f.Draw(t, "v")
		j.Guna = reactivation.Guna{Tamas: f.Draw(t, "t"), Rajas: f.Draw(t, "r"), Sattva: f.Draw(t, "s")}
		if rapid.Bool().Draw(t, "own") {
			n, m := f.Draw(t, "n"), f.Draw(t, "m")
			j.Novelty, j.Match = &n, &m
		}
		for range rapid.IntRange(0, 9).Draw(t, "dim") {
			x.Embedding = append(x.Embedding, math.Float32frombits(rapid.Uint32().Draw(t, "x")))
		}
		copy(x.ID[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		copy(x.Key[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "key"))
		h := fold.Header{Sequence: 5, Wall: rapid.Int64().Draw(t, "wall"), ClockTrusted: rapid.Bool().Draw(t, "trusted")}
		line, err := marshal(NewExperience(5, 1, h, x))
		if err != nil {
			t.Fatal(err)
		}
		var l Experience
		if _, err := decode(line, &l); err != nil {
			t.Fatal(err)
		}
		e, err := l.event()
		if err != nil {
			t.Fatal(err)
		}
		a, err := fold.Encode(fold.Event{Header: h, Body: x})
		if err != nil {
			t.Fatal(err)
		}
		b, err := fold.Encode(e)
		if err != nil || !bytes.Equal(a, b) || e.Sequence != 5 {
			t.Fatalf("%+v was %+v, %v", e, x, err)
		}
	})
}

// write puts files through a writer, as a stream does.
func write(t *testing.T, w *Writer, files fstest.MapFS) error {
	t.Helper()
	order := []string{FileReadme}
	for name := range files {
		if name != FileReadme && name != FileManifest {
			order = append(order, name)
		}
	}
	for _, name := range append(order, FileManifest) {
		data := files[name].Data
		if err := w.Put(Part{File: name, New: true, Data: data[:len(data)/2]}); err != nil {
			return err
		}
		if err := w.Put(Part{File: name, Data: data[len(data)/2:]}); err != nil {
			return err
		}
	}
	return nil
}

func TestAFolderIsThereWholeOrNotAtAll(t *testing.T) {
	files := small(t)
	dir := t.TempDir()
	target := filepath.Join(dir, "out")
	nothing := func(what string) {
		t.Helper()
		if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
			t.Errorf("%s: %v is there, %v", what, list, err)
		}
	}
	w, err := Create(target)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "../x", "a/b", ".hidden", "x.sh", strings.Repeat("x", 100) + ".md"} {
		if err := w.Put(Part{File: name, New: true}); err == nil {
			t.Errorf("a file of the name %q", name)
		}
	}
	if err := w.Put(Part{File: FileSoul}); err == nil {
		t.Error("a part before its beginning")
	}
	if _, err := w.Commit(); err == nil {
		t.Error("an export without a manifest")
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	nothing("given up")

	lacking := fstest.MapFS{}
	for name, f := range files {
		lacking[name] = f
	}
	lacking[FileSoul] = &fstest.MapFile{Data: []byte("soil")}
	if w, err = Create(target); err != nil {
		t.Fatal(err)
	}
	if err := write(t, w, lacking); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(); err == nil || !strings.Contains(err.Error(), FileSoul) {
		t.Errorf("a file that is another: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	nothing("not as it was sent")

	// An export that begins again leaves nothing of its first beginning.
	if w, err = Create(target); err != nil {
		t.Fatal(err)
	}
	for _, p := range []Part{{File: FileReadme, New: true}, {File: "diary-1911.md", New: true, Data: []byte("old")}, {File: FileSoul, New: true, Data: []byte("old")}} {
		if err := w.Put(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(t, w, files); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	list, err := os.ReadDir(target)
	if err != nil || len(list) != len(files) {
		t.Errorf("%v, %v", list, err)
	}
	for _, f := range list {
		if info, err := f.Info(); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
	}
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if !Is(target) || Is(dir) || Is(filepath.Join(dir, "none")) {
		t.Error("it is not known for what it is")
	}
	if _, err := Create(target); !errors.Is(err, ErrFolder) {
		t.Errorf("into itself: %v", err)
	}
	x, err := Open(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil || x.Path() != target {
		t.Error(err)
	}
}

// An error of the one who takes the parts ends an export, and stays.
func TestAnEncoderKeepsItsError(t *testing.T) {
	full, n := errors.New("full"), 0
	e := NewEncoder(func(Part) error {
		if n++; n == 2 {
			return full
		}
		return nil
	})
	if err := e.Whole("a.md", make([]byte, 3*partBytes)); !errors.Is(err, full) {
		t.Error(err)
	}
	if err := e.Finish(Manifest{}); !errors.Is(err, full) || n != 2 {
		t.Errorf("%v after %d parts", err, n)
	}
	if _, err := NewEncoder(nil).Write([]byte("x")); err == nil {
		t.Error("written before a file was begun")
	}
}
