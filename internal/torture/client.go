package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jivad/jivad/internal/api"
	"github.com/jivad/jivad/lifecycle"
)

// client asks a daemon, and waits for each answer for so long at most: a daemon that
// takes connections no more would hold a round for ever.
type client struct {
	daemon *api.Client
	most   time.Duration
}

// dial returns a client for the daemon at a socket.
func dial(ctx context.Context, socket string) (*client, error) {
	daemon, err := within(ctx, patience, func(ctx context.Context) (*api.Client, error) { return api.Dial(ctx, socket) })
	if err != nil {
		return nil, err
	}
	return &client{daemon, patience}, nil
}

// within does f, which hangs where it takes longer.
func within[T any](ctx context.Context, most time.Duration, f func(context.Context) (T, error)) (T, error) {
	bound, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	out, err := f(bound)
	// Another's deadline is that one's to tell.
	if err != nil && errors.Is(bound.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		err = fmt.Errorf("%w: no answer after %v: %w", errHangs, most, err)
	}
	return out, err
}

func (c *client) Status(ctx context.Context) (lifecycle.Status, error) {
	return within(ctx, c.most, c.daemon.Status)
}

func (c *client) Sessions(ctx context.Context) ([]lifecycle.SessionReport, error) {
	return within(ctx, c.most, c.daemon.Sessions)
}

func (c *client) EndSession(ctx context.Context) (lifecycle.SessionReport, error) {
	return within(ctx, c.most, c.daemon.EndSession)
}

func (c *client) Write(ctx context.Context, n lifecycle.Note) (lifecycle.Receipt, error) {
	return within(ctx, c.most, func(ctx context.Context) (lifecycle.Receipt, error) { return c.daemon.Write(ctx, n) })
}

func (c *client) Import(ctx context.Context, notes []lifecycle.Note, progress func(lifecycle.Progress)) (lifecycle.ImportReport, error) {
	return within(ctx, c.most, func(ctx context.Context) (lifecycle.ImportReport, error) {
		return c.daemon.Import(ctx, notes, progress)
	})
}

func (c *client) PlanForget(ctx context.Context, q lifecycle.ForgetQuery) (lifecycle.ForgetPlan, error) {
	return within(ctx, c.most, func(ctx context.Context) (lifecycle.ForgetPlan, error) { return c.daemon.PlanForget(ctx, q) })
}

func (c *client) Forget(ctx context.Context, q lifecycle.ForgetQuery, progress func(lifecycle.Progress)) (lifecycle.ForgetReceipt, error) {
	return within(ctx, c.most, func(ctx context.Context) (lifecycle.ForgetReceipt, error) {
		return c.daemon.Forget(ctx, q, progress)
	})
}

func (c *client) Show(ctx context.Context, id string) (lifecycle.Impression, error) {
	return within(ctx, c.most, func(ctx context.Context) (lifecycle.Impression, error) { return c.daemon.Show(ctx, id) })
}

func (c *client) Verify(ctx context.Context, full bool, progress func(lifecycle.Progress)) (lifecycle.VerifyReport, error) {
	return within(ctx, c.most, func(ctx context.Context) (lifecycle.VerifyReport, error) {
		return c.daemon.Verify(ctx, full, progress)
	})
}

func (c *client) Talk(ctx context.Context, said string) (lifecycle.TalkReport, error) {
	return within(ctx, c.most, func(ctx context.Context) (lifecycle.TalkReport, error) {
		return c.daemon.Talk(ctx, lifecycle.TalkRequest{Said: said}, func(string) error { return nil })
	})
}

func (c *client) Rate(ctx context.Context, life int64, valence float64) (lifecycle.Life, error) {
	return within(ctx, c.most, func(ctx context.Context) (lifecycle.Life, error) { return c.daemon.Rate(ctx, life, valence) })
}

func (c *client) Lives(ctx context.Context, most int) ([]lifecycle.Life, error) {
	return within(ctx, c.most, func(ctx context.Context) ([]lifecycle.Life, error) { return c.daemon.Lives(ctx, most) })
}

func (c *client) Lineage(ctx context.Context) (lifecycle.LineageSummary, error) {
	return within(ctx, c.most, c.daemon.Lineage)
}

func (c *client) VerifyLineage(ctx context.Context) (lifecycle.LineageCheck, error) {
	return within(ctx, c.most, c.daemon.VerifyLineage)
}

func (c *client) Excisions(ctx context.Context) ([]lifecycle.ExcisionRecord, error) {
	return within(ctx, c.most, c.daemon.Excisions)
}
