package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// opinion is what was said of a note: by the model, or by the built-in assessor, and
// then owed says that the model is to be asked later.
type opinion struct {
	Assessment
	owed bool
	// told is how often the store had been written anew when the model was told of it.
	told uint64
}

// unsaid leaves out what a model said that was told of what is forgotten by now.
func (a Assessment) unsaid(c *Companion, told uint64) Assessment {
	if told != c.store.Meta().Generation {
		a.Gist, a.Reason = "", ""
	}
	return a
}

// judge asks for a judgement. The built-in assessor is always asked: it is quick, and
// the model may be away, slow or wrong. Of what is written live the model is asked
// right away, until hurry is done: that is when others wait behind it. What comes from
// history is judged by the model later; a lifetime of diary would wait for days.
func (c *Companion) judge(ctx context.Context, p *prepared, hurry context.Context) (opinion, error) {
	e := Experience{Text: p.note.Text, Embedding: p.embedding, Date: p.note.Date}
	j, err := c.opts.Assessor.Assess(ctx, e)
	if err != nil {
		return opinion{}, err
	}
	out := opinion{Assessment: Assessment{Judgement: j}}
	if c.opts.Model == nil {
		return out, nil
	}
	out.owed = true
	if p.policy == history || hurry.Err() != nil || c.opts.Model.State().Away != "" {
		c.counts.fallbacks.Add(1)
		return out, nil
	}
	asking, stop := c.patiently(ctx)
	defer stop()
	defer context.AfterFunc(hurry, stop)()
	told := c.store.Meta().Generation
	e.Soul, e.Session = c.context(p)
	a, err := c.opts.Model.Assess(asking, e)
	if err == nil {
		err = checkAssessment(a)
	}
	if err != nil {
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		c.counts.fallbacks.Add(1)
		c.log.Debug("the model did not judge an entry; it is asked again later", "error", err)
		return out, nil
	}
	return opinion{Assessment: a, told: told}, nil
}

// patiently bounds a question to a model that does not keep the deadline itself. It is
// longer than that: one that is ended from here cannot see that it was late, and would be
// asked, and waited for, for ever.
func (c *Companion) patiently(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 2*c.opts.Deadline)
}

// checkAssessment sees that what a model says can be recorded.
func checkAssessment(a Assessment) error {
	if err := fold.CheckJudgement(a.Judgement); err != nil {
		return fmt.Errorf("%w: %w", ErrModelAnswer, err)
	}
	return nil
}

// context is what a model is given to know beside an entry: SOUL.md, and what was
// said before in the same session, bounded.
func (c *Companion) context(p *prepared) (soul string, before []string) {
	doc, err := c.files.Current()
	if err == nil {
		soul = string(doc)
	}
	var sequences []uint64
	_ = c.store.View(func(s *fold.State) error {
		if s.Session.Open && p.policy != history {
			sequences = lastBefore(s, len(s.Impressions), s.Session.Number)
		}
		return nil
	})
	return soul, c.wordsOf(sequences)
}

// earlierThan is what was said before the entry at seq in its session, as it was told
// when that was written; nothing of an entry that made no impression of its own.
func (c *Companion) earlierThan(seq uint64) []string {
	var sequences []uint64
	_ = c.store.View(func(s *fold.State) error {
		if row, ok := rowOf(s, seq); ok {
			sequences = lastBefore(s, row, s.Impressions[row].Born)
		}
		return nil
	})
	return c.wordsOf(sequences)
}

// lastBefore are the last entries of a session before a row, at most eight, the last first.
func lastBefore(s *fold.State, row int, session uint32) (sequences []uint64) {
	const most = 8
	for i := row - 1; i >= 0 && len(sequences) < most && s.Impressions[i].Born == session; i-- {
		sequences = append(sequences, s.Impressions[i].Sequence)
	}
	return sequences
}

// wordsOf are the beginnings of entries, the last first, in their order.
func (c *Companion) wordsOf(sequences []uint64) (before []string) {
	for _, seq := range slices.Backward(sequences) {
		if t, err := c.store.TextOf(seq); err == nil {
			before = append(before, clip(t.Body, 800))
		}
	}
	return before
}

// said adds to what is kept of an entry what a model said of it.
func (a Assessment) said(t *chitta.Text) *chitta.Text {
	if t == nil || a.Gist == "" && a.Reason == "" {
		return t
	}
	with := *t
	with.Summary, with.Reason = clip(a.Gist, 800), clip(a.Reason, 480)
	if t.Gist { // what is kept of it has no details
		with.Summary, with.Reason = Gist(with.Summary), Gist(with.Reason)
	}
	return &with
}

// owes gives the record of an entry that the model is to judge: one that it did not,
// and of which everything is kept.
func (o opinion) owes(e chitta.Entry) func(seq uint64) chitta.Value {
	if !o.owed || e.Text == nil || e.Text.Gist {
		return nil
	}
	return func(seq uint64) chitta.Value {
		if b, ok := e.Body.(fold.Superseded); ok {
			seq = b.Target
		}
		v, err := owed{seq: seq}.value()
		if err != nil {
			return chitta.Value{} // it has no parts that could fail
		}
		return v
	}
}

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
	tell := c.comings("the language model", "the built-in models do its work until it is back")
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
		if err := c.atLeisure(ctx); err != nil {
			break
		}
		asked := time.Now()
		j, err := c.judgeAgain(ctx, o)
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

// atLeisure waits until nothing that somebody waits for is to be done.
func (c *Companion) atLeisure(ctx context.Context) error {
	for c.queue.length() > 0 || c.talking.Load() > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return ctx.Err()
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
	// unread says that it could not be read.
	unread bool
}

// judgeAgain asks the model about one entry. An error is of the server or the store.
func (c *Companion) judgeAgain(ctx context.Context, o owed) (judged, error) {
	out := judged{owed: o, dropped: true}
	x, t, err := c.wordingOf(o.seq)
	if errors.Is(err, ErrNotFound) || err == nil && (t.Gist || t.Body == "") {
		return out, nil // it is gone, or not all of it is kept
	}
	if err != nil {
		return out, err
	}
	out.key, out.dropped, out.told = x.Key, false, c.store.Meta().Generation
	asking, stop := c.patiently(ctx)
	defer stop()
	soul, _ := c.context(&prepared{policy: history})
	e := Experience{Text: t.Body, Embedding: x.Embedding, Date: x.Date, Soul: soul, Session: c.earlierThan(o.seq)}
	if o.Tries > 0 { // what came before it may be what the model could not bear
		e.Session = nil
	}
	a, err := c.opts.Model.Assess(asking, e)
	if err == nil {
		err = checkAssessment(a)
	}
	switch {
	case ctx.Err() != nil:
		return out, ctx.Err()
	case errors.Is(err, ErrModelAway):
		return out, err
	case err == nil:
		a.Judgement = lessened(a.Judgement, t.Own)
		out.assessment = &a
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
	var again, given int64
	for _, j := range done {
		x, t, err := c.wordingOf(j.owed.seq)
		switch {
		case errors.Is(err, ErrNotFound):
			j.dropped = true // forgotten or buried meanwhile
		case err != nil: // it cannot be read now
			j.assessment = nil
		case j.unread: // it could not be read then
		case x.Key != j.key && !j.dropped:
			continue // edited meanwhile; that judgement is of other words
		}
		remove := chitta.Value{Name: owedName(j.owed.seq)}
		switch {
		case j.dropped:
		case j.assessment != nil:
			text, none := c.reduced(x, t, j.assessment.Category)
			b.Entries = append(b.Entries, chitta.Entry{
				Body: fold.Reassessed{Target: j.owed.seq, Judgement: j.assessment.Judgement},
				Text: j.assessment.unsaid(c, j.told).said(text), NoText: none,
			})
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
	c.counts.reassessed.Add(again)
	c.counts.givenUp.Add(given)
	if again > 0 {
		c.forgetRows(first)
		c.life.edited = true
	}
	return nil
}

// modelChanged records which model judges from now on, where it is another one than
// before.
func (c *Companion) modelChanged(ctx context.Context, s ModelState) {
	if s.Digest == "" {
		return
	}
	err := c.do(ctx, interactive, func(ctx context.Context) error {
		now := fold.ModelChanged{Model: clip(s.Name, 128), Digest: clip(s.Digest, 128)}
		data, err := c.store.Value(valueModel)
		if err != nil && !errors.Is(err, chitta.ErrNotFound) {
			return err
		}
		before := currentModel{}
		if err == nil {
			if err := unmarshal(valueModel, data, &before); err != nil {
				return err
			}
		}
		if before.ModelChanged == now {
			return nil
		}
		current := currentModel{ModelChanged: now}
		if before.Model == now.Model {
			at, _ := c.opts.Now()
			current.Was, current.Since = before.Digest, at.Unix()
		}
		if data, err = json.Marshal(current); err != nil {
			return err
		}
		_, err = c.store.Append(ctx, chitta.Batch{Entries: []chitta.Entry{{Body: now}}, Values: []chitta.Value{{Name: valueModel, Data: data}}})
		return err
	})
	c.unrecorded.Store(err != nil)
	if err != nil && ctx.Err() == nil {
		c.log.Warn("which model judges could not be recorded; it is tried again", "error", err)
	}
}

// valueModel says which model judges.
const valueModel = "model/current"

// currentModel is what stands there.
type currentModel struct {
	fold.ModelChanged
	// Was is the digest that the same name had before, and Since when it has another,
	// Unix seconds.
	Was   string `json:"was,omitempty"`
	Since int64  `json:"since,omitempty"`
}

// modelProblem says for a week that another model has the name of the one before.
func (c *Companion) modelProblem() string {
	var m currentModel
	data, err := c.store.Value(valueModel)
	if err != nil || c.opts.Model == nil || json.Unmarshal(data, &m) != nil || m.Was == "" {
		return ""
	}
	if now, _ := c.opts.Now(); now.Unix()-m.Since > 7*24*3600 {
		return ""
	}
	return fmt.Sprintf("the model %s is another one than before: %s, was %s; judgements of before stay as they are", m.Model, short(m.Digest), short(m.Was))
}

// modelID is the id of the model without the version of the question that judges: who
// talks, narrates and names.
func (c *Companion) modelID() string {
	id, _, _ := strings.Cut(c.opts.Model.ID(), " ")
	return id
}

func short(digest string) string { return digest[:min(12, len(digest))] }

// counts are what happened since the start.
type counts struct {
	fallbacks, reassessed, givenUp   atomic.Int64
	reflections, unnamed, unnarrated atomic.Int64
}

// modelStatus is how the model is, nil where there is none.
func (c *Companion) modelStatus() (*ModelStatus, error) {
	if c.opts.Model == nil {
		return nil, nil
	}
	out := &ModelStatus{
		ModelState: c.opts.Model.State(),
		Fallbacks:  c.counts.fallbacks.Load(), Reassessed: c.counts.reassessed.Load(), GivenUp: c.counts.givenUp.Load(),
		Reflections: c.counts.reflections.Load(), Unnamed: c.counts.unnamed.Load(), Unnarrated: c.counts.unnarrated.Load(),
	}
	return out, c.store.Values(prefixOwed, func(string, []byte) error { out.Owed++; return nil })
}
