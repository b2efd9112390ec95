package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle/tools"
)

// What a model can fail with. Both leave the built-in model to do the work.
var (
	// ErrModelAway: the server cannot be reached, has not the model, or has no room
	// for it now. It says nothing of what was asked.
	ErrModelAway = errors.New("the model cannot be reached")
	// ErrModelGaveWay: the server had no memory left at what it was asked, or its model
	// died of it: that may be the fault of this one question. It is an ErrModelAway.
	ErrModelGaveWay = fmt.Errorf("%w: it gave way at what it was asked", ErrModelAway)
	// ErrModelAnswer: what came back cannot be used, after one try to have it
	// repaired, or did not come in time.
	ErrModelAnswer = errors.New("the model's answer cannot be used")
)

// elsewhere tells that a question failed by no fault of its own.
func elsewhere(err error) bool {
	return errors.Is(err, ErrModelAway) && !errors.Is(err, ErrModelGaveWay)
}

// Assessment is what somebody says of an experience.
type Assessment struct {
	Judgement fold.Judgement
	// Category is a category of consent, or empty where there is no opinion; it is
	// never used to lower what the person set.
	Category string
	// Gist says the experience in at most 200 characters, Reason in a few words why
	// it was judged so; both are empty where nobody says it.
	Gist, Reason string
	// Claims are statements of it about the world that somebody could check, at most two.
	Claims []Proposed
}

// Proposed is a statement that somebody took from an entry. Nothing of it is trusted.
type Proposed struct{ Subject, Text string }

// Model is a language model behind the built-in ones: it may be slow, away, or
// wrong. It is asked one question at a time, or a few.
type Model interface {
	// ID names the model, its digest as far as it is known, and the version of what
	// it is asked; it is recorded with each judgement.
	ID() string
	// Assess judges an experience. Errors: ErrModelAway, ErrModelAnswer.
	Assess(ctx context.Context, e Experience) (Assessment, error)
	// Narrate says in a few sentences what a summary of a session says.
	Narrate(ctx context.Context, summary string) (string, error)
	// Name calls a tendency by a few words, from the words of its entries.
	Name(ctx context.Context, terms, excerpts []string) (string, error)
	// Chat answers a conversation and gives each piece of the answer to emit as it
	// comes. offers are the tools that it may ask for, which ChatEnd then tells; a model
	// that uses none is not told of them. An error of emit ends it and is returned.
	Chat(ctx context.Context, messages []ChatMessage, offers []tools.Offer, emit func(piece string) error) (ChatEnd, error)
	// State tells how it is.
	State() ModelState
	// Watch calls changed, from a goroutine of its own, whenever the server or the
	// model came or went, or its digest changed, until ctx ends.
	Watch(ctx context.Context, changed func(ModelState))
}

// ChatMessage is one message of a conversation.
type ChatMessage struct {
	// Role is "system", "user", "assistant", or "tool" for what a tool gave.
	Role    string `json:"role"`
	Content string `json:"content"`
	// Calls are what an assistant asked for; Tool and Call say, of role tool, which tool
	// it is from and which call it answers.
	Calls []ChatCall `json:"calls,omitempty"`
	Tool  string     `json:"tool,omitempty"`
	Call  string     `json:"call,omitempty"`
}

// ChatCall is a tool that a model asks for. Nothing of it is trusted.
type ChatCall struct {
	ID   string `json:"id,omitempty"`
	Tool string `json:"tool"`
	// Arguments is an object of JSON.
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// ChatEnd tells how an answer ended.
type ChatEnd struct {
	// Cut says that it was longer than it may be, or not done in time, and Why which, for
	// people.
	Cut bool   `json:"cut,omitempty"`
	Why string `json:"why,omitempty"`
	// Calls are the tools that it asks for, before it goes on.
	Calls  []ChatCall    `json:"calls,omitempty"`
	Tokens int           `json:"tokens,omitempty"`
	Took   time.Duration `json:"took_ns"`
}

// ModelState tells how the model is.
type ModelState struct {
	// Name is that of the model, Server where it is, Digest which one it is: empty
	// while that is not known.
	Name   string `json:"name"`
	Server string `json:"server"`
	Digest string `json:"digest,omitempty"`
	// Met says that the server was asked, and has it: one that has no digest then tells none.
	Met bool `json:"-"`
	// Away says why it cannot be asked, since when, and when it is tried again;
	// empty while it can.
	Away  string    `json:"away,omitempty"`
	Since time.Time `json:"since,omitzero"`
	Next  time.Time `json:"next_try,omitzero"`
	// Closed are kinds of question that are not asked now, for a reason of their own;
	// empty where there are none.
	Closed []ClosedKind `json:"closed,omitempty"`
	// Calls, Repairs and Failures count requests, second tries, and answers that
	// could not be used, since the start.
	Calls    uint64 `json:"calls"`
	Repairs  uint64 `json:"repairs"`
	Failures uint64 `json:"failures"`
}

// ClosedKind is a kind of question that a model is not asked now.
type ClosedKind struct {
	// What is "judging", "naming", "talking" or "embedding"; Why says why, since when,
	// and when it is tried again.
	What  string    `json:"what"`
	Why   string    `json:"why"`
	Since time.Time `json:"since,omitzero"`
	Next  time.Time `json:"next_try,omitzero"`
}
