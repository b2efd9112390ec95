package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// notice and reply are struct seccomp_notif and seccomp_notif_resp.
type notice struct {
	id         uint64
	pid, flags uint32
	number     int32
	arch       uint32
	at         uint64
	args       [6]uint64
}

type reply struct {
	id    uint64
	val   int64
	errno int32
	flags uint32
}

// call is one durable system call of the program on a file of its data folder.
type call struct {
	// Number counts from 1, since the trap was armed; 0 before.
	Number int
	Name   string
	// File is relative to the data folder; To is a rename's or link's new name.
	File, To string
	// Size is how much it writes.
	Size int
}

func (c call) String() string {
	s := c.Name + " " + c.File
	if c.To != "" {
		s += " → " + c.To
	}
	if c.Size > 0 {
		s += fmt.Sprintf(" (%d bytes)", c.Size)
	}
	return s
}

// verdict is what becomes of a call: by default it is let through.
type verdict struct {
	// kill ends the program instead of the call; part of what it writes arrives
	// first.
	kill bool
	part int
	// errno fails the call.
	errno syscall.Errno
}

// trap stops a program at every durable call and decides what becomes of it.
type trap struct {
	dir    string
	names  map[uint32]string
	kill   func()
	decide func(call) verdict
	// journal, if not nil, remembers what is not synced.
	journal *journal

	mu       sync.Mutex
	listener int
	armed    bool
	calls    []call
	sprung   string
	fault    error
	done     chan struct{}
}

// arm begins the count.
func (t *trap) arm() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.armed = true
}

// disarm lets everything through from now on.
func (t *trap) disarm() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.armed = false
}

// seen are the calls counted so far.
func (t *trap) seen() []call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]call(nil), t.calls...)
}

// receive takes the listener from the launcher.
func (t *trap) receive(socket *os.File) error {
	var buf [1]byte
	control := make([]byte, unix.CmsgSpace(4))
	n, m, _, _, err := unix.Recvmsg(int(socket.Fd()), buf[:], control, unix.MSG_CMSG_CLOEXEC)
	if err != nil || n == 0 || m == 0 {
		return errors.Join(errors.New("the launcher sent no listener"), err)
	}
	messages, err := unix.ParseSocketControlMessage(control[:m])
	if err != nil {
		return err
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return err
	}
	t.listener = fds[0]
	return nil
}

// serve answers until the program is gone.
func (t *trap) serve() {
	defer close(t.done)
	defer unix.Close(t.listener) //nolint:errcheck // only a listener
	for {
		poll := []unix.PollFd{{Fd: int32(t.listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err != nil {
			if errors.Is(err, unix.EINTR) {
				continue
			}
			return
		}
		if poll[0].Revents&unix.POLLIN == 0 {
			return // nobody is left
		}
		var n notice
		if err := ioctl(t.listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); err != nil {
			if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINTR) {
				continue // it died meanwhile
			}
			return
		}
		t.answer(&n)
	}
}

func ioctl(fd int, request uint, arg unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}

// answer decides on one call.
func (t *trap) answer(n *notice) {
	out := reply{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	if c, ok := t.describe(n); ok {
		v := t.judge(&c)
		switch {
		case v.kill:
			if v.part > 0 {
				t.noteOf(n, tear(n, c, v.part))
			}
			t.kill()
			return
		case v.errno != 0:
			out.errno, out.flags = -int32(v.errno), 0
		case t.journal != nil:
			t.noteOf(n, t.journal.before(n, c, t.dir))
		}
	}
	// A program that was killed meanwhile takes no answer.
	_ = ioctl(t.listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&out))
}

func (t *trap) judge(c *call) verdict {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.armed {
		return verdict{}
	}
	c.Number = len(t.calls) + 1
	t.calls = append(t.calls, *c)
	if t.decide == nil {
		return verdict{}
	}
	v := t.decide(*c)
	if (v.kill || v.errno != 0) && t.sprung == "" {
		t.sprung = fmt.Sprintf("call %d, %s", c.Number, c)
		if v.part > 0 {
			t.sprung += fmt.Sprintf(", %d of them written", v.part)
		}
		if v.errno != 0 {
			t.sprung += ": " + v.errno.Error()
		}
	}
	return v
}

// noteOf keeps a fault at a call, unless the program was killed meanwhile: then
// the call is not done, and there is nobody left to be asked.
func (t *trap) noteOf(n *notice, err error) {
	const stillThere = 0x40082102 // SECCOMP_IOCTL_NOTIF_ID_VALID
	if err != nil && ioctl(t.listener, stillThere, unsafe.Pointer(&n.id)) == nil {
		t.note(err)
	}
}

// note keeps the first fault of the trap itself: a round with one proves nothing.
func (t *trap) note(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fault == nil {
		t.fault = err
	}
}

// describe tells what a call does, and whether it is one on the data folder.
func (t *trap) describe(n *notice) (call, bool) {
	name, ok := t.names[uint32(n.number)]
	if !ok {
		name = "create"
	}
	c := call{Name: name}
	here := int32(unix.AT_FDCWD)
	switch name {
	case "write", "pwrite64":
		c.File, c.Size = onDescriptor(n.pid, n.args[0]), int(n.args[2])
	case "ftruncate", "fsync", "fdatasync":
		c.File = onDescriptor(n.pid, n.args[0])
	case "rename", "link":
		c.File, c.To = atPath(n.pid, here, n.args[0]), atPath(n.pid, here, n.args[1])
	case "renameat", "linkat":
		c.File, c.To = atPath(n.pid, int32(n.args[0]), n.args[1]), atPath(n.pid, int32(n.args[2]), n.args[3])
	case "unlink", "mkdir":
		c.File = atPath(n.pid, here, n.args[0])
	default: // unlinkat, mkdirat, openat
		c.File = atPath(n.pid, int32(n.args[0]), n.args[1])
	}
	c.Name = strings.TrimSuffix(c.Name, "at")
	inside := false
	for _, path := range []*string{&c.File, &c.To} {
		if rel, err := filepath.Rel(t.dir, *path); err == nil && filepath.IsLocal(rel) {
			*path, inside = rel, true
		}
	}
	return c, inside
}

// onDescriptor is the path of an open file.
func onDescriptor(pid uint32, fd uint64) string {
	path, err := os.Readlink(procFD(pid, fd))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(path, " (deleted)")
}

func procFD(pid uint32, fd uint64) string {
	return fmt.Sprintf("/proc/%d/fd/%d", pid, uint32(fd))
}

// atPath is the path that a call names.
func atPath(pid uint32, dirFD int32, at uint64) string {
	path := stringAt(pid, at)
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	folder := fmt.Sprintf("/proc/%d/cwd", pid)
	if dirFD != unix.AT_FDCWD {
		folder = procFD(pid, uint64(uint32(dirFD)))
	}
	base, err := os.Readlink(folder)
	if err != nil {
		return ""
	}
	return filepath.Join(base, path)
}

// stringAt reads a string of the program's memory, page by page.
func stringAt(pid uint32, at uint64) string {
	const page = 4096
	var out []byte
	for len(out) < page {
		piece := make([]byte, page-at%page)
		if n, err := readMemory(pid, at, piece); err != nil || n == 0 {
			return ""
		}
		if end := bytes.IndexByte(piece, 0); end >= 0 {
			return string(append(out, piece[:end]...))
		}
		out = append(out, piece...)
		at += uint64(len(piece))
	}
	return ""
}

func readMemory(pid uint32, at uint64, into []byte) (int, error) {
	local := unix.Iovec{Base: &into[0]}
	local.SetLen(len(into))
	return unix.ProcessVMReadv(int(pid), []unix.Iovec{local}, []unix.RemoteIovec{{Base: uintptr(at), Len: len(into)}}, 0)
}

// offset is where a write goes.
func offset(n *notice, c call) (int64, error) {
	if c.Name == "pwrite64" {
		return int64(n.args[3]), nil
	}
	info, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", n.pid, uint32(n.args[0])))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(info)) {
		if value, ok := strings.CutPrefix(line, "pos:"); ok {
			return strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		}
	}
	return 0, errors.New("no position of the file")
}

// tear writes the first part of what a call was to write.
func tear(n *notice, c call, part int) error {
	data := make([]byte, min(part, c.Size))
	got, err := readMemory(n.pid, n.args[1], data)
	if err != nil || got != len(data) {
		return fmt.Errorf("%d of %d bytes of a write were read: %w", got, len(data), err)
	}
	at, err := offset(n, c)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(procFD(n.pid, n.args[0]), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, at)
	return errors.Join(err, f.Close())
}
