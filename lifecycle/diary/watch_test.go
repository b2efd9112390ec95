package diary

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

// patience bounds how long a test waits for something that must come.
const patience = 30 * time.Second

func watching(t *testing.T, root string) *Watcher {
	t.Helper()
	w, err := Watch(t.Context(), root, WatchOptions{Settle: 30 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// awaits waits for a change of one name; changes of others before it fail.
func (w *Watcher) awaits(t *testing.T, want ...Change) {
	t.Helper()
	open := make(map[Change]bool)
	for _, c := range want {
		open[c] = true
	}
	late := time.After(patience)
	for len(open) > 0 {
		select {
		case c, ok := <-w.Changes():
			if !ok {
				t.Fatalf("closed before %v came", open)
			}
			known := open[c]
			for _, x := range want {
				known = known || c == x // told again: allowed
			}
			if !known {
				t.Fatalf("unexpected %v while waiting for %v", c, open)
			}
			delete(open, c)
		case <-late:
			t.Fatalf("waited %v for %v", patience, open)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func replace(t *testing.T, path, text string) {
	t.Helper()
	write(t, path+".tmp", text)
	if err := os.Rename(path+".tmp", path); err != nil {
		t.Fatal(err)
	}
}

func TestWatchTellsWhatIsThereAndTwoSavesByRename(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "old.md"), "old")
	write(t, filepath.Join(dir, "2026", "03", "01.org"), "old too")
	w := watching(t, dir)
	w.awaits(t, Change{Path: "old.md"}, Change{Path: "2026/03/01.org"})
	for _, text := range []string{"first", "second", "third!"} {
		replace(t, filepath.Join(dir, "old.md"), text)
		w.awaits(t, Change{Path: "old.md"})
	}
	f, err := ReadIn(dir, "old.md", Options{})
	if err != nil || len(f.Entries) != 1 || f.Entries[0].Text != "third!" {
		t.Fatal(f, err)
	}
}

func TestWatchSeesFilesMadeBeforeTheirFolderIsWatched(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	w := watching(t, dir)
	// A folder that appears with files in it, at once and several levels deep.
	write(t, filepath.Join(outside, "b", "c", "one.md"), "one")
	write(t, filepath.Join(outside, "b", "two.txt"), "two")
	if err := os.Rename(filepath.Join(outside, "b"), filepath.Join(dir, "b")); err != nil {
		t.Skipf("the temporary folders are not on one disk: %v", err)
	}
	w.awaits(t, Change{Path: "b/c/one.md"}, Change{Path: "b/two.txt"})
	// And one that is made step by step.
	write(t, filepath.Join(dir, "d", "e", "three.md"), "three")
	w.awaits(t, Change{Path: "d/e/three.md"})
	write(t, filepath.Join(dir, "d", "e", "four.md"), "four")
	w.awaits(t, Change{Path: "d/e/four.md"})
}

// A folder that is moved inside the diary keeps being watched, and so do the
// folders in it, under their new names.
func TestWatchFollowsMovedFolders(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a", "sub", "x.md"), "x")
	w := watching(t, dir)
	w.awaits(t, Change{Path: "a/sub/x.md"})
	for _, step := range [][2]string{{"a", "b"}, {"b", "c"}, {"c", "a"}} {
		from, to := step[0], step[1]
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
		w.awaits(t, Change{Path: from + "/sub/x.md", Removed: true}, Change{Path: to + "/sub/x.md"})
		replace(t, filepath.Join(dir, to, "sub", "x.md"), "in "+to)
		w.awaits(t, Change{Path: to + "/sub/x.md"})
		write(t, filepath.Join(dir, to, "sub", to+".md"), "new")
		w.awaits(t, Change{Path: to + "/sub/" + to + ".md"})
		if err := os.Remove(filepath.Join(dir, to, "sub", to+".md")); err != nil {
			t.Fatal(err)
		}
		w.awaits(t, Change{Path: to + "/sub/" + to + ".md", Removed: true})
	}
	if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	w.awaits(t, Change{Path: "a/sub/x.md", Removed: true})
}

func TestWatchIgnoresWhatToolsMake(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".obsidian", "plugin.md"), "x")
	w := watching(t, dir)
	for _, name := range append(toolNames, "photo.jpg", "entries.jsonl") {
		if name != ".obsidian/plugin.md" {
			write(t, filepath.Join(dir, name), "not an entry")
		}
	}
	if err := os.Symlink(dir, filepath.Join(dir, "loop")); err != nil {
		t.Logf("no symbolic links here: %v", err)
	}
	// Looking through everything would find them too; awaits fails on any other name.
	w.Rescan()
	write(t, filepath.Join(dir, "zz.md"), "an entry")
	w.awaits(t, Change{Path: "zz.md"})
	w.Rescan()
	write(t, filepath.Join(dir, "zzz.md"), "an entry")
	w.awaits(t, Change{Path: "zzz.md"})
}

// What is told first is whole, however slowly it was written.
func TestWatchWaitsForWholeFile(t *testing.T) {
	dir := t.TempDir()
	w, err := Watch(t.Context(), dir, WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "long.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Repeat("Ein schöner Tag. 今天。\n", 4000)
	for i := 0; i < len(want); i += 1000 {
		if _, err := f.WriteString(want[i:min(i+1000, len(want))]); err != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	w.awaits(t, Change{Path: "long.md"})
	got, err := ReadIn(dir, "long.md", Options{})
	if err != nil || got.Entries[0].Text != strings.TrimSuffix(want, "\n") {
		t.Fatal("the file was told before it was whole", err)
	}
}

func TestWatchRecoversWhenTheFolderReturns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "diary")
	write(t, filepath.Join(dir, "a.md"), "a")
	write(t, filepath.Join(dir, "b.md"), "b")
	w := watching(t, dir)
	w.awaits(t, Change{Path: "a.md"}, Change{Path: "b.md"})
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "c.md"), "c")
	w.Rescan()
	w.awaits(t, Change{Path: "c.md"}) // and nothing of a.md and b.md
	replace(t, filepath.Join(dir, "c.md"), "c again")
	w.awaits(t, Change{Path: "c.md"})
	if err := os.Remove(filepath.Join(dir, "c.md")); err != nil {
		t.Fatal(err)
	}
	w.awaits(t, Change{Path: "c.md", Removed: true})
}

func TestWatchEndsWhollyWithItsContext(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.md"), "a")
	ctx, cancel := context.WithCancel(context.Background())
	w, err := Watch(ctx, dir, WatchOptions{Settle: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	w.awaits(t, Change{Path: "a.md"})
	write(t, filepath.Join(dir, "b.md"), "nobody receives this")
	cancel()
	for range w.Changes() { // ends, or the test binary's time limit tells
	}
	deadline := time.Now().Add(patience)
	for {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		if !strings.Contains(string(stacks), "diary.(*Watcher).run(") && !strings.Contains(string(stacks), "readEvents") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("goroutines are left:\n%s", stacks)
		}
		runtime.Gosched()
	}
}

func TestWatchNamesAMissingFolder(t *testing.T) {
	_, err := Watch(t.Context(), filepath.Join(t.TempDir(), "nowhere"), WatchOptions{})
	var e *Error
	if !errors.Is(err, ErrNoFolder) || !errors.As(err, &e) || e.Hint == "" {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file.md")
	write(t, file, "x")
	if _, err := Watch(t.Context(), file, WatchOptions{}); !errors.As(err, &e) {
		t.Fatal("a file was watched as a folder", err)
	}
}

// fakeNews lets a test say what the system tells, in a bubble of its own time.
type fakeNews struct {
	events chan fsnotify.Event
	errors chan error
	added  []string
}

func (f *fakeNews) Add(folder string) error    { f.added = append(f.added, folder); return nil }
func (f *fakeNews) Remove(folder string) error { return nil }

func startFake(ctx context.Context, root string, o WatchOptions) (*Watcher, *fakeNews) {
	f := &fakeNews{events: make(chan fsnotify.Event), errors: make(chan error)}
	return start(ctx, root, source{folders: f, events: f.events, errors: f.errors}, o.filled()), f
}

func (w *Watcher) none(t *testing.T, why string) {
	t.Helper()
	synctest.Wait()
	select {
	case c := <-w.Changes():
		t.Fatalf("%v came although %s", c, why)
	default:
	}
}

func (w *Watcher) one(t *testing.T, want Change) {
	t.Helper()
	synctest.Wait()
	select {
	case c := <-w.Changes():
		if c != want {
			t.Fatalf("%v came, want %v", c, want)
		}
	default:
		t.Fatalf("%v did not come", want)
	}
}

func TestSettling(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.md")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w, news := startFake(ctx, dir, WatchOptions{Settle: 400 * time.Millisecond, Rescan: time.Hour})
		wrote := fsnotify.Event{Name: file, Op: fsnotify.Write}

		// It grows every 300 ms, and is told once, 400 ms after the last time.
		for i := range 10 {
			write(t, file, strings.Repeat("grow ", i+1))
			news.events <- wrote
			time.Sleep(300 * time.Millisecond)
			w.none(t, "the file still grows")
		}
		time.Sleep(99 * time.Millisecond)
		w.none(t, "399 ms are not 400")
		time.Sleep(time.Millisecond)
		w.one(t, Change{Path: "a.md"})
		time.Sleep(10 * time.Minute)
		w.none(t, "nothing changed")

		// It grows in silence: the second look sees it.
		write(t, file, "a")
		news.events <- wrote
		time.Sleep(300 * time.Millisecond)
		synctest.Wait()
		write(t, file, "a longer text")
		time.Sleep(150 * time.Millisecond)
		w.none(t, "the file changed since the news")
		time.Sleep(400 * time.Millisecond)
		w.one(t, Change{Path: "a.md"})

		// An editor removes the old file before it puts the new one there.
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		news.events <- fsnotify.Event{Name: file, Op: fsnotify.Remove}
		time.Sleep(100 * time.Millisecond)
		write(t, file, "new")
		news.events <- fsnotify.Event{Name: file, Op: fsnotify.Create}
		time.Sleep(time.Second)
		w.one(t, Change{Path: "a.md"})
		w.none(t, "the file was there again before it settled")

		// Lost news: a full queue makes it look through everything.
		write(t, filepath.Join(dir, "sub", "b.md"), "b")
		news.errors <- fsnotify.ErrEventOverflow
		time.Sleep(time.Second)
		w.one(t, Change{Path: "sub/b.md"})
		w.none(t, "a.md has not changed")

		// No news at all: the hourly look finds it, and finds what is gone.
		write(t, filepath.Join(dir, "c.md"), "c")
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour + time.Second)
		w.one(t, Change{Path: "a.md", Removed: true})
		w.one(t, Change{Path: "c.md"})
		w.none(t, "that was all")

		// Another file of the same size and time, put there without news.
		old := filepath.Join(dir, "c.md")
		info, err := os.Stat(old)
		if err != nil {
			t.Fatal(err)
		}
		write(t, old+".tmp", "C")
		if err := os.Chtimes(old+".tmp", info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(old+".tmp", old); err != nil {
			t.Fatal(err)
		}
		w.Rescan()
		time.Sleep(time.Second)
		w.one(t, Change{Path: "c.md"})
		w.Rescan()
		time.Sleep(time.Second)
		w.none(t, "it was told and has not changed since")

		// A slow receiver loses nothing and hears of a name once.
		for i := range 5 {
			write(t, file, strings.Repeat("x", i+1))
			news.events <- wrote
			time.Sleep(time.Second)
		}
		w.one(t, Change{Path: "a.md"})
		// The send that waited may have taken the first; at most one more is due.
		w.none(t, "five saves of one name wait as one")
	})
}

func TestOnlyFoldersOfWritingAreWatched(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/b/x.md", ".git/objects/x.md", ".obsidian/x.md", "a/.trash/x.md"} {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), "x")
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w, news := startFake(ctx, dir, WatchOptions{})
		time.Sleep(time.Second)
		w.one(t, Change{Path: "a/b/x.md"})
		w.none(t, "the others are not a person's writing")
		cancel()
		for range w.Changes() {
		}
		want := []string{dir, filepath.Join(dir, "a"), filepath.Join(dir, "a", "b")}
		if !slices.Equal(news.added, want) {
			t.Errorf("watched %q, want %q", news.added, want)
		}
	})
}

// A vanished folder says nothing of its files.
func TestVanishedFolderRemovesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mount")
	write(t, filepath.Join(dir, "a.md"), "a")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w, news := startFake(ctx, dir, WatchOptions{Settle: 400 * time.Millisecond, Rescan: time.Minute})
		time.Sleep(time.Second)
		w.one(t, Change{Path: "a.md"})

		if err := os.Rename(dir, dir+".away"); err != nil {
			t.Fatal(err)
		}
		news.events <- fsnotify.Event{Name: filepath.Join(dir, "a.md"), Op: fsnotify.Remove}
		time.Sleep(5 * time.Minute)
		w.none(t, "the folder is gone, not the file")
		if err := os.Mkdir(dir, 0o700); err != nil { // an empty mount point
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		w.none(t, "another folder stands in its place")
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(dir+".away", dir); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "b.md"), "b")
		time.Sleep(5 * time.Minute)
		w.one(t, Change{Path: "b.md"})
		w.none(t, "a.md is as it was")
		if err := os.Remove(filepath.Join(dir, "a.md")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		w.one(t, Change{Path: "a.md", Removed: true})
	})
}
