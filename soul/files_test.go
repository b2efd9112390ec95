package soul

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jivad/jivad/internal/atomicfile"
)

func at(t *testing.T, session int, given string) []byte {
	t.Helper()
	s := summaryOf(t)
	s.Session, s.Given = session, given
	s.ClosedAt = time.Date(2024, 3, session, 20, 0, 0, 0, time.UTC)
	doc, err := Render(s, MaxBytes)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// archive checks the names in the archive.
func archive(t *testing.T, f Files, want ...string) {
	t.Helper()
	list, err := f.List()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range list {
		name := filepath.Base(v.Path)
		if v.Edited {
			name = name[:len(name)-len("12345678.md")] + "….md"
		}
		got = append(got, name)
		info, err := os.Stat(v.Path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("archive holds %q, want %q", got, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRenewArchivesThenWrites(t *testing.T) {
	dir := t.TempDir()
	f := Files{SoulPath: filepath.Join(dir, "agent", "SOUL.md"), ArchiveDir: filepath.Join(dir, "soul", "archive")}
	if doc, err := f.Current(); doc != nil || err != nil {
		t.Fatalf("before the first: %q, %v", doc, err)
	}
	archive(t, f)
	one, again, two, three := at(t, 1, "a"), at(t, 1, "a changed"), at(t, 2, "b"), at(t, 3, "c")
	must(t, f.Renew(one, nil))
	archive(t, f)
	must(t, f.Renew(one, one)) // the same once more changes nothing
	archive(t, f)
	must(t, f.Renew(again, one)) // session 1 was closed again
	archive(t, f, "000001-2024-03-01.md")
	must(t, f.Renew(two, again))
	archive(t, f, "000001-2024-03-01.md")
	if doc, err := f.Read(1); err != nil || string(doc) != string(again) {
		t.Errorf("version 1 is not the last one of its session: %v", err)
	}
	must(t, f.Renew(three, two))
	archive(t, f, "000001-2024-03-01.md", "000002-2024-03-02.md")
	if doc, err := f.Current(); err != nil || string(doc) != string(three) {
		t.Errorf("current: %v", err)
	}
	for path, want := range map[string]os.FileMode{f.SoulPath: 0o600, f.ArchiveDir: 0o700, filepath.Dir(f.SoulPath): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if _, err := f.Read(3); !errors.Is(err, ErrNoVersion) {
		t.Errorf("no version 3 yet: %v", err)
	}
	n, err := f.DropFrom(2)
	if n != 1 || err != nil {
		t.Errorf("dropped %d, %v", n, err)
	}
	archive(t, f, "000001-2024-03-01.md")
}

func TestRenewKeepsEdits(t *testing.T) {
	dir := t.TempDir()
	f := Files{SoulPath: filepath.Join(dir, "SOUL.md"), ArchiveDir: filepath.Join(dir, "archive")}
	one, two, three := at(t, 1, "a"), at(t, 2, "a"), at(t, 3, "a")
	// A SOUL.md that was there before us is kept.
	must(t, os.WriteFile(f.SoulPath, []byte("# Another soul\n"), 0o644))
	must(t, f.Renew(one, nil))
	archive(t, f, "000000-undated-edited-….md")
	if info, err := os.Stat(f.SoulPath); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("the permissions that the person chose are gone: %v %v", info.Mode(), err)
	}
	// So is each edit outside Given, beside what was written.
	must(t, os.WriteFile(f.SoulPath, []byte(strings.Replace(string(one), "mostly clear", "perfect", 1)), 0o600))
	must(t, f.Renew(two, one))
	archive(t, f, "000000-undated-edited-….md", "000001-2024-03-01.md", "000001-2024-03-01-edited-….md")
	if doc, err := f.Read(1); err != nil || string(doc) != string(one) {
		t.Errorf("the edit took the place of the version: %v", err)
	}
	// Without its front matter it is still known whose it was.
	must(t, os.WriteFile(f.SoulPath, []byte("## Given\n\na\n"), 0o600))
	must(t, f.Renew(three, two))
	archive(t, f, "000000-undated-edited-….md", "000001-2024-03-01.md", "000001-2024-03-01-edited-….md",
		"000002-2024-03-02.md", "000002-2024-03-02-edited-….md")
}

func TestArchiveNames(t *testing.T) {
	f := Files{SoulPath: "unused", ArchiveDir: t.TempDir()}
	must(t, f.Archive(7, "2024-03-01", []byte("x")))
	must(t, f.Archive(7, "../../etc/passwd", []byte("y"))) // the same session under another day
	must(t, f.Archive(1_234_567, "2024-03-02", []byte("z")))
	must(t, os.WriteFile(filepath.Join(f.ArchiveDir, "notes.md"), []byte("a person's own"), 0o600))
	archive(t, f, "000007-undated.md", "1234567-2024-03-02.md")
	if doc, err := f.Read(7); err != nil || string(doc) != "y" {
		t.Errorf("%q, %v", doc, err)
	}
	if err := f.Archive(-1, "", nil); err == nil {
		t.Error("session -1 is archived")
	}
	if _, err := f.DropFrom(0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(f.ArchiveDir, "notes.md")); err != nil {
		t.Error("a person's own file was dropped")
	}
}

func TestSoulPathMayBeALink(t *testing.T) {
	dir := t.TempDir()
	f := Files{SoulPath: filepath.Join(dir, "SOUL.md"), ArchiveDir: filepath.Join(dir, "archive")}
	target := filepath.Join(t.TempDir(), "agent.md")
	if err := os.Symlink(target, f.SoulPath); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	one, two := at(t, 1, "a"), at(t, 2, "a")
	must(t, f.Renew(one, nil))
	must(t, f.Renew(two, one))
	if doc, err := os.ReadFile(target); err != nil || string(doc) != string(two) {
		t.Errorf("the target holds something else: %v", err)
	}
	archive(t, f, "000001-2024-03-01.md")
}

func TestGivenFile(t *testing.T) {
	dir := t.TempDir()
	f := Files{SoulPath: filepath.Join(dir, "SOUL.md")}
	if given, ok, err := f.ReadGiven(); given != "" || ok || err != nil {
		t.Errorf("%q %v %v", given, ok, err)
	}
	must(t, f.WriteGiven("line\r\n"))
	if given, ok, err := f.ReadGiven(); given != "line\r\n" || !ok || err != nil {
		t.Errorf("%q %v %v", given, ok, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "given.md")); err != nil {
		t.Error(err)
	}
	must(t, f.RemoveLeftovers())
}

// A process that is killed while it archives leaves a half-written version, which
// may hold what is forgotten later.
func TestLeftoversInTheArchive(t *testing.T) {
	dir := t.TempDir()
	f := Files{SoulPath: filepath.Join(dir, "SOUL.md"), ArchiveDir: filepath.Join(dir, "archive")}
	must(t, f.RemoveLeftovers()) // no archive yet
	must(t, f.Archive(3, "2024-05-01", at(t, 3, "a")))
	for _, name := range []string{".000004-2024-05-02.md.1873234386.tmp", ".000004-undated-edited-0a1b2c3d.md.7.tmp", ".mine.tmp"} {
		must(t, os.WriteFile(filepath.Join(f.ArchiveDir, name), []byte("half"), 0o600))
	}
	must(t, f.RemoveLeftovers())
	entries, err := os.ReadDir(f.ArchiveDir)
	must(t, err)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{".mine.tmp", "000003-2024-05-01.md"}; !slices.Equal(left, want) {
		t.Errorf("left %q, want %q", left, want)
	}
}

func TestFailedArchiveLeavesSoulAlone(t *testing.T) {
	dir := t.TempDir()
	f := Files{SoulPath: filepath.Join(dir, "SOUL.md"), ArchiveDir: filepath.Join(dir, "file", "archive")}
	one, two := at(t, 1, "a"), at(t, 2, "a")
	must(t, f.Renew(one, nil))
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600)) // a file where the folder should be
	var typed *atomicfile.Error
	if err := f.Renew(two, one); !errors.As(err, &typed) || typed.Hint == "" {
		t.Errorf("got %v, want an *atomicfile.Error", err)
	}
	if doc, err := f.Current(); err != nil || string(doc) != string(one) {
		t.Errorf("SOUL.md was replaced although the old one could not be archived: %v", err)
	}
}
