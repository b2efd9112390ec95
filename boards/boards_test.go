package boards

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// machine makes a root folder with the given files.
func machine(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestDetect(t *testing.T) {
	const (
		meminfo = "proc/meminfo"
		group   = "sys/fs/cgroup/memory.max"
		zero2w  = "MemTotal:         437868 kB\nMemFree:          120000 kB\n"
		desktop = "MemTotal:       16316412 kB\nMemFree:        12000000 kB\n"
	)
	for name, c := range map[string]struct {
		files map[string]string
		want  string
		why   string
		err   error
	}{
		"a board of 512 MB":         {map[string]string{meminfo: zero2w}, "generic-small", "427 MB", nil},
		"a desktop":                 {map[string]string{meminfo: desktop}, "generic-large", "15933 MB", nil},
		"a container of a desktop":  {map[string]string{meminfo: desktop, group: "268435456\n"}, "generic-small", "256 MB of memory by its control group", nil},
		"a group without limit":     {map[string]string{meminfo: desktop, group: "max\n"}, "generic-large", "/proc/meminfo", nil},
		"exactly the border":        {map[string]string{meminfo: "MemTotal: 3145728 kB\n"}, "generic-large", "3072 MB", nil},
		"one below the border":      {map[string]string{meminfo: "MemTotal: 3145727 kB\n"}, "generic-small", "3071 MB", nil},
		"no file":                   {nil, "generic-small", "unknown", ErrUnknown},
		"a file that says nothing":  {map[string]string{meminfo: "MemTotal: many kB\n"}, "generic-small", "unknown", ErrUnknown},
		"a figure beyond all sense": {map[string]string{meminfo: "MemTotal: 9223372036854775807 kB\n"}, "generic-small", "unknown", ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			p, why, err := Detect(machine(t, c.files))
			if !errors.Is(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
			if p.Name != c.want || !strings.Contains(why, c.why) {
				t.Errorf("%s because %q, want %s because of %q", p.Name, why, c.want, c.why)
			}
		})
	}
}

func TestEveryFigureHasAReason(t *testing.T) {
	list, err := files.ReadDir("profiles")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		data, err := files.ReadFile("profiles/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(data), "\n")
		for i, line := range lines {
			if strings.Contains(line, " = ") && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "about") && !strings.HasPrefix(lines[i-1], "#") {
				t.Errorf("%s line %d: %q has no comment above it", f.Name(), i+1, line)
			}
		}
	}
}

// The dynamics may not depend on the machine.
func TestCandidatesAreTheSameEverywhere(t *testing.T) {
	all, err := Profiles()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 2 || all[len(all)-1].MemoryBelow != 0 {
		t.Fatalf("%d profiles, the last for less than %d bytes; the last must fit any machine", len(all), all[len(all)-1].MemoryBelow)
	}
	for _, p := range all {
		if p.Candidates != all[0].Candidates {
			t.Errorf("%s reads %d candidates, %s %d", p.Name, p.Candidates, all[0].Name, all[0].Candidates)
		}
	}
}

func TestCheckNamesEveryFault(t *testing.T) {
	err := Profile{MemoryBelow: -1, Workers: 300}.check()
	for _, key := range []string{"about", "memory_below", "go_memory_limit", "gc_percent", "workers", "queue", "candidates"} {
		if err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%v does not name %s", err, key)
		}
	}
}
