package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/jivad/jivad/internal/config"
)

// reloader keeps the settings in force and reads them again when they change. Beside them
// it looks after the policy of evidence.
type reloader struct {
	path string
	// policy is where the policy of evidence is, and readPolicy reads it again.
	policy     string
	readPolicy func()

	environ []string
	level   *slog.LevelVar
	log     *slog.Logger
	// started are the settings that the companion was opened with.
	started config.Config
	hangup  chan os.Signal

	mu   sync.Mutex
	now  config.Config
	told []string
}

func (r *reloader) settings() config.Config {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// problems are for the status.
func (r *reloader) problems() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.told...)
}

// read takes the settings anew. A bad edit keeps the old ones and says why.
func (r *reloader) read() {
	c, err := config.Load(r.path, r.environ)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = nil
	if err != nil {
		r.log.Error("the configuration was changed and is not good; the settings of before stay", "error", err)
		r.told = []string{"the configuration is not good, so the settings of before stay: " + err.Error()}
		return
	}
	live, _ := config.Changed(r.now, c)
	_, later := config.Changed(r.started, c)
	r.now.Log, r.now.StopTimeout = c.Log, c.StopTimeout
	setLevel(r.level, c.Log.Level)
	if len(live) > 0 {
		r.log.Info("settings changed", "keys", live)
	}
	if len(later) > 0 {
		r.log.Warn("settings changed that take effect at the next start", "keys", later)
		r.told = []string{fmt.Sprintf("changed in the configuration, takes effect at the next start: %v", later)}
	}
}

// listen takes SIGHUP from now on, so that it does not end the process.
func (r *reloader) listen() {
	r.hangup = make(chan os.Signal, 1)
	signal.Notify(r.hangup, syscall.SIGHUP)
}

// watch reads the settings and the policy of evidence again on SIGHUP and when the file
// changes, or has changed since the start.
func (r *reloader) watch(ctx context.Context) {
	defer signal.Stop(r.hangup)
	changed, decided := watchFile(ctx, r.path, r.log), watchFile(ctx, r.policy, r.log)
	r.read()
	r.readPolicy()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.hangup:
			r.log.Info("asked to read the configuration again")
			r.read()
			r.readPolicy()
		case <-changed:
			r.read()
		case <-decided:
			r.readPolicy()
		}
	}
}

// watchFile tells when a file was changed, and has been left alone since for a
// moment. Its folder is watched, because editors put a new file in its place.
func watchFile(ctx context.Context, path string, log *slog.Logger) <-chan struct{} {
	changed := make(chan struct{}, 1)
	w, err := fsnotify.NewWatcher()
	if err == nil {
		err = w.Add(filepath.Dir(path))
	}
	if err != nil {
		log.Warn("this file is not watched; SIGHUP reads it again", "file", path, "error", err)
		return changed
	}
	go func() {
		defer w.Close()
		const settle = 200 * time.Millisecond
		var quiet <-chan time.Time
		for {
			select {
			case <-ctx.Done():
				return
			case e, ok := <-w.Events:
				if !ok {
					return
				}
				if e.Name == path && e.Op != fsnotify.Chmod {
					quiet = time.After(settle)
				}
			case err, ok := <-w.Errors:
				if !ok {
					return
				}
				log.Warn("watching a file", "file", path, "error", err)
			case <-quiet:
				quiet = nil
				select {
				case changed <- struct{}{}:
				default:
				}
			}
		}
	}()
	return changed
}
