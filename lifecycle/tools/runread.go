package tools

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
)

// errNotFile: it is a folder, a pipe, a device.
var errNotFile = errors.New("no ordinary file")

// read reads a file below the tool's folder. Links are followed within the folder only.
// Reading is left alone when the time is over: a file of /proc may never give anything.
func (r *Runner) read(ctx context.Context, act *Act) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, ended(ctx, act.Tool())
	}
	d := act.tool.declaration.Read
	type outcome struct {
		data []byte
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		data, err := readFile(d.Root, act.path, d.OutputLimit)
		done <- outcome{data, err}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			return Result{}, failed(act.Tool(), ErrPath, o.err)
		}
		result := Result{OK: true}
		result.Text, result.Truncated = bounded(o.data, d.OutputLimit)
		return result, nil
	case <-ctx.Done():
		return Result{}, ended(ctx, act.Tool())
	}
}

// readFile reads up to one byte more than the limit.
func readFile(folder, path string, limit int) ([]byte, error) {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() { // opening a pipe would wait
		return nil, errors.Join(errNotFile, err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// Opening a device can do something; so look first, and look again at what was opened.
	if info, err := root.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(errNotFile, err)
	}
	file, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(errNotFile, err)
	}
	return io.ReadAll(io.LimitReader(file, int64(limit)+1))
}
