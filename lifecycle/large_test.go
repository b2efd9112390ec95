package lifecycle_test

import (
	"bytes"
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

// BenchmarkLarge has the real program open, verify, back up, export and forget in
// a store of JIVAD_LARGE (100,000) impressions, and reports the time of each and
// the most memory that it held: all of it, with the pages of the database file
// that the kernel maps and may take back, and its own alone. Making the store takes
// half an hour, once a machine. Where JIVAD_LARGE_LIMIT names a control group
// of the kernel, the program runs in it, and is killed if it needs more.
func BenchmarkLarge(b *testing.B) {
	n := 100_000
	if text := os.Getenv("JIVAD_LARGE"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	binary := filepath.Join(b.TempDir(), "jivad")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "../cmd/jivad")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	dir := copyOfAged(b, n)
	beside := b.TempDir()
	if out, err := exec.Command(binary, "--data", dir, "init", "--yes").CombinedOutput(); err != nil {
		b.Fatalf("init: %v\n%s", err, out)
	}
	for _, args := range [][]string{
		{"status"},
		{"verify"},
		{"backup", filepath.Join(beside, "copy.db")},
		{"export", filepath.Join(beside, "out")},
		{"recall", "the end of a long life"},
		{"forget", "--yes", "--match", fmt.Sprintf("number %d.", n-5)},
		{"forget", "--yes", "--match", fmt.Sprintf("number %d.", n/2)},
	} {
		b.Run(args[0], func(b *testing.B) {
			var most, own int64
			for b.Loop() {
				cmd := exec.Command(binary, append([]string{"--data", dir}, args...)...)
				if group := os.Getenv("JIVAD_LARGE_LIMIT"); group != "" {
					cmd = exec.Command("sh", append([]string{"-c", `echo $$ > "$0"/cgroup.procs && exec "$@"`, group}, cmd.Args...)...)
				}
				cmd.Env = append(os.Environ(), "HOME="+b.TempDir())
				var out bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &out
				if err := cmd.Start(); err != nil {
					b.Fatal(err)
				}
				ended := make(chan error, 1)
				go func() { ended <- cmd.Wait() }()
				look := time.NewTicker(20 * time.Millisecond)
				for running := true; running; {
					select {
					case err := <-ended:
						if running = false; err != nil {
							b.Fatalf("%v: %v\n%s", args, err, out.String())
						}
					case <-look.C:
						own = max(own, anonymous(cmd.Process.Pid))
					}
				}
				look.Stop()
				if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
					most = max(most, u.Maxrss)
				}
			}
			b.ReportMetric(float64(most)/(1<<10), "peak-MiB")
			b.ReportMetric(float64(own)/(1<<10), "anon-MiB")
		})
	}
}

// anonymous is what of a process's memory is no page of a file, in KiB; 0 once
// it has ended.
func anonymous(pid int) int64 {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			n, _ := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			return n
		}
	}
	return 0
}
