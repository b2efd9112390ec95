package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle/prompt"
)

// opinion is what was said of a note: by the model, or by the built-in assessor, and
// then owed says that the model is to be asked later.
type opinion struct {
	Assessment
	owed bool
	// behind says that the model is asked as soon as the entry is kept.
	behind bool
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
	pressed := hurry.Err() != nil && !p.behind // what is judged behind keeps nobody waiting
	if p.policy == history || pressed || c.opts.Model.State().Away != "" {
		c.counts.fallbacks.Add(1)
		return out, nil
	}
	if p.behind {
		out.behind = true
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
	if err = c.ended(ctx, err); err != nil {
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		c.counts.fallbacks.Add(1)
		c.log.Debug("the model did not judge an entry; it is asked again later", "error", err)
		return out, nil
	}
	return opinion{Assessment: a, told: told}, nil
}

// ended gives an answer's error in words for people, where the question was ended from here:
// by patiently, or for the sake of those who wait behind it. ctx is the asker's own.
func (c *Companion) ended(ctx context.Context, err error) error {
	switch {
	case err == nil || ctx.Err() != nil || errors.Is(err, ErrModelAway):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %s had not answered after %v; a longer model.deadline, or a smaller model, may help",
			ErrModelAnswer, c.opts.Model.State().Name, 2*c.opts.Deadline)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%w: %s was not waited for any longer, since others wait behind it", ErrModelAnswer, c.opts.Model.State().Name)
	}
	return err
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

// context is what a model is given to know beside an entry: SOUL.md, but for claims of
// which nobody has decided, and what was said before in the same session, bounded.
func (c *Companion) context(p *prepared) (soul string, before []string) {
	doc, err := c.toldSoul()
	if err == nil {
		soul = prompt.Settled(string(doc))
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
		if t, err := c.readAgain(seq); err == nil {
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
// and of which something is kept.
func (o opinion) owes(e chitta.Entry) func(seq uint64) chitta.Value {
	if !o.owed || e.Text == nil {
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
