package ollama

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/ollama/ollama/api"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/prompt"
)

// Assess judges an experience by its text, SOUL.md and what was said before in its
// session. Novelty and match are the model's own opinion. Errors: ErrModelAway,
// ErrModelAnswer, or ctx's.
func (s *Server) Assess(ctx context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
	var out lifecycle.Assessment
	entry := func(room int) prompt.Prompt {
		return prompt.Assess(prompt.Entry{Text: e.Text, Date: e.Date, Soul: e.Soul, Session: e.Session, Room: room})
	}
	err := s.object(ctx, s.judge, e.Text, entry, func(object []byte) (err error) {
		out, err = assessmentIn(object, s.ID())
		return err
	})
	return out, err
}

// Narrate says what a summary says, checked by prompt.CheckNarrative. Errors as for Assess.
func (s *Server) Narrate(ctx context.Context, summary string) (string, error) {
	var out string
	ask := func(room int) prompt.Prompt { return prompt.Narrate(summary, room) }
	err := s.object(ctx, s.judge, summary, ask, func(object []byte) (err error) {
		out, err = saidIn(object, "narrative", func(said string) error { return prompt.CheckNarrative(said, summary) })
		return err
	})
	return out, err
}

// Name calls a tendency by a few words, checked by prompt.CheckName against what the
// model saw. Errors as for Assess.
func (s *Server) Name(ctx context.Context, terms, excerpts []string) (string, error) {
	var out string
	ask := func(room int) prompt.Prompt { return prompt.Name(terms, excerpts, room) }
	words, parts := prompt.NameSources(terms, excerpts)
	err := s.object(ctx, s.naming, strings.Join(parts, " "), ask, func(object []byte) (err error) {
		out, err = saidIn(object, "name", func(said string) error { return prompt.CheckName(said, words, parts) })
		return err
	})
	return out, err
}

// saidIn reads one text of an object and checks it.
func saidIn(object []byte, name string, check func(string) error) (string, error) {
	members, err := membersOf(object)
	if err != nil {
		return "", err
	}
	said, err := text(members, name)
	if err != nil {
		return "", err
	}
	said = strings.TrimSpace(said)
	if err := check(said); err != nil {
		return "", &flaw{wrong: err.Error()}
	}
	return said, nil
}

// object asks for one JSON object, in a lane. sample is of the text that is sent: by it is
// reckoned how much of it fits. ask makes the prompt with room for so many code
// points; take reads the answer, and may be called twice.
func (s *Server) object(ctx context.Context, l *lane, sample string, ask func(room int) prompt.Prompt, take func(object []byte) error) error {
	room := s.room(sample, ask(1))
	return s.ask(ctx, l, answerBytes, func(ctx context.Context, _ *exchange, before *flaw) error {
		if before != nil && before.long {
			room /= 2
		}
		p := ask(room)
		messages := p.Messages
		if before != nil && before.answer != "" {
			messages = append(messages, prompt.Repair(before.answer, before.wrong)...)
		}
		content, thinking, err := s.whole(ctx, messages, p)
		if err != nil {
			return err
		}
		object, err := objectIn(content, thinking)
		if err != nil {
			return err
		}
		var f *flaw
		if err := take(object); errors.As(err, &f) {
			f.answer = string(object)
			return f
		} else if err != nil {
			return err
		}
		return nil
	})
}

// room is how many code points of data fit beside the instructions, the answer and a
// second try. A token is taken for three bytes: of English that is too careful, of
// scripts with three bytes a letter about right.
func (s *Server) room(sample string, p prompt.Prompt) int {
	const bytesPerToken, least, repair, marks = 3, 64, 300, 200
	tokens := s.o.Context - p.Tokens/2 - repair - marks // few answers take all that they may
	for _, m := range p.Messages {
		tokens -= len(m.Content) / 4 // instructions are English
	}
	bytes := max(0, tokens) * bytesPerToken
	if len(sample) == 0 {
		return max(least, bytes)
	}
	return max(least, bytes*utf8.RuneCountInString(sample)/len(sample))
}

// whole makes one request for a whole answer of a form.
func (s *Server) whole(ctx context.Context, messages []prompt.Message, p prompt.Prompt) (content, thinking string, err error) {
	options := s.chatOptions()
	options["temperature"] = 0
	options["num_predict"] = p.Tokens
	no := false
	req := s.request(options)
	// Nothing is cut or shifted by the server: a judgement of half an entry, or of
	// none, would look like any other.
	req.Stream, req.Truncate, req.Shift, req.Format = &no, &no, &no, p.Schema
	for _, m := range messages {
		req.Messages = append(req.Messages, api.Message{Role: m.Role, Content: m.Content})
	}
	var last api.ChatResponse
	err = s.client.Chat(ctx, req, func(r api.ChatResponse) error {
		content += r.Message.Content
		thinking += r.Message.Thinking
		last = r
		return nil
	})
	switch {
	case err != nil:
		return "", "", err
	case !last.Done:
		return "", "", &flaw{wrong: "it broke off in the middle"}
	case last.DoneReason == "length":
		return "", "", &flaw{wrong: "it does not come to an end", answer: content}
	}
	return content, thinking, nil
}

// request is a chat request without messages.
func (s *Server) request(options map[string]any) *api.ChatRequest {
	req := &api.ChatRequest{Model: s.o.Chat, KeepAlive: s.keepAlive(), Options: options}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.chat.thinks {
		req.Think = &api.ThinkValue{Value: false}
	}
	return req
}
