package lifecycle

import (
	"context"
	"strings"

	"github.com/jivad/jivad/lifecycle/projection"
	"github.com/jivad/jivad/lifecycle/tools"
)

// mostRounds is how often a model may ask for tools before it answers.
const mostRounds = 8

// conversation has the model answer, and do before that what it asks for with tools, as
// far as it may; offers are those that it may be told of. What a tool gives, and why one is refused, is told to the model as data.
func (c *Companion) conversation(ctx context.Context, messages []ChatMessage, offers []tools.Offer, out *TalkReport, pass func(string) error) (ChatEnd, error) {
	model := c.opts.Model.State().Name
	for round := 1; ; round++ {
		var said strings.Builder
		end, err := c.opts.Model.Chat(ctx, messages, offers, func(piece string) error {
			said.WriteString(piece)
			return pass(piece)
		})
		if err != nil || len(end.Calls) == 0 || len(offers) == 0 {
			return end, err
		}
		messages = append(messages, ChatMessage{Role: "assistant", Content: said.String(), Calls: end.Calls})
		for _, call := range end.Calls {
			if ctx.Err() != nil {
				return end, ctx.Err()
			}
			text, act := c.ActFor(ctx, model, call)
			out.Acts = append(out.Acts, act)
			messages = append(messages, ChatMessage{Role: "tool", Content: text, Tool: call.Tool, Call: call.ID})
		}
		if round == mostRounds {
			offers = nil // it has to answer with what it has
		}
	}
}

// ActFor does what a model asks for, by its name, where it is the one that thinks in the
// life, and gives what it is told.
func (c *Companion) ActFor(ctx context.Context, model string, call ChatCall) (string, TalkAct) {
	out, err := c.acted(ctx, tools.Call{Tool: call.Tool, Arguments: call.Arguments}, func() (projection.Acted, error) {
		return c.lives.ActBy(ctx, c.mindOf(model), tools.Call{Tool: call.Tool, Arguments: call.Arguments})
	})
	if err != nil {
		c.log.Warn("a tool could not be used", "error", err)
		return "Refused: " + err.Error(), TalkAct{}
	}
	act := TalkAct{Tool: out.Tool, OK: out.OK, Refused: out.Refused}
	if out.Truncated {
		return out.Text + toolCut, act
	}
	return out.Text, act
}

// toolCut is told behind what a tool gave, where that was more than it may give.
const toolCut = "\n[This is only the beginning: the tool gave more than it may, and the rest was left out.]"
