package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jivad/jivad/chitta"
)

// ForgetQuery names entries. What is given must hold together: entries of that
// source and of those days and with those words.
type ForgetQuery struct {
	// Entries are ids, whole or a part from their beginning or end.
	Entries []string `json:"entries,omitempty"`
	// Source is where entries came from: a diary file, "write", "import:NAME", or
	// the end of one that is the only one to end so. SourceFile is what a source
	// would be called that is the file of that name; empty means none.
	Source     string `json:"source,omitempty"`
	SourceFile string `json:"source_file,omitempty"`
	// Session is the number of a session.
	Session int `json:"session,omitempty"`
	// From and To bound the entry's own date, YYYY[-MM[-DD]], inclusive. Undated
	// takes the entries that have none, which no bounds take.
	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"`
	Undated bool   `json:"undated,omitempty"`
	// Match is a text that entries hold, whatever its case.
	Match string `json:"match,omitempty"`
}

// ForgetPlan is what a forgetting would take out.
type ForgetPlan struct {
	Entries []ForgetEntry `json:"entries"`
	// Undated counts the entries that only the dates of the query keep out, since
	// they have none.
	Undated int `json:"undated,omitempty"`
	// Sessions are those of which nothing would be left, Versions how many copies
	// of SOUL.md were generated since.
	Sessions []int `json:"sessions,omitempty"`
	Versions int   `json:"soul_versions"`
	// Renumbered tells how the sessions after those are called then.
	Renumbered []Renumbered `json:"renumbered,omitempty"`
	// Backups hold some of it and go too: automatic ones, and files that a restore
	// had replaced. BackupsLeft hold it, or cannot be read, and stay: they were made
	// by hand, or may be another's.
	Backups     []string `json:"backups,omitempty"`
	BackupsLeft []string `json:"backups_left,omitempty"`
	// Diary are the person's own files that hold some of the entries. They are
	// never changed.
	Diary []string `json:"diary_files,omitempty"`
	// Claims go that were taken from the entries, match, or follow from such.
	Claims int `json:"claims,omitempty"`
	// Cannot says what no program can take back.
	Cannot []string `json:"cannot"`
}

// Renumbered is a run of sessions that follow each other and all count less.
type Renumbered struct {
	First  int `json:"first"`
	Last   int `json:"last"`
	Before int `json:"was_first"`
}

// ForgetEntry is one entry that would go.
type ForgetEntry struct {
	ID      string `json:"id"`
	Date    string `json:"date,omitempty"`
	Source  string `json:"source,omitempty"`
	Session int    `json:"session"`
	Excerpt string `json:"excerpt,omitempty"`
	seq     uint64
}

// ForgetReceipt tells what went. Its counts come from looking at what is there
// afterwards, not from what was asked for.
type ForgetReceipt struct {
	// Forgotten entries went, with Records of the log in all.
	Forgotten int   `json:"forgotten"`
	Records   int   `json:"records"`
	Sessions  []int `json:"sessions,omitempty"`
	// Renumbered tells how the sessions after those are called now.
	Renumbered []Renumbered `json:"renumbered,omitempty"`
	// Left counts what is still there of them: experiences and texts in the
	// store, found by reading all of it again, and files of the companion (yours
	// excepted) that hold one of the texts. All are 0.
	Left ForgetLeft `json:"left"`
	// Versions of SOUL.md were removed, and Backups: automatic ones, and files that
	// a restore had replaced.
	Versions int `json:"soul_versions"`
	Backups  int `json:"backups"`
	// BackupsLeft are the files of the folder of backups that still hold some of
	// it: they were made by hand, could not be removed, or cannot be read, so that
	// it is not known.
	BackupsLeft []string `json:"backups_left,omitempty"`
	// Missing are places that were not there to be looked at, an unplugged disk say:
	// what lies there may still hold it.
	Missing []string `json:"missing,omitempty"`
	// BackupSoon says that the daemon makes a new backup by itself now.
	BackupSoon bool `json:"backup_soon,omitempty"`
	// Remaining entries are in the store.
	Remaining int `json:"remaining"`
	// Claims went that were taken from them, match, or follow from such.
	Claims int    `json:"claims,omitempty"`
	Before string `json:"state_before"`
	After  string `json:"state_after"`
	// Elsewhere names texts that other entries have too, so that they are still found.
	Elsewhere int      `json:"same_words_elsewhere,omitempty"`
	Diary     []string `json:"diary_files,omitempty"`
	Seconds   float64  `json:"seconds"`
}

// ForgetLeft counts what a fresh look found.
type ForgetLeft struct {
	Events int      `json:"events"`
	Texts  int      `json:"texts"`
	Files  []string `json:"files,omitempty"`
}

// cannotBeUndone is said before every forgetting.
var cannotBeUndone = []string{
	"Your own diary files stay as they are; what is forgotten is not taken from them again.",
	"Backups in other places, and copies of SOUL.md that others made, still hold what they held.",
	"Flash memory may keep old pages for a while; only erasing the whole device is sure.",
}

// PlanForget tells what Forget would take out.
func (c *Companion) PlanForget(ctx context.Context, q ForgetQuery) (ForgetPlan, error) {
	plan := ForgetPlan{Entries: []ForgetEntry{}, Cannot: cannotBeUndone}
	found, err := c.choose(ctx, q)
	if err != nil {
		return plan, err
	}
	chosen := found.entries
	plan.Entries, plan.Undated = chosen, found.undated
	x, err := c.store.PlanExcision(ctx, sequencesOf(chosen), chitta.ToForget{})
	if err != nil {
		return plan, err
	}
	plan.Sessions, plan.Renumbered = numbers(x.Sessions), runsOf(x)
	if plan.Backups, plan.BackupsLeft, err = c.store.CopiesWith(ctx, x.Keys); err != nil {
		return plan, err
	}
	plan.Diary, err = c.diaryFilesOf(chosen)
	if err != nil {
		return plan, err
	}
	match, err := c.claimsMatching(q)
	if err != nil {
		return plan, err
	}
	_, leaving, err := c.claims.Apart(ctx, c.claimsOf(x.Events, match))
	if err != nil {
		return plan, err
	}
	plan.Claims = leaving.Claims
	versions, err := c.files.List()
	if err != nil {
		return plan, err
	}
	first := firstSession(x)
	for _, v := range versions {
		if v.Session >= first && first > 0 {
			plan.Versions++
		}
	}
	return plan, nil
}

// diaryFilesOf are the files of the diary folder that entries came from.
func (c *Companion) diaryFilesOf(chosen []ForgetEntry) ([]string, error) {
	var files []string
	for _, e := range chosen {
		if e.Source == "" || slices.Contains(files, e.Source) {
			continue
		}
		if _, err := c.store.SourceAt(e.Source); err == nil && !strings.HasPrefix(e.Source, "import:") {
			files = append(files, e.Source)
		} else if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
	}
	slices.Sort(files)
	return files, nil
}

// Forget takes the entries of a query out as if they had never been: the log is
// folded again without them, a new database takes the place of the old one, and
// everything that was generated from them goes or is made again. Until the new
// database is in place ctx may end it and nothing has changed.
func (c *Companion) Forget(ctx context.Context, q ForgetQuery, progress func(Progress)) (ForgetReceipt, error) {
	var r ForgetReceipt
	done := make(chan error, 1)
	// The worker's own context goes on when the caller's ends; the caller's is
	// what may stop this.
	err := c.do(context.WithoutCancel(ctx), interactive, func(context.Context) error {
		var err error
		r, err = c.forget(ctx, q, progress)
		done <- err
		return nil
	})
	if err != nil {
		return r, err
	}
	return r, <-done
}

func (c *Companion) forget(ctx context.Context, q ForgetQuery, progress func(Progress)) (r ForgetReceipt, err error) {
	found, err := c.choose(ctx, q)
	if err != nil {
		return r, err
	}
	chosen := found.entries
	match, err := c.claimsMatching(q)
	if err != nil {
		return r, err
	}
	if len(chosen)+len(match) == 0 {
		return r, fmt.Errorf("%w: no entry fits", ErrNotFound)
	}
	defer c.Talking()() // no question about what goes is under way, and none begins
	defer c.takeBack()
	if len(chosen) == 0 {
		return c.forgetClaimsAlone(ctx, match)
	}
	return c.takeOut(ctx, chosen, match, chitta.ToForget{}, progress)
}

// takeOut takes entries out, and what is to be forgotten again, of which chosen has
// the entries. match are claims that go besides.
func (c *Companion) takeOut(ctx context.Context, chosen []ForgetEntry, match map[string]bool, again chitta.ToForget, progress func(Progress)) (r ForgetReceipt, err error) {
	began := time.Now()
	if r.Diary, err = c.diaryFilesOf(chosen); err != nil {
		return r, err
	}
	words, err := c.wordsToMiss(chosen)
	if err != nil {
		return r, err
	}
	if err := c.takeGiven(ctx); err != nil {
		return r, err
	}
	planned, err := c.store.PlanExcision(ctx, sequencesOf(chosen), again)
	if err != nil {
		return r, err
	}
	rest, err := c.rewriting(ctx, planned, c.claimsOf(planned.Events, match))
	if err != nil {
		return r, err
	}
	r.Claims = rest.leaving.Claims
	if rest.ofLives, rest.owed, err = c.lives.Forgetting(rest.lost, rest.called); err != nil {
		return r, err
	}
	var x chitta.Excised
	err = c.claims.Exclusively(ctx, func() (err error) {
		x, err = c.store.Excise(ctx, chitta.Excision{
			Sequences: sequencesOf(chosen), Again: again, Ended: rest.ended, Values: rest.values,
			Progress: func(stage string, done, total uint64) {
				if progress != nil {
					progress(Progress{Done: int(done), Total: int(total), Stage: stage, Elapsed: time.Since(began)})
				}
			},
		})
		return err
	})
	if err != nil {
		return r, err
	}
	// The store is the new one. What follows is done again at the next start
	// where a crash keeps it from being done now.
	c.goOnWith(rest)
	ctx = context.WithoutCancel(ctx)
	if err := c.lives.Forgotten(ctx, rest.lost, rest.called); err != nil {
		c.problem(fmt.Sprintf("what the life did before the forgetting could not be destroyed; it is tried again at the next start: %v", err))
		return r, fmt.Errorf("forgotten in the store, but the trace of the life is still there; it is tried again at the next start: %w", err)
	}
	defer c.backupSoon() // those of before are gone
	versions, err := c.clearTraces(ctx)
	if err != nil {
		c.problem(fmt.Sprintf("something that was generated from what is forgotten could not be removed; it is tried again at the next start: %v", err))
		return r, fmt.Errorf("forgotten in the store, but %w; it is tried again at the next start", err)
	}
	c.soulMoved(ctx) // with the claims that are left
	if err := c.dropCopies(ctx); err != nil {
		return r, err
	}
	r.Versions, r.Backups, r.Records, r.Sessions = versions, len(x.Copies), x.Records, numbers(x.Sessions)
	r.Renumbered = runsOf(x)
	r.Before, r.After = fmt.Sprintf("%x", x.Before), fmt.Sprintf("%x", x.After)
	r.BackupsLeft = c.backupsWith(ctx, x)
	r.BackupSoon = len(x.Copies) > 0 && c.backups.watched.Load()
	c.backups.gone.Store(len(x.Copies) > 0)
	if err := c.lookFor(ctx, chosen, words, &r); err != nil {
		return r, err
	}
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

// backupsWith are the copies of the store that still hold what was taken out, or
// may. Where they cannot be looked at it is their folder.
func (c *Companion) backupsWith(ctx context.Context, x chitta.Excised) []string {
	soon, left, err := c.store.CopiesWith(ctx, x.Keys)
	left = append(left, soon...)
	if err != nil {
		c.log.Warn("whether backups hold what was forgotten is not known", "error", err)
		left = append(left, c.store.BackupFolder())
	}
	left = append(left, x.Left...)
	slices.Sort(left)
	return slices.Compact(left)
}

// takeGiven takes in what the person changed in Given, since SOUL.md will be
// written anew.
func (c *Companion) takeGiven(ctx context.Context) error {
	values, err := c.birth()
	if err != nil || len(values) == 0 {
		return err
	}
	_, err = c.store.Append(ctx, chitta.Batch{Values: values})
	return err
}

func sequencesOf(chosen []ForgetEntry) []uint64 {
	out := make([]uint64, len(chosen))
	for i, e := range chosen {
		out[i] = e.seq
	}
	return out
}

func numbers(sessions []uint32) []int {
	out := make([]int, len(sessions))
	for i, n := range sessions {
		out[i] = int(n)
	}
	return out
}

// runsOf are the sessions that count less, in runs.
func runsOf(x chitta.Excised) []Renumbered {
	var out []Renumbered
	for _, before := range slices.Sorted(maps.Keys(x.Renumbered)) {
		now, was := int(x.Renumbered[before]), int(before)
		if n := len(out); n > 0 && now-out[n-1].First == was-out[n-1].Before && now == out[n-1].Last+1 {
			out[n-1].Last = now
			continue
		}
		out = append(out, Renumbered{now, now, was})
	}
	return out
}

// firstSession is the first session that loses something.
func firstSession(x chitta.Excised) int {
	first := 0
	for _, e := range x.Events {
		if first == 0 || int(e.Session) < first {
			first = int(e.Session)
		}
	}
	return first
}
