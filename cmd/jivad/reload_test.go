package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Where nothing can be watched, SIGHUP has the policy of evidence be read again.
func TestHangupReadsThePolicy(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "gone")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	read := 0
	r := &reloader{
		path: filepath.Join(nowhere, "jivad.toml"), policy: filepath.Join(nowhere, "evidence.toml"),
		level: new(slog.LevelVar), log: slog.New(slog.DiscardHandler), hangup: make(chan os.Signal, 1),
		readPolicy: func() {
			if read++; read == 2 {
				stop()
			}
		},
	}
	r.hangup <- syscall.SIGHUP
	r.watch(ctx)
	if read != 2 {
		t.Errorf("read %d times", read)
	}
}
