package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/boards"
	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/lifecycle"
)

func (a *app) reembedVerb() *cobra.Command {
	var leaveOut bool
	cmd := &cobra.Command{
		Use:   "reembed",
		Short: "Compute all vectors anew, when the embedder is another one",
		Long: `Gives every impression a new vector by the configured embedder, when that is not the one that
made the store's vectors. Who the companion has become does not change: depths and
characters stay. An impression whose text is not kept has no place among the new vectors:
nothing wakes it any more, and it fades.

The daemon must not run. An open session is ended first. The store changes in one moment, at
the end; work that is interrupted before goes on where it was when the verb is called again.
It takes as much room on the disk as the store and the new vectors have.`,
		Example: "  systemctl --user stop jivad\n  jivad reembed\n  jivad reembed --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.reembed(cmd.Context(), leaveOut)
		},
	}
	cmd.Flags().BoolVar(&leaveOut, "leave-out", false, "leave entries that the embedder cannot read without a place")
	return cmd
}

func (a *app) reembed(ctx context.Context, leaveOut bool) error {
	settings, at, err := a.find()
	if err != nil {
		return err
	}
	if err := a.missing(at); err != nil {
		return err
	}
	profile, _, _ := boards.Detect("/")
	o, err := a.options(settings.On(profile), at)
	if err == nil {
		err = embedderNow(ctx, &o)
	}
	if err != nil {
		return err
	}
	bar := a.progress("entries", 1)
	report, err := lifecycle.Reembed(ctx, o, lifecycle.ReembedOptions{LeaveOut: leaveOut, Progress: bar.show})
	bar.end()
	switch {
	case errors.Is(err, chitta.ErrLocked):
		var inUse *chitta.Error
		if errors.As(err, &inUse) { // a daemon cannot be asked for this
			err = &chitta.Error{Op: inUse.Op, Path: inUse.Path, Err: inUse.Err, Hint: "Stop it first."}
		}
		return fmt.Errorf("vectors are computed anew only while no daemon runs: %w", err)
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted; the vectors are the old ones still, and what was computed is kept: run jivad reembed again")
	case errors.Is(err, lifecycle.ErrUnread) && !leaveOut:
		return fmt.Errorf("%w. With --leave-out such entries stay without a place", err)
	case err != nil:
		return err
	}
	return a.answer(report, func(p *printer) { tellReembed(p, report) })
}

func tellReembed(p *printer, r lifecycle.ReembedReport) {
	now := fmt.Sprintf("%s (%s)", r.Embedder, count(r.Dim, "dimension", "dimensions"))
	if r.From == r.Embedder && r.FromDim == r.Dim {
		p.line("Nothing to do: the vectors are by %s already.", now)
		return
	}
	before := ""
	if r.Resumed > 0 {
		before = fmt.Sprintf(" and %d before", r.Resumed)
	}
	p.line("%s by %s: %s computed now%s.", count(r.Impressions, "impression", "impressions"), now, count(r.Embedded, "vector", "vectors"), before)
	if r.Unplaced > 0 {
		text := "their text is"
		if r.Unplaced == 1 {
			text = "its text is"
		}
		p.line("%d without a place: %s not kept, or the embedder cannot read it.", r.Unplaced, text)
	}
	rate := ""
	if r.PerMinute > 0 {
		rate = fmt.Sprintf(", %.0f entries a minute", r.PerMinute)
	}
	p.line("%s", p.dim(time.Duration(r.Seconds*float64(time.Second)).Round(100*time.Millisecond).String()+rate))
}

// reading is with for verbs that only look. A store of another embedder answers
// them all the same, without meaning.
func (a *app) reading(ctx context.Context, f func(ctx context.Context, c companion) error) error {
	return a.looked(ctx, func(err error) {
		if !a.flags.quiet {
			fmt.Fprintf(a.stderr, "jivad: %s\nUntil then it is only looked at, and recall goes by words.\n", harmless(err.Error()))
		}
	}, f)
}

// looked is reading with tell, where it is not nil, told of another embedder. The status
// tells of it itself.
func (a *app) looked(ctx context.Context, tell func(error), f func(ctx context.Context, c companion) error) error {
	err := a.with(ctx, f)
	if !errors.Is(err, lifecycle.ErrEmbedder) {
		return err
	}
	if tell != nil {
		tell(err)
	}
	return a.looking(ctx, f)
}
