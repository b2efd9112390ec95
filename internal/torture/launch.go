package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// launchEnv holds a launching when this program was started to become another.
const launchEnv = "TORTURE_LAUNCH"

// launching is what a launcher does to itself before it becomes the program.
type launching struct {
	Program string
	Args    []string
	// Files bounds its open files; 0 leaves them as they are.
	Files uint64
	// Trapped has its durable system calls stop until the parent answers; the
	// listener goes to the parent through descriptor 3.
	Trapped bool
}

// launched becomes the program that the environment names, or returns when it
// names none. Nothing is linked into the program and nothing in it is changed: the
// kernel stops it where the parent wants.
func launched() {
	order := os.Getenv(launchEnv)
	if order == "" {
		return
	}
	fmt.Fprintln(os.Stderr, "launch:", become(order)) // it returns only where it failed
	os.Exit(127)
}

func become(order string) error {
	var l launching
	if err := json.Unmarshal([]byte(order), &l); err != nil {
		return err
	}
	runtime.LockOSThread() // the filter is this thread's, and the thread becomes the program
	if l.Files > 0 {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: l.Files, Max: l.Files}); err != nil {
			return fmt.Errorf("limit of open files: %w", err)
		}
	}
	if l.Trapped {
		listener, err := listen()
		if err != nil {
			return fmt.Errorf("seccomp: %w", err)
		}
		if err := unix.Sendmsg(3, []byte{0}, unix.UnixRights(listener), nil, 0); err != nil {
			return fmt.Errorf("hand the listener over: %w", err)
		}
		unix.CloseOnExec(3)
	}
	environ := slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, launchEnv+"=") })
	return unix.Exec(l.Program, append([]string{l.Program}, l.Args...), environ)
}

// listen puts the filter on this thread and returns its listener.
func listen() (int, error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, err
	}
	code := filter()
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	// WAIT_KILLABLE: else the signals by which Go's runtime preempts would make a
	// call that is looked at begin again, and be counted twice.
	for _, flags := range []uintptr{unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER} {
		fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&program)))
		if errno == 0 {
			return int(fd), nil
		}
		if errno != unix.EINVAL {
			return -1, errno
		}
	}
	return -1, unix.EINVAL
}

// filter lets every call through but those of durable, and openat where it makes
// or empties a file.
func filter() []unix.SockFilter {
	const (
		load, equal, anyBit, give = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, unix.BPF_RET | unix.BPF_K

		number, arch, flags = 0, 4, 16 + 2*8 // offsets in struct seccomp_data
	)
	let := unix.SockFilter{Code: give, K: unix.SECCOMP_RET_ALLOW}
	stop := unix.SockFilter{Code: give, K: unix.SECCOMP_RET_USER_NOTIF}
	out := []unix.SockFilter{
		{Code: load, K: arch},
		{Code: equal, Jt: 1, K: auditArch},
		let,
		{Code: load, K: number},
	}
	for _, n := range slices.Sorted(maps.Keys(durable())) {
		out = append(out, unix.SockFilter{Code: equal, Jf: 1, K: n}, stop)
	}
	return append(out,
		unix.SockFilter{Code: equal, Jt: 1, K: unix.SYS_OPENAT}, let,
		unix.SockFilter{Code: load, K: flags},
		unix.SockFilter{Code: anyBit, Jf: 1, K: unix.O_CREAT | unix.O_TRUNC}, stop,
		let)
}

// trapsWork tells why the kernel cannot stop a program at its system calls, or nil.
func trapsWork() error {
	if len(durable()) == 0 {
		return errors.New("the system calls of " + runtime.GOARCH + " are not listed")
	}
	var sizes struct{ notif, resp, data uint16 }
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_NOTIF_SIZES, 0, uintptr(unsafe.Pointer(&sizes))); errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	if uintptr(sizes.notif) != unsafe.Sizeof(notice{}) || uintptr(sizes.resp) != unsafe.Sizeof(reply{}) {
		return fmt.Errorf("seccomp: the kernel's messages have %d and %d bytes", sizes.notif, sizes.resp)
	}
	return nil
}
