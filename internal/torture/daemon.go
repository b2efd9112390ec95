package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// daemon is one that answers.
type daemon struct {
	*process
	client *client
}

// errNotReady: a daemon ended before it was ready.
var errNotReady = errors.New("the daemon did not start")

// daemon starts one and waits until it is ready. Where that fails the process
// that ended is returned too.
func (l *lab) daemon(ctx context.Context, folder string, s spec) (*daemon, error) {
	s.args = []string{"--data", folder, "run"}
	p, err := start(s)
	if err != nil {
		return nil, err
	}
	d := &daemon{process: p}
	ready, err := p.stdout.await(ctx, " ready: ")
	if err != nil {
		p.kill()
		return d, errors.Join(err, p.wait(ctx))
	}
	if !ready {
		if err := p.wait(ctx); err != nil {
			return d, err
		}
		return d, fmt.Errorf("%w: %s", errNotReady, strings.TrimSpace(p.stderr.String()))
	}
	if d.client, err = dial(ctx, filepath.Join(folder, "jivad.sock")); err != nil {
		return d, err
	}
	return d, nil
}
