package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/internal/faults"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/consent"
)

func (a *app) consentVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "consent",
		Short: "Show or say what may be done with which kind of text",
		Long: `What may be done with what you write is a grid: nine kinds of data, and eight uses of them,
each allow, ask or deny. What you say holds from then on, and what you take away is taken
away at once. Nothing that you said is ever overwritten: jivad consent show --history.`,
		Example: "  jivad consent show\n  jivad consent set health.storage=allow health.access=allow\n  jivad consent set 'location.*=deny' --dry-run",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			hint := "it takes show or set"
			if n := faults.Nearest(args[0], []string{"show", "set"}); n != "" {
				hint = "did you mean " + n + "?"
			}
			return fmt.Errorf("unknown command %q for %s; %s", args[0], cmd.CommandPath(), hint)
		},
		RunE: func(*cobra.Command, []string) error {
			return usage("consent takes show or set; see jivad consent --help")
		},
	}
	cmd.AddCommand(a.consentShow(), a.consentSet())
	return cmd
}

func (a *app) consentShow() *cobra.Command {
	var history bool
	cmd := &cobra.Command{
		Use:   "show [SELECTOR]",
		Short: "Show the grid, or a part of it",
		Long: `Shows what is allowed. SELECTOR is a kind of data (health), a use (training), or one place
of the grid (health.training). With --history it tells what was said, by whom and when,
and what was done for it.`,
		Example: "  jivad consent show\n  jivad consent show health\n  jivad consent show --history --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var part consent.Selector
			if len(args) == 1 {
				var err error
				if part, err = consent.ParseSelector(args[0]); err != nil {
					return usage("%w", err)
				}
			}
			return a.looking(cmd.Context(), func(ctx context.Context, c companion) error {
				view, err := c.Consent(ctx)
				if err != nil {
					return err
				}
				view = partOf(view, part)
				return a.answer(view, func(p *printer) { tellConsent(p, view, history) })
			})
		},
	}
	cmd.Flags().BoolVar(&history, "history", false, "tell what was said, by whom and when")
	return cmd
}

// partOf is what of a view is about some places of the grid.
func partOf(v lifecycle.ConsentView, s consent.Selector) lifecycle.ConsentView {
	v.Table = v.Table.Only(s)
	records, kept := []consent.Record{}, []lifecycle.ConsentKept{}
	for _, r := range v.Records {
		var changes []consent.Change
		for _, c := range r.Changes {
			if s.Has(c.Cell) {
				changes = append(changes, c)
			}
		}
		if r.Changes = changes; len(changes) > 0 {
			records = append(records, r)
		}
	}
	for _, k := range v.Kept {
		if s.Category == 0 || s.Category == k.Category {
			kept = append(kept, k)
		}
	}
	v.Records, v.Kept = records, kept
	return v
}

func tellConsent(p *printer, v lifecycle.ConsentView, history bool) {
	for line := range strings.Lines(v.Table.Text()) {
		p.line("%s", strings.TrimRight(line, "\n"))
	}
	for _, k := range v.Kept {
		if k.Resting > 0 {
			p.line("%s", restsUntilSaid(k))
		}
	}
	for _, w := range v.Unfinished {
		p.line("%s", p.bad(fmt.Sprintf("What was said in record %d is not done yet: %s. The next start goes on with it.", w.Version, whyLeft(w))))
	}
	if !history {
		return
	}
	p.line("")
	if len(v.Records) == 0 {
		p.line("Nothing was said yet; all of it is the default.")
	}
	done := map[int][]lifecycle.Withdrawal{}
	for _, w := range v.Withdrawals {
		done[w.Version] = append(done[w.Version], w)
	}
	for _, r := range v.Records {
		clock := ""
		if !r.ClockTrusted {
			clock = " (by a clock that was not set)"
		}
		p.line("%d  %s  %s%s%s", r.Version, r.When.Format("2006-01-02 15:04 MST"), oneLine(r.Who), clock, because(r.Why))
		for _, c := range r.Changes {
			p.line("   %s", c)
		}
		for _, w := range done[r.Version] {
			tellDone(p, w, "   ")
		}
	}
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + oneLine(why)
}

// restsUntilSaid says of texts that they rest, and what wakes or destroys them.
func restsUntilSaid(k lifecycle.ConsentKept) string {
	return fmt.Sprintf("%s: %s there and not used. To have them used: jivad consent set %s.storage=allow %s.access=allow; to destroy them: jivad consent set %s.storage=deny",
		k.Category, count(k.Resting, "text is", "texts are"), k.Category, k.Category, k.Category)
}

func whyLeft(w lifecycle.Withdrawal) string {
	for _, d := range w.Done {
		if d.Failure != "" {
			return strings.TrimSuffix(oneLine(d.Failure), ".")
		}
	}
	return "it was broken off"
}

func (a *app) consentSet() *cobra.Command {
	var why string
	var yes, dryRun bool
	cmd := &cobra.Command{
		Use:   "set SETTING...",
		Short: "Say what may be done, or may not any more",
		Long: `Says what may be done with which kind of data. SETTING is CATEGORY.USE=ANSWER, where
category and use may be * for every one, and the answer is allow, ask or deny. Of two that
meet the more exact one holds.

It shows what that takes away, and asks before it does it. Where storage is denied every text
of the category is destroyed, at once: in the store, which is written anew, in SOUL.md and
its copies, in automatic backups. The impressions stay, and what they count. Where access is
denied the texts stay, and are read no more.`,
		Example: "  jivad consent set health.storage=allow health.access=allow --why \"I want to see what helps\"\n  jivad consent set 'location.*=deny' --dry-run\n  jivad consent set health.storage=deny --yes",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s takes at least one CATEGORY.USE=ANSWER", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			changes, err := consent.ParseSettings(args...)
			if err != nil {
				return usage("%w", err)
			}
			r := lifecycle.ConsentRequest{Changes: changes, Who: a.whoSays(), Why: strings.TrimSpace(why)}
			return a.with(cmd.Context(), func(ctx context.Context, c companion) error {
				return a.setConsent(ctx, c, r, yes, dryRun)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&why, "why", "", "`TEXT` that is kept with it, up to 240 letters")
	f.BoolVar(&yes, "yes", false, "do not ask")
	f.BoolVar(&dryRun, "dry-run", false, "show what it would do, and change nothing")
	return cmd
}

// whoSays names who says something about consent: the user of this machine.
func (a *app) whoSays() string {
	name := a.getenv("USER")
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	name = strings.TrimSpace(oneLine(name))
	if runes := []rune(name); len(runes) > consent.WhoRunes {
		name = string(runes[:consent.WhoRunes])
	}
	if name == "" {
		return "somebody at this machine"
	}
	return name
}

// consenting is what the verb answers.
type consenting struct {
	DryRun bool                  `json:"dry_run,omitempty"`
	Plan   lifecycle.ConsentPlan `json:"plan"`
	Report *lifecycle.Withdrawal `json:"report,omitempty"`
}

func (a *app) setConsent(ctx context.Context, c companion, r lifecycle.ConsentRequest, yes, dryRun bool) error {
	plan, err := c.PlanConsent(ctx, r)
	if err != nil {
		return err
	}
	out := consenting{DryRun: dryRun, Plan: plan}
	if dryRun {
		return a.answer(out, func(p *printer) {
			tellConsentPlan(p, plan)
			p.line("Nothing was changed.")
		})
	}
	if plan.Takes() && !yes {
		agreed, err := a.askToWithdraw(ctx, plan)
		if err != nil || !agreed {
			return err
		}
	}
	bar := a.progress("records", 1)
	report, err := c.SetConsent(ctx, r, bar.show)
	bar.end()
	if err != nil {
		return err
	}
	out.Report = &report
	err = a.answer(out, func(p *printer) {
		p.line("Said, as record %d.", report.Version)
		tellDone(p, report, "")
		for _, k := range plan.Kept {
			if k.Resting > 0 && !purges(plan, k.Category) {
				p.line("%s", restsUntilSaid(k))
			}
		}
	})
	if len(report.Left())+len(report.FilesLeft)+len(report.BackupsLeft)+len(report.Missing) > 0 {
		err = errors.Join(err, errFoundFaults)
	}
	return err
}

func purges(plan lifecycle.ConsentPlan, k consent.Category) bool {
	for _, p := range plan.Purge {
		if p == k {
			return true
		}
	}
	return false
}

func tellConsentPlan(p *printer, plan lifecycle.ConsentPlan) {
	for _, c := range plan.Changes {
		p.line("%s", c)
	}
	if !plan.Takes() {
		p.line("Nothing is taken away by that.")
		return
	}
	for _, l := range append(append([]consent.Loss{}, plan.Withdrawn...), plan.Closed...) {
		p.line("%s, was %s, would be %s", l.Cell, l.From, l.To)
	}
	for _, k := range plan.Kept {
		switch {
		case purges(plan, k.Category):
			p.line("%s: %s would be destroyed; %s.", k.Category, count(k.Texts, "text", "texts"), "the impressions stay")
		case k.Resting > 0:
			p.line("%s: %s would rest unused.", k.Category, count(k.Resting, "text", "texts"))
		}
	}
	for _, h := range plan.Lives {
		p.line("%s: %s in traces of lives, and %s for a judgement, would be destroyed.", h.Category,
			count(h.Acts, "act or word", "acts or words"), count(h.Rules, "rule that waits", "rules that wait"))
	}
	if plan.Versions > 0 {
		p.line("%s of SOUL.md generated since would go too.", count(plan.Versions, "copy", "copies"))
	}
	if n := len(plan.Backups); n > 0 {
		p.line("%s hold it and would go too:", count(n, "backup may", "backups may"))
		for _, path := range plan.Backups {
			p.line("  %s", path)
		}
	}
	tellBackupsLeft(p, plan.BackupsLeft)
	tellYours(p, plan.Diary)
	for _, cell := range plan.Beyond {
		p.line("%s: what went out before cannot be called back from here.", cell)
	}
}

func tellBackupsLeft(p *printer, paths []string) {
	if len(paths) == 0 {
		return
	}
	p.line("%s hold it and stay, made by hand or not to be read. Remove what you do not need:", count(len(paths), "backup may", "backups may"))
	for _, path := range paths {
		p.line("  %s", p.bad(path))
	}
}

func tellYours(p *printer, files []string) {
	if len(files) > 0 {
		p.line("Your own files are not changed and hold what you wrote there: %s", strings.Join(files, ", "))
	}
}

// tellDone tells what was done for something that was said.
func tellDone(p *printer, w lifecycle.Withdrawal, indent string) {
	if w.Restored {
		p.line("%sDone again for what came back with a backup or an export:", indent)
		for _, d := range w.Done {
			if d.Texts+d.Acts+d.Rules > 0 {
				p.line("%s%s: %s destroyed.", indent, d.Category, d.What())
			}
		}
		if w.FoundTexts > 0 {
			p.line("%s%s that a model had found to be of it: destroyed.", indent, count(w.FoundTexts, "text", "texts"))
		}
	} else if !w.Empty() || len(w.Plan.Purge) > 0 {
		for line := range strings.Lines(w.Text()) {
			if len(w.Withdrawn)+len(w.Closed) == 0 && !strings.Contains(line, "destroyed") {
				continue
			}
			p.line("%s%s", indent, strings.TrimRight(line, "\n"))
		}
		if w.Empty() { // storage was denied by default, and is now by word
			for _, d := range w.Done {
				p.line("%s%s: %s destroyed.", indent, d.Category, d.What())
			}
		}
	}
	var also []string
	if w.Versions > 0 {
		also = append(also, count(w.Versions, "copy of SOUL.md", "copies of SOUL.md"))
	}
	if w.Backups > 0 {
		also = append(also, count(w.Backups, "backup of before", "backups of before"))
	}
	if len(also) > 0 {
		p.line("%sAlso removed: %s.", indent, strings.Join(also, ", "))
	}
	if w.Remade {
		p.line("%sSOUL.md and the names of tendencies were made anew.", indent)
	}
	for _, path := range w.FilesLeft {
		p.line("%sStill holds some of it: %s", indent, p.bad(path))
	}
	for _, path := range w.Missing {
		p.line("%sNot there now, so not looked at; what is in it may still hold it: %s", indent, p.bad(path))
	}
	tellBackupsLeft(p, w.BackupsLeft)
	tellYours(p, w.Diary)
}

// askToWithdraw shows what would be taken away and waits for a yes. Nobody there is a no.
func (a *app) askToWithdraw(ctx context.Context, plan lifecycle.ConsentPlan) (bool, error) {
	f, ok := a.stdin.(*os.File)
	if !ok || !isTerminal(f) {
		return false, usage("nobody is there to be asked: look with --dry-run, then give --yes")
	}
	p := a.printer()
	tellConsentPlan(p, plan)
	if err := p.flush(); err != nil {
		return false, err
	}
	fmt.Fprint(a.stderr, "Say so? Type yes: ")
	line, err := lineFrom(ctx, f)
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(a.stderr)
		return false, errors.New("interrupted; nothing was said, and nothing was changed")
	}
	if err != nil && line == "" {
		return false, err
	}
	if strings.ToLower(strings.TrimSpace(line)) != "yes" {
		fmt.Fprintln(a.stderr, "Nothing was said, and nothing was changed.")
		return false, nil
	}
	return true, nil
}

// lineFrom reads a line, unless ctx ends before.
func lineFrom(ctx context.Context, in io.Reader) (line string, err error) {
	answered := make(chan struct{})
	go func() { // nothing but the end of the process ends the reading
		defer close(answered)
		line, err = bufio.NewReader(in).ReadString('\n')
	}()
	select {
	case <-answered:
		return line, err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// healthWords say what is done with texts about health, by the answer to their storage.
var healthWords = map[string]string{
	"allow": "what you write about it is kept (jivad consent show)",
	"ask":   "what you write about it is not kept before you say so, by default: such an entry leaves its impression and no words. To have them kept: jivad consent set health.storage=allow health.access=allow",
	"deny":  "what you write about it is not kept (jivad consent show)",
}

// settleHealth sees that something was said about storing texts about health: it asks
// where somebody is there to be asked, else the default stands. It gives the answer
// that holds.
func (a *app) settleHealth(ctx context.Context, c companion, yes bool) (string, error) {
	view, err := c.Consent(ctx)
	if err != nil {
		return "", err
	}
	storage := consent.Cell{Category: consent.Health, Dimension: consent.Storage}
	only := view.Table.Only(consent.Selector(storage))
	if len(only.Rows) != 1 || len(only.Rows[0].Answers) != 1 {
		return "", fmt.Errorf("the grid of consent says nothing of %s", storage)
	}
	is := only.Rows[0].Answers[0]
	if is.Version > 0 {
		return is.Answer.String(), nil
	}
	if yes || !isTerminal(a.stdin) || !isTerminal(a.stdout) {
		return is.Answer.String(), nil
	}
	answer, err := a.askHealth()
	if err != nil || answer == consent.Ask { // nothing is said, and the default stands
		return answer.String(), err
	}
	changes := []consent.Change{{Cell: storage, Answer: answer}}
	if answer == consent.Allow { // kept and never read would help nobody
		changes = append(changes, consent.Change{Cell: consent.Cell{Category: consent.Health, Dimension: consent.Access}, Answer: consent.Allow})
	}
	_, err = c.SetConsent(ctx, lifecycle.ConsentRequest{Changes: changes, Who: a.whoSays(), Why: "asked by jivad init"}, nil)
	return answer.String(), err
}

// askHealth asks whether texts about health may be kept and read again.
func (a *app) askHealth() (consent.Answer, error) {
	fmt.Fprint(a.stdout, "May what you write about your health be kept, and read again by the companion? It stays on\n"+
		"this machine. Without a yes such an entry leaves its impression, and no words. [y/n; Enter: not yet] ")
	line, err := bufio.NewReader(a.stdin).ReadString('\n')
	if err != nil && line == "" {
		return consent.Ask, usage("no answer; jivad init --yes leaves it unsaid")
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return consent.Allow, nil
	case "n", "no":
		return consent.Deny, nil
	}
	return consent.Ask, nil
}
