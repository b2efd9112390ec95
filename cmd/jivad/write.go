package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/lifecycle"
)

func (a *app) writeVerb() *cobra.Command {
	note := lifecycle.Note{Source: "write"} // the same with a daemon and without
	cmd := &cobra.Command{
		Use:   "write [TEXT... | -]",
		Short: "Remember one entry, now",
		Long:  "Remembers one entry in the session of today and tells what it did.\nWithout a text, or with -, the entry is read from standard input.",
		Example: `  jivad write "Sat for twenty minutes. The count got to six."
  jivad write - < entry.txt
  jivad write --date 2024-05-01 "What I remember of that day."`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := lifecycle.CheckCategory(note.Category); err != nil {
				return fmt.Errorf("--category %s: %w", note.Category, err)
			}
			var err error
			if note.Text, err = a.textOf(args); err != nil {
				return err
			}
			return a.with(cmd.Context(), func(ctx context.Context, c companion) error {
				r, err := c.Write(ctx, note)
				if err != nil {
					return err
				}
				if a.flags.quiet && !a.flags.json {
					return nil
				}
				return a.answer(r, func(p *printer) { tellReceipt(p, r, note.Category) })
			})
		},
	}
	cmd.Flags().StringVar(&note.Date, "date", "", "day that the entry is about, `YYYY-MM-DD` (default: today)")
	cmd.Flags().StringVar(&note.Category, "category", "", "consent category: "+strings.Join(lifecycle.Categories(), ", ")+" (default: "+lifecycle.DefaultCategory+")")
	return cmd
}

// textOf takes the entry from the arguments or from standard input.
func (a *app) textOf(args []string) (string, error) {
	if len(args) > 0 && !(len(args) == 1 && args[0] == "-") {
		return strings.Join(args, " "), nil
	}
	if len(args) == 0 && isTerminal(a.stdin) {
		return "", usage("nothing to remember: give a text, or - to read one from standard input")
	}
	text, err := io.ReadAll(io.LimitReader(a.stdin, lifecycle.MaxNote+1))
	if err != nil {
		return "", fmt.Errorf("standard input: %w", err)
	}
	return string(text), nil
}

func tellReceipt(p *printer, r lifecycle.Receipt, category string) {
	if r.Duplicate {
		p.line("Remembered already as %s; nothing changed.", tail(r.Event))
		return
	}
	what := "an impression of its own"
	if !r.Created {
		what = "no impression of its own, since nothing in it was new"
	}
	p.line("Remembered as %s in session %d: %s; %d woken, %d brushed, %d held down.", p.bold(tail(r.Event)), r.Session, what, r.Reactivate, r.Soft, r.Suppressed)
	p.line("%s", p.dim(fmt.Sprintf("force %.2f  focus %.2f  threshold %.2f  novelty %.2f  %s", r.Weight, r.Focus, r.Theta, r.Novelty, shares(r.Shares))))
	if category != "" {
		p.line("%s", p.dim("category "+category))
	}
	if r.Withheld != "" {
		p.line("No text of it is kept, only its impression: you have not allowed to store what is about %s. To have such texts kept from now on: %s", r.Withheld, r.Allow)
	}
}

// shares writes a character.
func shares(s lifecycle.Shares) string {
	p := percents(s)
	return "tamas " + p[0] + ", rajas " + p[1] + ", sattva " + p[2]
}
