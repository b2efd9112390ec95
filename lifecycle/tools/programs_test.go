package tools_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle/tools"
)

// running declares a tool that runs a program with an argument x.
func running(argv ...string) string {
	var quoted []string
	for _, a := range argv {
		quoted = append(quoted, fmt.Sprintf("%q", a))
	}
	return "[[tools]]\nname = \"run\"\ndescription = \"x\"\nconsequence = \"low\"\n" +
		"arguments = {type = \"object\", required = [\"x\"], properties = {x = {type = \"string\"}}}\n" +
		"[tools.exec]\nargv = [" + strings.Join(quoted, ", ") + "]\n"
}

// mayRun tells whether a declaration has no fault that can be told without the machine.
func mayRun(t *testing.T, argv ...string) bool {
	t.Helper()
	err := tools.Check(declared(t, running(argv...)))
	if err != nil && !strings.Contains(err.Error(), "exec.argv[0]") {
		t.Errorf("%q: %v", argv, err)
	}
	return err == nil
}

// Programs of which an argument can be a command are given no value of a model.
func TestProgramsThatStartPrograms(t *testing.T) {
	for _, name := range strings.Fields(`timeout nice ionice xargs setsid nohup stdbuf chroot sudo doas su runuser script watch time ssh flock strace parallel
		unshare nsenter systemd-run start-stop-daemon docker podman make git tar rsync socat nc vim vim.basic nvim sqlite3 psql gdb screen tmux run-parts service
		ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 expect at crontab setpriv chrt taskset bwrap firejail qemu-aarch64 npx go m4 ed gnuplot`) {
		program := "/usr/bin/" + name
		for _, argv := range [][]string{
			{program, "{{x}}"}, {program, "5", "/usr/bin/printf", "{{x}}"}, {program, "5", "a {{x}} b"}, {program, "{{-x}}"}, {program, "--", "{{-x}}"},
		} {
			if mayRun(t, argv...) {
				t.Errorf("%q may run", argv)
			}
		}
		if !mayRun(t, program, "5", "/bin/true") {
			t.Errorf("%s may not run as the person wrote it all", name)
		}
	}
}

func TestShellsAreNeverAsked(t *testing.T) {
	for _, name := range strings.Fields(`sh ash bash bash5.2 rbash dash zsh zsh-5.9 ksh ksh93 mksh csh tcsh fish busybox busybox.static toybox env pwsh nu xonsh elvish`) {
		for _, argv := range [][]string{{"/bin/" + name, "-c", "{{x}}"}, {"/bin/" + name, "-c", "date"}, {"/usr/local/bin/" + name}} {
			if mayRun(t, argv...) {
				t.Errorf("%q may run", argv)
			}
		}
	}
}

// What runs code is given a value only behind code that is fixed.
func TestInterpreters(t *testing.T) {
	for _, name := range strings.Fields(`python python3 python3.11 python2.7 pypy3 perl perl5.36.0 ruby ruby3.1 lua lua5.4 luajit node nodejs php php8.2 tclsh tclsh8.6 guile julia Rscript java`) {
		program := "/usr/bin/" + name
		for _, argv := range [][]string{
			{program, "{{x}}"}, {program, "{{-x}}"}, {program, "-c", "{{x}}"}, {program, "-e", "{{x}}"}, {program, "-c", "print(1)", "{{x}}"},
			{program, "-m", "{{x}}"}, {program, "/srv/{{x}}"}, {program, "--", "{{x}}"}, {program, "/srv/a", "{{-x}}"}, {program, "", "{{x}}"}, {program, "run", "{{x}}"},
		} {
			if mayRun(t, argv...) {
				t.Errorf("%q may run", argv)
			}
		}
		for _, argv := range [][]string{{program, "/srv/tool", "{{x}}"}, {program, "/srv/tool", "--word", "{{x}}"}, {program, "-c", "1"}, {program}} {
			if !mayRun(t, argv...) {
				t.Errorf("%q may not run", argv)
			}
		}
	}
	for _, name := range strings.Fields(`awk gawk mawk nawk original-awk sed gsed`) {
		program := "/usr/bin/" + name
		for _, argv := range [][]string{
			{program, "{{x}}"}, {program, "-f", "{{x}}"}, {program, "-e", "{{x}}"}, {program, "--", "{{x}}"}, {program, "p{{x}}", "/etc/hostname"}, {program, "p", "{{-x}}"},
		} {
			if mayRun(t, argv...) {
				t.Errorf("%q may run", argv)
			}
		}
		if !mayRun(t, program, "/a/", "{{x}}") || !mayRun(t, program, "p", "--", "{{x}}") {
			t.Errorf("%s may not run fixed code", name)
		}
	}
}

func TestFinders(t *testing.T) {
	for _, name := range strings.Fields(`find gfind bfs fd fdfind`) {
		program := "/usr/bin/" + name
		for _, argv := range [][]string{
			{program, "/srv", "-exec", "{{x}}", ";"}, {program, "/srv", "-execdir", "/bin/echo", "{{x}}", ";"}, {program, "/srv", "-ok", "{{x}}", ";"},
			{program, "/srv", "-okdir", "a{{x}}", ";"}, {program, "/srv", "{{-x}}"}, {program, "{{-x}}", "-name", "a"}, {program, "-x", "{{x}}"}, {program, "--exec-batch", "{{x}}"},
		} {
			if mayRun(t, argv...) {
				t.Errorf("%q may run", argv)
			}
		}
		if !mayRun(t, program, "/srv", "-name", "{{x}}") || !mayRun(t, program, "{{x}}", "-exec", "/bin/echo", "{}", ";") {
			t.Errorf("%s may not look for something", name)
		}
	}
}

// Other programs may, with every kind of value.
func TestProgramsThatStartNothing(t *testing.T) {
	for _, program := range strings.Fields(`/usr/bin/espeak-ng /usr/bin/printf /usr/bin/test /bin/echo /bin/true /usr/bin/cal /usr/bin/curl /usr/bin/notify-send /opt/mine/light
		/usr/bin/shuf /usr/bin/envsubst /usr/bin/niceshot /usr/bin/pythonista /usr/bin/awkward /usr/bin/findmnt /usr/bin/sshow /usr/local/bin/lamp-1.2`) {
		for _, argv := range [][]string{{program, "{{x}}"}, {program, "{{-x}}"}, {program, "-c", "{{x}}"}} {
			if !mayRun(t, argv...) {
				t.Errorf("%q may not run", argv)
			}
		}
	}
}

// A program is looked at by what it is and not by what it is called: behind links, links
// to links, folders that are links, and as the same file under two names.
func TestProgramsByOtherNames(t *testing.T) {
	folder := t.TempDir()
	link := func(target, name string) string {
		path := filepath.Join(folder, name)
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	program := func(name string) string {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/true\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	timeout, python, tiny, busybox := program("bin/timeout"), program("bin/python3.11"), program("bin/tiny"), program("bin/busybox")
	awk := link(program("bin/mawk"), "alternative")
	if err := os.Symlink(filepath.Join(folder, "bin"), filepath.Join(folder, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(folder, "deep", "er")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	link(deep, "short")
	link(timeout, filepath.Join("bin", "middle"))
	link("../../bin/middle", filepath.Join("deep", "er", "up"))
	for name, tc := range map[string]struct {
		path string
		may  bool
	}{
		"up from a folder by a link":  {filepath.Join(folder, "short", "up"), false},
		"a link":                      {link(timeout, "wait"), false},
		"a link to a link":            {link(link(timeout, "wait2"), "wait3"), false},
		"a relative link":             {link("bin/timeout", "wait4"), false},
		"a link to an interpreter":    {link(python, "snake"), false},
		"an alternative":              {link(awk, "columns"), false},
		"by a folder":                 {filepath.Join(folder, "elsewhere", "timeout"), false},
		"a link called like one":      {link(tiny, "nohup"), false},
		"a link over one":             {link(link(tiny, "setsid"), "harmless"), false},
		"a shell":                     {link("/bin/sh", "talk"), false},
		"a link to another one":       {link(tiny, "small"), true},
		"one of many in one":          {link(busybox, "light"), true},
		"one of many in one, a shell": {link(busybox, "ash"), false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tools.Resolve(declared(t, running(tc.path, "{{x}}")), tools.Surroundings{Workplace: t.TempDir()})
			if tc.may != (err == nil) {
				t.Errorf("%v", err)
			}
			if err != nil && strings.Count(err.Error(), "exec.argv[0]") != 1 {
				t.Errorf("it is said more than once, or something else: %v", err)
			}
		})
	}
	twin := filepath.Join(folder, "twin")
	if err := os.Link(tools.LendFolder(t, folder, "perl"), twin); err != nil {
		t.Fatal(err)
	}
	if _, err := tools.Resolve(declared(t, running(twin, "{{x}}")), tools.Surroundings{Workplace: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "leads to perl") {
		t.Errorf("the same file under two names: %v", err)
	}
}
