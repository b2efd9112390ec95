package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/lives"
)

func (a *app) rateVerb() *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use:   "rate [LIFE] VALUE",
		Short: "Judge a life, from -1 (bad) to 1 (good)",
		Long: `Says how content you are with a life: what it taught gets your judgement as its weight, and
nothing else. Without LIFE it is the one that is lived now, or else the last that waits for
a judgement. A life that is lived may be rated again; one that has ended is distilled with
your rating at once, and is settled then. How long a life waits for you, lives show tells.

What you say with --note is kept with the life, and shown with it; it changes no weight, and
no rule is made of it. It goes when you forget anything, or excise the life.`,
		Example: "  jivad rate 1\n  jivad rate -0.5\n  jivad rate 3 -1 --note 'It asked before each step.'",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return fmt.Errorf("%s takes the number of a life, if not the last, and a value from -1 to 1", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			value, err := ratingIn(args[len(args)-1])
			if err != nil {
				return err
			}
			var life int64
			if len(args) == 2 {
				if life, err = lifeNumber(args[0]); err != nil {
					return err
				}
			}
			return a.with(cmd.Context(), func(ctx context.Context, c companion) error {
				l, err := c.RateWith(ctx, life, value, note)
				if errors.Is(err, lifecycle.ErrSettled) {
					return fmt.Errorf("%w; a life is rated while it is lived or waits for it (jivad lives), and what a settled one taught goes with jivad excise", err)
				}
				if err != nil {
					return err
				}
				return a.answer(l, func(p *printer) {
					tellRated(p, l)
					if l.Note == "" && strings.TrimSpace(note) != "" {
						p.line("Your note is not kept: you do not let communications be stored (jivad consent show).")
					}
				})
			})
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "what you say to it, at most 500 characters")
	return cmd
}

// ratingIn reads a rating. The minus may be the sign of print.
func ratingIn(text string) (float64, error) {
	value, err := strconv.ParseFloat(strings.Replace(text, "−", "-", 1), 64)
	if err != nil || !(value >= -1 && value <= 1) {
		return 0, usage("a rating is a number from -1 to 1, not %q", text)
	}
	return value, nil
}

func tellRated(p *printer, l lifecycle.Life) {
	became := says(l)
	switch {
	case l.State.Living():
		became = "lived now, and distilled with this rating when it ends; you may still change it"
	case l.Obligation.Status == lives.Met:
		became = "distilled, distillate " + short(l.Obligation.Distillate.String())
	case l.Obligation.Status == lives.Owed:
		became = "to be distilled with this rating"
	}
	p.line("Life %d is rated %s: %s.", l.Sequence, ratingOf(l), became)
}

var negative = regexp.MustCompile(`^-(\d+\.?\d*|\.\d+)$`)

// negativesLast puts what rate is given behind its flags, so that a negative number is not
// taken for one of them. Other calls stay as they are.
func negativesLast(args []string) []string {
	if slices.Contains(args, "--") || !slices.ContainsFunc(args, negative.MatchString) {
		return args
	}
	var flags, words []string
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case slices.Contains([]string{"--config", "--data", "--socket", "--note"}, arg) && i+1 < len(args):
			flags = append(flags, arg, args[i+1])
			i++
		case strings.HasPrefix(arg, "-") && !negative.MatchString(arg):
			flags = append(flags, arg)
		default:
			words = append(words, arg)
		}
	}
	if words[0] != "rate" {
		return args
	}
	return slices.Concat(words[:1], flags, []string{"--"}, words[1:])
}
