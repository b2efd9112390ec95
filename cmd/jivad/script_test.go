package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"jivad": main})
}

// TestScripts runs testdata/script: each file is a person at a terminal.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("HOME", home)
			e.Setenv("TZ", "UTC")
			e.Setenv("LANG", "C.UTF-8")
			e.Setenv("TERM", "xterm")
			e.Values[embedServers{}] = map[string]*http.Server{}
			return os.MkdirAll(home, 0o700)
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "race":
				return underRace, nil
			case "ollama":
				return ollamaBinary() != "", nil
			case "mosquitto":
				_, err := exec.LookPath("mosquitto_sub")
				_, also := exec.LookPath("mosquitto")
				return err == nil && also == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"answers": answers, "json": jsonValue, "private": private, "signal": sendSignal,
			"until": until, "tty": inTerminal, "code": code, "atmost": atMost, "replace": replaceFile, "empty": emptyFile,
			"dialogue": dialogue, "endlessmodel": endlessModel, "actingmodel": actingModel, "slowmodel": slowModel, "realserver": realServer, "cutstream": cutStream,
			"listens": listens, "edit": editFile, "stranger": stranger, "newest": newest, "eachpage": eachPage,
			"ollamaserver": ollamaServer, "ollamabinary": ollamaCommand, "freeport": freePort, "fetch": fetch, "embedserver": embedServer, "failing": failingLife, "claimed": claimed,
		},
	})
}

const patience = 30 * time.Second

// poll tries f until it is done or patience ends.
func poll(ts *testscript.TestScript, what string, f func() bool) {
	deadline := time.After(patience)
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !f() {
		select {
		case <-deadline:
			ts.Fatalf("not within %v: %s", patience, what)
		case <-again.C:
		}
	}
}

// answers waits until something answers at a socket: answers PATH.
func answers(ts *testscript.TestScript, neg bool, args []string) {
	try := func() bool {
		c, err := net.Dial("unix", ts.MkAbs(args[0]))
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}
	if neg {
		if try() {
			ts.Fatalf("something answers at %s", args[0])
		}
		return
	}
	poll(ts, args[0]+" answers", try)
}

// until repeats a command until its standard output matches, or, negated, does
// not: until PATTERN command...
func until(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] until pattern command...")
	}
	want := regexp.MustCompile(args[0])
	poll(ts, strings.Join(args, " "), func() bool {
		return ts.Exec(args[1], args[2:]...) == nil && want.MatchString(ts.ReadFile("stdout")) != neg
	})
}

// jsonValue looks at the JSON of the last output: json PATH VALUE compares, json
// PATH -> NAME puts the value into a variable. PATH is a.b.0.c, or a.len.
func jsonValue(ts *testscript.TestScript, neg bool, args []string) {
	var value any
	if err := json.Unmarshal([]byte(ts.ReadFile("stdout")), &value); err != nil {
		ts.Fatalf("the output is not JSON: %v", err)
	}
	for _, step := range strings.Split(args[0], ".") {
		switch v := value.(type) {
		case map[string]any:
			var ok bool
			if value, ok = v[step]; !ok {
				ts.Fatalf("%s: there is no %s", args[0], step)
			}
		case []any:
			if step == "len" {
				value = len(v)
				continue
			}
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(v) {
				ts.Fatalf("%s: no element %s of %d", args[0], step, len(v))
			}
			value = v[i]
		default:
			ts.Fatalf("%s: nothing below %s", args[0], step)
		}
	}
	text := fmt.Sprint(value)
	if f, ok := value.(float64); ok {
		text = strconv.FormatFloat(f, 'f', -1, 64)
	}
	switch {
	case len(args) == 3 && args[1] == "->":
		ts.Setenv(args[2], text)
	case len(args) == 2 && (text == args[1]) == neg:
		ts.Fatalf("%s is %s; negated: %v, compared with %s", args[0], text, neg, args[1])
	}
}

// private sees that everything below the folders is for the owner alone.
func private(ts *testscript.TestScript, _ bool, args []string) {
	for _, dir := range args {
		seen := 0
		err := filepath.WalkDir(ts.MkAbs(dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			want := fs.FileMode(0o600)
			if d.IsDir() {
				want = 0o700
			}
			seen++
			if info.Mode().Perm() != want {
				ts.Fatalf("%s has mode %v, want %v", path, info.Mode(), want)
			}
			return nil
		})
		ts.Check(err)
		if seen < 5 {
			ts.Fatalf("only %d files below %s", seen, dir)
		}
	}
}

// sendSignal sends a signal to a process: signal TERM $PID.
func sendSignal(ts *testscript.TestScript, _ bool, args []string) {
	pid, err := strconv.Atoi(args[1])
	ts.Check(err)
	number := unix.SignalNum("SIG" + args[0])
	if number == 0 || pid <= 1 {
		ts.Fatalf("signal %s to %d", args[0], pid)
	}
	ts.Check(syscall.Kill(pid, number))
}

// code runs a command that must end with an exit code: code 2 jivad ...
func code(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// atMost runs a command that must be done within a time: atmost 3s code 1 jivad ...
func atMost(ts *testscript.TestScript, neg bool, args []string) {
	limit, err := time.ParseDuration(args[0])
	ts.Check(err)
	began := time.Now()
	if args[1] != "code" {
		ts.Fatalf("usage: atmost DURATION code N command...")
	}
	code(ts, neg, args[2:])
	if took := time.Since(began); took > limit {
		ts.Fatalf("it took %v, at most %v were given", took, limit)
	}
}

// replaceFile puts a text in place of a file as editors do, through a temporary
// file and rename: replace FILE text...
func replaceFile(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
	ts.Check(os.WriteFile(temp, []byte(strings.ReplaceAll(strings.Join(args[1:], " "), `\n`, "\n")+"\n"), 0o600))
	ts.Check(os.Rename(temp, path))
}

// emptyFile truncates a file.
func emptyFile(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.Truncate(ts.MkAbs(args[0]), 0))
}

// inTerminal runs a command in a terminal of its own and keeps what the screen
// got: tty OUTPUT INPUT command..., where INPUT is typed and \n is Enter.
func inTerminal(ts *testscript.TestScript, _ bool, args []string) {
	master, slave, err := openTerminal()
	ts.Check(err)
	defer master.Close()
	cmd := exec.Command(args[2], args[3:]...)
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path := filepath.Join(dir, args[2]); !strings.Contains(args[2], "/") && isFile(path) {
			cmd.Path, cmd.Err = path, nil
			break
		}
	}
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"HOME", "TZ", "LANG", "TERM", "PATH", "NO_COLOR", "JIVAD_NO_COLOR", "JIVAD_DATA", "JIVAD_QUIET", "XDG_CONFIG_HOME"} {
		if v := ts.Getenv(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	ts.Check(cmd.Start())
	_ = slave.Close()
	if args[1] != "" {
		_, err := io.WriteString(master, strings.ReplaceAll(args[1], `\n`, "\n"))
		ts.Check(err)
	}
	var screen bytes.Buffer
	_, _ = io.Copy(&screen, master) // ends with an error when the last writer is gone
	err = cmd.Wait()
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), screen.Bytes(), 0o600))
	if err != nil {
		ts.Fatalf("%v\n%s", err, screen.String())
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// openTerminal opens a pair of pseudo-terminals.
func openTerminal() (master, slave *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0); err != nil {
		return nil, nil, err
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100}); err != nil {
		return nil, nil, err
	}
	slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0)
	return master, slave, err
}

// listens sees that a process listens at no address of the network: ! listens PID.
func listens(ts *testscript.TestScript, neg bool, args []string) {
	dir := filepath.Join("/proc", args[0])
	links, err := filepath.Glob(filepath.Join(dir, "fd", "*"))
	ts.Check(err)
	own := map[string]bool{}
	for _, l := range links {
		if target, err := os.Readlink(l); err == nil {
			if inode, ok := strings.CutPrefix(target, "socket:["); ok {
				own[strings.TrimSuffix(inode, "]")] = true
			}
		}
	}
	if len(own) == 0 {
		ts.Fatalf("process %s has no socket at all", args[0])
	}
	found := false
	for _, table := range []string{"tcp", "tcp6", "udp", "udp6"} {
		data, err := os.ReadFile(filepath.Join(dir, "net", table))
		if errors.Is(err, fs.ErrNotExist) {
			continue // no IPv6 here
		}
		ts.Check(err)
		for _, line := range strings.Split(string(data), "\n") {
			if f := strings.Fields(line); len(f) > 9 && own[f[9]] {
				found = true
			}
		}
	}
	if found == neg {
		ts.Fatalf("listens: %v, negated: %v", found, neg)
	}
}
