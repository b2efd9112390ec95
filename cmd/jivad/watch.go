package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watchFile tells when a file was changed, and has been left alone since for a
// moment. Its folder is watched, because editors put a new file in its place.
func watchFile(ctx context.Context, path string, log *slog.Logger) <-chan struct{} {
	changed := make(chan struct{}, 1)
	w, err := fsnotify.NewWatcher()
	if err == nil {
		err = w.Add(filepath.Dir(path))
	}
	if err != nil {
		log.Warn("the configuration is not watched; SIGHUP reads it again", "error", err)
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
				log.Warn("watching the configuration", "error", err)
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

// giveBackMemory returns what is not needed to the system: once soon after the
// start, and later when work has left much behind. Small boards have little, and
// the runtime alone keeps what it once had until the next collection.
func giveBackMemory(ctx context.Context) {
	const (
		first = 2 * time.Second
		later = 30 * time.Second
		much  = 8 << 20
	)
	next := time.NewTimer(first)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		if spare() > much {
			debug.FreeOSMemory()
		}
		next.Reset(later)
	}
}

// spare is how much memory is held beside what lived at the last collection.
func spare() int64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"}, {Name: "/gc/heap/live:bytes"},
	}
	metrics.Read(samples)
	for _, s := range samples {
		if s.Value.Kind() != metrics.KindUint64 {
			return 0
		}
	}
	return int64(samples[0].Value.Uint64()) + int64(samples[1].Value.Uint64()) - int64(samples[2].Value.Uint64())
}
