package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/jivad/jivad/lifecycle/diary"
)

// Run watches the diary folder and the clock, and makes backups, until ctx ends. A folder that
// cannot be watched is told in the status and tried again.
func (c *Companion) Run(ctx context.Context) error {
	var beside sync.WaitGroup
	beside.Go(func() { c.watchClock(ctx) })
	beside.Go(func() { c.watchBackups(ctx) })
	beside.Go(func() { c.reassess(ctx) })
	if c.opts.Lives {
		beside.Go(func() { c.distilAll(ctx) })
	}
	beside.Go(func() { c.watchEmbedder(ctx) })
	defer beside.Wait()
	for c.opts.Diary != "" {
		err := c.watchDiary(ctx)
		if ctx.Err() != nil {
			return nil
		}
		c.problem(fmt.Sprintf("the diary is not watched: %v", err))
		c.log.Error("the diary is not watched", "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchAgain):
		}
	}
	<-ctx.Done()
	return nil
}

// watchAgain is the pause after a folder could not be watched.
const watchAgain = 30 * time.Second

// watchDiary takes in what changes in the diary folder until ctx ends.
func (c *Companion) watchDiary(ctx context.Context) error {
	if err := os.MkdirAll(c.opts.Diary, 0o700); err != nil {
		return fmt.Errorf("folder %s: %w", c.opts.Diary, err)
	}
	w, err := diary.Watch(ctx, c.opts.Diary, diary.WatchOptions{Log: c.log})
	if err != nil {
		return err
	}
	return c.takeChanges(ctx, w.Changes())
}

// takeChanges takes in what a watch tells of until it ends. A watch tells of a
// change once, so files that the store had no room for are tried again by and by, and
// those that the embedder was away for when it is back.
func (c *Companion) takeChanges(ctx context.Context, changes <-chan diary.Change) error {
	var failed []diary.Change
	var again <-chan time.Time
	unread := 0 // how often in a row the embedder gave nothing usable for an entry
	for {
		batch := failed
		select {
		case change, ok := <-changes:
			if !ok {
				return errors.New("the watch ended")
			}
			batch = withChange(batch, change)
			// Files that changed together are taken in together, so that a folder
			// seen for the first time is one history, oldest day first.
			for more := true; more; {
				select {
				case next, ok := <-changes:
					if more = ok; ok {
						batch = withChange(batch, next)
					}
				case <-time.After(gather):
					more = false
				}
			}
		case <-c.embedderBack:
		case <-again:
		}
		if len(batch) == 0 {
			continue
		}
		taken, err := c.takeIn(ctx, batch)
		c.unembedded.Store(int64(taken.waiting))
		if err != nil && ctx.Err() == nil && !errors.Is(err, ErrEmbedderAway) { // that is told while it lasts
			c.problem(fmt.Sprintf("diary: %v", err))
			c.log.Error("diary", "error", err)
		}
		failed, again = nil, nil
		switch {
		case taken.broken && c.embedderAway():
			failed, again, unread = batch, time.After(10*watchAgain), 0 // it is told when it is back
		case taken.broken:
			failed, again, unread = batch, time.After(watchAgain), 0
		case taken.unread:
			failed, again = batch, time.After(min(watchAgain<<min(unread, 10), mostPause))
			unread++
		default:
			unread = 0
		}
	}
}

// mostPause is the longest pause before an entry is tried again that the embedder gave
// nothing usable for.
const mostPause = time.Hour

// withChange adds a change, unless its file is among them.
func withChange(batch []diary.Change, change diary.Change) []diary.Change {
	batch = slices.DeleteFunc(slices.Clone(batch), func(c diary.Change) bool { return c.Path == change.Path })
	return append(batch, change)
}

// gather is how long a change waits for others that belong with it.
const gather = 300 * time.Millisecond

// taken is what became of files that changed.
type taken struct {
	// broken: the store failed or the embedder was away. What that was at, and the days
	// behind it, are to be taken in again; waiting counts those that wait for the embedder.
	broken  bool
	waiting int
	// unread: the embedder gave nothing usable for an entry, which is to be tried again
	// and keeps no other out.
	unread bool
}

// takeIn reads changed files and remembers what is new in them.
func (c *Companion) takeIn(ctx context.Context, changes []diary.Change) (out taken, err error) {
	var faults []error
	var history, today []*prepared
	for _, change := range changes {
		if change.Removed {
			continue // an entry is not forgotten because its file is gone
		}
		old, recent, err := c.takeFile(change.Path)
		if err != nil {
			faults = append(faults, err)
		}
		history, today = append(history, old...), append(today, recent...)
	}
	sortByDay(history)
	// What one entry runs into does not keep the others out.
	then, err := c.submitAll(ctx, history)
	faults = append(faults, err)
	if len(history) > 0 {
		faults = append(faults, c.do(ctx, backlog, c.endHistory))
	}
	if then.waiting > 0 { // today would stand before the days that wait
		then.waiting += len(today)
		return then, errors.Join(faults...)
	}
	now, err := c.submitAll(ctx, today)
	faults = append(faults, err, c.do(ctx, backlog, c.endHistory))
	return taken{then.broken || now.broken, now.waiting, then.unread || now.unread}, errors.Join(faults...)
}

// submitAll sends notes through the queue and waits for all of them.
func (c *Companion) submitAll(ctx context.Context, all []*prepared) (out taken, err error) {
	var waiting []*pending
	together := &course{}
	for _, p := range all {
		p.course = together
		sent, err := c.submit(ctx, backlog, p)
		if err != nil {
			return out, err
		}
		waiting = append(waiting, sent)
	}
	var faults []error
	for _, w := range waiting {
		_, err := w.wait(ctx)
		if errors.Is(err, ErrEmbedderAway) {
			out.waiting++
		}
		if err == nil || out.broken && !errors.Is(err, ErrUnjudged) {
			continue // one word on the store is enough
		}
		out.unread = out.unread || errors.Is(err, ErrModelAnswer)
		out.broken = out.broken || !errors.Is(err, ErrUnjudged)
		faults = append(faults, err)
	}
	return out, errors.Join(faults...)
}

// takeFile compares a file with what was last seen of it. New entries become
// notes, changed ones edits; entries that are gone stay remembered. Notes of
// earlier days are history, the others belong to today.
func (c *Companion) takeFile(path string) (old, recent []*prepared, err error) {
	info, err := os.Stat(filepath.Join(c.opts.Diary, filepath.FromSlash(path)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil // it went away meanwhile
	}
	if err != nil {
		return nil, nil, err
	}
	file, err := diary.ReadIn(c.opts.Diary, path, diary.Options{Modified: info.ModTime(), Location: c.opts.Location, DayStartsAt: c.opts.DayStartsAt})
	if err != nil {
		return nil, nil, err
	}
	for _, n := range file.Notes {
		c.log.Info("diary note", "file", path, "line", n.Line, "kind", n.Kind)
	}
	var notes []*prepared
	var faults []error // of single entries
	for _, e := range file.Entries {
		p, err := c.newPrepared(Note{Text: e.Text, Date: e.Date, Label: e.Label, Category: e.Category, Source: path}, live)
		if errors.Is(err, ErrEmpty) {
			continue
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s line %d: %w", path, e.Line, err))
			continue
		}
		if c.forgotten(p) {
			continue
		}
		notes = append(notes, p)
	}
	if notes, err = c.compare(path, notes, anyEdit); err != nil {
		return nil, nil, err
	}
	today := c.today()
	for _, p := range notes {
		if p.note.Date != "" && p.note.Date < today {
			p.policy, p.day = history, p.note.Date
			old = append(old, p)
			continue
		}
		recent = append(recent, p)
	}
	// Within a file the notes run by day, and history before today.
	sortByDay(old)
	markLast(slices.Concat(old, recent))
	return old, recent, errors.Join(faults...)
}
