package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/lifecycle"
)

// errFoundFaults: a check failed; what it found is printed already.
var errFoundFaults = errors.New("not everything is in order")

func (a *app) verifyVerb() *cobra.Command {
	var full bool
	var absent string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Prove the store: check every record and fold it again",
		Long: `Walks the database, checks the checksum of every record, folds the log again and
compares the outcome with the live state. It changes nothing.

With --absent it looks for a text in every file of the companion instead, and fails
where one holds it: those of the data folder, and SOUL.md and the backups where the
configuration, or a link, has them elsewhere. Whatever "forget --match" finds in an entry
is found in a file that holds it: case, normal forms, white space and line breaks do not
matter, nor whether it is written as JSON or quoted in SOUL.md. Your own diary files are
named apart: they are never changed.`,
		Example: "  jivad verify\n  jivad verify --full\n  jivad verify --absent \"the words of it\"",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("absent") {
				if full {
					return usage("--absent looks into files and folds nothing: give it without --full")
				}
				return a.verifyAbsent(cmd.Context(), absent)
			}
			return a.looking(cmd.Context(), func(ctx context.Context, c companion) error {
				bar := a.progress("records", 1)
				report, err := c.Verify(ctx, full, bar.show)
				bar.end()
				if err != nil {
					return err
				}
				if err := a.answer(report, func(p *printer) { tellVerify(p, report) }); err != nil {
					return err
				}
				if !report.OK {
					return errFoundFaults
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "fold from the first event, however long it takes")
	cmd.Flags().StringVar(&absent, "absent", "", "look whether any file of the companion holds `TEXT`")
	return cmd
}

func (a *app) verifyAbsent(ctx context.Context, text string) error {
	settings, at, err := a.find()
	if err != nil {
		return err // which may say where SOUL.md and the backups are
	}
	if _, err := os.Stat(at.data); err != nil {
		return a.missing(at)
	}
	bar := a.progress("files", 1)
	report, err := lifecycle.Absent(ctx, lifecycle.Places{
		Dir: at.data, Diary: at.diary, Soul: settings.Soul.Path, Backups: settings.Backups.Path,
	}, text, bar.show)
	bar.end()
	if err != nil {
		return err
	}
	if err := a.answer(report, func(p *printer) { tellAbsent(p, report) }); err != nil {
		return err
	}
	if n := len(report.Unread); n > 0 {
		return fmt.Errorf("%s could not be read, so what is in there is not known: %s; look again as a user who may read it",
			count(n, "path", "paths"), strings.Join(report.Unread, ", "))
	}
	if !report.Absent {
		return errFoundFaults
	}
	return nil
}

func tellAbsent(p *printer, r lifecycle.AbsentReport) {
	read := fmt.Sprintf("%s, %s read", count(r.Files, "file", "files"), lifecycle.Size(r.Bytes))
	switch {
	case len(r.Found) > 0:
		p.line("%s  %s: %s (%s)", p.bad("FAIL"), count(len(r.Found), "file holds it", "files hold it"), strings.Join(r.Found, ", "), read)
	case r.Absent:
		p.line("%s  no file of the companion holds it (%s)", p.good("ok  "), read)
	default:
		p.line("%s  no file that could be read holds it (%s)", p.bad("FAIL"), read)
	}
	for _, also := range []struct {
		what  string
		paths []string
	}{
		{"Your own diary has it, which is never changed", r.Yours},
		{"Backups of other companions in the same folder have it", r.Others},
		{"Looked at", r.Places},
		{"Not there, so not looked at", r.Missing},
		{"Links to folders that the program does not use, not followed", r.NotFollowed},
	} {
		if len(also.paths) > 0 {
			p.line("      %s: %s", also.what, strings.Join(also.paths, ", "))
		}
	}
}

func tellVerify(p *printer, r lifecycle.VerifyReport) {
	tellChecks(p, r.Checks)
	p.line("%s", p.dim(count(int(r.Events), "record", "records")+" in "+
		time.Duration(r.Seconds*float64(time.Second)).Round(time.Millisecond).String()+", state "+r.StateDigest[:min(12, len(r.StateDigest))]))
}

// tellChecks writes one line for each check, and what to do where one failed.
func tellChecks(p *printer, checks []lifecycle.Check) {
	width := 0
	for _, c := range checks {
		width = max(width, len(c.Name))
	}
	for _, c := range checks {
		mark := p.good("ok  ")
		if !c.OK {
			mark = p.bad("FAIL")
		}
		p.line("%s  %s  %s", mark, pad(c.Name, width), oneLine(c.Detail))
		if c.Hint != "" {
			p.line("%s  %s", pad("", 4+2+width), oneLine(c.Hint))
		}
	}
}
