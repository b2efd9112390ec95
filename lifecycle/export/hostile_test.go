package export

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/jivad/jivad/chitta/fold"
)

// rewritten is a file of an export with some of its bytes replaced, without the
// checksums of its lines.
func rewritten(t testing.TB, good fstest.MapFS, name, old, now string) []byte {
	t.Helper()
	data := good[name].Data
	if strings.HasSuffix(name, ".jsonl") {
		data = unsealedLines(t, data)
	}
	if !bytes.Contains(data, []byte(old)) {
		t.Fatalf("%s has no %q:\n%s", name, old, data)
	}
	return bytes.Replace(data, []byte(old), []byte(now), 1)
}

// What was made up so well that every checksum is right is refused all the same,
// with file and line.
func TestWhatIsMadeUpIsRefused(t *testing.T) {
	good := small(t)
	first, second := ID(fold.ID{1}), ID(fold.ID{2})
	vectors := VectorsFile(7)
	for what, c := range map[string]struct {
		file, old, now string
		line           int
		want           error
	}{
		"a vector of another entry":           {vectors, first, second, 1, ErrDamaged},
		"a vector of no entry":                {vectors, `"order":4`, `"order":3`, 1, ErrDamaged},
		"a vector of an entry that comes":     {vectors, `"order":5`, `"order":9`, 2, ErrDamaged},
		"vectors in another order":            {vectors, `"order":4`, `"order":6`, 1, ErrDamaged},
		"a vector twice":                      {vectors, `"order":5,"id":"` + second, `"order":4,"id":"` + first, 2, ErrDamaged},
		"a vector of another dimension":       {vectors, Floats([]float32{0, 1, 0}), Floats([]float32{0, 1}), 1, fold.ErrDimension},
		"a vector of nothing":                 {vectors, Floats([]float32{1, 0, 0}), Floats([]float32{0, 0, 0}), 2, fold.ErrZeroVector},
		"a vector that is none":               {vectors, Floats([]float32{1, 0, 0}), "AAA", 2, ErrLine},
		"a vector with more to it":            {vectors, `"order":5`, `"more":1,"order":5`, 2, ErrLine},
		"a line of 9 MB":                      {vectors, Floats([]float32{1, 0, 0}), strings.Repeat("A", 9<<20), 2, ErrDamaged},
		"vectors in a file elsewhere":         {FileParameters, vectors, "../" + vectors, 0, ErrDamaged},
		"vectors in a file that is not there": {FileParameters, vectors, VectorsFile(8), 0, ErrDamaged},
		"vectors in another file":             {FileParameters, vectors, FileSessions, 0, ErrDamaged},
		"vectors that are not named":          {FileParameters, `"vectors": "` + vectors + `"`, `"vectors": ""`, 0, ErrDamaged},
		"a text that is not kept":             {FileImpressions, `"kept":"gist"`, `"kept":"none"`, 2, ErrLine},
		"a text that is buried":               {FileImpressions, `"kept":"full"`, `"kept":"buried"`, 3, ErrLine},
		"a gist without a text":               {FileImpressions, `"kept":"buried"`, `"kept":"gist"`, 1, ErrLine},
		"something else that is kept":         {FileImpressions, `"kept":"full"`, `"kept":"half"`, 3, ErrLine},
		"a share of more than all":            {FileImpressions, `"own_share":0.1`, `"own_share":1.5`, 2, ErrLine},
		"a share below nothing":               {FileImpressions, `"own_share":0.1`, `"own_share":-0.1`, 2, ErrLine},
		"an answer to no text":                {FileImpressions, `"text":null`, `"text":null,"answer":"a"`, 1, ErrLine},
		"a session twice":                     {FileSessions, `"session":2`, `"session":1`, 2, ErrDamaged},
		"a session 0":                         {FileSessions, `{"session":1`, `{"session":0`, 1, ErrDamaged},
		"a peak below nothing":                {FileTendencies, `"influence": 0.5`, `"influence": -0.5`, 0, ErrLine},
		"a peak above all":                    {FileTendencies, `"depth": 0.5`, `"depth": 1.5`, 0, ErrLine},
		"a vanished tendency twice":           {FileTendencies, `"id": "b"`, `"id": "a"`, 0, ErrDamaged},
		"a vanished tendency without an id":   {FileTendencies, `"id": "a"`, `"id": ""`, 0, ErrDamaged},
		"a vanished tendency of a long id":    {FileTendencies, `"id": "b"`, `"id": "` + strings.Repeat("b", 200) + `"`, 0, ErrDamaged},
		"a session that cannot be":            {FileTendencies, `"found_in": 1`, `"found_in": -1`, 0, ErrLine},
	} {
		t.Run(what, func(t *testing.T) {
			_, _, err := all(forged(t, good, c.file, rewritten(t, good, c.file, c.old, c.now)))
			var at *Error
			if !errors.As(err, &at) || !errors.Is(err, c.want) || at.Line != c.line {
				t.Fatalf("%v", err)
			}
			if file := c.file; at.File != file && !(at.File == vectors && what == "vectors that are not named") {
				t.Errorf("it is said of %s: %v", at.File, err)
			}
			if strings.Count(err.Error(), ".json") > 1 && what != "vectors that are not named" {
				t.Errorf("the file is named twice: %v", err)
			}
		})
	}
	for what, file := range map[string]string{"a file of vectors too many": VectorsFile(3), "one of no number": "vectors-007.jsonl"} {
		_, _, err := all(forged(t, good, file, unsealedLines(t, good[vectors].Data)))
		var at *Error
		if !errors.As(err, &at) || at.File != file {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Vectors that nobody asks for are read all the same, once, and those that are
// asked for come as they were written.
func TestVectorsAreReadAsTheyWereWritten(t *testing.T) {
	x, err := openFS(t.Context(), small(t))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	err = x.Records(t.Context(), func(r Record) error {
		if r.Vectors == nil {
			return nil
		}
		return r.Vectors(func(order uint64, v []float32) error {
			got = append(got, fmt.Sprint(order, v))
			return nil
		})
	})
	if err != nil || strings.Join(got, " ") != "4 [0 1 0] 5 [1 0 0]" {
		t.Errorf("%v, %v", got, err)
	}
	no := errors.New("no")
	var at *Error
	err = x.Records(t.Context(), func(r Record) error {
		if r.Vectors == nil {
			return nil
		}
		return r.Vectors(func(order uint64, _ []float32) error {
			if order == 5 {
				return no
			}
			return nil
		})
	})
	if !errors.Is(err, no) || !errors.As(err, &at) || at.File != VectorsFile(7) || at.Line != 2 {
		t.Errorf("%v", err)
	}
}

// besideATexts are the fields of version 3 in a line.
var besideATexts = regexp.MustCompile(`"(summary|reason|answer|answered_by)":"(\\.|[^"\\])*",|"own_share":[0-9.]+,`)

// An export of version 2 is read: nothing stands beside its texts.
func TestAnExportOfVersion2IsRead(t *testing.T) {
	files := small(t)
	files = forged(t, files, FileImpressions, besideATexts.ReplaceAll(unsealedLines(t, files[FileImpressions].Data), nil))
	files = forged(t, files, FileManifest, rewritten(t, files, FileManifest, `"version":4`, `"version":2`))
	x, records, err := all(files)
	if err != nil || x.Manifest.Version != 2 || len(records) != 10 || records[8].Text == nil {
		t.Fatalf("%d records, %v", len(records), err)
	}
	for _, r := range records {
		if r.Beside != (Beside{}) {
			t.Errorf("%+v", r)
		}
	}
}

// An export of before is read: its texts are kept in full, or not.
func TestAnExportOfVersion1IsRead(t *testing.T) {
	files := small(t)
	lines := besideATexts.ReplaceAll(unsealedLines(t, files[FileImpressions].Data), nil)
	for _, kept := range []string{KeptBuried, KeptGist, KeptFull} {
		lines = bytes.Replace(lines, []byte(`"kept":"`+kept+`",`), nil, 1)
	}
	files = forged(t, files, FileImpressions, lines)
	files = forged(t, files, FileTendencies, []byte(`{"sessions": [{"session": 1, "identity_vector": "", "tendencies": [{"id": "t", "name": "", "members": []}]}]}`))
	manifest := rewritten(t, files, FileManifest, `"version":4`, `"version":1`)
	files = forged(t, files, FileManifest, manifest)
	x, records, err := all(files)
	if err != nil || x.Manifest.Version != 1 || len(records) != 10 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	for _, r := range records {
		if r.Gist || r.Gone {
			t.Errorf("%+v", r)
		}
	}
}

// A folder may hold what is no file, or a link: nothing is waited for, and nothing
// outside of it is read.
func TestWhatIsNoFileIsRefused(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	for what, put := range map[string]func(path string, data []byte) error{
		"a pipe":              func(path string, _ []byte) error { return syscall.Mkfifo(path, 0o600) },
		"a folder":            func(path string, _ []byte) error { return os.Mkdir(path, 0o700) },
		"a link to nowhere":   func(path string, _ []byte) error { return os.Symlink("nowhere", path) },
		"a link to itself":    func(path string, _ []byte) error { return os.Symlink(filepath.Base(path), path) },
		"a link to a device":  func(path string, _ []byte) error { return os.Symlink("/dev/zero", path) },
		"a link to the parts": func(path string, _ []byte) error { return os.Symlink(".", path) },
		"a link to outside": func(path string, data []byte) error {
			return errors.Join(os.WriteFile(outside, data, 0o600), os.Symlink(outside, path))
		},
		"a link up": func(path string, data []byte) error {
			return errors.Join(os.WriteFile(filepath.Join(filepath.Dir(path), "..", "other"), data, 0o600), os.Symlink("../other", path))
		},
		"a hole of a terabyte": func(path string, data []byte) error {
			return errors.Join(os.WriteFile(path, data, 0o600), os.Truncate(path, 1<<40))
		},
	} {
		for _, name := range []string{VectorsFile(7), FileImpressions, FileTendencies, FileManifest} {
			t.Run(what+" for "+name, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "export")
				w, err := Create(dir)
				if err != nil {
					t.Fatal(err)
				}
				if err := write(t, w, small(t)); err != nil {
					t.Fatal(err)
				}
				if _, err := w.Commit(); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(dir, name)
				data, err := os.ReadFile(path)
				if err == nil {
					err = os.Remove(path)
				}
				if err == nil {
					err = put(path, data)
				}
				if errors.Is(err, syscall.EFBIG) {
					t.Skip("no file can be that long here")
				}
				if err != nil {
					t.Fatal(err)
				}
				Is(dir)
				x, err := Open(t.Context(), dir)
				var at *Error
				if !errors.As(err, &at) || at.File != name {
					t.Errorf("%v", err)
				}
				if err == nil {
					_ = x.Close()
				}
			})
		}
	}
}
