package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/cobra"

	"github.com/jivad/jivad/boards"
	"github.com/jivad/jivad/internal/api"
	"github.com/jivad/jivad/internal/config"
	"github.com/jivad/jivad/lifecycle"
)

func (a *app) runVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Run the daemon: watch the diary and answer the other verbs",
		Long: `Runs in the foreground. SIGTERM and SIGINT end the open session and the daemon; a second
one ends it at once. SIGHUP, or a change of the configuration, reads the configuration again.`,
		Example: "  jivad run\n  jivad run --data /srv/companion",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.serve(cmd.Context())
		},
	}
}

// serve is the life of the daemon.
func (a *app) serve(ctx context.Context) error {
	settings, at, err := a.find()
	if err != nil {
		return err
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
	o.Log = log
	c, err := lifecycle.Open(ctx, o)
	if err != nil {
		return fmt.Errorf("%w: %w", errDaemonFailed, err)
	}
	listener, err := api.Listen(ctx, at.socket)
	if err != nil {
		return errors.Join(fmt.Errorf("%w: %w", errDaemonFailed, err), c.Close(context.WithoutCancel(ctx)))
	}
	reload := &reloader{started: settings, now: settings, path: at.config, environ: a.environ, level: level, log: log}
	work := &served{Companion: c, reload: reload, stopping: ctx}
	server := api.NewServer(api.NewHandler(work))
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	a.ready(c, at)
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
	tasks.Go(func() { giveBackMemory(running) })

	select {
	case <-ctx.Done():
	case err = <-failed:
		err = fmt.Errorf("the socket %s failed: %w", at.socket, err)
		log.Error("socket", "error", err)
	}
	stop()
	return errors.Join(err, a.withdraw(c, server, listener, &tasks, reload.settings().StopTimeout, log))
}

// withdraw ends the session and the daemon, within a bounded time.
func (a *app) withdraw(c *lifecycle.Companion, server *http.Server, listener net.Listener, tasks *sync.WaitGroup, within time.Duration, log *slog.Logger) error {
	_, _ = daemon.SdNotify(false, daemon.SdNotifyStopping)
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	_ = listener.Close()
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
func (a *app) ready(c *lifecycle.Companion, at place) {
	if !a.flags.quiet {
		fmt.Fprintf(a.stdout, "jivad %s ready: %s, socket %s, diary %s\n", a.version, count(c.Impressions(), "impression", "impressions"), at.socket, at.diary)
	}
	_, _ = daemon.SdNotify(false, daemon.SdNotifyReady)
}

// limitMemory follows the board, unless the environment says otherwise.
func (a *app) limitMemory(p boards.Profile) {
	if a.getenv("GOMEMLIMIT") == "" && p.GoMemLimit > 0 {
		debug.SetMemoryLimit(p.GoMemLimit)
	}
	if a.getenv("GOGC") == "" && p.GCPercent > 0 {
		debug.SetGCPercent(p.GCPercent)
	}
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
	reload *reloader
	// stopping is done when the daemon is asked to end.
	stopping context.Context
}

// Status adds what is wrong with the settings.
func (s *served) Status(ctx context.Context) (lifecycle.Status, error) {
	status, err := s.Companion.Status(ctx)
	status.Problems = append(status.Problems, s.reload.problems()...)
	return status, err
}

// Import gives the memory of the work back when it is done.
func (s *served) Import(ctx context.Context, notes []lifecycle.Note, progress func(lifecycle.Progress)) (lifecycle.ImportReport, error) {
	defer func() { go debug.FreeOSMemory() }()
	return s.Companion.Import(ctx, notes, progress)
}

// Verify ends with the daemon.
func (s *served) Verify(ctx context.Context, full bool, progress func(lifecycle.Progress)) (lifecycle.VerifyReport, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.stopping, cancel)()
	r, err := s.Companion.Verify(ctx, full, progress)
	if err != nil && s.stopping.Err() != nil {
		err = lifecycle.ErrStopping
	}
	return r, err
}

// reloader keeps the settings in force and reads them again when they change.
type reloader struct {
	path    string
	environ []string
	level   *slog.LevelVar
	log     *slog.Logger
	// started are the settings that the companion was opened with.
	started config.Config

	mu   sync.Mutex
	now  config.Config
	told []string
}

func (r *reloader) settings() config.Config {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// problems are for the status.
func (r *reloader) problems() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.told...)
}

// read takes the settings anew. A bad edit keeps the old ones and says why.
func (r *reloader) read() {
	c, err := config.Load(r.path, r.environ)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = nil
	if err != nil {
		r.log.Error("the configuration was changed and is not good; the settings of before stay", "error", err)
		r.told = []string{"the configuration is not good, so the settings of before stay: " + err.Error()}
		return
	}
	live, _ := config.Changed(r.now, c)
	_, later := config.Changed(r.started, c)
	r.now.Log, r.now.StopTimeout = c.Log, c.StopTimeout
	setLevel(r.level, c.Log.Level)
	if len(live) > 0 {
		r.log.Info("settings changed", "keys", live)
	}
	if len(later) > 0 {
		r.log.Warn("settings changed that take effect at the next start", "keys", later)
		r.told = []string{fmt.Sprintf("changed in the configuration, takes effect at the next start: %v", later)}
	}
}

// watch reads the settings again on SIGHUP and when the file changes.
func (r *reloader) watch(ctx context.Context) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	changed := watchFile(ctx, r.path, r.log)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			r.log.Info("asked to read the configuration again")
			r.read()
		case <-changed:
			r.read()
		}
	}
}
