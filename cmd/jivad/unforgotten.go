package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jivad/jivad/internal/api"
	"github.com/jivad/jivad/lifecycle"
)

// How a forgetting can end otherwise than with a receipt.
var (
	errNothingForgotten = errors.New("interrupted; nothing was forgotten")
	errForgottenAlready = errors.New("interrupted too late: it was forgotten already; look with jivad verify --absent")
	errNotKnown         = errors.New("whether it was forgotten is not known: look with jivad forget --dry-run")
)

// changedError: entries that a plan showed are not there any more. It is an
// ErrNotFound.
type changedError struct{ cause error }

func (changedError) Error() string {
	return "what was shown has changed meanwhile: some of it is not there any more, and nothing else was forgotten; look again with --dry-run"
}

func (e changedError) Unwrap() error { return e.cause }

// unforgotten says what an error of Forget means for the entries that were to go.
func unforgotten(ctx context.Context, c companion, exactly lifecycle.ForgetQuery, err error) error {
	_, daemon := c.(*api.Client)
	switch {
	case errors.Is(err, context.Canceled) && daemon:
		return afterInterruption(context.WithoutCancel(ctx), c, exactly)
	case errors.Is(err, context.Canceled):
		return errNothingForgotten
	case errors.Is(err, api.ErrUnreachable):
		return fmt.Errorf("%w in the middle of the work; %w", api.ErrUnreachable, errNotKnown)
	case errors.Is(err, lifecycle.ErrNotFound):
		return changedError{err}
	}
	return err
}

// afterInterruption asks the daemon what became of a forgetting: it may have come
// so far that nothing could end it any more.
func afterInterruption(ctx context.Context, c companion, exactly lifecycle.ForgetQuery) error {
	const most = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	notKnown := fmt.Errorf("interrupted; %w", errNotKnown)
	// The daemon does one thing after the other: one that names nothing is refused
	// when the one before it is over.
	if _, err := c.Forget(ctx, lifecycle.ForgetQuery{}, nil); !errors.Is(err, lifecycle.ErrQuery) {
		return notKnown
	}
	switch _, err := c.PlanForget(ctx, exactly); {
	case err == nil:
		return errNothingForgotten
	case errors.Is(err, lifecycle.ErrNotFound):
		return errForgottenAlready
	}
	return notKnown
}
