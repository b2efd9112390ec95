package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// Import remembers the entries of a history: each day is one session, oldest
// first; an entry without a date stays with the one before it. What is in the
// store already is passed over, so an import that was interrupted is simply run
// again; an entry that was edited since its file was imported last replaces its
// old wording. progress may be nil.
func (c *Companion) Import(ctx context.Context, notes []Note, progress func(Progress)) (ImportReport, error) {
	began := time.Now()
	report := ImportReport{Entries: len(notes)}
	work, err := c.historyOf(notes, &report)
	if err != nil {
		return report, err
	}
	days := map[string]bool{}
	settle := func(p *prepared, r Receipt) {
		switch {
		case r.Duplicate:
			report.Duplicates++
		case p.replaces != 0:
			report.Edited++
		default:
			report.New++
			report.Withheld = counting(report.Withheld, r.Withheld)
			days[p.day] = true
		}
		if progress != nil {
			done := report.New + report.Edited + report.Duplicates + report.Forgotten + len(report.Warnings)
			progress(Progress{Done: done, Total: len(notes), Elapsed: time.Since(began)})
		}
	}
	err = c.takeAll(ctx, work, settle)
	if err != nil && !errors.Is(err, ErrUnjudged) && !errors.Is(err, ErrEmbedderAway) {
		return report, err
	}
	if errors.Is(err, ErrEmbedderAway) {
		err = fmt.Errorf("the import stopped after %d of %d entries; import again when the embedder is back, what is remembered is passed over: %w",
			report.New+report.Edited+report.Duplicates, len(notes), err)
	}
	err = errors.Join(err, c.do(ctx, backlog, c.endHistory))
	report.Sessions = len(days)
	report.Seconds = time.Since(began).Seconds()
	report.PerMinute = 60 * float64(report.New) / report.Seconds
	return report, err
}

// historyOf checks the notes, puts them in order and leaves out what was seen
// in the same files before.
func (c *Companion) historyOf(notes []Note, report *ImportReport) ([]*prepared, error) {
	var all []*prepared
	bySource := map[string][]*prepared{}
	var sources []string
	for _, h := range inOrder(notes) {
		p, err := c.newPrepared(h.note, history)
		if errors.Is(err, ErrEmpty) {
			report.Warnings = append(report.Warnings, "an entry without text was left out")
			continue
		}
		if errors.Is(err, ErrTooLong) { // one that is too long does not keep the others out
			report.Warnings = append(report.Warnings, strings.Join(strings.Fields(fmt.Sprintf("%s %s: an entry was left out: %v", h.note.Source, h.note.Date, err)), " "))
			continue
		}
		if err != nil {
			return nil, err
		}
		if c.forgotten(p) {
			report.Forgotten++
			continue
		}
		p.day = h.day
		all = append(all, p)
		if source := p.note.Source; source != "" {
			if bySource[source] == nil {
				sources = append(sources, source)
			}
			bySource[source] = append(bySource[source], p)
		}
	}
	fresh := map[*prepared]bool{}
	for _, source := range sources {
		left, err := c.compare(source, bySource[source], c.editsIn(source))
		if err != nil {
			return nil, err
		}
		for _, p := range left {
			fresh[p] = true
		}
		report.Duplicates += len(bySource[source]) - len(left)
	}
	work := slices.DeleteFunc(all, func(p *prepared) bool { return p.source != nil && !fresh[p] })
	markLast(work)
	return work, nil
}

// takeAll sends notes through the queue, a bounded number at a time, and tells
// what became of each.
func (c *Companion) takeAll(ctx context.Context, work []*prepared, settle func(*prepared, Receipt)) error {
	type sent struct {
		note    *prepared
		pending *pending
	}
	var waiting []sent
	var unjudged []error
	first := func() error {
		next := waiting[0]
		waiting = waiting[1:]
		r, err := next.pending.wait(ctx)
		if errors.Is(err, ErrUnjudged) && ctx.Err() == nil {
			unjudged = append(unjudged, err) // one bad entry does not stop the others
			return nil
		}
		if err != nil {
			return err
		}
		settle(next.note, r)
		return nil
	}
	together := &course{}
	for _, p := range work {
		p.course = together
		s, err := c.submit(ctx, backlog, p)
		if err != nil {
			return err
		}
		waiting = append(waiting, sent{p, s})
		if len(waiting) >= max(1, c.opts.Queue/2) {
			if err := first(); err != nil {
				return err
			}
		}
	}
	for len(waiting) > 0 {
		if err := first(); err != nil {
			return err
		}
	}
	if n := len(unjudged); n > 0 {
		return fmt.Errorf("%d of %d entries are not remembered, import again for them; the first: %w", n, len(work), unjudged[0])
	}
	return nil
}

// endHistory ends the session that an import left open, so that SOUL.md speaks
// of all of it. Where only earlier entries were edited, the last session is
// withdrawn again, for the same reason.
func (c *Companion) endHistory(ctx context.Context) error {
	s := c.session()
	switch {
	case s.Open && c.life.policy == history:
		return c.closeSession(ctx, reasonImport)
	case !s.Open && s.Number > 0 && c.life.edited:
		return c.withdrawAgain(ctx, s)
	}
	return nil
}

// withdrawAgain takes the last session up once more and ends it as it was ended.
func (c *Companion) withdrawAgain(ctx context.Context, s fold.Session) error {
	r, ok := c.record(int(s.Number))
	if !ok {
		return nil
	}
	again := chitta.Entry{Body: fold.SessionOpened{Number: s.Number, Date: s.Date}}
	if _, err := c.store.Append(ctx, chitta.Batch{Entries: []chitta.Entry{again}}); err != nil {
		return err
	}
	c.life.opened = r.Opened
	return c.withdraw(ctx, r.Reason)
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
