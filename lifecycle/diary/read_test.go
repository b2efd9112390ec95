package diary

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// fill writes files into a folder.
func fill(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReadTakesJSONLOfAFolder(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, map[string]string{
		"a.md": "One.", "old/b.JSONL": `{"date":"2024-05-01","text":"Two."}`, ".hidden.jsonl": `{"text":"No."}`, "c.sync-conflict-x.jsonl": `{"text":"No."}`,
	})
	files, err := Read(dir, Options{})
	if err != nil || len(files) != 2 || files[1].Name != "old/b.JSONL" || len(files[1].Entries) != 1 || files[1].Entries[0].Date != "2024-05-01" {
		t.Fatalf("%+v %v", files, err)
	}
	if Readable("b.jsonl") {
		t.Error("a watched folder would take .jsonl, too")
	}
}

func TestReadTellsOfLinks(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	fill(t, dir, map[string]string{"a.md": "One."})
	fill(t, other, map[string]string{"b.md": "Two.", "picture.png": "x"})
	link := func(to, name string) {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	link(filepath.Join(other, "b.md"), "b.md")
	link(filepath.Join(other, "picture.png"), "picture.png") // nobody misses it
	link(other, ".hidden")
	told := func() string {
		files, err := Read(dir, Options{})
		if err != nil || len(files) != 2 || len(files[1].Entries) != 0 || len(files[1].Notes) != 1 || files[1].Notes[0].Kind != NoteLink {
			t.Fatalf("%+v %v", files, err)
		}
		return files[1].Notes[0].Text
	}
	if got := told(); !strings.HasPrefix(got, "1 link was not followed") {
		t.Error(got)
	}
	link(other, "more")
	if got := told(); !strings.HasPrefix(got, "2 links were not followed") {
		t.Error(got)
	}
}

func TestReadNamesWhatItCannotReadAsItWasTyped(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	fill(t, "d", map[string]string{"a.md": "One.", "sub/bad.md": "\x00", "worse.jsonl": "secret"})
	files, err := Read("./d", Options{})
	if len(files) != 1 || files[0].Name != "a.md" {
		t.Errorf("the others are hidden: %+v", files)
	}
	var unread Unread
	if !errors.As(err, &unread) || len(unread) != 2 || !errors.Is(err, ErrBinary) || !errors.Is(err, ErrLine) {
		t.Fatal(err)
	}
	for i, want := range []string{"read d/sub/bad.md: ", "read d/worse.jsonl, line 1: "} {
		if !strings.HasPrefix(unread[i].Error(), want) {
			t.Errorf("%q, want %q", unread[i], want)
		}
	}
	if os.Getuid() == 0 {
		return // root reads everything
	}
	if err := os.Chmod("d", 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod("d", 0o700)
	if _, err := Read("d", Options{}); !errors.Is(err, fs.ErrPermission) || !strings.HasPrefix(err.Error(), "read d: ") {
		t.Errorf("%v", err)
	}
}

func TestCategories(t *testing.T) {
	for _, c := range Categories() {
		f, err := Parse("a.md", strings.NewReader("---\ncategory: "+strings.ToUpper(c)+"\n---\nx"), Options{})
		if err != nil || f.Entries[0].Category != c || len(f.Notes) != 0 {
			t.Errorf("%s: %+v %v", c, f, err)
		}
	}
	f, err := ReadJSONL("a.jsonl", strings.NewReader(`{"text":"x","category":"secret"}`))
	if err != nil || f.Entries[0].Category != "" || len(f.Notes) != 1 || f.Notes[0].Kind != NoteCategory || strings.Contains(f.Notes[0].Text, "secret") {
		t.Errorf("%+v %v", f, err)
	}
	if !slices.Contains(Categories(), "behavioural") {
		t.Error("the usual category is not one of them")
	}
}

// refusing is a system that watches no folder.
type refusing struct{}

func (refusing) Add(string) error    { return syscall.ENOSPC }
func (refusing) Remove(string) error { return nil }

func TestTheWarningNamesTheFolder(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, map[string]string{"a.md": "secret"})
	synctest.Test(t, func(t *testing.T) {
		var told bytes.Buffer
		ctx, stop := context.WithCancel(t.Context())
		w := start(ctx, dir, source{folders: refusing{}}, WatchOptions{Log: slog.New(slog.NewTextHandler(&told, nil))}.filled())
		<-w.Changes()
		stop()
		for range w.Changes() {
		}
		if !strings.Contains(told.String(), "folder=. ") || strings.Contains(told.String(), "secret") {
			t.Error(told.String())
		}
	})
}

// A path that may have no end, or that has to be waited for, is not read.
func TestReadNoPipeAndNoDevice(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.md")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, os.DevNull, "/dev/zero"} {
		done := make(chan error, 1)
		go func() {
			_, err := Read(path, Options{})
			done <- err
		}()
		select {
		case err := <-done:
			var named *Error
			if !errors.Is(err, ErrNoFile) || !errors.As(err, &named) || named.Name != path {
				t.Errorf("%s: %v", path, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s is waited for", path)
		}
	}
}
