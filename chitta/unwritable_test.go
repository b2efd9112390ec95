package chitta

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What cannot be written is told with what to do about it.
func TestWhatToDoWhereNothingCanBeWritten(t *testing.T) {
	at := func(err error) error {
		return fmt.Errorf("it: %w", &fs.PathError{Op: "open", Path: "chitta.db", Err: err})
	}
	for _, try := range []struct {
		err  error
		says string
	}{
		{at(syscall.EROFS), "mounted read-only: mount it to be written (mount -o remount,rw)"},
		{at(syscall.EACCES), "Run as the user that owns the folder"},
		{at(syscall.EPERM), "Run as the user that owns the folder"},
	} {
		said := unwritable(try.err, "Look at the moon.")
		if !strings.Contains(said, try.says) || !strings.Contains(said, "name that with --data") || !strings.HasPrefix(said, "The file was left as it is. ") {
			t.Errorf("%v: %s", try.err, said)
		}
	}
	if said := unwritable(at(syscall.ENOSPC), "Look at the moon."); said != "Look at the moon." {
		t.Error(said)
	}
}

// A store on a disk that became read-only says so, wherever the opening meets it.
func TestOpenOnADiskThatIsReadOnly(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("jivad-test", disk, "tmpfs", 0, "size=16m"); err != nil {
		t.Skip("only root can mount a disk: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, 0) })
	remount := func(flags uintptr) {
		t.Helper()
		if err := syscall.Mount("jivad-test", disk, "", syscall.MS_REMOUNT|flags, "size=16m"); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Dir: filepath.Join(disk, "D"), Embedder: "test/1", Dim: 4}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	remount(syscall.MS_RDONLY)
	for _, dir := range []string{"D", "new"} {
		o.Dir = filepath.Join(disk, dir)
		if _, err := Open(t.Context(), o); !errors.Is(err, syscall.EROFS) || !strings.Contains(err.Error(), "remount,rw") {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
