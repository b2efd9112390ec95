package tools_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jivad/jivad/lifecycle/tools"
)

// program is a tool that runs a script with the argument v.
func program(t testing.TB, body, more string) *tools.Set {
	t.Helper()
	return born(t, fmt.Sprintf(`
[[tools]]
name = "run"
description = "x"
consequence = "low"
arguments = {type = "object", properties = {v = {type = "string", default = "x"}, w = {type = "string", default = "y"}}}
[tools.exec]
argv = [%q, "{{v}}", "two words {{w}}"]
%s`, script(t, body), more))
}

// run does a permitted call and checks that the working place is empty after it.
func run(t testing.TB, set *tools.Set, arguments string) (tools.Result, error) {
	t.Helper()
	r := tools.Runner{Workplace: t.TempDir()}
	result, err := r.Run(context.Background(), permitted(t, set, "run", arguments))
	left, readErr := os.ReadDir(r.Workplace)
	if readErr != nil || len(left) > 0 {
		t.Errorf("left in the working place: %v, %v", left, readErr)
	}
	return result, err
}

func TestProgramGetsItsArguments(t *testing.T) {
	set := program(t, `echo $#; for a; do printf '<%s>\n' "$a"; done; ls`, "")
	for _, v := range []string{
		"plain", "two words", "$(touch made)", "`touch made`", "; touch made", "| touch made", "&& touch made", "> made", "*", "~", "$HOME", "'", `"`, `\`, "a\nb", "", "{{w}}", "{w}",
	} {
		result, err := run(t, set, object("v", v))
		if want := "2\n<" + v + ">\n<two words y>\n"; err != nil || !result.OK || result.Text != want {
			t.Errorf("%q: %q, %v, want %q", v, result.Text, err, want)
		}
	}
}

func TestProgramHasNothingElse(t *testing.T) {
	t.Setenv("SECRET", "CANARY")
	result, err := run(t, program(t, `tr '\0' '\n' < /proc/$$/environ; echo --; cat; pwd; ls -A | wc -l; id -u > f; mkdir -p a/b; chmod 0 a/b a .`, ""), "{}")
	lines := strings.Split(strings.TrimSpace(result.Text), "\n")
	if err != nil || len(lines) != 4 || !strings.HasPrefix(lines[0], "PATH=/usr/local/sbin:") || lines[1] != "--" || strings.TrimSpace(lines[3]) != "0" {
		t.Fatalf("it saw %q, %v", lines, err)
	}
	if here, _ := os.Getwd(); lines[2] == here {
		t.Error("it works in our folder")
	}
}

// Writing waits where nobody reads yet, as any program expects.
func TestProgramWritesToAPipeThatWaits(t *testing.T) {
	result, err := run(t, program(t, `grep flags /proc/$$/fdinfo/1`, ""), "{}")
	flags, bad := strconv.ParseInt(strings.TrimSpace(strings.TrimPrefix(result.Text, "flags:")), 8, 64)
	if err != nil || bad != nil || flags&unix.O_NONBLOCK != 0 {
		t.Errorf("%q, %v", result.Text, err)
	}
}

// A descriptor that everybody would inherit is not inherited.
func TestProgramInheritsNoDescriptor(t *testing.T) {
	ls, err := exec.LookPath("ls")
	if err != nil {
		t.Skip("ls is not installed")
	}
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	leaky, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD, 77) // without close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leaky)
	set := born(t, fmt.Sprintf("[[tools]]\nname = \"run\"\ndescription = \"x\"\nconsequence = \"low\"\n[tools.exec]\nargv = [%q, \"/proc/self/fd\"]", ls))
	result, err := run(t, set, "{}")
	if got := strings.Fields(result.Text); err != nil || strings.Join(got, " ") != "0 1 2 3" { // 3 is the folder that it lists
		t.Errorf("descriptors %v, %v", got, err)
	}
}

func TestProgramThatFails(t *testing.T) {
	result, err := run(t, program(t, `echo out; echo err >&2; exit 3`, ""), "{}")
	if err != nil || result.OK || result.Status != 3 || result.Text != "out\nerr\n" {
		t.Errorf("%+v, %v", result, err)
	}
	result, err = run(t, program(t, `kill -9 $$`, ""), "{}")
	if err != nil || result.OK || result.Status != 137 {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestProgramOutputIsBounded(t *testing.T) {
	result, err := run(t, program(t, `i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); done; echo done > /dev/null`, "output_limit = 100"), "{}")
	if err != nil || !result.OK || !result.Truncated || len(result.Text) != 100 {
		t.Errorf("%d bytes, %+v, %v", len(result.Text), result, err)
	}
	result, err = run(t, program(t, `printf 'a\377\303\251'`, ""), "{}")
	if err != nil || result.Text != "a\ufffdé" || result.Truncated {
		t.Errorf("%+v, %v", result, err)
	}
}

// gone waits until a process is no more than an entry of the table; the test hangs with
// one that lives on.
func gone(t testing.TB, pid string) {
	t.Helper()
	for {
		data, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(pid), "stat"))
		if err != nil {
			return
		}
		_, rest, _ := strings.Cut(string(data), ") ")
		if strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X") {
			return
		}
		runtime.Gosched()
	}
}

// A program that takes too long ends, with those that it started and that hold its
// output open.
func TestProgramThatTakesTooLong(t *testing.T) {
	result, err := run(t, program(t, `sleep 1000 & echo $!; sleep 1000`, `time_limit = "1s"`), `{"v":"CANARY"}`)
	isRunError(t, err, tools.ErrTimeLimit)
	if result.OK || result.Status != 137 || result.Text == "" {
		t.Errorf("%+v", result)
	}
	gone(t, result.Text)
}

func TestProgramThatLeavesOthersBehind(t *testing.T) {
	result, err := run(t, program(t, `sleep 1000 & echo $!`, ""), "{}")
	if err != nil || !result.OK {
		t.Fatalf("%+v, %v", result, err)
	}
	gone(t, result.Text)
}

// One that leaves the process group cannot hold the tool up, though it holds the output.
func TestProgramWithARunaway(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes two seconds to give the output up")
	}
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is not installed")
	}
	result, err := run(t, program(t, `setsid sh -c 'echo $$; : > started; exec sleep 1000' & while [ ! -e started ]; do :; done`, ""), "{}")
	if pid, bad := strconv.Atoi(strings.TrimSpace(result.Text)); bad == nil {
		defer syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil || !result.OK || result.Text == "" {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestProgramIsStoppedByTheCaller(t *testing.T) {
	set := program(t, `echo $$ > "$1"; exec sleep 1000`, "")
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	pid := make(chan string, 1)
	go func() {
		data, _ := os.ReadFile(pipe)
		pid <- string(data)
		stop()
	}()
	r := tools.Runner{Workplace: t.TempDir()}
	_, err := r.Run(ctx, permitted(t, set, "run", object("v", pipe)))
	isRunError(t, err, tools.ErrStopped)
	gone(t, <-pid)
	_, err = r.Run(ctx, permitted(t, set, "run", object("v", pipe)))
	isRunError(t, err, tools.ErrStopped)
}

func TestProgramThatIsNotThere(t *testing.T) {
	path := script(t, "true")
	set := born(t, fmt.Sprintf("[[tools]]\nname = \"run\"\ndescription = \"x\"\nconsequence = \"low\"\n[tools.exec]\nargv = [%q]", path))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, err := run(t, set, "{}")
	isRunError(t, err, tools.ErrStart)
	r := tools.Runner{Workplace: "/absent"}
	_, err = r.Run(context.Background(), permitted(t, set, "run", "{}"))
	isRunError(t, err, tools.ErrStart)
	r.Workplace = ""
	_, err = r.Run(context.Background(), permitted(t, set, "run", "{}"))
	isRunError(t, err, tools.ErrStart)
}

func TestActsRunOnce(t *testing.T) {
	set := program(t, "echo x", "")
	act := permitted(t, set, "run", "{}")
	r := tools.Runner{Workplace: t.TempDir()}
	var ran, spent int
	var lock sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			_, err := r.Run(context.Background(), act)
			lock.Lock()
			defer lock.Unlock()
			if err == nil {
				ran++
			} else {
				isRunError(t, err, tools.ErrSpent)
				spent++
			}
		})
	}
	all.Wait()
	if ran != 1 || spent != 7 {
		t.Errorf("it ran %d times and was refused %d times", ran, spent)
	}
	if _, err := r.Run(context.Background(), nil); err != tools.ErrRefused {
		t.Errorf("no act: %v", err)
	}
	if _, err := r.Run(context.Background(), &tools.Act{}); err != tools.ErrRefused {
		t.Errorf("an act that nobody permitted: %v", err)
	}
}

// Several programs run at a time, each in a folder of its own.
func TestProgramsRunAtATime(t *testing.T) {
	set := program(t, `ls -A; echo "$1" > f; cat f`, "")
	r := tools.Runner{Workplace: t.TempDir()}
	var all sync.WaitGroup
	for i := range 8 {
		act := permitted(t, set, "run", object("v", fmt.Sprint(i)))
		all.Go(func() {
			if result, err := r.Run(context.Background(), act); err != nil || result.Text != fmt.Sprint(i, "\n") {
				t.Errorf("%d: %+v, %v", i, result, err)
			}
		})
	}
	all.Wait()
}
