package lifecycle

import (
	"context"
	"errors"
	"strings"
)

// Woven is what a conversation is given to know of the companion.
type Woven struct {
	// System is a message of instructions with the identity and what was recalled,
	// ready for a model.
	System string `json:"system"`
	// Recalled are the impressions in it, the nearest first.
	Recalled []Recalled `json:"recalled"`
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
	// Recalled is what the answer could know of.
	Recalled []Recalled `json:"recalled"`
	// Receipt is of the event, nil where there is none.
	Receipt *Receipt `json:"receipt,omitempty"`
}

// Weave gathers what a conversation is to know, for the last thing that was said.
// recall is how many impressions, 0 to 64.
func (c *Companion) Weave(ctx context.Context, said string, recall int) (Woven, error) {
	var out Woven
	doc, err := c.files.Current()
	if err != nil {
		return out, err
	}
	if recall > 0 && strings.TrimSpace(said) != "" {
		if out.Recalled, err = c.Recall(ctx, RecallQuery{Text: clip(said, 2000), Limit: recall}); err != nil {
			return out, err
		}
	}
	var b strings.Builder
	b.Write(doc)
	for _, r := range out.Recalled {
		b.WriteString("\n- " + r.Impression.Date + ": " + r.Impression.Text)
	}
	out.System = b.String()
	return out, nil
}

// Remember makes a turn an event. It returns when that is durable.
func (c *Companion) Remember(ctx context.Context, t Turn) (Receipt, error) {
	if t.Source == "" {
		t.Source = sourceChat
	}
	return c.Write(ctx, Note{Text: t.Said, Source: t.Source})
}

// Reflect answers without a model, from what is remembered.
func (c *Companion) Reflect(context.Context, string) (string, error) {
	return "", errors.New("not yet")
}

// Talk answers what somebody says, with the companion's memory, and gives each
// piece of the answer to emit as it comes. The turn becomes an event, also where
// ctx ends in the middle of the answer.
func (c *Companion) Talk(ctx context.Context, r TalkRequest, emit func(piece string) error) (TalkReport, error) {
	return TalkReport{}, errors.New("not yet")
}
