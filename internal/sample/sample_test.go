package sample

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jivad/jivad/lifecycle/diary"
)

var date = regexp.MustCompile(`(?m)^(?:date: |## |\* )(\d{4}-\d{2}-\d{2})$`)

func TestDiaryIsLabelledAndInOrder(t *testing.T) {
	var dates []string
	var german, japanese int
	err := fs.WalkDir(Files(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(Files(), name)
		if err != nil {
			return err
		}
		text := string(raw)
		if !utf8.ValidString(text) || strings.ContainsRune(text, '\r') || !strings.HasSuffix(text, "\n") {
			t.Errorf("%s is not plain UTF-8 text with line ends", name)
		}
		if !strings.Contains(text, "invented") {
			t.Errorf("%s does not say that it is invented", name)
		}
		for _, m := range date.FindAllStringSubmatch(text, -1) {
			if _, err := time.Parse(time.DateOnly, m[1]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if !strings.HasPrefix(name, m[1][:7]) {
				t.Errorf("%s holds the date %s", name, m[1])
			}
			dates = append(dates, m[1])
		}
		german += strings.Count(text, " ich ") // crude, but English has none
		japanese += strings.Count(text, "。")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(dates)
	if n := len(slices.Compact(slices.Clone(dates))); n != len(dates) {
		t.Errorf("%d entries on %d dates: every entry has a day of its own", len(dates), n)
	}
	if len(dates) != 72 || dates[0] != "2026-02-01" || dates[len(dates)-1] != "2026-05-31" {
		t.Errorf("%d entries from %s to %s; ABOUT.md says 72 in four months", len(dates), dates[0], dates[len(dates)-1])
	}
	if german == 0 || japanese == 0 {
		t.Errorf("German %d, Japanese %d: both languages belong in it", german, japanese)
	}
}

// The reader finds every entry under its date, and has nothing to remark.
func TestReaderFindsEveryEntry(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir); err != nil {
		t.Fatal(err)
	}
	files, err := diary.Read(dir, diary.Options{})
	if err != nil {
		t.Fatal(err)
	}
	entries := 0
	for _, file := range files {
		for _, note := range file.Notes {
			t.Errorf("%s, line %d: %s", file.Name, note.Line, note.Text)
		}
		for _, entry := range file.Entries {
			entries++
			if !strings.HasPrefix(file.Name, entry.Date[:min(7, len(entry.Date))]) || !diary.ValidDate(entry.Date) {
				t.Errorf("%s, line %d: date %q", file.Name, entry.Line, entry.Date)
			}
			if strings.TrimSpace(entry.Text) == "" || strings.Contains(entry.Text, "invented") {
				t.Errorf("%s, line %d: text %q", file.Name, entry.Line, entry.Text)
			}
		}
	}
	if entries != 72 {
		t.Errorf("the reader found %d entries of 72", entries)
	}
}

func TestNoControlCharacters(t *testing.T) {
	names, err := fs.Glob(Files(), "*")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(Files(), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range string(text) {
			if unicode.IsControl(r) && r != '\n' {
				t.Errorf("%s holds the control character %U", name, r)
			}
		}
	}
}

func TestWriteKeepsWhatIsThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "diary")
	if err := Write(dir); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(dir, "2026-02-01.md")
	if err := os.WriteFile(mine, []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(dir, "2026-02-02.md")
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(mine); string(text) != "mine\n" {
		t.Errorf("a person's file was overwritten: %q", text)
	}
	info, err := os.Stat(gone)
	if err != nil {
		t.Fatal("a missing file was not written again:", err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder mode %v, %v; want 0700", info.Mode(), err)
	}
}

func TestWriteSaysWhatFailed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := Write(filepath.Join(file, "diary"))
	if err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("error %v does not name the path", err)
	}
}
