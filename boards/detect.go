package boards

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// ErrUnknown: the machine does not tell how much memory it has.
var ErrUnknown = errors.New("the machine does not tell how much memory it has")

// Detect chooses the profile of the machine whose files lie under root ("/" for
// this one) and says why. Where the memory cannot be read the error is
// ErrUnknown, and the profile returned with it is the smallest, which is right
// anywhere.
func Detect(root string) (Profile, string, error) {
	all, err := Profiles()
	if err != nil {
		return Profile{}, "", err
	}
	memory, source, err := memoryOf(root)
	if err != nil {
		return all[0], "the memory of this machine is unknown, so the smallest profile", err
	}
	for _, p := range all {
		if p.MemoryBelow == 0 || memory < p.MemoryBelow {
			return p, fmt.Sprintf("%d MB of memory by %s, %d cores", memory>>20, source, runtime.NumCPU()), nil
		}
	}
	return all[len(all)-1], "more memory than any profile names", nil
}

// memoryOf is what a process of the machine can have: its memory, or less where
// a control group says so.
func memoryOf(root string) (bytes int64, source string, err error) {
	bytes, err = memTotal(filepath.Join(root, "proc", "meminfo"))
	if err != nil {
		return 0, "", err
	}
	source = "/proc/meminfo"
	if limit, err := os.ReadFile(filepath.Join(root, "sys", "fs", "cgroup", "memory.max")); err == nil {
		if n, err := strconv.ParseInt(strings.TrimSpace(string(limit)), 10, 64); err == nil && n > 0 && n < bytes {
			return n, "its control group", nil
		}
	}
	return bytes, source, nil
}

// memTotal reads the line "MemTotal:  1892112 kB".
func memTotal(path string) (int64, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) < 2 || words[0] != "MemTotal:" {
			continue
		}
		const most = 1 << 40 // kB; more is a mistake
		if kb, err := strconv.ParseInt(words[1], 10, 64); err == nil && kb > 0 && kb < most {
			return kb << 10, nil
		}
	}
	return 0, fmt.Errorf("%w: %s has no MemTotal", ErrUnknown, path)
}
