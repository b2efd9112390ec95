package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// prefixOwed begins the names of the records of entries that the model is to judge.
const prefixOwed = "model/owed/"

func owedName(seq uint64) string { return fmt.Sprintf(prefixOwed+"%016x", seq) }

// owed is an entry that the model is to judge.
type owed struct {
	seq uint64
	// Tries are those that failed by the entry, not by the server.
	Tries int `json:"tries,omitempty"`
	// Next is when it is tried again, Unix seconds.
	Next int64 `json:"next,omitempty"`
}

func (o owed) value() (chitta.Value, error) {
	data, err := json.Marshal(o)
	return chitta.Value{Name: owedName(o.seq), Data: data}, err
}

const (
	// mostTries is how often an entry is tried that the model has no answer for.
	mostTries = 5
	// firstPause is how long it then waits, doubled each time.
	firstPause = time.Minute
	// together is how many judgements are written at a time: each writing folds the
	// log again from the first of them on.
	together = 32
	// gathering is how long a judgement waits for others.
	gathering = 20 * time.Second
)

// reassess asks the model, one after the other, to judge what the built-in assessor
// judged in its place, and puts its judgement there, as if it had been there from the
// start. It waits while anything else is to be done. It ends with ctx.
func (c *Companion) reassess(ctx context.Context) {
	if c.opts.Model == nil || c.opts.LookOnly {
		return
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(c.ending, stop)()
	tell := c.comings("the language model", func() string {
		if c.embedderAway() {
			return "nothing is judged before the embedder is back too"
		}
		return "the built-in models do its work until it is back"
	})
	go c.opts.Model.Watch(ctx, func(s ModelState) {
		tell(s)
		c.modelChanged(ctx, s)
		c.reassessSoon()
	})
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for ctx.Err() == nil {
		if c.unrecorded.Load() {
			c.modelChanged(ctx, c.opts.Model.State())
		}
		named, err := c.nameSome(ctx) // before the narrative, which may use the names
		if err != nil && ctx.Err() == nil {
			c.log.Warn("tendencies could not be named; it is tried later", "error", err)
		}
		if err := c.narrate(ctx); err != nil && ctx.Err() == nil {
			c.log.Warn("the last session could not be narrated; it is tried later", "error", err)
		}
		if n, err := c.reassessSome(ctx); err != nil && ctx.Err() == nil {
			c.log.Warn("entries could not be judged again; it is tried later", "error", err)
		} else if n+named > 0 {
			continue
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-c.owing:
		}
	}
}

// reassessSoon says that there may be something to do.
func (c *Companion) reassessSoon() {
	select {
	case c.owing <- struct{}{}:
	default:
	}
}

// reassessSome judges some entries, and returns how many were settled.
func (c *Companion) reassessSome(ctx context.Context) (settled int, err error) {
	list, err := c.owedNow()
	if err != nil || len(list) == 0 {
		return 0, err
	}
	select {
	case c.inHand <- struct{}{}:
		defer func() { <-c.inHand }()
	case <-ctx.Done():
		return 0, nil
	}
	began := time.Now()
	var done []judged
	for _, o := range list {
		if len(done) >= together || len(done) > 0 && time.Since(began) > gathering || ctx.Err() != nil {
			break
		}
		if c.opts.Model.State().Away != "" {
			break
		}
		if c.behind.any() { // a talk goes before what is long past
			break
		}
		if err := c.atLeisure(ctx); err != nil {
			break
		}
		if !c.isOwed(o.seq) || c.behind.has(o.seq) {
			continue // it was judged since the list was made
		}
		asked := time.Now()
		j, err := c.judgeAgain(ctx, o)
		if errors.Is(err, errGaveWay) || errors.Is(err, errTakenBack) { // it is looked at anew
			c.reassessSoon()
			break
		}
		if elsewhere(err) || ctx.Err() != nil {
			break
		}
		if err != nil && !errors.Is(err, ErrModelGaveWay) {
			// What cannot be read is a failed try, and keeps no other waiting.
			c.log.Warn("an entry could not be read to be judged again", "event", o.seq, "error", err)
			j = judged{owed: o, unread: true}
		}
		done = append(done, j) // where the model gave way it is a failed try, and the next one's turn
		c.rest(ctx, time.Since(asked))
	}
	if len(done) == 0 {
		return 0, nil
	}
	// What was judged is written also when the daemon is about to end.
	ahead, err := c.foldAhead(ctx, done)
	if err != nil {
		c.log.Warn("judgements are folded when they are written", "error", err)
	}
	err = c.do(context.WithoutCancel(ctx), backlog, func(ctx context.Context) error { return c.settleAll(ctx, done, ahead) })
	if err != nil && ctx.Err() != nil {
		c.log.Warn("what a model judged last could not be written before the end; it is asked again", "entries", len(done), "error", err)
	}
	return len(done), err
}

// handIn waits, within bounds, until what was judged is written, and has no more judged
// again: it belongs before the end of the session.
func (c *Companion) handIn(ctx context.Context) {
	const longest = 15 * time.Second
	waiting, stop := context.WithTimeout(ctx, longest)
	defer stop()
	select {
	case c.inHand <- struct{}{}: // for good
	case <-waiting.Done():
	}
}

// rest leaves the machine to others for as long as the model worked, within bounds.
func (c *Companion) rest(ctx context.Context, worked time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(min(worked, c.opts.Rest)):
	}
}

// foldAhead folds with what was judged, beside everything else; nil where there is
// nothing to fold, or no time.
func (c *Companion) foldAhead(ctx context.Context, done []judged) (*chitta.Ahead, error) {
	var list []fold.Reassessed
	for _, j := range done {
		if j.assessment != nil {
			list = append(list, fold.Reassessed{Target: j.owed.seq, Judgement: j.assessment.Judgement})
		}
	}
	if len(list) == 0 || ctx.Err() != nil {
		return nil, nil
	}
	a, err := c.store.FoldAhead(ctx, list)
	if err != nil {
		return nil, err
	}
	return a, nil
}

// owedNow lists the entries whose turn it is, the oldest first.
func (c *Companion) owedNow() (list []owed, err error) {
	now, _ := c.opts.Now()
	err = c.store.Values(prefixOwed, func(name string, data []byte) error {
		var o owed
		if err := unmarshal(name, data, &o); err != nil {
			return err
		}
		if _, err := fmt.Sscanf(name, prefixOwed+"%x", &o.seq); err != nil {
			return fmt.Errorf("%w: record %s", chitta.ErrDamaged, name)
		}
		if c.behind.has(o.seq) {
			return nil // it is asked about just now
		}
		// A clock that was put back far makes nothing wait for years.
		if wait := o.Next - now.Unix(); wait <= 0 || wait > int64(mostTries*24*3600) {
			list = append(list, o)
		}
		return nil
	})
	return list, err
}

// judged is what came of one entry.
type judged struct {
	owed owed
	// key is that of the wording that was judged.
	key fold.Key
	// told is how often the store had been written anew then.
	told       uint64
	assessment *Assessment
	// dropped says that there is nothing to judge any more.
	dropped bool
	// unread says that it could not be read, wordless that nothing of its text is kept.
	unread, wordless bool
}

// judgeAgain asks the model about one entry. An error is of the server or the store.
func (c *Companion) judgeAgain(ctx context.Context, o owed) (judged, error) {
	out := judged{owed: o, dropped: true}
	x, t, err := c.wordingOf(o.seq)
	if errors.Is(err, ErrNotFound) || err == nil && (t.Body == "" || !c.mayRead(o.seq, x, t)) {
		return out, nil // it is gone, nothing of it is kept, or it may not be read
	}
	if err != nil {
		return out, err
	}
	out.key, out.dropped, out.told = x.Key, false, c.store.Meta().Generation
	soul, _ := c.context(&prepared{policy: history})
	e := Experience{Text: t.Body, Embedding: x.Embedding, Date: x.Date, Soul: soul, Session: c.earlierThan(o.seq)}
	if o.Tries > 0 { // what came before it may be what the model could not bear
		e.Session = nil
	}
	var a Assessment
	may := func() bool { _, _, there := c.stillSays(o.seq, x.Key); return there }
	err = c.leisurely(ctx, may, func(asking context.Context) (err error) {
		if a, err = c.opts.Model.Assess(asking, e); err == nil {
			err = checkAssessment(a)
		}
		return err
	})
	err = c.ended(ctx, err)
	switch {
	case ctx.Err() != nil:
		return out, ctx.Err()
	case errors.Is(err, ErrModelAway), errors.Is(err, errGaveWay), errors.Is(err, errTakenBack):
		return out, err
	case err == nil:
		a.Judgement = lessened(a.Judgement, t.Own)
		out.assessment = &a
		c.ofAPart(&out, x, t)
	}
	return out, nil
}

// wordingOf is an entry as it stands, with what is kept of its text.
func (c *Companion) wordingOf(seq uint64) (fold.Experienced, chitta.Text, error) {
	e, err := c.store.EventAt(seq)
	if err != nil {
		return fold.Experienced{}, chitta.Text{}, err
	}
	x, ok := e.Body.(fold.Experienced)
	if !ok {
		return x, chitta.Text{}, fmt.Errorf("event %d: %w", seq, ErrNotFound)
	}
	t, err := c.store.TextOf(seq)
	return x, t, err
}

// settleAll writes what came of entries, in one transaction and one folding. It runs
// on the worker, so nothing is edited meanwhile.
func (c *Companion) settleAll(ctx context.Context, done []judged, ahead *chitta.Ahead) error {
	b := chitta.Batch{Ahead: ahead}
	first := 0
	now, _ := c.opts.Now()
	var again, given, gone int64
	var said []judged
	for _, j := range done {
		x, t, err := c.wordingOf(j.owed.seq)
		wordless := j.wordless && errors.Is(err, ErrNotFound) && x.Key == j.key && !c.buried(j.owed.seq)
		switch {
		case wordless:
		case errors.Is(err, ErrNotFound):
			j.dropped = true // forgotten or buried meanwhile
		case err != nil: // it cannot be read now
			j.assessment = nil
		case j.unread: // it could not be read then
		case x.Key != j.key && (!j.dropped || j.key != fold.Key{}):
			continue // edited meanwhile; that judgement is of other words
		}
		remove := chitta.Value{Name: owedName(j.owed.seq)}
		switch {
		case j.dropped:
		case j.assessment != nil:
			text, none := c.reduced(x, t, j.assessment.Category)
			if wordless {
				text, none = nil, true
			}
			b.Entries = append(b.Entries, chitta.Entry{
				Body: fold.Reassessed{Target: j.owed.seq, Judgement: j.assessment.Judgement},
				Text: j.assessment.unsaid(c, j.told).said(text), NoText: none,
			})
			if none && !wordless {
				gone++
			}
			said = append(said, j)
			row := 0
			_ = c.store.View(func(s *fold.State) error { row = rowAt(s, j.owed.seq); return nil })
			if again == 0 || row < first {
				first = row
			}
			again++
		default:
			o := j.owed
			o.Tries++
			if o.Tries < mostTries {
				o.Next = now.Add(firstPause << o.Tries).Unix()
				v, err := o.value()
				if err != nil {
					return err
				}
				b.Values = append(b.Values, v)
				continue
			}
			given++
		}
		b.Values = append(b.Values, remove)
	}
	if _, err := c.store.Append(ctx, b); err != nil {
		return err
	}
	for _, j := range said {
		c.propose(ctx, j.owed.seq, *j.assessment, j.told)
	}
	c.counts.reassessed.Add(again)
	c.counts.givenUp.Add(given)
	if again > 0 {
		c.forgetRows(first)
		c.life.edited = true
	}
	if gone > 0 {
		return c.soulAgain(ctx)
	}
	return nil
}
