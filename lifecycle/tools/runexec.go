package tools

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// programPath is all of the environment that a program is given.
const programPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// drainTime is how long the output of a program is read on after its process group was
// ended: only a process that left the group can still hold it open then.
const drainTime = 2 * time.Second

// exec runs a program: no shell, an empty folder, no environment but PATH, no input, no
// descriptor but its output. When it ends or its time is over, its whole process group
// is killed.
func (r *Runner) exec(ctx context.Context, act *Act) (result Result, err error) {
	tool, limit := act.Tool(), act.tool.declaration.Exec.OutputLimit
	if ctx.Err() != nil {
		return Result{}, ended(ctx, tool)
	}
	folder, err := os.MkdirTemp(r.Workplace, "tool-")
	if err != nil || r.Workplace == "" {
		return Result{}, errors.Join(failed(tool, ErrStart, err), removeFolder(folder))
	}
	defer func() {
		if left := removeFolder(folder); left != nil && err == nil {
			err = failed(tool, ErrLeft, left)
		}
	}()
	out, in, err := os.Pipe()
	if err != nil {
		return Result{}, failed(tool, ErrStart, err)
	}
	defer out.Close()
	closeOnExec()
	cmd := &exec.Cmd{
		Path: act.argv[0], Args: act.argv, Env: []string{programPath}, Dir: folder,
		Stdout: in, Stderr: in, // and stdin is /dev/null
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	err = cmd.Start()
	in.Close()
	if err != nil {
		return Result{}, failed(tool, ErrStart, err)
	}
	collected := make(chan []byte, 1)
	go func() { collected <- collect(out, limit) }()
	exited := make(chan struct{})
	go func() { awaitExit(cmd.Process.Pid); close(exited) }()

	select {
	case <-exited:
	case <-ctx.Done():
		err = ended(ctx, tool)
	}
	// The leader is not reaped yet, so that its number can mean no other process or group.
	_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
	_ = unix.Kill(cmd.Process.Pid, unix.SIGKILL)
	_ = out.SetReadDeadline(time.Now().Add(drainTime))
	select {
	case <-exited:
		_ = cmd.Wait()
	case <-time.After(drainTime): // the kernel does not let go of it, or it is another user's
		go func() { <-exited; _ = cmd.Wait() }()
		result.Text, result.Truncated = bounded(<-collected, limit)
		result.Status = -1
		return result, err
	}
	result.Text, result.Truncated = bounded(<-collected, limit)
	result.Status = statusOf(cmd.ProcessState)
	result.OK = err == nil && result.Status == 0
	return result, err
}

// awaitExit returns when a child has ended, and leaves it to be reaped.
func awaitExit(pid int) {
	for {
		if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// collect keeps one byte more than the limit, and reads all, so that the writer is not
// held up.
func collect(from io.Reader, limit int) []byte {
	kept, _ := io.ReadAll(io.LimitReader(from, int64(limit)+1))
	_, _ = io.Copy(io.Discard, from)
	return kept
}

func statusOf(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// closeOnExec sees to it that no descriptor of this process is inherited, one that it
// was itself started with or that a library opened neither.
func closeOnExec() {
	const all = ^uint(0) >> 1 & 0xffffffff
	if unix.CloseRange(3, all, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	entries, err := os.ReadDir("/proc/self/fd") // a kernel before 5.11
	if err != nil {
		return
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// removeFolder removes a folder with all in it, whatever rights a program set there.
func removeFolder(folder string) error {
	if folder == "" || os.RemoveAll(folder) == nil {
		return nil
	}
	_ = os.Chmod(folder, 0o700)
	if root, err := os.OpenRoot(folder); err == nil {
		_ = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
			if d != nil && d.IsDir() {
				_ = root.Chmod(filepath.FromSlash(path), 0o700)
			}
			return nil
		})
		root.Close()
	}
	return os.RemoveAll(folder)
}
