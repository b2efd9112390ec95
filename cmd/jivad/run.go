package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/cobra"

	"github.com/jivad/jivad/boards"
	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/internal/api"
	"github.com/jivad/jivad/internal/broker"
	"github.com/jivad/jivad/lifecycle"
)

func (a *app) runVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Run the daemon: watch the diary and answer the other verbs",
		Long: `Runs in the foreground. SIGTERM and SIGINT end the open session and the daemon; a second
one ends it at once. SIGHUP, or a change of the configuration or of evidence.toml, reads them again.`,
		Example: "  jivad run\n  jivad run --data /srv/companion",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.serve(cmd.Context())
		},
	}
}

// serve is the life of the daemon.
func (a *app) serve(ctx context.Context) error {
	if err := enoughFiles(); err != nil {
		return err
	}
	settings, at, err := a.find()
	if err != nil {
		return err
	}
	// A configuration of its own says that the companion is wanted.
	if a.flags.data != "" && a.flags.config == "" && filepath.Dir(at.config) != at.data {
		if err := a.missing(at); err != nil {
			return err
		}
	}
	level := new(slog.LevelVar)
	setLevel(level, settings.Log.Level)
	log := slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: level}))
	profile, why, err := boards.Detect("/")
	if err != nil {
		log.Warn("board", "error", err)
	}
	a.limitMemory(profile)

	o, err := a.options(settings.On(profile), at)
	if err != nil {
		return err
	}
	o.Log, o.Lives = log, true
	published, err := openBroker(settings, log)
	if err != nil {
		return fmt.Errorf("%w: %w", errDaemonFailed, err)
	}
	if published != nil {
		defer published.Close()
		o.Publisher = published
	}
	c, err := lifecycle.Open(ctx, o)
	if err != nil {
		return fmt.Errorf("%w: %w", errDaemonFailed, err)
	}
	reload := &reloader{started: settings, now: settings, path: at.config, environ: a.environ, level: level, log: log}
	reload.listen()
	work := &served{Companion: c, reload: reload, stopping: ctx, broker: published}
	reload.policy, reload.readPolicy = filepath.Join(at.data, lifecycle.PolicyFile), func() { work.followPolicy(ctx, log) }
	// The door opens before the socket: whoever the socket answers finds both.
	work.doorway, err = openDoor(ctx, work, settings, log)
	if err != nil {
		return errors.Join(fmt.Errorf("%w: %w", errDaemonFailed, err), c.Close(context.WithoutCancel(ctx)))
	}
	listener, err := api.Listen(ctx, at.socket)
	if err != nil {
		last := context.WithoutCancel(ctx)
		work.doorway.close(last)
		return errors.Join(fmt.Errorf("%w: %w", errDaemonFailed, err), c.Close(last))
	}
	server := api.NewServer(api.NewHandler(work, api.OfMeters(c.Meters), work.doorway.metrics))
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	a.ready(c, at, work.doorway.address)
	log.Debug("board", "profile", profile.Name, "why", why)

	// What follows is not waited for by those who wait for the daemon.
	var tasks sync.WaitGroup
	running, stop := context.WithCancel(ctx)
	defer stop()
	tasks.Go(func() {
		if err := c.Run(running); err != nil {
			log.Error("run", "error", err)
		}
	})
	tasks.Go(func() { reload.watch(running) })
	tasks.Go(func() { giveBackMemory(running, filepath.Join(at.data, chitta.FileName)) })

	select {
	case <-ctx.Done():
	case err = <-failed:
		err = fmt.Errorf("the socket %s failed: %w", at.socket, err)
		log.Error("socket", "error", err)
	}
	stop()
	return errors.Join(err, a.withdraw(c, server, listener, work.doorway, &tasks, reload.settings().StopTimeout, log))
}

// fewestFiles is how many files the daemon must be allowed to have open at once. It
// has some twenty for itself; where it may have no more it cannot take a connection,
// and whoever asks would wait for ever.
const fewestFiles = 64

// enoughFiles refuses a start with fewer. The runtime has raised the limit already as
// far as it may.
func enoughFiles() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur >= fewestFiles {
		return nil //nolint:nilerr // where it cannot be known it is as it is
	}
	return fmt.Errorf("%w: only %d files may be open at once, and it needs %d; raise that with ulimit -n, or LimitNOFILE= in the unit", errDaemonFailed, limit.Cur, fewestFiles)
}

// withdraw ends the session and the daemon, within a bounded time.
func (a *app) withdraw(c *lifecycle.Companion, server *http.Server, listener net.Listener, d *doorway, tasks *sync.WaitGroup, within time.Duration, log *slog.Logger) error {
	_, _ = daemon.SdNotify(false, daemon.SdNotifyStopping)
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	_ = listener.Close()
	d.close(ctx) // what was said there is part of the session
	// Closing fails the work that clients wait for; then they are told.
	err := c.Close(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		log.Warn("the session could not be ended in time; the next start goes on with it", "stop_timeout", within)
		err = nil
	}
	const farewell = 2 * time.Second
	telling, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	if server.Shutdown(telling) != nil {
		_ = server.Close()
	}
	tasks.Wait()
	log.Info("stopped", "after", time.Since(began).Round(time.Millisecond))
	return err
}

// ready tells whoever waits that the daemon can be spoken to.
func (a *app) ready(c *lifecycle.Companion, at place, door string) {
	if !a.flags.quiet {
		if door != "" {
			door = ", door http://" + door
		}
		fmt.Fprintf(a.stdout, "jivad %s ready: %s, socket %s, diary %s%s\n", a.version, count(c.Impressions(), "impression", "impressions"), at.socket, at.diary, door)
	}
	_, _ = daemon.SdNotify(false, daemon.SdNotifyReady)
}

func setLevel(level *slog.LevelVar, name string) {
	var l slog.Level
	if l.UnmarshalText([]byte(name)) == nil { // the settings were checked
		level.Set(l)
	}
}

// served is the companion as clients see it: with what the daemon itself has to
// tell in the status, and without work that outlives it.
type served struct {
	*lifecycle.Companion
	reload  *reloader
	doorway *doorway
	// stopping is done when the daemon is asked to end.
	stopping context.Context
	// broker is nil where the settings name none.
	broker *broker.Broker
}

// Status adds what is wrong with the settings and with the door.
func (s *served) Status(ctx context.Context) (lifecycle.Status, error) {
	status, err := s.Companion.Status(ctx)
	status.Problems = append(status.Problems, s.reload.problems()...)
	status.Door = s.doorway.status()
	away := ""
	if s.broker != nil && s.broker.Problem() != "" {
		away = "MQTT broker: " + s.broker.Problem()
	}
	for _, problem := range []string{s.doorway.problem(), s.doorway.held(), away, s.unheard()} {
		if problem != "" {
			status.Problems = append(status.Problems, problem)
		}
	}
	return status, err
}

// Import gives the memory of the work back when it is done.
func (s *served) Import(ctx context.Context, notes []lifecycle.Note, progress func(lifecycle.Progress)) (lifecycle.ImportReport, error) {
	defer func() { go debug.FreeOSMemory() }()
	return s.Companion.Import(ctx, notes, progress)
}

// Verify ends with the daemon.
func (s *served) Verify(ctx context.Context, full bool, progress func(lifecycle.Progress)) (r lifecycle.VerifyReport, err error) {
	err = s.whileRunning(ctx, func(ctx context.Context) (err error) {
		r, err = s.Companion.Verify(ctx, full, progress)
		return err
	})
	return r, err
}

// Backup ends with the daemon.
func (s *served) Backup(ctx context.Context, file string, progress func(lifecycle.Progress)) (r lifecycle.BackupReport, err error) {
	err = s.whileRunning(ctx, func(ctx context.Context) (err error) {
		r, err = s.Companion.Backup(ctx, file, progress)
		return err
	})
	return r, err
}

// whileRunning gives work up when the daemon is asked to end.
func (s *served) whileRunning(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.stopping, cancel)()
	err := work(ctx)
	if err != nil && s.stopping.Err() != nil {
		return lifecycle.ErrStopping
	}
	return err
}
