package diary

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestNormaliseAndKey(t *testing.T) {
	want := "Schön\n\n今天 x"
	for _, text := range []string{
		"Schön\n\n今天 x", "\n \nSchön\n\n今天 x\n\n", "Scho\u0308n \r\n\t\r\n今天 x\r\n", "Schön\r\r今天 x\u3000", "Schön\u2028\u2028今天 x",
	} {
		if got := Normalise(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
		if Key("2026-03-01", text) != Key("2026-03-01", want) {
			t.Errorf("%q: another key", text)
		}
	}
	sum := sha256.Sum256([]byte("2026-03-01\x00" + want))
	if Key("2026-03-01", want) != [16]byte(sum[:16]) {
		t.Error("the key is not the first 16 bytes of SHA-256 over date, NUL and text")
	}
	for _, other := range []string{"schön\n\n今天 x", " Schön\n\n今天 x", "Schön\n今天 x"} {
		if Key("2026-03-01", other) == Key("2026-03-01", want) {
			t.Errorf("%q has the same key", other)
		}
	}
	if Key("2026-03-01", want) == Key("2026-03-02", want) || Key("", want) == Key("2026-03-01", want) {
		t.Error("the day does not count")
	}
}

func TestNormaliseTwiceIsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune(" \t\r\n\u0308\u0301oeA\u2028\u0085\u3000")))).Draw(t, "text")
		once := Normalise(s)
		if twice := Normalise(once); twice != once {
			t.Fatalf("%q then %q", once, twice)
		}
		if strings.ContainsAny(once, "\r\u2028") || strings.HasPrefix(once, "\n") || strings.HasSuffix(once, "\n") {
			t.Fatalf("%q", once)
		}
	})
}

func TestLocalDay(t *testing.T) {
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Skipf("no time zone data here: %v", err)
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skipf("no time zone data here: %v", err)
	}
	for _, c := range []struct {
		at    string
		loc   *time.Location
		start time.Duration
		want  string
	}{
		{"2026-02-28T19:53:00Z", shanghai, 0, "2026-03-01"},
		{"2026-02-28T19:53:00Z", shanghai, 4 * time.Hour, "2026-02-28"},
		{"2026-02-28T20:00:00Z", shanghai, 4 * time.Hour, "2026-03-01"},
		{"2026-02-28T19:53:00Z", nil, 0, "2026-02-28"},
		{"2024-02-29T23:30:00Z", berlin, 4 * time.Hour, "2024-02-29"},
		{"2025-12-31T23:30:00Z", berlin, 0, "2026-01-01"},
		{"2025-12-31T23:30:00Z", berlin, 4 * time.Hour, "2025-12-31"},
		// Clocks go forward at 02:00 on that day: four on the wall is three hours in.
		{"2026-03-29T02:00:00Z", berlin, 4 * time.Hour, "2026-03-29"},
		{"2026-03-29T01:59:59Z", berlin, 4 * time.Hour, "2026-03-28"},
		{"2026-02-28T19:53:00Z", shanghai, -time.Hour, "2026-03-01"},
		{"2026-02-28T19:53:00Z", shanghai, 48 * time.Hour, "2026-03-01"},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := LocalDay(at, c.loc, c.start); got != c.want {
			t.Errorf("%s in %v from %v: %s, want %s", c.at, c.loc, c.start, got, c.want)
		}
	}
}

func TestReadFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "2026", "03", "02.md"), "Two.")
	write(t, filepath.Join(dir, "2026", "03", "01.md"), "One.")
	write(t, filepath.Join(dir, "b.txt"), "2026-03-03\nThree.")
	write(t, filepath.Join(dir, "bad.md"), "\x00")
	write(t, filepath.Join(dir, "c.jsonl"), `{"text":"Four."}`)
	for _, name := range toolNames {
		write(t, filepath.Join(dir, name), "no entry")
	}
	before := snapshot(t, dir)
	files, err := Read(dir, Options{})
	if err == nil || !strings.Contains(err.Error(), "bad.md") {
		t.Error("the bad file was not named:", err)
	}
	var got []string
	for _, f := range files {
		for _, e := range f.Entries {
			got = append(got, f.Name+" "+e.Date+" "+e.Text)
		}
	}
	want := []string{"2026/03/01.md 2026-03-01 One.", "2026/03/02.md 2026-03-02 Two.", "b.txt 2026-03-03 Three.", "c.jsonl  Four."}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if snapshot(t, dir) != before {
		t.Error("reading changed the folder")
	}
	one := readOne(t, filepath.Join(dir, "2026", "03", "01.md"))
	if one.Name != "01.md" || one.Entries[0].Date != "2026-03-01" {
		t.Error(one)
	}
	if _, err := Read(filepath.Join(dir, "nowhere"), Options{}); err == nil {
		t.Error("a missing folder was read")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err == nil {
		if files, _ := Read(link, Options{}); len(files) != 4 {
			t.Error("a folder behind a link:", len(files))
		}
	}
}

func TestReadInStaysInTheFolder(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write(t, filepath.Join(outside, "secret.md"), "secret")
	if err := os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(dir, "a.md")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	for _, name := range []string{"a.md", "../" + filepath.Base(outside) + "/secret.md"} {
		if f, err := ReadIn(dir, name, Options{}); err == nil {
			t.Errorf("%s was read: %v", name, f)
		}
	}
}

// snapshot is every name, mode, time and byte of a folder.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		b.WriteString(path + info.Mode().String() + info.ModTime().String())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b.Write(data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
