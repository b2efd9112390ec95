package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/jivad/jivad/boards"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/chitta/neighbour"
	"github.com/jivad/jivad/chitta/vasana"
	"github.com/jivad/jivad/internal/api"
	"github.com/jivad/jivad/internal/broker"
	"github.com/jivad/jivad/internal/builtin"
	"github.com/jivad/jivad/internal/config"
	"github.com/jivad/jivad/lifecycle"
)

// companion is what the verbs talk to: the daemon through its socket, or the
// store itself.
type companion interface {
	api.Companion
	Close(ctx context.Context) error
}

// errDaemonFailed marks what ended a daemon, so that a locked store is a
// failure of it and not a daemon that cannot be reached.
var errDaemonFailed = errors.New("the daemon did not start")

// manner is how a verb takes a companion for which no daemon runs.
type manner int

const (
	// use opens one that is there.
	use manner = iota
	// look opens one that is there and leaves everything as it is.
	look
	// found makes one where there is none.
	found
)

// with opens the companion, does f and closes it again. The session of today
// stays open: a call is one entry of many.
func (a *app) with(ctx context.Context, f func(ctx context.Context, c companion) error) error {
	return a.within(ctx, use, f)
}

// looking is with for verbs that check.
func (a *app) looking(ctx context.Context, f func(ctx context.Context, c companion) error) error {
	return a.within(ctx, look, f)
}

func (a *app) within(ctx context.Context, how manner, f func(ctx context.Context, c companion) error) error {
	settings, at, err := a.find()
	c, err := a.connect(ctx, settings, at, err, how)
	if err != nil {
		return err
	}
	err = f(ctx, c)
	// What was acknowledged is safe already; closing takes a snapshot.
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(settings.StopTimeout, time.Second))
	defer cancel()
	return errors.Join(err, c.Close(closing))
}

// connect reaches the daemon, or opens the store where none runs. A daemon goes
// on with the settings of before when they were edited badly, so faults of
// theirs matter only without one.
func (a *app) connect(ctx context.Context, settings config.Config, at place, faults error, how manner) (companion, error) {
	if at.socket == "" {
		return nil, faults
	}
	client, err := api.Dial(ctx, at.socket)
	if err == nil {
		return client, nil
	}
	if faults != nil {
		return nil, faults
	}
	if how != found {
		if err := a.missing(at); err != nil {
			return nil, err
		}
	}
	o, err := a.optionsFor(settings, at)
	if err != nil {
		return nil, err
	}
	o.KeepOpen, o.LookOnly = true, how == look
	return lifecycle.Open(ctx, o)
}

// optionsFor are the options on this board.
func (a *app) optionsFor(settings config.Config, at place) (lifecycle.Options, error) {
	profile, _, _ := boards.Detect("/")
	return a.options(settings.On(profile), at)
}

// retention is what the settings say of how much is kept.
func retention(r config.Retention) lifecycle.Retention {
	out := lifecycle.Retention{}
	for category, keep := range r.ByCategory() {
		out[category] = lifecycle.Keep(keep)
	}
	return out
}

// options puts a companion together: the built-in models and the settings.
func (a *app) options(c config.Config, at place) (lifecycle.Options, error) {
	o := lifecycle.Options{
		Dir: at.data, Diary: at.diary, SoulPath: c.Soul.Path, SoulBytes: c.Soul.MaxBytes, Config: at.config,
		Params: fold.Params{Profile: "default", Reactivation: c.Dynamics.Reactivation, Gate: c.Dynamics.Gate},
		Vasana: vasana.Params(c.Vasana), Index: neighbour.Options{Mode: c.Index.Mode, Workers: c.Limits.Workers},
		DayStartsAt: c.Diary.DayStartsAt, Idle: c.Session.Idle, MergeAlike: !c.Diary.AlwaysCreate,
		Workers: c.Limits.Workers, Queue: c.Limits.Queue, SnapshotEvery: c.Limits.SnapshotEvery,
		Retention:      retention(c.Retention),
		Backups:        lifecycle.Backups{Dir: c.Backups.Path, Keep: c.Backups.Keep, Every: c.Backups.Every},
		RestoreCommand: a.restoreCommand,
		Manifest:       filepath.Join(at.data, lifecycle.ManifestFile),

		Socket: at.socket, Version: a.version, Log: slog.New(slog.DiscardHandler),
	}
	if c.MQTT.Broker != "" {
		o.Publisher = broker.Elsewhere{}
	}
	if c.Diary.Location != "" {
		var err error
		if o.Location, err = time.LoadLocation(c.Diary.Location); err != nil {
			return o, err
		}
	}
	embedder, err := builtin.NewEmbedder(builtin.Options{MaxPieces: c.Model.MaxPieces})
	if err != nil {
		return o, fmt.Errorf("built-in embedder: %w", err)
	}
	assessor, err := builtin.NewAssessor()
	if err != nil {
		return o, fmt.Errorf("built-in assessor: %w", err)
	}
	o.Embedder, o.Assessor = embedder, assessor
	return o, withModels(&o, c.Model)
}
