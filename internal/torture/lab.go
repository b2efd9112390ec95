package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// lab is where the rounds happen: the program, what is imported, and the folders
// that rounds begin from.
type lab struct {
	root, binary string
	verbs        map[string]bool
	material     material
	// day is today, when the lab was made: live entries name it as theirs.
	day   string
	bases map[string]*base
	refs  map[string]*reference
	// noTraps says why programs cannot be stopped at their system calls.
	noTraps error
	seed    uint64
	// cards are all pairs that can be had here, dealt those of a turn, shuffled.
	cards, dealt []pair
	turn         int
	// model is what lives think with, nil until one needs it.
	model *model
}

// newLab makes the folders and the program.
func newLab(ctx context.Context, parent, binary string, seed uint64) (*lab, error) {
	root, err := os.MkdirTemp(parent, "jivad-torture-")
	if err != nil {
		return nil, err
	}
	l := &lab{root: root, binary: binary, bases: map[string]*base{}, refs: map[string]*reference{}, seed: seed, noTraps: trapsWork(), day: today()}
	if err := os.Chmod(root, 0o711); err != nil { // programs of another user go through
		return nil, err
	}
	for _, name := range []string{"home", "material", "bin"} {
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
			return nil, err
		}
	}
	if binary == "" {
		l.binary = filepath.Join(root, "bin", "jivad")
		if err := build(ctx, l.binary); err != nil {
			return nil, err
		}
	} else if l.binary, err = filepath.Abs(binary); err != nil {
		return nil, err
	}
	if err := l.readVerbs(ctx); err != nil {
		return nil, err
	}
	l.material, err = gather(filepath.Join(root, "material"), seed)
	return l, err
}

// today is the day of the clock, where the programs are.
func today() string { return time.Now().UTC().Format(time.DateOnly) }

// build builds the program as it is shipped.
func build(ctx context.Context, to string, more ...string) error {
	module, err := moduleFolder(ctx)
	if err != nil {
		return err
	}
	args := append([]string{"build", "-trimpath", "-ldflags", "-s -w"}, more...)
	cmd := exec.CommandContext(ctx, "go", append(args, "-o", to, "./cmd/jivad")...)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

func moduleFolder(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// variant is the program with one file read otherwise: nothing of the tree is
// changed. Each old text must be there once, and becomes the new one.
type variant struct {
	name, file string
	swaps      [][2]string
	// more is added at the end of the file.
	more string
}

// clock is the program with a clock that can be set: the one place where it reads
// the time is another.
func clock() variant {
	return variant{
		name: "clock", file: filepath.Join("lifecycle", "clock.go"),
		swaps: [][2]string{{"return time.Now(), ", "return time.Now().Add(tortureShift()), "}, {"import (", "import (\n\t\"os\""}},
		more:  "\nfunc tortureShift() time.Duration {\n\td, _ := time.ParseDuration(os.Getenv(\"TORTURE_CLOCK\"))\n\treturn d\n}\n",
	}
}

// variant builds one, once.
func (l *lab) variant(ctx context.Context, v variant) (string, error) {
	to := filepath.Join(l.root, "bin", "jivad-"+v.name)
	if _, err := os.Stat(to); err == nil {
		return to, nil
	}
	module, err := moduleFolder(ctx)
	if err != nil {
		return "", err
	}
	place := filepath.Join(module, v.file)
	source, err := os.ReadFile(place)
	if err != nil {
		return "", err
	}
	text := string(source)
	for _, swap := range v.swaps {
		if strings.Count(text, swap[0]) != 1 {
			return "", fmt.Errorf("%s has changed: %q is not in it once", place, swap[0])
		}
		text = strings.Replace(text, swap[0], swap[1], 1)
	}
	other, overlay := to+".go.txt", to+".json"
	if err := os.WriteFile(other, []byte(text+v.more), 0o600); err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, fmt.Appendf(nil, "{\"Replace\": {%q: %q}}", place, other), 0o600); err != nil {
		return "", err
	}
	return to, build(ctx, to, "-overlay", overlay)
}

// readVerbs learns what the program can do.
func (l *lab) readVerbs(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, l.binary, "--help").Output()
	if err != nil {
		return fmt.Errorf("%s --help: %w", l.binary, err)
	}
	l.verbs = map[string]bool{}
	_, list, _ := strings.Cut(string(out), "Available Commands:")
	for line := range strings.Lines(list) {
		if !strings.HasPrefix(line, "  ") {
			if strings.TrimSpace(line) != "" {
				break
			}
			continue
		}
		l.verbs[strings.Fields(line)[0]] = true
	}
	if !l.verbs["import"] {
		return fmt.Errorf("%s --help names no import: it is no jivad", l.binary)
	}
	return nil
}

// environ is what programs get: nothing of the caller's settings.
func (l *lab) environ(more ...string) []string {
	return append([]string{"HOME=" + filepath.Join(l.root, "home"), "PATH=" + os.Getenv("PATH"), "TZ=UTC", "LANG=C.UTF-8", "GOTRACEBACK=all"}, more...)
}

// copyFolder copies a folder with its modes; sockets stay behind.
func copyFolder(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			err := os.Mkdir(target, info.Mode().Perm())
			if rel == "." && errors.Is(err, fs.ErrExist) {
				return nil
			}
			return err
		case !d.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, info.Mode().Perm())
	})
}

// chown gives a folder and all below to a user.
func chown(folder string, uid, gid uint32) error {
	return filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(uid), int(gid))
	})
}

// sizeOf is how many bytes the files of a folder take on disk.
func sizeOf(folder string) (n int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			n += st.Blocks * 512
		}
		return nil
	})
	return n, err
}
