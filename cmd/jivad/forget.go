package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/lifecycle"
)

func (a *app) forgetVerb() *cobra.Command {
	var q lifecycle.ForgetQuery
	var before string
	var yes, dryRun bool
	cmd := &cobra.Command{
		Use:   "forget [ENTRY... | SOURCE]",
		Short: "Take entries out as if they had never been",
		Long: `Takes entries out of the store: by their ids (or a part of them), by their source (a
diary file, "write" for what jivad write took, "api" for other programs at the socket, "chat"
for jivad talk, "chat:door" for the door, "import:NAME", the path of a file that was imported,
or the end of one), by session, by day, by words; what is given must hold together. It shows what would
go and asks before it does it. An id or a source that is not there is an error, with
--dry-run too; where no entry fits a session, days or words it fails, unless it is a --dry-run.

Days are those that entries are of. An entry without a date is of none: --before, --from
and --to never take it, and say how many they leave; --undated takes those.

The character is then folded again without them, so that it is, bit for bit, what it
would be had you never written them. The database is written anew, and snapshots, copies
of SOUL.md and backups that hold any of it are removed. Your own files are never changed.
What is forgotten is not taken from them again, unless you write it anew.`,
		Example: "  jivad forget 1f3a9c\n  jivad forget --match \"her new address\" --dry-run\n  jivad forget --before 2019 --yes\n  jivad forget old/2017.md",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := forgetArgs(&q, args, before); err != nil {
				return err
			}
			if _, at, err := a.find(); err == nil && q.Source != "" {
				q.SourceFile = sourceOf(strings.TrimPrefix(q.Source, "import:"), "", at.diary)
			}
			err := a.with(cmd.Context(), func(ctx context.Context, c companion) error {
				return a.forget(ctx, c, q, yes, dryRun)
			})
			if errors.Is(err, context.Canceled) {
				return errNothingForgotten
			}
			if len(args) == 1 && shortIDPart.MatchString(args[0]) && errors.Is(err, lifecycle.ErrNotFound) {
				return usage("%q is too short for an id; give at least 4 letters of it; and as a source: %w", args[0], err)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&q.Source, "source", "", "entries that came from `SOURCE`")
	f.IntVar(&q.Session, "session", 0, "entries of session `N`")
	fromOne(f, "session")
	f.StringVar(&q.From, "from", "", "entries from `DATE` on, YYYY[-MM[-DD]]")
	f.StringVar(&q.To, "to", "", "entries up to `DATE`, YYYY[-MM[-DD]]")
	f.StringVar(&before, "before", "", "entries before `DATE`, YYYY[-MM[-DD]]")
	f.BoolVar(&q.Undated, "undated", false, "entries without a date")
	f.StringVar(&q.Match, "match", "", "entries that hold `TEXT`, whatever its case")
	f.BoolVar(&yes, "yes", false, "do not ask")
	f.BoolVar(&dryRun, "dry-run", false, "show what would go, and change nothing")
	return cmd
}

var (
	idPart      = regexp.MustCompile(`^[0-9A-Fa-f-]{4,36}$`)
	shortIDPart = regexp.MustCompile(`^[0-9A-Fa-f-]{1,3}$`)
)

// forgetArgs reads what was named: ids, or one source.
func forgetArgs(q *lifecycle.ForgetQuery, args []string, before string) error {
	for _, arg := range args {
		if idPart.MatchString(arg) {
			q.Entries = append(q.Entries, arg)
			continue
		}
		switch {
		case len(args) > 1 && shortIDPart.MatchString(arg):
			return usage("%q is too short for an id; give at least 4 letters of it", arg)
		case q.Source != "" || len(args) > 1:
			return usage("%q: give ids of entries, or one source", arg)
		}
		q.Source = arg
	}
	if q.Session < 0 {
		return usage("--session %d: sessions count from 1", q.Session)
	}
	if before != "" {
		if q.To != "" {
			return usage("--before and --to say the same; give one")
		}
		to, err := lastBefore(before)
		if err != nil {
			return err
		}
		q.To = to
	}
	if q.Undated && (q.From != "" || q.To != "") {
		return usage("entries without a date are of no day: give --undated without --before, --from and --to")
	}
	if len(q.Entries) == 0 && q.Source == "" && q.Session == 0 && q.From == "" && q.To == "" && !q.Undated && q.Match == "" {
		return usage("say what to forget: ids of entries, a source, --session, --before, --from, --to, --undated or --match")
	}
	return nil
}

// undatedNote says which entries the days that were given leave, and nothing where
// there are none.
func undatedNote(plan lifecycle.ForgetPlan) string {
	if plan.Undated == 0 {
		return ""
	}
	return count(plan.Undated, "entry without a date is", "entries without a date are") + " not among them (--undated takes those)"
}

// lastBefore is the last day, month or year before a date of that form.
func lastBefore(date string) (string, error) {
	for _, form := range []struct {
		layout              string
		years, months, days int
	}{{"2006-01-02", 0, 0, -1}, {"2006-01", 0, -1, 0}, {"2006", -1, 0, 0}} {
		if t, err := time.Parse(form.layout, date); err == nil {
			return t.AddDate(form.years, form.months, form.days).Format(form.layout), nil
		}
	}
	return "", usage("--before %q: it must be YYYY[-MM[-DD]]", date)
}

// forgetting is what the verb answers.
type forgetting struct {
	DryRun bool `json:"dry_run,omitempty"`
	lifecycle.ForgetPlan
	Receipt *lifecycle.ForgetReceipt `json:"receipt,omitempty"`
}

func (a *app) forget(ctx context.Context, c companion, q lifecycle.ForgetQuery, yes, dryRun bool) error {
	plan, err := c.PlanForget(ctx, q)
	if err != nil {
		return err
	}
	out := forgetting{DryRun: dryRun, ForgetPlan: plan}
	if len(plan.Entries) == 0 && !dryRun {
		return noEntryFits(plan)
	}
	if dryRun {
		return a.answer(out, func(p *printer) { tellForgetPlan(p, plan, dryRun) })
	}
	if !yes {
		agreed, err := a.askToForget(ctx, plan)
		if err != nil || !agreed {
			return err
		}
	}
	// What was shown is what goes.
	exactly := lifecycle.ForgetQuery{}
	for _, e := range plan.Entries {
		exactly.Entries = append(exactly.Entries, e.ID)
	}
	bar := a.progress("records", 1)
	receipt, err := c.Forget(ctx, exactly, bar.show)
	bar.end()
	if err != nil {
		return unforgotten(ctx, c, exactly, err)
	}
	out.Receipt = &receipt
	err = a.answer(out, func(p *printer) {
		tellForgotten(p, receipt)
		if yes { // who was asked has read it
			p.line("%s", p.dim(whatStays))
		}
	})
	if receipt.Left.Events+receipt.Left.Texts+len(receipt.Left.Files)+len(receipt.BackupsLeft)+len(receipt.Missing) > 0 {
		err = errors.Join(err, errFoundFaults)
	}
	return err
}

// noEntryFits is the error of a forgetting that has nothing to forget.
func noEntryFits(plan lifecycle.ForgetPlan) error {
	if note := undatedNote(plan); note != "" {
		return fmt.Errorf("no entry fits, and nothing was changed: %s", note)
	}
	return errors.New("no entry fits, and nothing was changed")
}

// whatStays is in one line what a plan says at length of what cannot be taken back.
const whatStays = "Out of reach: your own files, copies in other places, old pages of flash memory."

// askToForget shows what would go and waits for a yes. Nobody there is a no.
func (a *app) askToForget(ctx context.Context, plan lifecycle.ForgetPlan) (bool, error) {
	return a.ask(ctx, func(p *printer) { tellForgetPlan(p, plan, false) },
		fmt.Sprintf("Forget %s?", count(len(plan.Entries), "entry", "entries")), "Nothing was forgotten.")
}

// ask shows what would be done and waits for a yes; to anything else it says no. Nobody
// there is an error.
func (a *app) ask(ctx context.Context, show func(*printer), question, no string) (bool, error) {
	f, ok := a.stdin.(*os.File)
	if !ok || !isTerminal(f) {
		return false, usage("nobody is there to be asked: look with --dry-run, then give --yes")
	}
	p := a.printer()
	show(p)
	if err := p.flush(); err != nil {
		return false, err
	}
	fmt.Fprintf(a.stderr, "%s Type yes: ", question)
	var line string
	var err error
	answered := make(chan struct{})
	go func() { // nothing but the end of the process ends the reading
		defer close(answered)
		line, err = bufio.NewReader(f).ReadString('\n')
	}()
	select {
	case <-answered:
	case <-ctx.Done():
		fmt.Fprintln(a.stderr)
		return false, ctx.Err()
	}
	if err != nil && line == "" {
		return false, err
	}
	if strings.ToLower(strings.TrimSpace(line)) != "yes" {
		fmt.Fprintln(a.stderr, no)
		return false, nil
	}
	return true, nil
}

func tellForgetPlan(p *printer, plan lifecycle.ForgetPlan, dryRun bool) {
	if len(plan.Entries) == 0 {
		p.line("No entry fits.")
		tellUndated(p, plan)
		return
	}
	const most = 20
	for i, e := range plan.Entries {
		if i == most {
			p.line("… and %d more", len(plan.Entries)-most)
			break
		}
		p.line("%s  %s  %s", pad(dash(e.Date), 10), p.dim(tail(e.ID)), cut(oneLine(e.Excerpt), 60))
	}
	what := fmt.Sprintf("%s would go", count(len(plan.Entries), "entry", "entries"))
	if len(plan.Sessions) > 0 {
		what += fmt.Sprintf(", and %s that nothing is left of", count(len(plan.Sessions), "session", "sessions"))
	}
	if plan.Versions > 0 {
		what += fmt.Sprintf("; %s of SOUL.md generated since", count(plan.Versions, "copy", "copies"))
	}
	p.line("%s.", what)
	tellUndated(p, plan)
	if n := len(plan.Renumbered); n > 0 {
		p.line("%s", numberedAnew(plan.Renumbered, "will be"))
	}
	if n := len(plan.Backups); n > 0 {
		p.line("%s it and would go too:", count(n, "backup holds", "backups hold"))
		for _, path := range plan.Backups {
			p.line("  %s", path)
		}
	}
	if n := len(plan.BackupsLeft); n > 0 {
		p.line("%s may hold it too and would stay, since it was made by hand or cannot be read:", count(n, "backup", "backups"))
		for _, path := range plan.BackupsLeft {
			p.line("  %s", path)
		}
	}
	if len(plan.Diary) > 0 {
		hold := "These files of yours hold some of them and are not changed"
		if len(plan.Diary) == 1 {
			hold = "This file of yours holds some of them and is not changed"
		}
		p.line("%s: %s", hold, strings.Join(plan.Diary, ", "))
	}
	if dryRun {
		p.line("Nothing was changed.")
	} else {
		p.line("%s", p.dim(whatStays))
	}
}

func tellUndated(p *printer, plan lifecycle.ForgetPlan) {
	if note := undatedNote(plan); note != "" {
		p.line("%s.", note)
	}
}

// numberedAnew says that later sessions have lower numbers, so that nobody takes
// one for another.
func numberedAnew(runs []lifecycle.Renumbered, verb string) string {
	first := runs[0]
	out := fmt.Sprintf("Later sessions are numbered anew: session %d %s session %d", first.Before, verb, first.First)
	if len(runs) > 1 || first.Last > first.First {
		out += ", and so on"
	}
	return out + "."
}

func tellForgotten(p *printer, r lifecycle.ForgetReceipt) {
	p.line("%s forgotten, %d left in the store.", count(r.Forgotten, "entry is", "entries are"), r.Remaining)
	p.line("Read again afterwards: %d of them in the log, %d of their texts in the store, %s one.",
		r.Left.Events, r.Left.Texts, count(len(r.Left.Files), "file that holds", "files that hold"))
	for _, f := range r.Left.Files {
		p.line("  %s", p.bad(f))
	}
	if r.Elsewhere > 0 {
		p.line("%s the same words as an entry that stays, so those are still found.", count(r.Elsewhere, "text has", "texts have"))
	}
	var also []string
	if n := len(r.Sessions); n > 0 {
		also = append(also, count(n, "empty session", "empty sessions"))
	}
	if r.Versions > 0 {
		also = append(also, count(r.Versions, "copy of SOUL.md", "copies of SOUL.md"))
	}
	if r.Backups > 0 {
		also = append(also, count(r.Backups, "backup that held it", "backups that held it"))
	}
	if len(also) > 0 {
		p.line("Also removed: %s.", strings.Join(also, ", "))
	}
	if len(r.Renumbered) > 0 {
		p.line("%s", numberedAnew(r.Renumbered, "is now"))
	}
	switch {
	case r.BackupSoon:
		p.line("The daemon makes a new backup now.")
	case r.Backups > 0:
		p.line("A new backup is made with jivad backup, or by the daemon at its next start.")
	}
	for _, path := range r.Missing {
		p.line("Not there now, so not looked at; what is in it may still hold it: %s", p.bad(path))
	}
	if n := len(r.BackupsLeft); n > 0 {
		p.line("%s may still hold it: made by hand, or not to be removed or read. Remove what you do not need:", count(n, "backup", "backups"))
		for _, path := range r.BackupsLeft {
			p.line("  %s", p.bad(path))
		}
	}
	if len(r.Diary) > 0 {
		p.line("Your own files still hold what you wrote there: %s", strings.Join(r.Diary, ", "))
	}
	p.line("%s", p.dim(fmt.Sprintf("state %s, was %s; %.1f s", r.After[:12], r.Before[:12], r.Seconds)))
}
