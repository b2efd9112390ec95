package diary

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// tree is what a watcher knows about its folder. All names are relative to
// root, with slashes.
type tree struct {
	root   string
	news   source
	settle time.Duration
	log    *slog.Logger

	rootInfo fs.FileInfo
	era      int // counts how often root became another folder

	known   map[string]seen        // files as they were last told
	pending map[string]seen        // files that changed and are not settled yet
	watched map[string]fs.FileInfo // folders under watch; "." is root

	order  []string        // names to tell, oldest first
	queued map[string]bool // of those: is it removed?
	warned bool
}

// seen is how a file looked at some moment.
type seen struct {
	info fs.FileInfo // nil: it was not there
	at   time.Time
	era  int
}

// same says whether a file looks unchanged: size, time, and the file itself,
// which another file renamed over it is not.
func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode().Type() == b.Mode().Type() && os.SameFile(a, b)
}

func (t *tree) abs(name string) string { return filepath.Join(t.root, filepath.FromSlash(name)) }

// lstat is nil for what is not there or cannot be looked at.
func (t *tree) lstat(name string) fs.FileInfo {
	info, err := os.Lstat(t.abs(name))
	if err != nil {
		return nil
	}
	return info
}

// handle takes one piece of news; it is true when all must be looked through.
func (t *tree) handle(ctx context.Context, e fsnotify.Event) (look bool) {
	if e.Name == t.root {
		return e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)
	}
	rel, err := filepath.Rel(t.root, e.Name)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	name := filepath.ToSlash(rel)
	if Ignored(name) || !(e.Has(fsnotify.Create) || e.Has(fsnotify.Write) || e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)) {
		return false
	}
	if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
		t.leave(name)
	}
	info := t.lstat(name)
	if info != nil && info.IsDir() {
		t.scan(ctx, name, nil)
		return false
	}
	if _, ok := t.known[name]; ok || Readable(name) {
		t.touch(name, info)
	}
	return false
}

// leave stops watching a folder that was moved or removed, and all in it. A
// moved folder keeps the system's watch under its old name, so it must end
// before the new name can be watched.
func (t *tree) leave(name string) {
	if _, ok := t.watched[name]; !ok {
		return
	}
	inside := name + "/"
	for _, folder := range slices.Sorted(maps.Keys(t.watched)) {
		if folder == name || strings.HasPrefix(folder, inside) {
			t.unwatch(folder)
		}
	}
	for file := range t.known {
		if strings.HasPrefix(file, inside) {
			t.touch(file, t.lstat(file))
		}
	}
}

func (t *tree) unwatch(folder string) {
	delete(t.watched, folder)
	if t.news.folders != nil {
		t.news.folders.Remove(t.abs(folder)) // it may be gone already
	}
}

// watch puts a folder under watch. Doing it again is harmless and mends a
// watch that was lost.
func (t *tree) watch(folder string) {
	info, err := os.Lstat(t.abs(folder))
	if folder == "." {
		info, err = os.Stat(t.root)
	}
	if err != nil || t.news.folders == nil {
		return
	}
	if old, ok := t.watched[folder]; !ok || !os.SameFile(old, info) {
		for other, otherInfo := range t.watched {
			if other != folder && os.SameFile(otherInfo, info) { // it was moved here
				t.unwatch(other)
			}
		}
	}
	err = t.news.folders.Add(t.abs(folder))
	if err == nil {
		t.watched[folder] = info
		return
	}
	if errors.Is(err, fs.ErrNotExist) || t.warned {
		return
	}
	t.warned = true
	hint := "its files are found when the folder is looked through from time to time"
	if errors.Is(err, syscall.ENOSPC) {
		hint += "; raise fs.inotify.max_user_watches to see changes at once"
	}
	t.log.Warn("a folder of the diary cannot be watched", "folder", folder, "reason", bare(err), "hint", hint)
}

// scan watches a folder and all in it, and touches the files that are not as
// they were last told. found, if not nil, gets every name; complete is false
// when a folder could not be read.
func (t *tree) scan(ctx context.Context, folder string, found map[string]bool) (complete bool) {
	if ctx.Err() != nil {
		return false
	}
	if found != nil {
		found[folder] = true
	}
	t.watch(folder) // before reading it, so that nothing falls between
	entries, err := os.ReadDir(t.abs(folder))
	complete = err == nil || errors.Is(err, fs.ErrNotExist)
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		switch {
		case Ignored(e.Name()):
		case e.IsDir():
			complete = t.scan(ctx, name, found) && complete
		case e.Type().IsRegular() && Readable(name):
			info, err := e.Info()
			if err != nil { // gone since: the news will come
				continue
			}
			if found != nil {
				found[name] = true
			}
			if k, ok := t.known[name]; ok && same(k.info, info) {
				k.era = t.era
				t.known[name] = k
				continue
			}
			if p, ok := t.pending[name]; !ok || !same(p.info, info) {
				t.touch(name, info)
			}
		}
	}
	return complete
}

// rescan looks through everything; it is false when root is not there.
func (t *tree) rescan(ctx context.Context) bool {
	info, err := os.Stat(t.root)
	if err != nil || !info.IsDir() {
		if t.rootInfo != nil {
			t.log.Warn("the diary folder is gone; it is looked for again and again, and nothing is taken for removed")
			t.rootInfo = nil
			for _, folder := range slices.Sorted(maps.Keys(t.watched)) {
				t.unwatch(folder)
			}
		}
		return false
	}
	if t.rootInfo == nil || !os.SameFile(t.rootInfo, info) {
		t.era++
	}
	t.rootInfo = info
	found := make(map[string]bool)
	if !t.scan(ctx, ".", found) {
		return true
	}
	for _, folder := range slices.Sorted(maps.Keys(t.watched)) {
		if !found[folder] {
			t.unwatch(folder)
		}
	}
	for name := range t.known {
		if !found[name] { // release decides what that means
			if _, ok := t.pending[name]; !ok {
				t.touch(name, nil)
			}
		}
	}
	return true
}

// touch notes that a file changed and looks like info now.
func (t *tree) touch(name string, info fs.FileInfo) {
	t.pending[name] = seen{info: info, at: time.Now(), era: t.era}
}

// untilSettled is how long the oldest pending file still has to rest.
func (t *tree) untilSettled(now time.Time) time.Duration {
	wait := t.settle
	for _, p := range t.pending {
		wait = min(wait, t.settle-now.Sub(p.at))
	}
	return max(wait, 0)
}

// release tells the pending files that have rested long enough.
func (t *tree) release(now time.Time) {
	for _, name := range slices.Sorted(maps.Keys(t.pending)) {
		p := t.pending[name]
		if now.Sub(p.at) < t.settle {
			continue
		}
		info := t.lstat(name)
		if !same(p.info, info) {
			t.touch(name, info)
			continue
		}
		delete(t.pending, name)
		if info != nil && info.Mode().IsRegular() {
			t.known[name] = seen{info: info, at: now, era: t.era}
			t.push(name, false)
			continue
		}
		if k, ok := t.known[name]; ok && k.era == t.era && t.rootIsSame() {
			delete(t.known, name)
			t.push(name, true)
		}
	}
}

// rootIsSame says that root is there and the folder it was: only then does a
// missing file mean that somebody removed it.
func (t *tree) rootIsSame() bool {
	info, err := os.Stat(t.root)
	return err == nil && t.rootInfo != nil && os.SameFile(info, t.rootInfo)
}

// push queues a change; a name that waits already is told once, as it is last.
func (t *tree) push(name string, removed bool) {
	if _, ok := t.queued[name]; !ok {
		t.order = append(t.order, name)
	}
	t.queued[name] = removed
}

func (t *tree) next() (Change, bool) {
	if len(t.order) == 0 {
		return Change{}, false
	}
	return Change{Path: t.order[0], Removed: t.queued[t.order[0]]}, true
}

func (t *tree) pop() {
	delete(t.queued, t.order[0])
	t.order = t.order[1:]
}
