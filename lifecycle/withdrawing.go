package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/projection"
)

// A withdrawal acts now. What it owes is written in the transaction that records what the
// person said, and is there until all of it is done: a crash, or a full disk, only delays
// it. The store is written anew without the texts; with it, in the same moment, goes what
// was made of them, and it is noted that this much is done. Then files go that hold them.

// Records of withdrawals, by the version of what was said.
const (
	prefixWithdrawing = "withdrawal/owed/"
	prefixWithdrawn   = "withdrawal/done/"
)

// Withdrawal is what was done for something that the person said about consent. Its
// counts are of what there was; in Report's Done stands what is left.
type Withdrawal struct {
	consent.Report
	// Version is that of what was said, from 1.
	Version int `json:"version"`
	// Remade says that the tendencies' names and SOUL.md were made anew; Versions of
	// SOUL.md and Backups went.
	Remade   bool `json:"soul_remade"`
	Versions int  `json:"soul_versions"`
	Backups  int  `json:"backups"`
	// Claims went, with what follows from them.
	Claims int `json:"claims,omitempty"`
	// BackupsLeft were made by hand or cannot be read, and may hold some of it; FilesLeft
	// were found to hold some, Missing are places that were not there to be looked at.
	BackupsLeft []string `json:"backups_left,omitempty"`
	FilesLeft   []string `json:"files_left,omitempty"`
	Missing     []string `json:"missing,omitempty"`
	// Diary are the person's own files that some of it is from; they are never changed.
	Diary []string `json:"diary_files,omitempty"`
	// Restored says that it was done again for texts that came back with an older copy of
	// the store, or with an export; FoundTexts counts those of them that were not of its
	// categories by name, but had been destroyed with them.
	Restored   bool `json:"restored,omitempty"`
	FoundTexts int  `json:"found_texts,omitempty"`
}

// owedWithdrawal is a withdrawal on its way, as it is kept.
type owedWithdrawal struct {
	Withdrawal
	// Purge and Drop of the plan are to be done; Resting are categories that may not be
	// read any more, Opened those that may again.
	Resting []consent.Category `json:"resting"`
	Opened  []consent.Category `json:"opened"`
	// UpTo is the last record of then: what comes in later has its own leave.
	UpTo uint64 `json:"up_to"`
	// Rewritten says that the store is the new one; Sessions lost a text then.
	Rewritten bool  `json:"rewritten"`
	Sessions  []int `json:"sessions"`
	// Entries, by their ids, lose their texts too, whatever they are of.
	Entries []string `json:"entries,omitempty"`
}

// nameUnder is the name of its record under a prefix. What is done again for an older
// copy has one of its own.
func (o owedWithdrawal) nameUnder(prefix string) string {
	name := fmt.Sprintf("%s%010d", prefix, o.Version)
	if o.Restored {
		name += "-restored"
	}
	return name
}

func (o owedWithdrawal) value() (chitta.Value, error) {
	data, err := json.Marshal(o)
	return chitta.Value{Name: o.nameUnder(prefixWithdrawing), Data: data}, err
}

func (o owedWithdrawal) asksForSomething() bool {
	return len(o.Plan.Purge)+len(o.Drop)+len(o.Confirm)+len(o.Resting)+len(o.Opened)+len(o.Entries) > 0
}

// goes tells whether it takes the text of an entry.
func (o owedWithdrawal) goes(e categorised) bool {
	return slices.ContainsFunc(o.Plan.Purge, e.is) || slices.Contains(o.Entries, formatID(e.id))
}

// categorised is an entry with the categories that it is of.
type categorised struct {
	seq        uint64
	id         fold.ID
	session    int
	source     string
	own, found string
	text       bool
}

// is tells whether an entry is of a category.
func (e categorised) is(k consent.Category) bool {
	return consent.OfEntry(e.own) == k || e.found != "" && consent.OfEntry(e.found) == k
}

// entriesOf are the entries of some categories, up to a record of the log; 0 for all.
func (c *Companion) entriesOf(ctx context.Context, wanted []consent.Category, upTo uint64) (out []categorised, err error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	return c.entriesWhere(ctx, upTo, func(e categorised) bool { return slices.ContainsFunc(wanted, e.is) })
}

// entriesWhere are the entries that are wanted, up to a record of the log; 0 for all.
func (c *Companion) entriesWhere(ctx context.Context, upTo uint64, wanted func(categorised) bool) (out []categorised, err error) {
	err = c.store.Experiences(ctx, func(x chitta.Experience) error {
		if upTo > 0 && x.Sequence > upTo {
			return nil
		}
		t, err := c.store.TextOf(x.Sequence)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		e := categorised{seq: x.Sequence, id: x.ID, session: int(x.Session), source: x.Source, own: x.Category, found: t.Found, text: err == nil}
		if wanted(e) {
			out = append(out, e)
		}
		return nil
	})
	return out, err
}

// of are those of some categories.
func of(all []categorised, wanted []consent.Category) (out []categorised) {
	for _, e := range all {
		if slices.ContainsFunc(wanted, e.is) {
			out = append(out, e)
		}
	}
	return out
}

// goneFrom are those whose texts a withdrawal takes.
func goneFrom(all []categorised, o owedWithdrawal) (out []categorised) {
	for _, e := range all {
		if o.goes(e) {
			out = append(out, e)
		}
	}
	return out
}

func firstOf(all []categorised) int {
	first := 0
	for _, e := range all {
		if first == 0 || e.session < first {
			first = e.session
		}
	}
	return first
}

func asForgotten(all []categorised) (out []ForgetEntry) {
	for _, e := range all {
		out = append(out, ForgetEntry{ID: formatID(e.id), Source: e.source, Session: e.session, seq: e.seq})
	}
	return out
}

// withdrawalOf is what is to be done for something that the person says, and the entries
// that it is about. Storage that is denied destroys what there is of a category also
// where it was denied before: what was kept in spite of that came in before consent was
// asked for.
func (c *Companion) withdrawalOf(ctx context.Context, said projection.Consenting) (o owedWithdrawal, entries []categorised, err error) {
	o.Plan = consent.PlanOf(said.Before, said.After)
	_ = c.store.View(func(s *fold.State) error { o.UpTo = s.Sequence; return nil })
	var denied, changed []consent.Category
	for _, change := range said.Record.Changes {
		if change.Dimension == consent.Storage && change.Answer == consent.Deny {
			denied = append(denied, change.Category)
		}
		if (change.Dimension == consent.Storage || change.Dimension == consent.Access) && !slices.Contains(changed, change.Category) {
			changed = append(changed, change.Category)
		}
	}
	if entries, err = c.entriesOf(ctx, changed, 0); err != nil {
		return o, nil, err
	}
	before, after := c.leave.now(), c.leave.now().with(said.Record.Changes)
	for _, k := range changed {
		for _, e := range of(entries, []consent.Category{k}) {
			was, is := before.readable(e.own, e.found), after.readable(e.own, e.found)
			switch {
			case !e.text:
			case slices.Contains(denied, k) && !slices.Contains(o.Plan.Purge, k):
				o.Plan.Purge = append(o.Plan.Purge, k)
			case was && !is && !slices.Contains(o.Resting, k):
				o.Resting = append(o.Resting, k)
			case !was && is && !slices.Contains(o.Opened, k):
				o.Opened = append(o.Opened, k)
			}
		}
	}
	held, err := c.lives.Held(denied...)
	for _, h := range held {
		o.Plan.Purge = append(o.Plan.Purge, h.Category)
	}
	slices.Sort(o.Plan.Purge)
	o.Plan.Purge = slices.Compact(o.Plan.Purge)
	return o, entries, err
}

// withdrawals reads those that are kept under a prefix.
func (c *Companion) withdrawals(prefix string) ([]Withdrawal, error) {
	out := []Withdrawal{}
	err := c.store.Values(prefix, func(name string, data []byte) error {
		var o owedWithdrawal
		if err := unmarshal(name, data, &o); err != nil {
			return err
		}
		out = append(out, o.Withdrawal)
		return nil
	})
	return out, err
}

// carryOut does what a withdrawal owes, and keeps the report of it. What fails is in the
// report, told in status, and owed on.
func (c *Companion) carryOut(ctx context.Context, o owedWithdrawal, progress func(Progress)) owedWithdrawal {
	ctx = context.WithoutCancel(ctx)
	err := c.carry(ctx, &o, progress)
	if err != nil {
		c.problem(fmt.Sprintf("a withdrawal of consent is not finished: %v; it is tried again at the next start", err))
		c.log.Warn("a withdrawal of consent is not finished", "record", o.Version, "error", err)
	}
	for _, k := range slices.Concat(o.Plan.Purge, o.Drop) {
		d := o.doneFor(k)
		if err != nil && (!d.Purged && slices.Contains(o.Plan.Purge, k) || !d.Dropped && slices.Contains(o.Drop, k)) {
			d.Failure = oneLineOf(err)
		}
	}
	if v, e := o.value(); err != nil && e == nil { // where that can be noted, it is told why
		if _, e := c.store.Append(ctx, chitta.Batch{Values: []chitta.Value{v}}); e != nil {
			c.log.Warn("why a withdrawal is not finished could not be noted", "error", e)
		}
	}
	return o
}

func oneLineOf(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// doneFor is the place in the report of what was done for a category.
func (o *owedWithdrawal) doneFor(k consent.Category) *consent.Done {
	i := slices.IndexFunc(o.Done, func(d consent.Done) bool { return d.Category == k })
	if i < 0 {
		i = len(o.Done)
		o.Done = append(o.Done, consent.Done{Category: k})
	}
	return &o.Done[i]
}

func (c *Companion) carry(ctx context.Context, o *owedWithdrawal, progress func(Progress)) error {
	for i := range o.Done {
		o.Done[i].Failure = "" // of the try before
	}
	for _, k := range o.Drop {
		n, err := c.dropUploads(ctx, k)
		if err != nil {
			return err
		}
		d := o.doneFor(k)
		d.Uploads, d.Dropped = d.Uploads+n, true
	}
	if err := c.purgeClaims(ctx, o); err != nil {
		return err
	}
	if err := c.purgeLives(ctx, o); err != nil {
		return err
	}
	var words []string
	if !o.Rewritten {
		touched := slices.Concat(o.Resting, o.Opened)
		entries, err := c.entriesWhere(ctx, o.UpTo, func(e categorised) bool { return o.goes(e) || slices.ContainsFunc(touched, e.is) })
		if err != nil {
			return err
		}
		gone := goneFrom(entries, *o)
		if words, err = c.wordsToMiss(asForgotten(gone)); err != nil {
			return err
		}
		if o.Diary, err = c.diaryFilesOf(asForgotten(gone)); err != nil {
			return err
		}
		if len(entries) > 0 {
			if err := c.rewriteWithout(ctx, o, entries, gone, progress); err != nil {
				return err
			}
		}
	}
	return c.clearWithdrawn(ctx, o, words)
}

// dropUploads takes what waits to be sent of a category out of the queues.
func (c *Companion) dropUploads(ctx context.Context, k consent.Category) (int, error) {
	if c.opts.DropUploads == nil {
		return 0, nil // nothing is ever sent
	}
	return c.opts.DropUploads(ctx, k)
}

// rewriteWithout writes the store anew without the texts of gone, and without what was
// made of those of entries.
func (c *Companion) rewriteWithout(ctx context.Context, o *owedWithdrawal, entries, gone []categorised, progress func(Progress)) error {
	if err := c.takeGiven(ctx); err != nil {
		return err
	}
	began := time.Now()
	rest, err := c.rewriting(ctx, chitta.Excised{}, claimsFrom(gone))
	if err != nil {
		return err
	}
	rest.same = true
	rest.shadow.leave = leaveOf(c.leave.now())
	rest.shadow.leave.going = map[uint64]bool{}
	next := *o
	next.Done = slices.Clone(o.Done)
	drop := make([]uint64, len(gone))
	for i, e := range gone {
		drop[i], rest.shadow.leave.going[e.seq] = e.seq, true
		if e.text {
			next.Sessions = append(next.Sessions, e.session)
		}
	}
	slices.Sort(next.Sessions)
	next.Sessions, next.Rewritten, next.Remade = slices.Compact(next.Sessions), true, true
	for _, k := range o.Plan.Purge {
		for _, e := range of(gone, []consent.Category{k}) {
			if e.text {
				next.doneFor(k).Texts++
			}
		}
	}
	for _, e := range gone {
		if e.text && !slices.ContainsFunc(o.Plan.Purge, e.is) {
			next.FoundTexts++
		}
	}
	err = c.claims.Exclusively(ctx, func() error {
		return c.store.DropTexts(ctx, chitta.TextDrop{
			Sequences: drop, Ended: rest.ended,
			Values: func(_ context.Context, old []chitta.Value) ([]chitta.Value, error) {
				return rest.withdrawn(next, entries, gone, old)
			},
			Progress: func(stage string, done, total uint64) {
				if progress != nil {
					progress(Progress{Done: int(done), Total: int(total), Stage: stage, Elapsed: time.Since(began)})
				}
			},
		})
	})
	if err != nil {
		return err
	}
	*o = next
	c.goOnWith(rest)
	c.forgetNames()
	return nil
}

// withdrawn are the records of the store without some texts: what was made of those of
// entries is made anew, and what a model said that may speak of those of gone goes. What
// sessions count stays.
func (w *rewriting) withdrawn(o owedWithdrawal, entries, gone []categorised, old []chitta.Value) ([]chitta.Value, error) {
	touched := chitta.Excised{}
	for _, e := range entries {
		touched.Events = append(touched.Events, chitta.ExcisedEvent{Sequence: e.seq, ID: e.id})
	}
	names, err := namesAmong(old)
	if err != nil {
		return nil, err
	}
	names.forget(touched)
	if old, err = valuesWithout(old, w.goes); err != nil {
		return nil, err
	}
	drop := map[string]bool{valueVoice: true, valueNarrate: true, o.nameUnder(prefixWithdrawing): true, valueTraces: true}
	if len(gone) > 0 {
		drop[valueOwnWords], drop[valueOwnSoul] = true, true
	}
	for _, e := range gone {
		drop[owedName(e.seq)] = true
	}
	var out []chitta.Value
	var document []byte
	for n, l := range w.left {
		data, err := l.heritage.encode()
		if err != nil {
			return nil, fmt.Errorf("heritage: %w", err)
		}
		out = append(out, chitta.Value{Name: heritageName(n), Data: data})
		drop[heritageName(n)] = true
		if n == w.records[len(w.records)-1].Session {
			document = l.document
		}
	}
	if document != nil {
		out, drop[valueCurrent] = append(out, chitta.Value{Name: valueCurrent, Data: document}), true
	}
	for _, v := range old {
		if drop[v.Name] {
			continue
		}
		if id, isName := strings.CutPrefix(v.Name, prefixName); isName {
			if _, stays := names[id]; !stays {
				continue
			}
		}
		if len(gone) > 0 { // a note to a rating may speak of them
			as, err := projection.Unnoted(projection.Value(v))
			if err != nil {
				return nil, err
			}
			v = chitta.Value(as)
		}
		out = append(out, v)
	}
	mark, err := json.Marshal(traces{FirstSession: w.leaving.Since(firstOf(gone))})
	if err != nil {
		return nil, err
	}
	if out, err = withForgottenClaims(out, w.leaving); err != nil {
		return nil, err
	}
	owed, err := o.value()
	return append(out, owed, chitta.Value{Name: valueTraces, Data: mark}), err
}

// clearWithdrawn removes the files that hold what was withdrawn, looks whether any still
// does, and notes that all is done.
func (c *Companion) clearWithdrawn(ctx context.Context, o *owedWithdrawal, words []string) error {
	if len(o.Sessions) > 0 {
		if err := c.lives.Forgotten(ctx, func(n int) bool { return slices.Contains(o.Sessions, n) }, func(n int) int { return n }); err != nil {
			return fmt.Errorf("the trace of the life: %w", err)
		}
	}
	versions, err := c.clearTraces(ctx)
	if err != nil {
		return err
	}
	o.Versions += versions
	owed, err := c.owesCopies()
	if err != nil {
		return err
	}
	if owed || o.Rewritten && len(o.Plan.Purge)+len(o.Entries) > 0 {
		removed, left := c.store.DropCopies()
		o.Backups += len(removed)
		if len(left) > 0 {
			return fmt.Errorf("these backups may hold it and could not be removed: %s", strings.Join(left, ", "))
		}
		defer c.backupSoon()
		c.backups.gone.Store(len(removed) > 0)
		if _, o.BackupsLeft, err = c.store.CopiesUpTo(c.store.Meta().Generation - 1); err != nil {
			return fmt.Errorf("backups: %w", err)
		}
	}
	if err := c.lookAgain(ctx, o, words); err != nil {
		return err
	}
	for _, k := range o.Plan.Purge {
		o.doneFor(k).Purged = true
	}
	data, err := json.Marshal(o.Withdrawal)
	if err != nil {
		return err
	}
	_, err = c.store.Append(ctx, chitta.Batch{Values: []chitta.Value{
		{Name: o.nameUnder(prefixWithdrawing)}, {Name: o.nameUnder(prefixWithdrawn), Data: data}, {Name: valueCopies},
	}})
	return err
}

// lookAgain looks for texts that were destroyed in all files of the companion, but for
// those that other entries, or Given, have too.
func (c *Companion) lookAgain(ctx context.Context, o *owedWithdrawal, words []string) error {
	if len(words) == 0 {
		return nil
	}
	missed := toMiss(words)
	err := c.store.Texts(0, func(_ uint64, t chitta.Text) error {
		missed.notIn(t.Body)
		missed.notIn(t.Label)
		return nil
	})
	if err != nil {
		return err
	}
	given, err := c.given()
	if err != nil {
		return err
	}
	missed.notIn(given)
	p, _ := missed.left()
	if len(p.want) == 0 {
		return nil
	}
	o.FilesLeft, o.Missing, err = c.filesWith(ctx, p)
	return err
}
