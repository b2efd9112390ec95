package api

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// ErrSocketInUse: another daemon answers at the socket.
var ErrSocketInUse = errors.New("another daemon answers there")

// Listen opens a socket that only its owner can use. A socket that a daemon left
// behind is taken over when nobody answers at it; anything else that lies there
// is left alone, with an error.
func Listen(ctx context.Context, path string) (net.Listener, error) {
	if err := clear(ctx, path); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("socket %s: %w", path, err), l.Close())
	}
	return l, nil
}

// clear removes a socket that nobody listens at.
func clear(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("socket %s: %w", path, err)
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("socket %s: there is a file of that name that is no socket; move it away, or name another socket with --socket", path)
	}
	if c, err := dial(ctx, path); err == nil {
		_ = c.Close()
		return fmt.Errorf("socket %s: %w; stop it, or name another socket with --socket", path, ErrSocketInUse)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("socket %s: %w", path, err)
	}
	return nil
}

const dialTimeout = 2 * time.Second

func dial(ctx context.Context, path string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	return d.DialContext(ctx, "unix", path)
}

// NewServer is an HTTP server with bounds on what a client can hold up.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
}
