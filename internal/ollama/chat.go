package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/ollama/ollama/api"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/prompt"
	"github.com/jivad/jivad/lifecycle/tools"
)

const (
	// talkTokens and talkLength, in bytes, are the most of one answer.
	talkTokens = 2048
	talkLength = 64 << 10
)

// Chat answers a conversation. What the model thinks aloud before it answers, and
// what a terminal would obey, is not emitted. An answer that is too long, or not
// ended by the deadline, is ended, and Cut and Why say so; one of which nothing came is
// asked for once more. Messages are neutralised before they are sent. A model that can
// use tools is told of those that are offered, and what it asks for is in the end.
// Errors: as for Assess; what emit returned; a message of a role that is not known.
func (s *Server) Chat(ctx context.Context, messages []lifecycle.ChatMessage, offers []tools.Offer, emit func(piece string) error) (lifecycle.ChatEnd, error) {
	began := s.o.Now()
	var end lifecycle.ChatEnd
	said, err := neutralised(messages)
	if err != nil {
		return end, err
	}
	offered, err := offered(offers)
	if err != nil {
		return end, err
	}
	err = s.ask(ctx, s.talk, talkBytes, func(within context.Context, x *exchange, _ *flaw) error {
		options := s.chatOptions()
		options["num_predict"] = talkTokens
		req := s.request(options)
		req.Messages = said
		if s.usesTools() {
			req.Tools = offered
		}
		end.Calls = nil
		t := teller{emit: emit}
		var last api.ChatResponse
		err := s.client.Chat(within, req, func(r api.ChatResponse) error {
			last = r
			if err := called(&end, r.Message.ToolCalls); err != nil {
				return err
			}
			if err := t.tell(r.Message.Content); err != nil {
				return err
			}
			if t.thought += len(r.Message.Thinking); t.thought > talkLength {
				return errEnough
			}
			return nil
		})
		end.Tokens = last.EvalCount
		var st *stop
		switch {
		case errors.As(err, &st):
			return err
		case t.told > 0 && (errors.Is(err, errEnough) || errors.Is(x.err, errTooMuch) || within.Err() != nil && !last.Done):
			end.Cut, end.Why = true, fmt.Sprintf("an answer may have %d KB", talkLength>>10)
			if within.Err() != nil && !errors.Is(err, errEnough) {
				end.Why = fmt.Sprintf("it was not done after %v; model.deadline is how long it may take", s.o.Deadline)
			}
			if ctx.Err() != nil {
				return &stop{err: ctx.Err(), answered: true}
			}
			return &stop{answered: true} // it said something, and may not say more
		case t.told > 0 && !last.Done:
			// What was said cannot be taken back: there is no second try.
			return &stop{err: fmt.Errorf("%w: %s on %s broke off in the middle of it", lifecycle.ErrModelAnswer, s.o.Chat, s.shown), bad: true}
		case errors.Is(err, errEnough):
			return &flaw{wrong: "it only thinks, and does not come to an answer"}
		case err != nil:
			return err
		case !last.Done:
			return &flaw{wrong: "it broke off before it began"}
		}
		if err := t.rest(); err != nil {
			return err
		}
		if t.told == 0 && len(end.Calls) == 0 {
			return &flaw{wrong: "it says nothing, or only thinks"}
		}
		if end.Cut = last.DoneReason == "length"; end.Cut {
			end.Why = "the model has no room for more; model.context is how much it can hold"
			if last.EvalCount >= talkTokens {
				end.Why = fmt.Sprintf("an answer may have %d tokens", talkTokens)
			}
		}
		return nil
	})
	end.Took = s.o.Now().Sub(began)
	return end, err
}

// errEnough ends an answer that is longer than it may be.
var errEnough = errors.New("that is enough")

// neutralised are messages as the server takes them.
func neutralised(messages []lifecycle.ChatMessage) ([]api.Message, error) {
	if len(messages) == 0 {
		return nil, errors.New("a conversation has at least one message")
	}
	out := make([]api.Message, len(messages))
	for i, m := range messages {
		if m.Role != "system" && m.Role != "user" && m.Role != "assistant" && m.Role != "tool" {
			return nil, fmt.Errorf("message %d of the conversation is of no role that there is: system, user, assistant or tool", i+1)
		}
		out[i] = api.Message{Role: m.Role, Content: prompt.Neutral(strings.ToValidUTF8(m.Content, "\uFFFD")), ToolName: m.Tool, ToolCallID: m.Call}
		for n, c := range m.Calls {
			call := api.ToolCall{ID: c.ID, Function: api.ToolCallFunction{Index: n, Name: c.Tool}}
			if len(c.Arguments) > 0 {
				if err := json.Unmarshal(c.Arguments, &call.Function.Arguments); err != nil {
					return nil, fmt.Errorf("message %d of the conversation: the arguments of a call: %w", i+1, err)
				}
			}
			out[i].ToolCalls = append(out[i].ToolCalls, call)
		}
	}
	return out, nil
}

// offered are tools as the server takes them.
func offered(offers []tools.Offer) (api.Tools, error) {
	var out api.Tools
	for _, o := range offers {
		t := api.Tool{Type: "function", Function: api.ToolFunction{Name: o.Name, Description: prompt.Neutral(o.Description)}}
		if err := json.Unmarshal(o.Parameters, &t.Function.Parameters); err != nil {
			return nil, fmt.Errorf("the arguments of tool %s: %w", o.Name, err)
		}
		out = append(out, t)
	}
	return out, nil
}

func (s *Server) usesTools() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.chat.tools
}

const (
	// mostCalls and callBytes bound what a model asks for in one answer.
	mostCalls = 16
	callBytes = 256 << 10
)

// called notes what a model asks for.
func called(end *lifecycle.ChatEnd, calls []api.ToolCall) error {
	for _, c := range calls {
		arguments, err := json.Marshal(c.Function.Arguments)
		if err != nil || len(arguments) > callBytes || len(end.Calls) == mostCalls || len(c.Function.Name)+len(c.ID) > 1<<10 {
			return &flaw{wrong: "it asks for more tools, or with more, than it may"}
		}
		end.Calls = append(end.Calls, lifecycle.ChatCall{
			ID: strings.ToValidUTF8(c.ID, ""), Tool: strings.ToValidUTF8(c.Function.Name, ""), Arguments: arguments,
		})
	}
	return nil
}

// teller emits the pieces of an answer, without the thinking that it may begin with.
type teller struct {
	emit    func(string) error
	held    string // what may be the beginning of thinking, or is thinking
	begun   bool   // the answer has begun
	told    int    // bytes
	thought int
}

func (t *teller) tell(piece string) error {
	if !t.begun {
		t.held += piece
		text, ready := answerBegins(t.held)
		if !ready {
			if len(t.held) > talkLength {
				return errEnough
			}
			return nil
		}
		t.begun, t.held, piece = true, "", text
	}
	return t.pass(piece)
}

// rest emits what was held back, at the end of an answer.
func (t *teller) rest() error {
	text := t.held
	t.held = ""
	for _, tag := range thinkingTags {
		if strings.HasPrefix(strings.TrimSpace(text), tag[0]) {
			return nil
		}
	}
	return t.pass(strings.TrimSpace(text))
}

func (t *teller) pass(piece string) error {
	piece = strings.Map(shown, piece)
	if t.told == 0 {
		piece = strings.TrimLeftFunc(piece, unicode.IsSpace)
	}
	if piece == "" {
		return nil
	}
	enough := t.told+len(piece) > talkLength
	if enough {
		piece = strings.ToValidUTF8(piece[:talkLength-t.told], "")
	}
	t.told += len(piece)
	if err := t.emit(piece); err != nil {
		return &stop{err: err, answered: true}
	}
	if enough {
		return errEnough
	}
	return nil
}

// shown drops what a terminal would obey.
func shown(r rune) rune {
	if r == '\n' || r == '\t' || !unicode.IsControl(r) {
		return r
	}
	return -1
}

// answerBegins tells whether, after held, the answer has begun, and with what.
func answerBegins(held string) (string, bool) {
	text := strings.TrimLeftFunc(held, unicode.IsSpace)
	for _, tag := range thinkingTags {
		if rest, ok := strings.CutPrefix(text, tag[0]); ok {
			_, after, ended := strings.Cut(rest, tag[1])
			after = strings.TrimLeftFunc(after, unicode.IsSpace)
			return after, ended && after != ""
		}
		if strings.HasPrefix(tag[0], text) {
			return "", false
		}
	}
	return text, true
}
