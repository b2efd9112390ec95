package tools

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What an argument of a program may become is the program's own affair. Of these programs
// it is known that an argument can be a command, or code. The lists help against a
// declaration that was not thought through; they promise nothing of programs that are not
// on them, of copies under other names, and of scripts that run what they are given.

// listed are names, one behind another.
func listed(names string) map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Fields(names) {
		out[name] = true
	}
	return out
}

var (
	// shells are never asked: what they are given is a program and no value.
	shells = listed(`sh ash bash rbash dash zsh rzsh ksh rksh mksh lksh pdksh oksh loksh posh csh tcsh fish rc es yash sash elvish nu xonsh pwsh powershell
		static-sh git-shell busybox toybox env`)

	// launchers start a program that they are given, or do as they are told in a language
	// of their own; no value is put into what they are given.
	launchers = listed(`timeout nice ionice chrt taskset numactl prlimit setpriv setarch linux32 linux64 i386 x86_64 uname26 capsh runcon nohup setsid stdbuf
		unbuffer time chronic ifne faketime eatmydata rlwrap xargs parallel rush entr watch watchexec script scriptreplay expect
		sudo sudoedit doas su sg newgrp runuser pkexec gosu su-exec chpst setuidgid softlimit start-stop-daemon daemon daemonize
		chroot unshare nsenter bwrap firejail fakeroot fakechroot proot cgexec systemd-run systemd-nspawn systemd-inhibit machinectl flatpak snap
		docker podman nerdctl lxc lxc-attach lxc-execute kubectl crictl ctr runc crun vagrant qemu-arm qemu-aarch64 qemu-x86_64 wine box64
		strace ltrace gdb lldb valgrind perf bpftrace hyperfine flock run-parts dbus-run-session dbus-launch xvfb-run
		torify torsocks proxychains proxychains4 tsocks ssh slogin sshpass autossh mosh rsh rexec rlogin scp sftp rsync socat nc ncat netcat nmap tcpdump
		at batch crontab anacron service ip logrotate screen tmux dtach abduco xterm x-terminal-emulator
		make gmake bmake cmake ninja just rake ant mvn gradle bazel scons go cargo tcc npm npx pnpm yarn bunx deno bun pip pipx uv uvx gem bundle composer
		git hg svn cvs tar bsdtar cpio less vi vim vimdiff view rvim nvim ex ed emacs emacsclient
		sqlite sqlite3 psql mysql mariadb mongo mongosh gnuplot octave maxima gp dc m4 gs ghostscript convert magick tex latex pdflatex xelatex lualatex ld.so`)

	// interpreters run the file that comes first, and take code or a command in its place.
	interpreters = listed(`python pypy ipython micropython jython perl raku rakudo ruby jruby irb truffleruby lua luajit texlua node nodejs qjs gjs d8 php php-cgi
		tclsh jimsh wish guile racket csi gosh scheme gsi sbcl clisp ecl julia R Rscript erl escript elixir iex ghci runghc runhaskell
		ocaml java jshell groovy scala kotlin bb clojure bpython pike io janet osascript`)

	// filters run the code that comes first on what comes behind it.
	filters = listed(`awk gawk mawk nawk original-awk goawk sed gsed ssed`)

	// finders start a program that stands behind one of finderStarts.
	finders      = listed(`find gfind bfs fd fdfind`)
	finderStarts = listed(`-exec -execdir -ok -okdir -x -X --exec --exec-batch`)

	// several are programs that do what the name says by which they are called.
	several = listed(`busybox toybox coreutils`)
)

// called are the names that a program may be known by: its own, and that without a
// version behind it.
func called(name string) []string {
	out := []string{name}
	if strings.HasPrefix(name, "ld-") && strings.Contains(name, ".so") {
		out = append(out, "ld.so")
	}
	if plain := strings.TrimRight(name, "0123456789.-_"); plain != "" && plain != name {
		out = append(out, plain)
	}
	if plain, _, ok := strings.Cut(name, "."); ok && plain != "" { // vim.basic, bash.old
		out = append(out, plain)
	}
	return out
}

// starts says of a program by one of its names why it may not be declared so, and what
// mends that; empty where it may.
func (c *checker) starts(name string) (what, mend string) {
	is := func(list map[string]bool) bool {
		return slices.ContainsFunc(called(name), func(n string) bool { return list[n] })
	}
	const script = "name the program itself, or a script with #! in its first line"
	switch argv := c.tool.argv; {
	case is(shells):
		return "it is a shell, or starts another program", script
	case !slices.ContainsFunc(argv, func(t template) bool { return len(t.variables()) > 0 }):
		return "", "" // nothing of a model comes in
	case is(launchers):
		return "it can start another program, and is given a value of a model", script
	case is(interpreters) && (!begins(argv, "/") || dashed(argv)), is(filters) && (!begins(argv, "") || dashed(argv)):
		return "it runs code, and a value of a model could be some", "let its first argument be fixed: a script by its whole path, or the code of awk and sed; use no {{-…}}; or name a script with #! in its first line"
	case is(finders) && (dashed(argv) || behindStart(argv)):
		return "it can start another program, and a value of a model could be that", "use no {{-…}}, and no value behind -exec"
	}
	return "", ""
}

// begins tells whether the first argument is fixed, begins so, and is no option.
func begins(argv []template, with string) bool {
	if len(argv) < 2 {
		return false
	}
	text, fixed := argv[1].fixed()
	return fixed && text != "" && text[0] != '-' && strings.HasPrefix(text, with)
}

// dashed tells whether a value may begin with "-".
func dashed(argv []template) bool {
	return slices.ContainsFunc(argv, func(t template) bool { return slices.ContainsFunc(t, func(p part) bool { return p.dash }) })
}

// behindStart tells whether a value stands behind an argument that starts a program.
func behindStart(argv []template) bool {
	for i, t := range argv {
		if text, fixed := t.fixed(); fixed && finderStarts[text] {
			return slices.ContainsFunc(argv[i:], func(t template) bool { return len(t.variables()) > 0 })
		}
	}
	return false
}

// namesOf are the names of a program on this machine: those of the links that lead to it,
// its own, and where it is one file with a shell or an interpreter, that one's.
func namesOf(path string) []string {
	const mostLinks = 40
	var names []string
	at := path
	for range mostLinks {
		target, err := os.Readlink(at)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(at), target)
		}
		at = target
		names = append(names, filepath.Base(at))
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		names = append(names, filepath.Base(real))
	}
	names = slices.DeleteFunc(names, func(n string) bool {
		return slices.ContainsFunc(called(n), func(n string) bool { return several[n] })
	})
	return append(names, twins(path)...)
}

// folders are where programs are.
var folders = []string{"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin"}

// twins are the shells and interpreters that are one file with a program. Those that do
// what they are called are no twin of anything.
func twins(path string) (out []string) {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	same := func(list map[string]bool) (found []string) {
		for name := range list {
			for _, folder := range folders {
				if other, err := os.Stat(filepath.Join(folder, name)); err == nil && os.SameFile(info, other) {
					found = append(found, name)
					break
				}
			}
		}
		return found
	}
	if len(same(several)) > 0 {
		return nil
	}
	for _, list := range []map[string]bool{shells, interpreters} {
		out = append(out, same(list)...)
	}
	slices.Sort(out)
	return out
}
