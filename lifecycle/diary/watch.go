package diary

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Change tells that one file of a watched folder is new or changed, or gone.
type Change struct {
	// Path is relative to the folder, with slashes.
	Path    string
	Removed bool
}

// WatchOptions tune a [Watcher]; the zero value is right for most folders.
type WatchOptions struct {
	// Settle is how long size and time of a file must stay the same before it
	// is told; 0 means 400 ms.
	Settle time.Duration
	// Rescan is how often the whole folder is looked through for what the
	// system did not tell (network file systems never tell); 0 means 5 minutes.
	Rescan time.Duration
	// Log gets what goes wrong, with names relative to the folder; nil is silent.
	Log *slog.Logger
}

func (o WatchOptions) filled() WatchOptions {
	if o.Settle <= 0 {
		o.Settle = 400 * time.Millisecond
	}
	if o.Rescan <= 0 {
		o.Rescan = 5 * time.Minute
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// missingRetry is how soon a folder that vanished is looked for again.
const missingRetry = 2 * time.Second

// Watcher tells what changes in a folder.
type Watcher struct {
	changes chan Change
	ask     chan struct{}
}

// Watch watches a folder and all folders in it until ctx ends. First it tells
// every [Readable] file that is there; then what is new, changed or gone. A
// file may be told more often than it changed, and never less: the receiver
// compares digests.
//
// Symbolic links inside the folder are not followed. A folder that vanishes is
// taken for a disk that was unmounted: its files are not told as removed, and
// when it is back, what differs is told.
//
// A folder that is not there when Watch is called is an [*Error] with [ErrNoFolder].
func Watch(ctx context.Context, root string, o WatchOptions) (*Watcher, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, &Error{Op: "watch", Name: root, Err: err}
	}
	info, err := os.Stat(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Error{Op: "watch", Name: root, Err: ErrNoFolder, Hint: "make it, or name another one"}
	case err != nil:
		return nil, &Error{Op: "watch", Name: root, Err: bare(err)}
	case !info.IsDir():
		return nil, &Error{Op: "watch", Name: root, Err: syscall.ENOTDIR, Hint: "name the folder the files are in"}
	}
	o = o.filled()
	var news source
	if w, err := fsnotify.NewWatcher(); err != nil {
		o.Log.Warn("the system does not tell of changes to files; the diary is looked through from time to time instead",
			"every", o.Rescan, "reason", err)
	} else {
		news = source{folders: w, events: w.Events, errors: w.Errors, close: w.Close}
	}
	return start(ctx, root, news, o), nil
}

// source is where news of files come from.
type source struct {
	folders interface {
		Add(folder string) error
		Remove(folder string) error
	}
	events <-chan fsnotify.Event
	errors <-chan error
	close  func() error
}

func start(ctx context.Context, root string, news source, o WatchOptions) *Watcher {
	w := &Watcher{changes: make(chan Change), ask: make(chan struct{}, 1)}
	t := &tree{
		root: root, news: news, settle: o.Settle, log: o.Log,
		known: make(map[string]seen), pending: make(map[string]seen),
		watched: make(map[string]fs.FileInfo), queued: make(map[string]bool),
	}
	go w.run(ctx, t, o.Rescan)
	return w
}

// Changes gives the changes, one after the other; it is closed when the
// context of [Watch] ends. A slow receiver loses nothing.
func (w *Watcher) Changes() <-chan Change { return w.changes }

// Rescan asks for a look through the whole folder now. Files that have changed
// since they were last told come up again.
func (w *Watcher) Rescan() {
	select {
	case w.ask <- struct{}{}:
	default: // one is asked for already
	}
}

// run is the only goroutine that touches t.
func (w *Watcher) run(ctx context.Context, t *tree, every time.Duration) {
	defer close(w.changes)
	if t.news.close != nil {
		defer t.news.close()
	}
	settled := time.NewTimer(t.settle)
	defer settled.Stop()
	rescan := time.NewTimer(every)
	defer rescan.Stop()

	look := func() {
		if t.rescan(ctx) {
			rescan.Reset(every)
		} else {
			rescan.Reset(min(every, missingRetry))
		}
	}
	look()
	armed := true // settled will fire; touching a file only moves its end later
	for {
		if !armed && len(t.pending) > 0 {
			settled.Reset(t.untilSettled(time.Now()))
			armed = true
		}
		var out chan<- Change
		next, ok := t.next()
		if ok {
			out = w.changes
		}
		select {
		case <-ctx.Done():
			return
		case e, ok := <-t.news.events:
			if !ok {
				t.news.events = nil
				continue
			}
			if t.handle(ctx, e) {
				look()
			}
		case err, ok := <-t.news.errors:
			if !ok {
				t.news.errors = nil
				continue
			}
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				t.log.Warn("watching the diary folder: looking through all of it", "reason", bare(err))
			}
			look()
		case out <- next:
			t.pop()
		case <-w.ask:
			look()
		case <-rescan.C:
			look()
		case <-settled.C:
			armed = false
			t.release(time.Now())
		}
	}
}
