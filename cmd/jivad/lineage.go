package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/internal/faults"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/soul/lineage"
)

func (a *app) lineageVerb() *cobra.Command {
	verbs := []string{"verify", "render", "rules", "blame", "prove"}
	cmd := &cobra.Command{
		Use:   "lineage",
		Short: "Tell what lives have left: rules, their versions and who made them",
		Long: `Tells where the lineage is. It is the chain of what lives were distilled to: rules, each with
a weight, and no word of what happened. A version of it is a digest of the set of all that
is in it, the same on every machine. In --json weights are in millionths.`,
		Example: "  jivad lineage\n  jivad lineage rules\n  jivad lineage blame companion.brevity",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			hint := "it takes verify, render, rules, blame or prove"
			if n := faults.Nearest(args[0], verbs); n != "" {
				hint = "did you mean " + n + "?"
			}
			return fmt.Errorf("unknown command %q for %s; %s", args[0], cmd.CommandPath(), hint)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.reading(cmd.Context(), func(ctx context.Context, c companion) error {
				k, err := c.Lineage(ctx)
				if err != nil {
					return err
				}
				return a.answer(k, func(p *printer) { tellLineage(p, k) })
			})
		},
	}
	cmd.AddCommand(a.lineageVerify(), a.lineageRender(), a.lineageRules(), a.lineageBlame(), a.lineageProve())
	return cmd
}

func tellLineage(p *printer, k lifecycle.LineageSummary) {
	p.row("genesis", "%s", k.Root)
	identity := "none before the first life"
	if k.Identity != (lineage.Digest{}) {
		identity = k.Identity.String()
	}
	p.row("identity", "%s", identity)
	p.row("head", "%s", k.Head)
	if k.Device != (lineage.Key{}) {
		p.row("device", "%s", k.Device)
	}
	p.row("distillates", "%d, in %s", k.Distillates, count(k.Batches, "batch", "batches"))
	p.row("rules", "%d, %d of them contested", k.Rules, k.Contested)
	if k.Converged {
		p.row("converged", "yes: the last lives moved next to nothing")
	} else {
		p.row("converged", "no")
	}
	p.row("lives", "%d on this device; %d for you to judge, %d in quarantine", k.Lives, k.Waiting, k.Quarantined)
	for _, m := range k.Missing {
		tellLack(p, m.What, m.Mend)
	}
}

func (a *app) lineageVerify() *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Read the whole lineage anew and compare every version",
		Long: `Reads every distillate, its form and its signature, folds the chain from its beginning and
compares every version; sees that nothing of an excised life is there, and that each life
of this device was distilled once. It changes nothing.`,
		Example: "  jivad lineage verify",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.looking(cmd.Context(), func(ctx context.Context, c companion) error {
				r, err := c.VerifyLineage(ctx)
				if err != nil {
					return err
				}
				return a.answer(r, func(p *printer) {
					p.line("%s  %s of %s, every version the same when folded again", p.good("ok  "), count(r.Distillates, "distillate", "distillates"), count(int(r.Lives), "life", "lives"))
					p.line("%s", p.dim("head "+r.Head.String()))
				})
			})
		},
	}
}

func (a *app) lineageRender() *cobra.Command {
	var version string
	cmd := &cobra.Command{
		Use:     "render",
		Short:   "Print the rules as they enter a prompt, byte for byte",
		Long:    "Prints the rules of a version as they enter a prompt: the same version gives the same bytes. Nothing is printed where it has none.",
		Example: "  jivad lineage render\n  jivad lineage render --version 3f0c9a2b",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.reading(cmd.Context(), func(ctx context.Context, c companion) error {
				r, err := c.RenderLineage(ctx, version)
				if err != nil {
					return err
				}
				return a.answer(r, func(p *printer) { _, _ = p.out.WriteString(harmless(r.Text)) })
			})
		},
	}
	cmd.Flags().StringVar(&version, "version", "", "`VERSION` of the lineage, or the beginning of one (default: the head)")
	return cmd
}

func (a *app) lineageRules() *cobra.Command {
	return &cobra.Command{
		Use:   "rules",
		Short: "List all rules with their weights",
		Long: `Lists all rules. The weight, from -1 (avoid) to 1 (prefer), is what lives were judged, by
confidence; support counts the lives. A rule is contested where both sides have a quarter
of the confidence or more: then it enters a prompt as a question.`,
		Example: "  jivad lineage rules\n  jivad lineage rules --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.reading(cmd.Context(), func(ctx context.Context, c companion) error {
				rules, err := c.LineageRules(ctx)
				if err != nil {
					return err
				}
				return a.answer(rules, func(p *printer) { tellRules(p, rules) })
			})
		},
	}
}

func tellRules(p *printer, rules []lifecycle.LineageRule) {
	if len(rules) == 0 {
		p.line("No rule yet: a life leaves some once it has ended and was judged (jivad rate).")
		return
	}
	rows := make([][]string, len(rules))
	for i, r := range rules {
		contested := ""
		if r.Contested {
			contested = "yes"
		}
		rows[i] = []string{millionths(r.Weight), strconv.Itoa(r.Support), contested, oneLine(r.Key), oneLine(r.Guidance)}
	}
	p.table([]string{">weight", ">support", "contested", "rule", "what it says"}, rows)
}

func (a *app) lineageBlame() *cobra.Command {
	return &cobra.Command{
		Use:     "blame KEY",
		Short:   "List who made a rule what it is",
		Example: "  jivad lineage blame companion.brevity",
		Args:    exactArgs(1, "the key of a rule, as jivad lineage rules lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.reading(cmd.Context(), func(ctx context.Context, c companion) error {
				shares, err := c.Blame(ctx, args[0])
				if errors.Is(err, lifecycle.ErrNotInLineage) {
					return fmt.Errorf("%w; jivad lineage rules lists them", err)
				}
				if err != nil {
					return err
				}
				return a.answer(shares, func(p *printer) { tellShares(p, shares) })
			})
		},
	}
}

func tellShares(p *printer, shares []lifecycle.RuleShare) {
	rows := make([][]string, len(shares))
	for i, s := range shares {
		said := oneLine(s.Guidance)
		switch {
		case s.Ignored:
			said += " (another of the same life counts)"
		case s.Words:
			said += " (the rule's words)"
		}
		rows[i] = []string{millionths(s.Weight), fmt.Sprintf("%.2f", float64(s.Counts)/lineage.Million), short(s.Digest.String()), tail(s.Life.String()), short(s.Device.String()), said}
	}
	p.table([]string{">weight", ">counts", "distillate", "life", "device", "what it says"}, rows)
}
