package projection

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/lifecycle/tools"
	"github.com/jivad/jivad/soul/lineage"
)

// Acted is what became of what a model asked for.
type Acted struct {
	// Text is what the model is told: what the tool gave, or why it was refused. It is
	// data, never an instruction.
	Text string
	// Tool is the one that was asked for, empty where the life has none of that name.
	Tool string
	// Refused names the reasons, where it was; OK tells that the tool did what it should.
	Refused []tools.Code
	OK      bool
	// Truncated tells that the tool gave more than it may.
	Truncated bool
	Duration  time.Duration

	wants *question
}

// Offers are the tools that the life may use, as a model is told of them.
func (p *Projections) Offers() []tools.Offer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.living == nil || p.living.birth.Set == nil {
		return nil
	}
	return tools.Offers(p.living.birth.Set, p.living.birth.Grants)
}

// Rules is the text of the rules that the life was born with, or where none is lived,
// that of the head: all that earlier lives tell a prompt.
func (p *Projections) Rules() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.living != nil {
		return p.living.rules
	}
	return lineage.Render(p.rulesAt(p.head()))
}

// signedAct is what is kept of an act: nothing of its arguments (AD-4).
type signedAct struct {
	// Payload is the digest of tool, declaration and arguments, under the secret of the
	// life, which goes with the trace.
	Payload   lineage.Digest    `json:"payload"`
	Signature lineage.Signature `json:"signature"`
	At        lives.Stamp       `json:"at"`
}

// Act does what a model asks for, where it may: the one checkpoint of a life (J-2). Every
// act is counted, signed and written before it is done, and what came of it is in the
// journal before it is told. A refusal is no error: its text is for the model. Errors:
// ErrNotLiving; those of the store and the journal.
func (p *Projections) Act(ctx context.Context, call tools.Call) (Acted, error) {
	return p.act(ctx, nil, call)
}

func (p *Projections) act(ctx context.Context, by *string, call tools.Call) (Acted, error) {
	p.acting.Lock()
	defer p.acting.Unlock()
	act, life, refused, err := p.permit(ctx, by, call, nil)
	if q := refused.wants; err == nil && q != nil { // other acts go on while a person is asked, and it is judged again
		p.acting.Unlock()
		q.yes = p.o.Ask(ctx, q.act)
		p.acting.Lock()
		act, life, refused, err = p.permit(ctx, by, call, q)
	}
	tool := refused.Tool
	if err != nil || act == nil {
		return refused, err
	}
	result, failure := life.runner.Run(ctx, act)
	out := Acted{Tool: tool, Text: result.Text, OK: result.OK && failure == nil, Truncated: result.Truncated, Duration: result.Duration}
	if failure != nil {
		out.Text = failure.Error()
	}
	return out, p.done(context.WithoutCancel(ctx), life, call, act, out)
}

// ErrNotLiving: no life is lived, so nothing can be done.
var ErrNotLiving = errors.New("no life is lived now, so nothing can be done with a tool")

// question is what a person is asked, for which life, and what they said.
type question struct {
	act  tools.Proposal
	life int64
	yes  bool
}

// permit asks the checkpoint, and writes what it said. by is who asks for the act, nil
// where that is the life itself. Where nothing is missing but a person's yes, and nobody has
// asked for it yet, it writes nothing and gives what to ask for. answer is what was answered,
// nil before; a yes holds for the life that asked.
func (p *Projections) permit(ctx context.Context, by *string, call tools.Call, answer *question) (*tools.Act, *living, Acted, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.living
	if l == nil {
		return nil, nil, Acted{}, ErrNotLiving
	}
	p.tick()
	tool := toolOf(l, call)
	if err := l.life.MayAct(lives.Moment{Over: l.over}); err != nil {
		l.over = cmp.Or(l.over, reasonOf(l))
		return nil, nil, Acted{Tool: tool, Text: "Refused: " + err.Error(), Refused: []tools.Code{Over}}, nil
	}
	if by != nil && !sameMind(l.life.Mind, *by) {
		out := Acted{Tool: tool, Text: "Refused: the model that asks is not the one that this life was born with.", Refused: []tools.Code{OtherMind}}
		return nil, nil, out, p.refused(ctx, l, out.Refused)
	}
	var wants *question
	d := tools.Permit(call, l.birth.Grants, l.birth.Set, tools.Gates{Consent: p.consented, Consequence: func(q tools.Proposal) tools.Verdict {
		v := p.consequence(ctx, q, answer != nil && answer.yes && answer.life == l.life.Sequence)
		if v.Answer == tools.AskFirst && p.o.Ask != nil && answer == nil {
			wants = &question{act: q, life: l.life.Sequence}
		}
		return v
	}})
	if wants != nil {
		return nil, nil, Acted{Tool: tool, wants: wants}, nil
	}
	if !d.Allowed() {
		out := Acted{Tool: tool, Text: d.Text()}
		for _, r := range d.Refusals {
			out.Refused = append(out.Refused, r.Code)
		}
		return nil, nil, out, p.refused(ctx, l, out.Refused)
	}
	next := l.life
	if err := next.Begin(); err != nil {
		return nil, nil, Acted{}, err
	}
	next.Spent.Acts++
	v, err := p.signed(l, d.Act, next.Spent.Acts)
	if err != nil {
		return nil, nil, Acted{}, err
	}
	if err := p.put(ctx, &next, v); err != nil {
		return nil, nil, Acted{}, err
	}
	p.keep(l, next)
	return d.Act, l, Acted{Tool: tool}, nil
}

// toolOf is the name of the tool that is asked for, empty where the life has none of it: a
// name that a model made up is not repeated.
func toolOf(l *living, call tools.Call) string {
	if l.birth.Set != nil && slices.Contains(l.birth.Set.Names(), call.Tool) {
		return call.Tool
	}
	return ""
}

// Over is the code of a refusal since the life is over, OtherMind of one since another
// model asks than the one that thinks in it.
const (
	Over      tools.Code = "life_over"
	OtherMind tools.Code = "other_mind"
)

// refused counts an act that was refused.
func (p *Projections) refused(ctx context.Context, l *living, why []tools.Code) error {
	next := l.life
	if err := next.Begin(); err != nil {
		return err
	}
	next.Spent.Refused++
	if err := p.put(ctx, &next); err != nil {
		return err
	}
	p.keep(l, next)
	p.o.Log.Info("an act was refused", "life", next.Sequence, "why", slices.Compact(slices.Clone(why)))
	return nil
}

func (p *Projections) keep(l *living, next lives.Life) {
	l.life = next
	p.open[next.Sequence] = &l.life
	l.quiet = time.Now()
}

// signed signs an act as the n-th of the life.
func (p *Projections) signed(l *living, act *tools.Act, n int) (Value, error) {
	secret, err := secretOf(p.secretPath(l.life.Sequence))
	if err != nil {
		return Value{}, err
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(act.Payload())
	s := signedAct{At: p.stamp()}
	copy(s.Payload[:], mac.Sum(nil))
	s.Signature = lineage.SignAct(p.key, l.life.Identity, l.life.Nonce, l.life.Manifest, s.Payload)
	return encode(actName(l.life.Sequence, n), s)
}

// done writes what came of an act, and sees whether it was the last (J-3).
func (p *Projections) done(ctx context.Context, l *living, call tools.Call, act *tools.Act, out Acted) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.living != l { // the life ended meanwhile; its trace is closed
		return nil
	}
	a := distil.Act{Kind: distil.Call, Tool: act.Tool(), Outcome: distil.OK, Result: out.Text}
	if !out.OK {
		a.Outcome = distil.Failed
	}
	if len(call.Arguments) > 0 {
		if err := json.Unmarshal(call.Arguments, &a.Arguments); err != nil {
			return fmt.Errorf("the arguments of an act that was done: %w", err)
		}
	}
	var err error
	if a = p.mayKeep(a); a.Kind == distil.Call {
		err = l.journal.Append(a)
	}
	switch {
	case errors.Is(err, distil.ErrFull):
		l.over = lives.ByFull
	case err != nil:
		return err
	default:
		l.trace.Add(a)
	}
	next := l.life
	next.Spent.Failures++
	if out.OK {
		next.Spent.Failures = 0
	}
	if err := p.put(ctx, &next); err != nil {
		return err
	}
	p.keep(l, next)
	l.over = cmp.Or(l.over, reasonOf(l))
	return nil
}

// reasonOf is why a life is over, by what it spent; empty while it is not.
func reasonOf(l *living) string {
	reason, _ := l.life.Bounds.Over(l.life.Spent, lives.Moment{})
	return reason
}

// consented asks whether the person lets a tool be used: what it gives and takes is kept
// and read again as operational data, and what a request or a message takes away leaves
// the device.
func (p *Projections) consented(q tools.Proposal) tools.Verdict {
	needs := []consent.Dimension{consent.Access}
	if q.Kind == tools.KindHTTP || q.Kind == tools.KindMQTT {
		needs = append(needs, consent.ThirdPartySharing)
	}
	out := tools.Verdict{Answer: tools.Allow}
	for _, d := range needs {
		decision := p.consents.Check(consent.Operational, d)
		answer := map[consent.Answer]tools.Answer{consent.Allow: tools.Allow, consent.Ask: tools.AskFirst}[decision.Answer]
		if answer < out.Answer {
			out.Answer = answer
		}
		if answer != tools.Allow {
			out.Reasons = append(out.Reasons, decision.Reason)
		}
	}
	return out
}

// consequence asks whether what an act rests on bears its consequence.
func (p *Projections) consequence(ctx context.Context, q tools.Proposal, yes bool) tools.Verdict {
	if p.o.Gate != nil {
		return p.o.Gate(ctx, q, yes)
	}
	if q.Consequence == tools.High && !yes {
		return tools.Verdict{Answer: tools.AskFirst, Reasons: []string{"its consequence is high, and nothing here vouches for what it rests on"}}
	}
	return tools.Verdict{Answer: tools.Allow}
}

// Entry counts an entry of the life: write is given the record of it where it begins with
// the entry, or its session does, to be written in the transaction of the entry, and what
// it wrote is durable when it returns nil. How many entries there were is written at the
// end of the life: a crash ends it, so no more depends on that. said tells of what was spoken to the companion.
func (p *Projections) Entry(session int, text string, said bool, write func(values []Value) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.living
	if l == nil {
		return write(nil)
	}
	p.tick()
	next := l.life
	if err := next.Begin(); err != nil {
		return err
	}
	next.Session = session
	next.Spent.Events++
	var values []Value
	if next.State != l.life.State || next.Session != l.life.Session {
		v, err := lifeValue(&next)
		if err != nil {
			return err
		}
		values = []Value{v}
	}
	if err := write(values); err != nil {
		return err
	}
	p.keep(l, next)
	kind := distil.Seen
	if said {
		kind = distil.Said
	}
	l.trace.Add(p.mayKeep(distil.Act{Kind: kind, Text: text}))
	l.over = cmp.Or(l.over, reasonOf(l))
	return nil
}

// Met notes what the life had before it in a turn, and what was answered: no rule may
// repeat that. It is kept nowhere else, and goes with the trace.
func (p *Projections) Met(seen []string, answered string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.living
	if l == nil {
		return
	}
	note := func(kind, text string) {
		met := p.mayKeep(distil.Act{Kind: kind, Text: text})
		known := func(a distil.Act) bool { return a.Kind == met.Kind && a.Text == text }
		if text != "" && !slices.ContainsFunc(l.trace.Acts, known) {
			l.trace.Add(met)
		}
	}
	for _, text := range seen {
		note(distil.Seen, text)
	}
	note(distil.Told, answered)
}

// Gap tells the life how far what it met is from who it says that it is, in [0, 2].
func (p *Projections) Gap(gap float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.living; l != nil {
		l.life.Spent.Gap = &gap
		l.over = cmp.Or(l.over, reasonOf(l))
	}
}

// RollAt is the time of day, from midnight, at which the manifest of the life that is lived
// has a day begin; false where it leaves that to the settings.
func (p *Projections) RollAt() (time.Duration, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.living == nil {
		return 0, false
	}
	return p.living.m.Life.RollAt()
}

// Over tells why the life is to end, empty while it is not or none is lived.
func (p *Projections) Over(nextDay bool) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.living
	if l == nil {
		return ""
	}
	p.tick()
	reason, _ := l.life.Bounds.Over(l.life.Spent, lives.Moment{Over: l.over, Quiet: time.Since(l.quiet), NextDay: nextDay})
	return reason
}

// Living is the life that is lived now.
func (p *Projections) Living() (lives.Life, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.living == nil {
		return lives.Life{}, false
	}
	p.tick()
	return p.living.life, true
}

// tick counts running time: of the life that is lived, and of those that wait for their
// judgement. It is by a clock that only goes forward, whatever the wall clock does (J-3).
func (p *Projections) tick() {
	now := time.Now()
	passed := now.Sub(p.clock)
	p.clock = now
	for n, l := range p.open {
		switch {
		case p.living != nil && p.living.life.Sequence == n:
			p.living.life.Spent.Running += passed
		case l.State == lives.Withdrawn:
			l.Obligation.Waited += passed
		}
	}
}
