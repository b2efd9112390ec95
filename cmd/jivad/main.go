// Command jivad is the long-lived character of a companion: it reads a diary,
// keeps what each entry leaves, and writes SOUL.md.
//
// This folder is the only place that wires: adapters, store, socket. Each verb
// has a file of its own; app.go is what they share, wire.go puts a companion
// together, and run.go is the daemon.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // boards may have no time zones
)

// version is set by the build.
var version = "dev"

func main() {
	os.Exit(start())
}

// start runs the command that the arguments name. The first signal asks it to
// end in order, a second one ends the process at once.
func start() int {
	syscall.Umask(0o077) // whatever is made here is for its owner only
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	a := &app{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		environ: os.Environ(), version: version,
	}
	return a.run(ctx, os.Args[1:])
}
