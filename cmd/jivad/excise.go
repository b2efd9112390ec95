package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/soul/lineage"
)

// errNothingExcised and errExcisedUnknown are how an interrupted excision ends.
var (
	errNothingExcised = errors.New("interrupted; nothing was excised")
	errExcisedUnknown = errors.New("whether it was excised is not known: look with jivad lineage, and with jivad excise --dry-run")
)

// excising is what the verb answers.
type excising struct {
	DryRun  bool                       `json:"dry_run,omitempty"`
	Plan    lifecycle.ExcisionPlan     `json:"plan"`
	Receipt *lifecycle.ExcisionReceipt `json:"receipt,omitempty"`
}

func (a *app) exciseVerb() *cobra.Command {
	var q lifecycle.ExcisionRequest
	var descendants, yes, dryRun bool
	cmd := &cobra.Command{
		Use:   "excise LIFE...",
		Short: "Take what lives taught out, as if they had never been distilled",
		Long: `Takes what lives were distilled to out of the lineage. LIFE is the number of a life of this
device, or the beginning of its id or of that of its distillate. It shows what would go, and
the version of the lineage before and after, and asks before it does it.

The lineage is then, bit for bit, the one that never had them. The store is written anew,
SOUL.md too, and versions of it and backups that may hold what went are removed; an open
session is ended first. A record of the excision stays, with nothing of what went in it.
The entries of those lives stay: jivad forget takes those out.

Lives that were born later may have been shaped by what goes. --descendants lists those, and
--close takes them out too.`,
		Example: "  jivad excise 12 --dry-run\n  jivad excise 12 --descendants\n  jivad excise 12 --close --yes",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s takes the lives to take out: jivad lives lists them", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Lives, q.Who = args, "jivad excise"
			return a.with(cmd.Context(), func(ctx context.Context, c companion) error {
				return a.excise(ctx, c, q, descendants, yes, dryRun)
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&descendants, "descendants", false, "list what later lives left that were born with what goes")
	f.BoolVar(&q.Close, "close", false, "take those out too")
	f.BoolVar(&yes, "yes", false, "do not ask")
	f.BoolVar(&dryRun, "dry-run", false, "show what would go, and change nothing")
	return cmd
}

func (a *app) excise(ctx context.Context, c companion, q lifecycle.ExcisionRequest, descendants, yes, dryRun bool) error {
	plan, err := c.PlanExcise(ctx, q)
	if err != nil {
		return err
	}
	out := excising{DryRun: dryRun, Plan: plan}
	show := func(p *printer) { tellExcisionPlan(p, plan, q.Close, descendants) }
	if dryRun {
		return a.answer(out, func(p *printer) { show(p); p.line("Nothing was changed.") })
	}
	if plan.Done() {
		yes = true // there is nothing to be asked
	}
	if !yes {
		agreed, err := a.ask(ctx, show, "Excise "+count(len(plan.Lives), "life", "lives")+"?", "Nothing was excised.")
		if errors.Is(err, context.Canceled) {
			return errNothingExcised
		}
		if err != nil || !agreed {
			return err
		}
	} else if !a.flags.quiet && !a.flags.json && !plan.Done() {
		fmt.Fprintln(a.stderr, versionsLine(plan))
	}
	q.Head = plan.Before.String()
	receipt, err := c.ExciseLives(ctx, q)
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("interrupted; %w", errExcisedUnknown)
	}
	if err != nil {
		return err
	}
	out.Receipt = &receipt
	err = a.answer(out, func(p *printer) { tellExcised(p, receipt) })
	if receipt.Left+receipt.Present+len(receipt.Files)+len(receipt.Missing) > 0 {
		err = errors.Join(err, errFoundFaults)
	}
	return err
}

// versionsLine names the version before and after.
func versionsLine(plan lifecycle.ExcisionPlan) string {
	if plan.Before == plan.After {
		return fmt.Sprintf("The lineage stays at version %s: they left nothing in it.", plan.Before)
	}
	return fmt.Sprintf("The lineage goes from version %s\nto version %s.", plan.Before, plan.After)
}

func tellExcisionPlan(p *printer, plan lifecycle.ExcisionPlan, closing, list bool) {
	if plan.Done() {
		p.line("%s excised already: nothing of what was taught is in the lineage.", count(len(plan.Lives), "life is", "lives are"))
		return
	}
	if n := len(plan.Already); n > 0 {
		p.line("%d of them excised already.", n)
	}
	p.line("%s would go, with %s.", count(len(plan.Lives)-len(plan.Already), "life", "lives"), count(len(plan.Digests), "distillate", "distillates"))
	for _, d := range plan.Digests {
		p.line("  %s", d)
	}
	p.line("%s", versionsLine(plan))
	if n := len(plan.Descendants); n > 0 {
		what := count(n, "distillate is of a later life that was", "distillates are of later lives that were") + " born with what goes"
		switch {
		case closing && n == 1:
			p.line("%s, and goes too.", what)
		case closing:
			p.line("%s, and go too.", what)
		case n == 1:
			p.line("%s, and stays (--close takes it out too).", what)
		default:
			p.line("%s, and stay (--close takes them out too).", what)
		}
		tellDigests(p, plan.Descendants, list && !closing)
	} else if list {
		p.line("No later life that left something was born with what goes.")
	}
	if n := len(plan.Waiting); n > 0 {
		p.line("%s born with it, and left nothing in the lineage yet: %s.", count(n, "life of this device was", "lives of this device were"),
			map[bool]string{true: "what is kept of that goes too", false: "that stays (--close takes it out too)"}[closing])
	}
	if n := len(plan.Unknown); n > 0 {
		p.line("%s born with a version that this device never had: whether what goes is in it is not known. What they left stays.",
			count(n, "life was", "lives were"))
		tellDigests(p, plan.Unknown, list)
	}
	p.line("An open session is ended first. Automatic backups of before are removed.")
	p.line("%s", p.dim(whatStaysOfLives))
}

// whatStaysOfLives is what no excision reaches.
const whatStaysOfLives = "Out of reach: backups that you made by hand elsewhere keep what they held, and so do copies of SOUL.md and old pages of flash memory."

func tellDigests(p *printer, digests []lineage.Digest, list bool) {
	for _, d := range digests {
		if list {
			p.line("  %s", d)
		}
	}
}

func tellExcised(p *printer, r lifecycle.ExcisionReceipt) {
	if r.Already {
		p.line("%s excised already, with what may have been left undone then. %s and %s are in the lineage.", count(len(r.Lives), "life is", "lives are"),
			count(r.Remaining, "distillate", "distillates"), count(r.Rules, "rule", "rules"))
		p.line("Read again: %s of then seen absent, %d in the store, %d not proven absent.",
			count(len(r.Digests)-max(r.Left, r.Present), "distillate", "distillates"), r.Left, r.Present)
		return
	}
	p.line("%s excised, with %s. %s and %s are left in the lineage.", count(len(r.Lives), "life is", "lives are"),
		count(len(r.Digests), "distillate", "distillates"), count(r.Remaining, "distillate", "distillates"), count(r.Rules, "rule", "rules"))
	for _, d := range r.Digests {
		p.line("  %s", d)
	}
	p.line("The lineage is at version %s.", r.After)
	p.line("Read again afterwards: %d of them in the store, %d not proven absent, %s one.", r.Left, r.Present,
		count(len(r.Files), "file that holds", "files that hold"))
	for _, f := range r.Files {
		p.line("  %s", p.bad(oneLine(f)))
	}
	if len(r.Files) > 0 {
		p.line("Remove what you do not need of those: backups made by hand stay.")
	}
	if r.Elsewhere > 0 {
		p.line("%s of them is in what stays too, so it is still found.", count(r.Elsewhere, "sentence", "sentences"))
	}
	if r.Backups > 0 {
		p.line("Also removed: %s.", count(r.Backups, "backup that may have held it", "backups that may have held it"))
	}
	if len(r.Missing) > 0 {
		p.line("Not there now, so not looked at: %s", p.bad(oneLine(strings.Join(r.Missing, ", "))))
	}
	p.line("%s", p.dim(whatStaysOfLives))
	p.line("%s", p.dim(fmt.Sprintf("was version %s; %.1f s", short(r.Before.String()), r.Seconds)))
}
