package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/internal/faults"
	"github.com/jivad/jivad/lifecycle"
)

func (a *app) sessionVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "session",
		Short:   "List, show or end sessions",
		Example: "  jivad session list\n  jivad session show 12\n  jivad session end",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			hint := "it takes list, show or end"
			if n := faults.Nearest(args[0], []string{"list", "show", "end"}); n != "" {
				hint = "did you mean " + n + "?"
			}
			return fmt.Errorf("unknown command %q for %s; %s", args[0], cmd.CommandPath(), hint)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usage("session takes list, show or end; see jivad session --help")
		},
	}
	cmd.AddCommand(a.sessionList(), a.sessionShow(), a.sessionEnd())
	return cmd
}

func (a *app) sessionList() *cobra.Command {
	var last int
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the sessions, oldest first",
		Example: "  jivad session list\n  jivad session list --last 10",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if last < 0 {
				return usage("--last %d: it must be 0 (all) or more", last)
			}
			return a.reading(cmd.Context(), func(ctx context.Context, c companion) error {
				list, err := c.Sessions(ctx)
				if err != nil {
					return err
				}
				if last > 0 && len(list) > last {
					list = list[len(list)-last:]
				}
				return a.answer(list, func(p *printer) { tellSessions(p, list) })
			})
		},
	}
	cmd.Flags().IntVar(&last, "last", 0, "only the last `N` sessions")
	return cmd
}

func tellSessions(p *printer, list []lifecycle.SessionReport) {
	if len(list) == 0 {
		p.line("No session yet: one begins with the first entry.")
		return
	}
	rows := make([][]string, len(list))
	for i, s := range list {
		ended := endedBy(s.Reason)
		if s.Open {
			ended = "open"
		}
		rows[i] = []string{strconv.Itoa(s.Number), dash(s.Date), strconv.Itoa(s.Events), strconv.Itoa(s.New), strconv.Itoa(s.Reactivated), figure(s.WitnessGap), livesOf(s), ended}
	}
	p.table([]string{">session", "date", ">entries", ">new", ">woken", ">gap", ">life", "ended by"}, rows)
}

func (a *app) sessionShow() *cobra.Command {
	return &cobra.Command{
		Use:     "show [NUMBER]",
		Short:   "Show one session; the latest without a number",
		Example: "  jivad session show\n  jivad session show 12",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			number := 0
			if len(args) == 1 {
				var err error
				if number, err = strconv.Atoi(args[0]); err != nil || number < 1 {
					return usage("session %q: sessions are counted from 1", args[0])
				}
			}
			return a.reading(cmd.Context(), func(ctx context.Context, c companion) error {
				s, err := c.Session(ctx, number)
				if err != nil {
					return err
				}
				return a.answer(s, func(p *printer) { tellSession(p, s) })
			})
		},
	}
}

func (a *app) sessionEnd() *cobra.Command {
	return &cobra.Command{
		Use:     "end",
		Short:   "End the open session: tendencies, SOUL.md, one more point of the trend",
		Example: "  jivad session end",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(ctx context.Context, c companion) error {
				s, err := c.EndSession(ctx)
				if err != nil {
					return err
				}
				return a.answer(s, func(p *printer) { tellSession(p, s) })
			})
		},
	}
}

func tellSession(p *printer, s lifecycle.SessionReport) {
	if s.Number == 0 {
		p.line("Life %s ended. It had no session: nothing was kept in it.", livesOf(s))
		return
	}
	state := "ended by " + endedBy(s.Reason)
	if s.Open {
		state = "open"
	}
	p.row("session", "%d of %s, %s", s.Number, dash(s.Date), state)
	p.row("entries", "%d; %s", s.Events, count(s.New, "new impression", "new impressions"))
	p.row("older ones", "%d woken, %d brushed, %d held down", s.Reactivated, s.Soft, s.Suppressed)
	p.row("witness gap", "%s", figure(s.WitnessGap))
	if len(s.Lives) > 0 {
		p.row("life", "%s", livesOf(s))
	}
}

// livesOf are the numbers of the lives of a session.
func livesOf(s lifecycle.SessionReport) string {
	var out []string
	for _, n := range s.Lives {
		out = append(out, strconv.FormatInt(n, 10))
	}
	return dash(strings.Join(out, ", "))
}

// endedBy says in words why a session ended; --json has the short name.
func endedBy(reason string) string {
	switch reason {
	case "end":
		return "session end"
	case "idle":
		return "a pause in writing"
	case "roll":
		return "a new day"
	case "stop":
		return "the daemon's stop"
	case "import":
		return "older entries taken in"
	case "recovery":
		return "a start after a break"
	case "reembed":
		return "reembed"
	case "excise":
		return "an excision"
	}
	return dash(oneLine(reason))
}

// figure writes a value that may be undefined.
func figure(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f", *x)
}
