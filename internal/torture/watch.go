package main

import (
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// watch counts what can be seen of a program's progress: changes in its folder and
// what it acknowledges.
type watch struct {
	inner *fsnotify.Watcher
	goal  int
	// reached is closed at the goal.
	reached chan struct{}

	mu    sync.Mutex
	begun bool
	seen  int
}

func newWatch(folder string, goal int) (*watch, error) {
	inner, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &watch{inner: inner, goal: goal, reached: make(chan struct{})}
	// A folder that is not there yet is seen coming by the one above it.
	if err := inner.Add(filepath.Dir(folder)); err != nil {
		return nil, err
	}
	w.add(folder)
	go func() {
		for event := range inner.Events {
			if event.Has(fsnotify.Create) {
				w.add(event.Name)
			}
			if filepath.Base(event.Name) != acksName {
				w.tick()
			}
		}
	}()
	return w, nil
}

// add watches a folder and those in it; what is none, or gone, is passed over.
func (w *watch) add(folder string) {
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = w.inner.Add(path)
		}
		return nil
	})
}

// begin counts from here on.
func (w *watch) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun = true
}

func (w *watch) tick() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.begun {
		return
	}
	if w.seen++; w.seen == w.goal {
		close(w.reached)
	}
}

func (w *watch) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}

func (w *watch) close() { _ = w.inner.Close() }
