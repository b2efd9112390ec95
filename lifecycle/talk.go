package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jivad/jivad/lifecycle/prompt"
	"github.com/jivad/jivad/lifecycle/tools"
)

// Woven is what a conversation is given to know of the companion.
type Woven struct {
	// System is a message of instructions with the identity and what was recalled,
	// ready for a model.
	System string `json:"system"`
	// Recalled are the impressions in it, the nearest first.
	Recalled []Recalled `json:"recalled"`
	// ByWords says why they were found by words only: the embedder is away.
	ByWords string `json:"by_words,omitempty"`
	// Told is how often the store had been written anew before; see Turn.
	Told *uint64 `json:"-"`
}

// Turn is one exchange of a conversation.
type Turn struct {
	// Said is what the person said, Answered what came back; that is kept beside it
	// and is no experience of its own.
	Said     string `json:"said"`
	Answered string `json:"answered,omitempty"`
	// By names who answered: a model, or the built-in reflection.
	By string `json:"by,omitempty"`
	// Source is "chat", or "chat:" and where it was held.
	Source string `json:"source,omitempty"`
	// Heard are other words of the person that the answer could repeat; see HeardIn.
	Heard []string `json:"-"`
	// Told is that of the Woven which the answer could know of, nil where none was. An
	// answer from before a forgetting is not kept: it may speak of what is gone.
	Told *uint64 `json:"-"`
	// Allowed is what the person allowed when it was said; zero means what they allow when
	// it is handed over to be remembered.
	Allowed Allowance `json:"-"`
}

// TalkRequest is what somebody says to the companion.
type TalkRequest struct {
	Said string `json:"said"`
	// History are the turns before, the oldest first.
	History []ChatMessage `json:"history,omitempty"`
	// Forget has the turn not become an event.
	Forget bool `json:"forget,omitempty"`
}

// TalkReport tells what became of it.
type TalkReport struct {
	Answer string `json:"answer"`
	// By names who answered; Why says, where it was the built-in reflection, why no
	// model did.
	By  string `json:"by"`
	Why string `json:"why,omitempty"`
	// Cut says that the model's answer is not whole, since it became too long or was not
	// done in time, and CutWhy which.
	Cut    bool   `json:"cut,omitempty"`
	CutWhy string `json:"cut_why,omitempty"`
	// Recalled is what the answer could know of; ByWords says why it was found by words
	// only, empty where it was not.
	Recalled []Recalled `json:"recalled"`
	ByWords  string     `json:"by_words,omitempty"`
	// Acts are the tools that the model asked for, in order.
	Acts []TalkAct `json:"acts,omitempty"`
	// Receipt is of the event as it was first kept, nil where there is none.
	Receipt *Receipt `json:"receipt,omitempty"`
}

// TalkAct is a tool that a model asked for: what came of it, and nothing of what it gave.
type TalkAct struct {
	// Tool is empty where there is none of the name that was asked for.
	Tool string `json:"tool,omitempty"`
	OK   bool   `json:"ok"`
	// Refused are the codes of the reasons, where it was.
	Refused []tools.Code `json:"refused,omitempty"`
}

// Weave gathers what a conversation is to know, for the last thing that was said:
// SOUL.md, what the companion is reminded of, and the claims that fit. recall is how many
// impressions, 0 to 64.
func (c *Companion) Weave(ctx context.Context, said string, recall int) (Woven, error) {
	generation := c.store.Meta().Generation
	out := Woven{Recalled: []Recalled{}, Told: &generation}
	doc, err := c.toldSoul()
	if err != nil {
		return out, err
	}
	if recall > 0 && strings.ContainsFunc(said, visible) {
		q := RecallQuery{Text: clip(said, longestQuery), Limit: min(recall, mostRecalled), Reminded: true}
		out.Recalled, err = c.Recall(ctx, q)
		if errors.Is(err, ErrEmbedderAway) {
			out.ByWords, q.Reminded = err.Error(), false
			out.Recalled, err = c.Recall(ctx, q)
			out.Recalled = slices.DeleteFunc(out.Recalled, func(r Recalled) bool { return !r.Close })
		}
		if err != nil {
			return out, err
		}
	}
	var memories []prompt.Memory
	for _, r := range out.Recalled {
		if r.Impression.Text != "" {
			memories = append(memories, prompt.Memory{Date: r.Impression.Date, Text: r.Impression.Text})
		}
	}
	out.System = prompt.Chat(string(doc), c.lives.Rules(), memories, c.claimsFor(said))
	return out, nil
}

const (
	// longestQuery is how much of what was said is taken to recall by, in bytes.
	longestQuery = 2000
	mostRecalled = 64
	// usuallyRecalled is how many impressions an answer knows of.
	usuallyRecalled = 6
	// longestAnswer is how much of an answer is kept beside the entry, in bytes.
	longestAnswer = 16 << 10
)

// Remember makes a turn an event: what was said is the experience, and what was
// answered is kept beside it. It returns when that is durable, as the built-in assessor
// judges it; the model judges it behind that, when nobody waits for an answer. What was
// answered is known again when it comes back, in the diary say. Errors: ErrWithdrawn.
func (c *Companion) Remember(ctx context.Context, t Turn) (Receipt, error) {
	receipts, err := c.RememberAll(ctx, []Turn{t})
	if err != nil {
		return Receipt{}, err
	}
	return receipts[0], nil
}

// RememberAll does that with turns in their order. Those behind one that fails are not
// remembered: the error is that of turns[len(receipts)].
func (c *Companion) RememberAll(ctx context.Context, turns []Turn) (receipts []Receipt, err error) {
	together := &course{strict: true}
	var all []*pending
	for _, t := range turns {
		var p *prepared
		if p, err = c.preparedTurn(t); err != nil {
			break
		}
		p.course, p.behind = together, true
		var r *pending
		if r, err = c.submit(ctx, interactive, p); err != nil {
			break
		}
		all = append(all, r)
	}
	for _, r := range all {
		receipt, err := r.wait(ctx)
		if err != nil {
			return receipts, err
		}
		receipts = append(receipts, receipt)
	}
	return receipts, err
}

// preparedTurn is a turn as a note of today.
func (c *Companion) preparedTurn(t Turn) (*prepared, error) {
	source := cmp.Or(t.Source, sourceChat)
	if source != sourceChat && !strings.HasPrefix(source, sourceChat+":") {
		source = sourceChat + ":" + source
	}
	p, err := c.newPrepared(Note{Text: t.Said, Date: c.today(), Source: source}, live)
	if err != nil {
		return nil, err
	}
	p.answer, p.by = clip(strings.ToValidUTF8(t.Answered, "\uFFFD"), longestAnswer), clip(t.By, 128)
	p.heard, p.told = t.Heard, t.Told
	if t.Allowed.then != nil {
		p.allowed = t.Allowed
	}
	return p, nil
}

// Talk answers what somebody says, with the companion's memory, and gives each
// piece of the answer to emit as it comes. Where the model cannot be asked the
// built-in reflection answers. The turn becomes an event, also where ctx ends, or
// the model, in the middle of the answer. It is durable when Talk returns, as the
// built-in assessor judges it; the model judges it after that, when nobody waits for an
// answer. Errors: ErrEmpty, ErrTooLong,
// ErrWithdrawn, or one of emit.
func (c *Companion) Talk(ctx context.Context, r TalkRequest, emit func(piece string) error) (TalkReport, error) {
	out := TalkReport{Recalled: []Recalled{}}
	if _, err := c.newPrepared(Note{Text: r.Said}, live); err != nil {
		return out, err
	}
	defer c.Talking()()
	allowed := c.Allowed()
	var offers []tools.Offer
	if c.opts.Model != nil && ctx.Err() == nil {
		offers = c.OffersTo(ctx, c.opts.Model.State().Name)
	}
	woven, err := c.Weave(ctx, r.Said, usuallyRecalled)
	if err != nil && ctx.Err() == nil {
		return out, err
	}
	if err == nil {
		out.Recalled, out.ByWords = woven.Recalled, woven.ByWords
	}
	var answer strings.Builder
	pass := func(piece string) error {
		answer.WriteString(piece)
		return emit(piece)
	}
	failed := ctx.Err() // somebody stops it before it begins
	if failed == nil {
		var silent Silence
		if silent, failed = c.answerTo(ctx, r, woven, offers, &out, &answer, pass); silent != "" {
			return c.talkAlone(ctx, r, allowed, woven, out, silent, emit)
		}
	}
	out.Answer = answer.String()
	if r.Forget || failed != nil && ctx.Err() == nil {
		return out, failed
	}
	// What was said is kept, whoever left.
	return out, c.take(ctx, r, allowed, woven, &out)
}

// take makes a turn an event, with its answer.
func (c *Companion) take(ctx context.Context, r TalkRequest, allowed Allowance, woven Woven, out *TalkReport) error {
	receipt, err := c.Remember(context.WithoutCancel(ctx), Turn{Said: r.Said, Answered: out.Answer, By: out.By, Source: sourceChat, Heard: HeardIn(woven, r.History), Told: woven.Told, Allowed: allowed})
	if err == nil {
		out.Receipt = &receipt
	}
	return err
}

// talkAlone answers with the built-in reflection. What was said is kept before it is said
// to be.
func (c *Companion) talkAlone(ctx context.Context, r TalkRequest, allowed Allowance, woven Woven, out TalkReport, why Silence, emit func(string) error) (TalkReport, error) {
	out.By = ByReflection
	shown, err := c.worthTelling(ctx, r.Said, woven.Recalled)
	if err != nil && ctx.Err() == nil {
		return out, err
	}
	if err == nil {
		out.Recalled = append([]Recalled{}, shown...)
	}
	tell := func(f Fate) { out.Answer = reflection(shown, woven.ByWords != "", why, f) }
	var lost error
	if tell(notToBe); !r.Forget {
		tell(isKept)
		if lost = c.take(ctx, r, allowed, woven, &out); errors.Is(lost, ErrEmbedderAway) {
			tell(isLost)
		} else if lost != nil {
			tell(notKept)
		} else if out.Receipt.Withheld != "" {
			tell(Fate(fmt.Sprintf(string(noLeave), out.Receipt.Withheld)))
		}
	}
	err = emit(out.Answer)
	if out.Receipt != nil && ctx.Err() != nil {
		err = nil // it was stopped, and is kept
	}
	return out, cmp.Or(lost, err)
}

// answerTo has the model answer. Where that is silent it says why; then nothing was passed.
// An error is of emit, or says that ctx ended.
func (c *Companion) answerTo(ctx context.Context, r TalkRequest, woven Woven, offers []tools.Offer, out *TalkReport, answer *strings.Builder, pass func(string) error) (Silence, error) {
	if c.opts.Model == nil {
		out.Why = "no model is configured"
		return NoModel, nil
	}
	messages := append([]ChatMessage{{Role: "system", Content: woven.System}}, lastTurns(r.History)...)
	messages = append(messages, ChatMessage{Role: "user", Content: prompt.Neutral(r.Said)})
	var gone error
	began := time.Now()
	end, err := c.conversation(ctx, messages, offers, out, func(piece string) error {
		gone = pass(piece)
		return gone
	})
	out.By = c.modelID() // which one it is may be known by that only
	switch {
	case gone != nil:
		return "", gone
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err == nil:
		if out.Cut = end.Cut; out.Cut {
			out.CutWhy = cmp.Or(end.Why, "it was longer than an answer may be")
		}
		return "", nil
	case answer.Len() > 0: // it broke off; what came stays
		out.Why = "the answer broke off: " + err.Error()
		return "", nil
	}
	out.Why = err.Error()
	c.counts.reflections.Add(1)
	switch {
	case errors.Is(err, ErrModelAway):
		return ModelAway, nil
	case time.Since(began) >= c.opts.Deadline:
		return ModelLate, nil
	}
	return ModelUnusable, nil
}

// lastTurns are the last messages of a conversation, as many as a small model reads.
func lastTurns(history []ChatMessage) []ChatMessage {
	const most, bytes = 20, 16 << 10
	var out []ChatMessage
	room := bytes
	for _, m := range slices.Backward(history) {
		if room -= len(m.Content); room < 0 || len(out) == most {
			break
		}
		if m.Role != "assistant" {
			m.Role = "user"
		}
		out = append(out, ChatMessage{Role: m.Role, Content: prompt.Neutral(m.Content)})
	}
	slices.Reverse(out)
	return out
}
