package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// Import remembers the entries of a history: each day is one session, oldest
// first; an entry without a date stays with the one before it. What is in the
// store already is passed over, so an import that was interrupted is simply run
// again. progress may be nil.
func (c *Companion) Import(ctx context.Context, notes []Note, progress func(Progress)) (ImportReport, error) {
	began := time.Now()
	report := ImportReport{Entries: len(notes)}
	days := map[string]bool{}
	done := 0
	var waiting []*pending
	settle := func(p *pending) error {
		r, err := p.wait(ctx)
		if err != nil {
			return err
		}
		if r.Duplicate {
			report.Duplicates++
		} else {
			report.New++
		}
		done++
		if progress != nil {
			progress(Progress{Done: done, Total: len(notes), Elapsed: time.Since(began)})
		}
		return nil
	}
	for _, h := range inOrder(notes) {
		days[h.day] = true
		p, err := c.newPrepared(h.note, history)
		if errors.Is(err, ErrEmpty) {
			report.Warnings = append(report.Warnings, "an entry without text was left out")
			done++
			continue
		}
		if err != nil {
			return report, err
		}
		p.day = h.day
		sent, err := c.submit(ctx, backlog, p)
		if err != nil {
			return report, err
		}
		waiting = append(waiting, sent)
		for len(waiting) >= c.opts.Queue/2 {
			if err := settle(waiting[0]); err != nil {
				return report, err
			}
			waiting = waiting[1:]
		}
	}
	for _, p := range waiting {
		if err := settle(p); err != nil {
			return report, err
		}
	}
	err := c.do(ctx, backlog, func(ctx context.Context) error { return c.endHistory(ctx) })
	report.Sessions = len(days)
	report.Seconds = time.Since(began).Seconds()
	if report.Seconds > 0 {
		report.PerMinute = 60 * float64(report.New) / report.Seconds
	}
	return report, err
}

// endHistory ends the session that an import left open, so that SOUL.md speaks
// of all of it.
func (c *Companion) endHistory(ctx context.Context) error {
	if s := c.session(); !s.Open || c.life.policy != history {
		return nil
	}
	return c.closeSession(ctx, reasonImport)
}

// dated is a note with the day of the session that it belongs to.
type dated struct {
	note Note
	day  string
}

// inOrder sorts notes by day, keeping the order within a day. A note without a
// date belongs to the day of the one before it; notes before the first date
// belong to the first.
func inOrder(notes []Note) []dated {
	out := make([]dated, len(notes))
	day := ""
	for _, n := range notes {
		if n.Date != "" {
			day = n.Date
			break
		}
	}
	for i, n := range notes {
		if n.Date != "" {
			day = n.Date
		}
		out[i] = dated{n, day}
	}
	slices.SortStableFunc(out, func(a, b dated) int { return cmp.Compare(a.day, b.day) })
	return out
}

// sortByDay puts history in order, keeping the order within a day.
func sortByDay(notes []*prepared) {
	slices.SortStableFunc(notes, func(a, b *prepared) int { return cmp.Compare(a.day, b.day) })
}
