package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/projection"
)

// ErrConsent: what was said about consent cannot be recorded as it was put.
var ErrConsent = errors.New("consent cannot be said so")

// leave is what may be done with texts now. A companion shares it with those that are
// made beside it; nil denies everything.
type leave struct {
	is atomic.Pointer[allowed]
	// going are entries whose texts are being destroyed: they are read no more.
	going map[uint64]bool
}

func leaveOf(a allowed) *leave {
	l := &leave{}
	l.is.Store(&a)
	return l
}

// now is what is allowed now.
func (l *leave) now() allowed {
	if l != nil {
		if a := l.is.Load(); a != nil {
			return *a
		}
	}
	return allowed{}
}

// allowed is a grid, with the places of it of which somebody said something.
type allowed struct {
	grid consent.Grid
	said map[consent.Cell]bool
}

// allowedBy is what a chain of records allows.
func allowedBy(chain *consent.Chain) allowed {
	a := allowed{chain.Grid(), map[consent.Cell]bool{}}
	for _, r := range chain.Records() {
		a = a.with(r.Changes)
	}
	a.grid = chain.Grid()
	return a
}

// with is that after changes, which are valid.
func (a allowed) with(changes []consent.Change) allowed {
	next := allowed{said: maps.Clone(a.said)}
	next.grid, _ = a.grid.With(changes...)
	for _, c := range changes {
		next.said[c.Cell] = true
	}
	return next
}

// use tells whether a use is allowed of an entry: of the category that the person set, and
// of one that it was found to be of, if any. What is denied of that by default only, of
// which nobody was ever asked, takes nothing from the person's own entry: a model may
// find of it what it likes.
func (a allowed) use(d consent.Dimension, own, found string) bool {
	if a.grid.Answer(consent.OfEntry(own), d) != consent.Allow {
		return false
	}
	cell := consent.Cell{Category: consent.OfEntry(found), Dimension: d}
	return found == "" || found == own || !a.said[cell] || a.grid.Answer(cell.Category, d) == consent.Allow
}

// readable tells whether what is kept of an entry may be read again. What rests until the
// person says whether it stays may not.
func (a allowed) readable(own, found string) bool {
	return a.use(consent.Storage, own, found) && a.use(consent.Access, own, found)
}

// settled is the category that an entry has: what the person set, or what it was found to
// be of, where that opens nothing.
func (a allowed) settled(set, found string) string {
	own := consent.OfEntry(set)
	if c := a.grid.Settle(0, own, consent.OfEntry(found)); c != own {
		return found
	}
	return set
}

// keep is the most that may be kept of an entry. Ask allows nothing: nobody is there to be
// asked when an entry comes, so nothing is kept before the person says so.
func (a allowed) keep(own, found string) Keep {
	if a.use(consent.Storage, own, found) {
		return KeepFull
	}
	return KeepNone
}

// mayRead tells whether what is kept of an entry may be read again by the companion: for
// a prompt, for SOUL.md, for an answer to recall.
func (c *Companion) mayRead(seq uint64, x fold.Experienced, t chitta.Text) bool {
	return c.leave != nil && !c.leave.going[seq] && c.leave.now().readable(x.Category, t.Found)
}

// readAgain is what is kept of the entry at seq, where it may be read again. Error:
// ErrNotFound where nothing is kept, or it may not.
func (c *Companion) readAgain(seq uint64) (chitta.Text, error) {
	x, t, err := c.wordingOf(seq)
	if err == nil && !c.mayRead(seq, x, t) {
		err = fmt.Errorf("text of event %d: %w: there is no leave to read it", seq, ErrNotFound)
	}
	if err != nil {
		return chitta.Text{}, err
	}
	return t, nil
}

// closed tells of an entry of which a text is kept that may not be read again.
func (c *Companion) closed(seq uint64) (bool, error) {
	x, t, err := c.wordingOf(seq)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil && !c.mayRead(seq, x, t), err
}

// learnConsent takes in what the person allows.
func (c *Companion) learnConsent() error {
	chain, err := c.lives.Consent()
	if err != nil {
		return err
	}
	a := allowedBy(chain)
	c.leave.is.Store(&a)
	return nil
}

// ConsentRequest is what somebody says about consent.
type ConsentRequest struct {
	Changes []consent.Change `json:"changes"`
	// Who says it, 1 to 64 letters; Why, up to 240, may be empty.
	Who string `json:"who"`
	Why string `json:"why,omitempty"`
}

// ConsentKept is how much is kept of a category.
type ConsentKept struct {
	Category consent.Category `json:"category"`
	Entries  int              `json:"entries"`
	Texts    int              `json:"texts"`
	// Resting are those of the texts that may not be read again.
	Resting int `json:"resting"`
}

// ConsentView is what the person allows, what they said of it, and what is kept.
type ConsentView struct {
	Head    consent.Head     `json:"head"`
	Table   consent.Table    `json:"table"`
	Records []consent.Record `json:"records"`
	// Kept are the categories of which there are entries, in the order of the grid.
	Kept []ConsentKept `json:"kept"`
	// Withdrawals are those that are done, the oldest first; Unfinished those of which
	// something is left to do.
	Withdrawals []Withdrawal `json:"withdrawals"`
	Unfinished  []Withdrawal `json:"unfinished"`
}

// Consent tells what the person allows, with all that they said of it.
func (c *Companion) Consent(ctx context.Context) (ConsentView, error) {
	chain, err := c.lives.Consent()
	if err != nil {
		return ConsentView{}, err
	}
	out := ConsentView{Head: chain.Head(), Table: chain.Table(), Records: chain.Records()}
	all, err := c.entriesOf(ctx, consent.Categories(), 0)
	if err != nil {
		return out, err
	}
	out.Kept = keptOf(allowedBy(chain), all)
	if out.Withdrawals, err = c.withdrawals(prefixWithdrawn); err != nil {
		return out, err
	}
	out.Unfinished, err = c.withdrawals(prefixWithdrawing)
	return out, err
}

// keptOf counts entries by their categories. One that was found to be of another than its
// own counts for both.
func keptOf(a allowed, all []categorised) []ConsentKept {
	out := []ConsentKept{}
	for _, category := range consent.Categories() {
		k := ConsentKept{Category: category}
		for _, e := range all {
			if !e.is(category) {
				continue
			}
			k.Entries++
			if e.text {
				k.Texts++
			}
			if e.text && !a.readable(e.own, e.found) {
				k.Resting++
			}
		}
		if k.Entries > 0 {
			out = append(out, k)
		}
	}
	return out
}

// LivesHeld counts what is kept of lives of a category.
type LivesHeld = projection.LivesHeld

// ConsentPlan is what saying something about consent would do.
type ConsentPlan struct {
	Changes []consent.Change `json:"changes"`
	consent.Plan
	// Kept is what there is of the categories whose texts would be destroyed, or would
	// not be read any more. Lives is what is kept of lives of them, and would be destroyed.
	Kept  []ConsentKept `json:"kept"`
	Lives []LivesHeld   `json:"lives,omitempty"`
	// Versions are copies of SOUL.md that go; Backups go, since they may hold some of
	// it, and BackupsLeft stay, since they were made by hand or cannot be read.
	Versions    int      `json:"soul_versions"`
	Backups     []string `json:"backups,omitempty"`
	BackupsLeft []string `json:"backups_left,omitempty"`
	// Diary are the person's own files that some of it is from; they are never changed.
	Diary []string `json:"diary_files,omitempty"`
}

// Takes tells whether something is taken away, or destroyed.
func (p ConsentPlan) Takes() bool { return !p.Empty() || len(p.Purge) > 0 }

// PlanConsent tells what SetConsent would do, and changes nothing. Errors: ErrConsent.
func (c *Companion) PlanConsent(ctx context.Context, r ConsentRequest) (ConsentPlan, error) {
	said, err := c.lives.Consider(r.Who, r.Why, r.Changes)
	if err != nil {
		return ConsentPlan{}, fmt.Errorf("%w: %w", ErrConsent, err)
	}
	owed, entries, err := c.withdrawalOf(ctx, said)
	if err != nil {
		return ConsentPlan{}, err
	}
	out := ConsentPlan{Changes: said.Record.Changes, Plan: owed.Plan}
	touched := slices.Concat(owed.Plan.Purge, owed.Resting, owed.Confirm)
	for _, k := range keptOf(c.leave.now().with(said.Record.Changes), entries) {
		if slices.Contains(touched, k.Category) {
			out.Kept = append(out.Kept, k)
		}
	}
	if out.Lives, err = c.lives.Held(owed.Plan.Purge...); err != nil {
		return out, err
	}
	gone := of(entries, owed.Plan.Purge)
	if len(gone) == 0 {
		return out, nil
	}
	if out.Backups, out.BackupsLeft, err = c.store.CopiesUpTo(c.store.Meta().Generation); err != nil {
		return out, err
	}
	if out.Diary, err = c.diaryFilesOf(asForgotten(gone)); err != nil {
		return out, err
	}
	versions, err := c.files.List()
	first := firstOf(gone)
	for _, v := range versions {
		if v.Session >= first {
			out.Versions++
		}
	}
	return out, err
}

// SetConsent records what the person says, and does at once what it asks for: see
// Withdrawal. The record and what is owed for it are durable together; what cannot be
// done now is taken up at the next start, until nothing of it is left. Errors:
// ErrConsent, and nothing was said then.
func (c *Companion) SetConsent(ctx context.Context, r ConsentRequest, progress func(Progress)) (w Withdrawal, err error) {
	err = c.do(context.WithoutCancel(ctx), interactive, func(worker context.Context) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.takeUpWithdrawals(worker); err != nil { // what is left of one before comes first
			return err
		}
		said, err := c.lives.Consider(r.Who, r.Why, r.Changes)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrConsent, err)
		}
		owed, _, err := c.withdrawalOf(worker, said)
		if err != nil {
			return err
		}
		_, err = c.lives.Say(worker, r.Who, r.Why, r.Changes, func(s projection.Consenting) ([]projection.Value, error) {
			owed.Record, owed.Version = s.Record.ID, s.Record.Version
			if !owed.asksForSomething() {
				return nil, nil
			}
			v, err := owed.value()
			return []projection.Value{projection.Value(v)}, err
		})
		if err != nil {
			return err
		}
		defer c.Talking()() // a question that is under way may hold what is withdrawn
		if err := c.learnConsent(); err != nil {
			return err
		}
		c.takeBack()
		c.log.Info("something was said about consent", "record", owed.Version, "changes", len(said.Record.Changes), "withdrawn", len(owed.Withdrawn)+len(owed.Plan.Closed))
		w = owed.Withdrawal
		if owed.asksForSomething() {
			w = c.carryOut(worker, owed, progress).Withdrawal
		}
		c.soulMoved(worker)
		if err := c.hideUnsettled(worker); err != nil {
			c.problem(fmt.Sprintf("SOUL.md may tell of a claim that rests now, until the session ends: %v", err))
		}
		return nil
	})
	return w, err
}
