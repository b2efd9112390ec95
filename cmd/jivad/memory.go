package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jivad/jivad/boards"
)

// limitMemory follows the board, unless the environment says otherwise.
func (a *app) limitMemory(p boards.Profile) {
	if a.getenv("GOMEMLIMIT") == "" && p.GoMemLimit > 0 {
		debug.SetMemoryLimit(p.GoMemLimit)
	}
	if a.getenv("GOGC") == "" && p.GCPercent > 0 {
		debug.SetGCPercent(p.GCPercent)
	}
}

// giveBackMemory returns what is not needed to the system: once soon after the
// start, and later when work has left much behind. Small boards have little, and
// the runtime alone keeps what it once had until the next collection.
func giveBackMemory(ctx context.Context, database string) {
	const (
		first = 2 * time.Second
		later = 30 * time.Second
		much  = 8 << 20
	)
	next := time.NewTimer(first)
	defer next.Stop()
	for started := true; ; started = false {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		if started {
			pageOut(database)
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

// pageOut gives back the pages of a mapped file that were read at the start and
// may not be needed for long. The advice changes no contents, so it does no harm
// if something else is mapped there by now; older kernels do not know it.
func pageOut(path string) {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer maps.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var from, to uintptr
		if !strings.HasSuffix(lines.Text(), " "+path) {
			continue
		}
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &to); err == nil && to > from {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_PAGEOUT)
		}
	}
}
