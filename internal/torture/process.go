package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long anything may take before it counts as hanging.
const patience = 60 * time.Second

// errHangs: a program did not end, or did not get ready, within patience.
var errHangs = errors.New("it hangs")

// spec says how a program is started.
type spec struct {
	program string
	args    []string
	environ []string
	// files bounds its open files, 0 does not; uid and gid are whose it is, 0 ours.
	files    uint64
	uid, gid uint32
	// trap, if not nil, stops it at its durable calls.
	trap *trap
	// started, if not nil, is called once it runs.
	started func(*process)
}

// process is a program that runs, or ran.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr *output
	trap           *trap
	ended          chan struct{}
}

// start starts a program, through this one where something must be done to it
// before.
func start(s spec) (*process, error) {
	p := &process{trap: s.trap, stdout: newOutput(), stderr: newOutput(), ended: make(chan struct{})}
	p.cmd = exec.Command(s.program, s.args...)
	p.cmd.Env = s.environ
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C is ours to pass on
	if s.uid != 0 {
		p.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: s.uid, Gid: s.gid}
	}
	var ours, theirs *os.File
	if s.trap != nil || s.files > 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		order, err := json.Marshal(launching{Program: s.program, Args: s.args, Files: s.files, Trapped: s.trap != nil})
		if err != nil {
			return nil, err
		}
		p.cmd.Path, p.cmd.Args = self, []string{self}
		p.cmd.Env = append(p.cmd.Env[:len(p.cmd.Env):len(p.cmd.Env)], launchEnv+"="+string(order))
	}
	if s.trap != nil {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		ours, theirs = os.NewFile(uintptr(pair[0]), "trap"), os.NewFile(uintptr(pair[1]), "trap")
		defer ours.Close() //nolint:errcheck // a socket
		p.cmd.ExtraFiles = []*os.File{theirs}
		s.trap.names, s.trap.kill, s.trap.done = durable(), func() { p.kill() }, make(chan struct{})
	}
	err := p.cmd.Start()
	if theirs != nil {
		err = errors.Join(err, theirs.Close())
	}
	if err != nil {
		return nil, err
	}
	if s.trap != nil {
		if err := s.trap.receive(ours); err != nil {
			p.kill()
			_ = p.cmd.Wait()
			return nil, fmt.Errorf("%w: %s", err, p.stderr)
		}
		go s.trap.serve()
	}
	if s.started != nil {
		s.started(p)
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is in its state
		if s.trap != nil {
			<-s.trap.done
		}
		p.stdout.close()
		p.stderr.close()
		close(p.ended)
	}()
	return p, nil
}

// kill is kill -9.
func (p *process) kill() { _ = p.cmd.Process.Kill() }

// terminate asks it to end.
func (p *process) terminate() { _ = p.cmd.Process.Signal(syscall.SIGTERM) }

// wait waits for the end; one that hangs is made to tell where, and killed.
func (p *process) wait(ctx context.Context) error {
	slow := time.NewTimer(patience)
	defer slow.Stop()
	select {
	case <-p.ended:
		return nil
	case <-slow.C:
		_ = p.cmd.Process.Signal(syscall.SIGQUIT)
		last := time.NewTimer(patience / 10)
		defer last.Stop()
		select {
		case <-p.ended:
		case <-last.C:
		}
		p.kill()
		<-p.ended
		return errHangs
	case <-ctx.Done():
		p.kill()
		<-p.ended
		return ctx.Err()
	}
}

// running tells whether it has not ended.
func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// killed tells whether it was ended by kill -9; call it after the end.
func (p *process) killed() bool {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// code is its exit code, -1 for one that was killed; call it after the end.
func (p *process) code() int { return p.cmd.ProcessState.ExitCode() }

// panicked tells of a crash of the program's own.
func (p *process) panicked() bool {
	text := p.stderr.String()
	for _, mark := range []string{"panic:", "fatal error:", "\ngoroutine ", "SIGSEGV", "unexpected fault"} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// output is what a program printed.
type output struct {
	mu     sync.Mutex
	buf    bytes.Buffer
	change chan struct{}
	closed bool
}

func newOutput() *output { return &output{change: make(chan struct{})} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.change)
	o.change = make(chan struct{})
	return o.buf.Write(p)
}

func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	close(o.change)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// await waits until a text was printed, or tells that it never will be.
func (o *output) await(ctx context.Context, text string) (bool, error) {
	slow := time.NewTimer(patience)
	defer slow.Stop()
	for {
		o.mu.Lock()
		there, change, closed := bytes.Contains(o.buf.Bytes(), []byte(text)), o.change, o.closed
		o.mu.Unlock()
		if there || closed {
			return there, nil
		}
		select {
		case <-change:
		case <-slow.C:
			return false, errHangs
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}
