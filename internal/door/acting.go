package door

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/prompt"
	"github.com/jivad/jivad/lifecycle/tools"
)

// A client that brings no tools of its own speaks to a companion that has some: they are
// offered to the model, and what it asks for is done here, through the one checkpoint,
// before the answer goes on. The client sees the answer alone, streaming as ever.

const (
	// mostRounds is how often a model may ask for tools before it answers; mostCalls how
	// many of those that it asks for at a time are looked at, callBytes how many bytes one
	// of them may have: the checkpoint takes half of that. Where it asks for mostAsked its
	// answer is not read on.
	mostRounds = 8
	mostCalls  = 16
	callBytes  = 128 << 10
	mostAsked  = 256
)

// What a model is told of calls that no checkpoint is asked about.
const (
	refusedForm = "Refused: this is no call of a tool."
	refusedSize = "Refused: what the tool is asked with is too large."
	refusedMany = "Refused: at most %d tools can be used at a time, and this and %d more are too many; ask again, for fewer."
)

// offer puts tools of the companion into a request to chat that has none.
func (e *exchange) offer(ctx context.Context, o *object, offers []tools.Offer) {
	var own []json.RawMessage
	if o.get("tools", &own); len(own) > 0 || e.endpoint != "chat" {
		return
	}
	if len(offers) == 0 || !e.door.usesTools(ctx, e.ask.model) {
		return
	}
	var out []json.RawMessage
	for _, t := range offers {
		out = append(out, json.RawMessage(`{"type":"function","function":{"name":`+string(quoted(t.Name))+
			`,"description":`+string(quoted(prompt.Neutral(t.Description)))+`,"parameters":`+string(t.Parameters)+`}}`))
	}
	o.set("tools", list(out))
	e.offers = offers
}

// acting is the way to the server of requests into which tools were put.
type acting struct{ http.RoundTripper }

// RoundTrip makes of all answers of the model one: those between which it uses tools.
func (a acting) RoundTrip(r *http.Request) (*http.Response, error) {
	e := exchangeOf(r.Context())
	if e == nil || len(e.offers) == 0 {
		return a.RoundTripper.RoundTrip(r)
	}
	request := parseObject(e.ask.body) // which is let go of once it is sent
	response, err := a.RoundTripper.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusBadRequest && usesNone(response) {
		e.door.capable.know(e.ask.model, ability{until: time.Now().Add(capableTime)})
		e.door.opts.Log.Info("a model uses no tools after all; it answers without them", "model", e.ask.model)
		request.remove("tools")
		return a.RoundTripper.RoundTrip(asking(r, request))
	}
	if err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	in, out := io.Pipe()
	first := response.Body
	go func() { out.CloseWithError(a.pass(r, e, request, first, out)) }()
	response.Body, response.ContentLength = in, -1
	response.Header.Del("Content-Length")
	return response, nil
}

// asking is a request like r with another body.
func asking(r *http.Request, body object) *http.Request {
	next, data := r.Clone(r.Context()), body.bytes()
	next.Body, next.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	next.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	return next
}

// usesNone tells whether a server refuses a request for its tools. Else the response is as
// it came.
func usesNone(response *http.Response) bool {
	const most = 64 << 10
	beginning, err := io.ReadAll(io.LimitReader(response.Body, most))
	if err == nil && bytes.Contains(beginning, []byte("does not support tools")) {
		response.Body.Close()
		return true
	}
	response.Body = &rejoined{io.MultiReader(bytes.NewReader(beginning), response.Body), response.Body}
	return false
}

// rejoined is a body of which the beginning was read already.
type rejoined struct {
	io.Reader
	io.Closer
}

// pass writes what the model says to out, and does what it asks for in between.
func (a acting) pass(r *http.Request, e *exchange, request object, body io.ReadCloser, out io.Writer) error {
	for round := 1; ; round++ {
		said, err := passed(body, out)
		if err != nil || said.asked == 0 {
			return err
		}
		if round > mostRounds {
			return e.unheard(r.Context(), said, out)
		}
		request = e.answerCalls(r.Context(), request, said)
		if round == mostRounds {
			request.set("tools", json.RawMessage("[]")) // it has to answer with what it has
		}
		response, err := a.RoundTripper.RoundTrip(asking(r, request))
		if r.Context().Err() != nil {
			if err == nil {
				response.Body.Close()
			}
			return r.Context().Err()
		}
		if err != nil {
			return failedLater(out, "the model server did not go on: "+noAnswer(err))
		}
		if body = response.Body; response.StatusCode != http.StatusOK {
			body.Close()
			return failedLater(out, "the model server did not go on after a tool: "+response.Status)
		}
	}
}

// unheard ends an answer in which a model still asks for tools though it was given none.
// They are refused; the client gets the end of the answer where there are words in it.
func (e *exchange) unheard(ctx context.Context, said saying, out io.Writer) error {
	for range said.asked {
		e.refuseCall(ctx)
	}
	if strings.TrimSpace(said.words) == "" {
		return failedLater(out, "the model asks for tools again and again, and does not answer")
	}
	_, err := out.Write(said.end)
	return err
}

// failedLater tells a client in the midst of an answer, as Ollama does.
func failedLater(out io.Writer, why string) error {
	data, _ := json.Marshal(map[string]string{"error": why})
	_, err := out.Write(append(data, '\n'))
	return err
}

// answerCalls does what a model asks for, and gives the request with which it goes on.
// What is too much, too large or no call is refused, and the model told.
func (e *exchange) answerCalls(ctx context.Context, request object, said saying) object {
	var messages, asked, told []json.RawMessage
	request.get("messages", &messages)
	for _, c := range said.calls {
		text := c.refused
		if text != "" {
			e.refuseCall(ctx)
		} else {
			text = e.act(ctx, lifecycle.ChatCall{ID: c.id, Tool: c.name, Arguments: c.arguments})
		}
		asked, told = append(asked, c.raw()), append(told, c.result(text))
	}
	if more := said.asked - len(said.calls); more > 0 {
		for range more {
			e.refuseCall(ctx)
		}
		e.door.opts.Log.Warn("a model asked for more tools at a time than it may", "asked", said.asked, "most", mostCalls)
		asked, told = append(asked, said.next.raw()), append(told, said.next.result(fmt.Sprintf(refusedMany, mostCalls, more-1)))
	}
	messages = append(messages, json.RawMessage(`{"role":"assistant","content":`+string(quoted(prompt.Neutral(said.words)))+`,"tool_calls":`+string(list(asked))+`}`))
	next := slices.Clone(request)
	next.set("messages", list(append(messages, told...)))
	return next
}

// act does what a call asks for as far as it may, and gives what the model is told.
func (e *exchange) act(ctx context.Context, call lifecycle.ChatCall) string {
	text, act := e.door.opts.Companion.ActFor(ctx, e.ask.model, call)
	switch {
	case act.OK:
		e.door.calls.add("", callDone)
	case len(act.Refused) > 0:
		e.door.calls.add("", callRefused)
	default:
		e.door.calls.add("", callFailed)
	}
	return text
}

// refuseCall has the checkpoint note a call that may not be made. A call of no tool is
// always refused.
func (e *exchange) refuseCall(ctx context.Context) {
	_, _ = e.door.opts.Companion.ActFor(ctx, e.ask.model, lifecycle.ChatCall{})
	e.door.calls.add("", callRefused)
}
