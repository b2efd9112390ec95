package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/lifecycle"
)

// errFoundFaults: a check failed; what it found is printed already.
var errFoundFaults = errors.New("not everything is in order")

func (a *app) verifyVerb() *cobra.Command {
	var full bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Prove the store: check every record and fold it again",
		Long: `Walks the database, checks the checksum of every record, folds the log again and
compares the outcome with the live state. It changes nothing.`,
		Example: "  jivad verify\n  jivad verify --full\n  jivad verify --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
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
	return cmd
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
