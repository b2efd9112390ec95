package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jivad/jivad/lifecycle"
)

// remembered is one entry as the program gives it back.
type remembered struct{ id, date, text string }

// contents are what a companion holds.
type contents struct {
	// entries are in the order of the log.
	entries []remembered
	// digest is the state's.
	digest   string
	sessions []lifecycle.SessionReport
}

// by finds an entry by its id.
func (c contents) by(id string) (remembered, bool) {
	for _, e := range c.entries {
		if e.id == id {
			return e, true
		}
	}
	return remembered{}, false
}

// closed tells whether the session of a number has ended.
func (c contents) closed(number int) bool {
	for _, s := range c.sessions {
		if s.Number == number {
			return !s.Open
		}
	}
	return false
}

// everything names all entries, since all have dates.
func everything() lifecycle.ForgetQuery { return lifecycle.ForgetQuery{From: "0001"} }

// contentsOf asks a daemon for all that it holds, and has it verify the store.
func contentsOf(ctx context.Context, c *client) (contents, error) {
	var out contents
	plan, err := c.PlanForget(ctx, everything())
	if err != nil {
		return out, fmt.Errorf("list the entries: %w", err)
	}
	for _, e := range plan.Entries {
		m, err := c.Show(ctx, e.ID)
		if err != nil {
			return out, fmt.Errorf("show %s: %w", e.ID, err)
		}
		out.entries = append(out.entries, remembered{e.ID, m.Date, m.Text})
	}
	if out.sessions, err = c.Sessions(ctx); err != nil {
		return out, fmt.Errorf("list the sessions: %w", err)
	}
	report, err := c.Verify(ctx, true, nil)
	if err != nil {
		return out, fmt.Errorf("verify: %w", err)
	}
	out.digest = report.StateDigest
	if !report.OK {
		return out, fmt.Errorf("%w: %s", errUnclean, failed(report.Checks))
	}
	return out, nil
}

// errUnclean: verify found a fault.
var errUnclean = errors.New("verify is not clean")

// failed are the checks that failed.
func failed(checks []lifecycle.Check) string {
	var out []string
	for _, c := range checks {
		if !c.OK {
			out = append(out, c.Name+": "+c.Detail)
		}
	}
	return strings.Join(out, "; ")
}
