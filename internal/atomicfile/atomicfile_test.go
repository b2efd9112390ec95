package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// onlyFiles checks that dir holds exactly these names: no temporary file stays.
func onlyFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("folder holds %v, want %v", got, want)
	}
}

func content(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s holds %q, want %q", path, got, want)
	}
}

func TestWriteCreatesAndReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "SOUL.md")
	for _, c := range []struct {
		data string
		perm os.FileMode
	}{{"one", 0o600}, {"", 0o644}, {strings.Repeat("long ", 100_000), 0o666}} {
		if err := Write(path, []byte(c.data), c.perm); err != nil {
			t.Fatal(err)
		}
		content(t, path, c.data)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != c.perm {
			t.Errorf("permissions %v, want %v", info.Mode().Perm(), c.perm)
		}
		onlyFiles(t, dir, "SOUL.md")
	}
}

func TestWriteThroughLinks(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	target := filepath.Join(other, "agent.md")
	link := filepath.Join(dir, "SOUL.md")
	second := filepath.Join(dir, "second.md")
	if err := os.Symlink(target, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := os.Symlink("SOUL.md", second); err != nil { // relative, to a link
		t.Fatal(err)
	}
	for _, text := range []string{"into a link to nothing", "into a link to a file"} {
		if err := Write(second, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		content(t, target, text)
	}
	for _, p := range []string{link, second} {
		info, err := os.Lstat(p)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more", p)
		}
	}
	onlyFiles(t, dir, "SOUL.md", "second.md")
	onlyFiles(t, other, "agent.md")
}

func TestWriteRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	for name, c := range map[string]struct {
		path string
		want error
	}{
		"missing folder":   {filepath.Join(dir, "none", "x"), ErrNoFolder},
		"file as a folder": {filepath.Join(file, "x"), ErrNoFolder},
		"a folder":         {dir, errNotRegular},
		"link loop":        {loop, errLinkLoop},
	} {
		err := Write(c.path, []byte("new"), 0o600)
		var typed *Error
		if !errors.Is(err, c.want) || !errors.As(err, &typed) {
			t.Errorf("%s: got %v, want %v in an *Error", name, err, c.want)
			continue
		}
		if typed.Path != c.path || typed.Hint == "" || strings.Contains(err.Error(), tempSuffix) {
			t.Errorf("%s: message does not help: %v", name, err)
		}
	}
	content(t, file, "old")
	onlyFiles(t, dir, "file", "loop")
}

func TestWriteWithoutPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	if err := Write(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	if err := Write(path, []byte("new"), 0o600); !errors.Is(err, ErrPermission) {
		t.Errorf("got %v, want ErrPermission", err)
	}
	content(t, path, "old")
}

func TestErrorsAreClassified(t *testing.T) {
	for _, c := range []struct{ cause, want error }{
		{syscall.ENOSPC, ErrDiskFull},
		{syscall.EDQUOT, ErrDiskFull},
		{syscall.EROFS, ErrReadOnly},
		{syscall.EACCES, ErrPermission},
		{syscall.EPERM, ErrPermission},
		{syscall.ENOENT, ErrNoFolder},
		{errors.Join(ErrNotDurable, syscall.EIO), ErrNotDurable},
	} {
		for _, cause := range []error{
			c.cause,
			&fs.PathError{Op: "write", Path: "/x/.hidden.1.tmp", Err: c.cause},
			&os.LinkError{Op: "rename", Old: "/x/.hidden.1.tmp", New: "/x/y", Err: c.cause},
		} {
			err := wrap("write", "/x/y", cause)
			var typed *Error
			if !errors.Is(err, c.want) || !errors.Is(err, c.cause) || !errors.As(err, &typed) || typed.Hint == "" {
				t.Errorf("%T %v: got %v, want %v with a hint", cause, cause, err, c.want)
			}
			if strings.Contains(err.Error(), "hidden") {
				t.Errorf("message names the temporary file: %v", err)
			}
		}
	}
	if err := wrap("write", "/x", syscall.EIO); err.Error() == "" || !errors.Is(err, syscall.EIO) {
		t.Errorf("unclassified cause is lost: %v", err)
	}
}

func TestWriterShowsNothingBeforeCommit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	if err := Write(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}

	given, err := Create(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := given.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	content(t, path, "old")
	for range 2 {
		if err := given.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := given.Commit(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("commit after close: %v", err)
	}
	if _, err := given.Write([]byte("x")); err == nil {
		t.Error("write after close is taken")
	}
	content(t, path, "old")
	onlyFiles(t, dir, "x")

	kept, err := Create(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"new ", "content"} {
		if _, err := kept.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if err := kept.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	content(t, path, "new content")
	onlyFiles(t, dir, "x")
}

func TestFailedRenameLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	w, err := Create(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	// The target turns into a folder while the new content is written.
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	var typed *Error
	if err := w.Commit(); !errors.As(err, &typed) {
		t.Fatalf("got %v, want an *Error", err)
	}
	onlyFiles(t, dir, "x")
}

func TestRemoveLeftovers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "SOUL.md")
	for _, name := range []string{
		".SOUL.md.123.tmp", ".SOUL.md.9.tmp", // ours
		".SOUL.md.old.tmp", ".SOUL.md..tmp", "SOUL.md.1.tmp", ".other.1.tmp", "SOUL.md",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".SOUL.md.5.tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	// A left-over is no obstacle …
	if err := Write(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	// … and goes without taking anything else.
	if err := RemoveLeftovers(path); err != nil {
		t.Fatal(err)
	}
	onlyFiles(t, dir, ".SOUL.md..tmp", ".SOUL.md.5.tmp", ".SOUL.md.old.tmp", ".other.1.tmp", "SOUL.md", "SOUL.md.1.tmp")
	content(t, path, "new")
	if err := RemoveLeftovers(filepath.Join(dir, "none", "x")); err != nil {
		t.Errorf("missing folder: %v", err)
	}
	w, err := Create(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if !isTempOf(filepath.Base(w.temp.Name()), path) {
		t.Errorf("%s is not known as a temporary file of ours", w.temp.Name())
	}
}

func TestLongNames(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, strings.Repeat("ü", 125)) // 250 bytes
	if err := Write(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	content(t, path, "x")
}

func TestMkdirAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b", "c")
	for range 2 {
		if err := MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		t.Fatalf("%v %v", info, err)
	}
	file := filepath.Join(dir, "file")
	if err := Write(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{file, filepath.Join(file, "x")} {
		if err := MkdirAll(p, 0o700); !errors.Is(err, ErrNoFolder) {
			t.Errorf("%s: got %v, want ErrNoFolder", p, err)
		}
	}
}

func BenchmarkWrite8KiB(b *testing.B) {
	path := filepath.Join(b.TempDir(), "x")
	data := bytes.Repeat([]byte("12345678"), 1024)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := Write(path, data, 0o600); err != nil {
			b.Fatal(err)
		}
	}
}
