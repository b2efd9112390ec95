package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/internal/config"
	"github.com/jivad/jivad/lifecycle"
)

func (a *app) restoreVerb() *cobra.Command {
	var latest, another, forgotten bool
	cmd := &cobra.Command{
		Use:   "restore [FILE]",
		Short: "Put a backup in the place of the store",
		Long: `Reads all of FILE, a backup, and puts a copy of it in the place of the store. The store of
before stays beside it under another name. No process may have the store open: stop the
daemon first. SOUL.md follows at the next start. It works also where the store is damaged
or missing. FILE may be the damaged store itself where only its first pages are lost: it is
then mended, in a copy.

What was taken away since FILE was made does not come back: entries that were forgotten, texts
for which consent was withdrawn, rules of lives that were excised. What you said of consent
since then holds, and lives that were lived since are known on.`,
		Example: "  jivad restore --latest\n  jivad restore /mnt/card/companion.db",
		Args:    atMostOneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if latest == (len(args) == 1) {
				return usage("name a FILE, or give --latest for the newest good backup")
			}
			file := ""
			if len(args) == 1 {
				file = absolute(args[0])
			}
			return a.restore(cmd.Context(), lifecycle.RestoreOptions{File: file, Another: another, WithForgotten: forgotten})
		},
	}
	cmd.Flags().BoolVar(&latest, "latest", false, "take the newest backup that is whole")
	cmd.Flags().BoolVar(&another, "another", false, "also where FILE is of another companion than the one that is here")
	cmd.Flags().BoolVar(&forgotten, "with-forgotten", false, "have what was forgotten since come back too, and texts that were withdrawn, unread until you allow it")
	return cmd
}

func atMostOneFile(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%s takes one FILE, but was given %d", cmd.CommandPath(), len(args))
	}
	return nil
}

func (a *app) restore(ctx context.Context, o lifecycle.RestoreOptions) error {
	settings, at, err := a.restorePlace()
	if err != nil {
		return err
	}
	bar := a.stages()
	o.Soul = settings.Soul.Path
	o.Dir, o.Backups, o.Command = at.data, settings.Backups.Path, a.restoreCommand
	report, err := lifecycle.Restore(ctx, o, bar.show)
	bar.end()
	if err != nil {
		return err
	}
	if err := a.answer(report, func(p *printer) { a.tellRestore(p, report) }); err != nil || !report.Owes() {
		return err
	}
	// The start does it.
	err = a.with(ctx, func(ctx context.Context, c companion) error {
		s, err := c.Status(ctx)
		if err == nil && !a.flags.json && !a.flags.quiet {
			p := a.printer()
			p.line("%s in the store now.", count(s.Entries, "entry is", "entries are"))
			err = p.flush()
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("the store is restored, but what was forgotten or withdrawn is still in it, until the next start takes it out: %w", err)
	}
	return nil
}

// restorePlace finds the data folder, also where nothing is left in it: then it
// must be named.
func (a *app) restorePlace() (config.Config, place, error) {
	settings, at, err := a.find()
	if err == nil || a.flags.data == "" {
		return settings, at, err
	}
	var none noConfigError
	var empty noCompanionError
	if !errors.As(err, &none) && !errors.As(err, &empty) {
		return settings, at, err
	}
	settings = config.Default()
	at, err = a.placeOf(settings, "")
	return settings, at, err
}

// restoreCommand is what puts a file in the store's place, with the flags of this
// call.
func (a *app) restoreCommand(file string) string { return a.command() + " restore " + quoted(file) }

func (a *app) tellRestore(p *printer, r lifecycle.RestoreReport) {
	if r.ForgottenUnknown {
		p.line("%s", p.bad("What was forgotten or withdrawn since then is not known for certain, as the store of before is missing or damaged: look with jivad verify --absent and jivad consent show, and forget again what came back, or say again what you allow."))
	}
	if a.flags.quiet {
		return
	}
	if r.Mended {
		p.line("Mended: %s holds everything that could be reached again.", oneLine(r.Store))
	} else {
		p.line("Restored: %s is now as in %s", oneLine(r.Store), oneLine(r.From))
	}
	last := ""
	if r.Written != nil {
		last = ", the last of " + r.Written.UTC().Format("2006-01-02 15:04 UTC")
	}
	proof := "all of it was read"
	if r.Impressions > 0 {
		proof += " and folded to " + count(r.Impressions, "impression", "impressions")
	}
	p.line("Up to record %d, with %s%s; %s.", r.Records, count(r.Texts, "text", "texts"), last, proof)
	if r.Replaced != "" {
		p.line("The file of before is kept as %s", oneLine(r.Replaced))
	}
	switch {
	case r.Damage != "":
		p.line("It was damaged: %s", oneLine(r.Damage))
	case r.ReplacedRecords > r.Records && !r.Owes():
		p.line("It had %s more. What you have in your diary comes back with the next start or import.", count(int(r.ReplacedRecords-r.Records), "record", "records"))
	}
	if n := r.ToForget; n > 0 {
		p.line("%s forgotten since then; that is done again now. To have it back too: %s --with-forgotten", count(n, "entry of it was", "entries of it were"), a.restoreCommand(r.From))
	}
	a.tellCarried(p, r)
	if !r.Owes() {
		p.line("SOUL.md follows at the next start.")
	}
}

// tellCarried tells what the store knows on of the one that it replaced.
func (a *app) tellCarried(p *printer, r lifecycle.RestoreReport) {
	if n := r.ConsentRecords; n > 0 {
		p.line("%s about consent since then; what was said last holds (jivad consent show).", count(n, "thing was said", "things were said"))
	}
	if n := r.ToWithdraw; n > 0 {
		p.line("%s of it had been destroyed for that; that is done again now. To have them back, unread until you allow it: %s --with-forgotten", count(n, "text", "texts"), a.restoreCommand(r.From))
	}
	if n := r.Excised; n > 0 {
		p.line("%s of lives that were excised since; that is done again now.", count(n, "distillate in it was", "distillates in it were"))
	}
	if n := r.Lives; n > 0 {
		p.line("%s lived since then, and known on with what came of %s (jivad lives).", count(n, "life was", "lives were"), map[bool]string{true: "it", false: "them"}[n == 1])
	}
	if n := r.LivesLeft; n > 0 {
		p.line("%s, of another course of this companion, and left there.", count(n, "life is in that file only", "lives are in that file only"))
	}
	if n := r.LivesCut; n > 0 {
		p.line("%s lived when that file was made. How it went on is not known here, so nothing is kept of it.", count(n, "life was", "lives were"))
	}
}

func countOf(n uint64) string { return strconv.FormatUint(n, 10) }
