package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkIdle starts the real binary on stores of two sizes and reports the
// time to its ready line and, once it has settled, what it holds in memory:
// all of it, and the part that is not pages of files.
func BenchmarkIdle(b *testing.B) {
	binary := filepath.Join(b.TempDir(), "jivad")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("impressions=%d", n), func(b *testing.B) {
			dir := filepath.Join(os.TempDir(), fmt.Sprintf("jivad-idle-%d", n)) // kept: it takes a while to fill
			if _, err := os.Stat(filepath.Join(dir, "chitta.db")); err != nil {
				fill(b, dir, n)
			}
			var ready time.Duration
			var all, own int64
			for b.Loop() {
				daemon := exec.Command(binary, "--data", dir, "run")
				daemon.Stderr = os.Stderr
				out, err := daemon.StdoutPipe()
				if err != nil {
					b.Fatal(err)
				}
				began := time.Now()
				if err := daemon.Start(); err != nil {
					b.Fatal(err)
				}
				if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
					b.Fatal(err)
				}
				ready += time.Since(began)
				<-time.After(6 * time.Second) // it gives memory back two seconds after the start
				all += resident(b, daemon.Process.Pid, "VmRSS")
				own += resident(b, daemon.Process.Pid, "RssAnon")
				if err := daemon.Process.Signal(syscall.SIGTERM); err != nil {
					b.Fatal(err)
				}
				if err := daemon.Wait(); err != nil {
					b.Fatal(err)
				}
			}
			const mib = 1 << 10 // the kernel counts in KiB
			b.ReportMetric(float64(ready.Milliseconds())/float64(b.N), "ready-ms")
			b.ReportMetric(float64(all)/float64(b.N)/mib, "rss-MiB")
			b.ReportMetric(float64(own)/float64(b.N)/mib, "anon-MiB")
		})
	}
}

// resident reads one line of a process's memory, in KiB.
func resident(b *testing.B, pid int, name string) int64 {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Skip("skipped: no /proc here:", err)
	}
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			return n
		}
	}
	b.Fatalf("no %s in the status of process %d", name, pid)
	return 0
}
