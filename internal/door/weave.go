package door

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/prompt"
)

// source is what the events of this door are filed under.
const source = "chat:door"

// conversation is what the door understands of a request.
type conversation struct {
	// said is the last that the person said; empty where nothing was.
	said string
	// plain says that this is no conversation: a model is loaded, code completed, a
	// client's chore done.
	plain bool
	// fresh says that it was said with this request, and not before the model used
	// a tool.
	fresh bool
	// messages are those of a chat.
	messages []json.RawMessage
}

// understand reads a request to talk.
func understand(endpoint string, o object) (c conversation) {
	if endpoint == "generate" {
		var raw bool
		var images []json.RawMessage
		o.get("raw", &raw)
		o.get("images", &images)
		c.said, c.fresh = o.text("prompt"), true
		c.plain = raw || o.text("suffix") != "" || c.said == "" && len(images) == 0
	} else {
		o.get("messages", &c.messages)
		c.plain = len(c.messages) == 0
		for i, raw := range slices.Backward(c.messages) {
			var m lifecycle.ChatMessage
			if json.Unmarshal(raw, &m) == nil && m.Role == "user" {
				c.said, c.fresh = m.Content, i == len(c.messages)-1
				break
			}
		}
	}
	c.plain = c.plain || isChore(c.said)
	if lifecycle.IsEmpty(c.said) {
		c.said = ""
	}
	return c
}

// before are the messages of a chat as far as they can be read.
func (c conversation) before() []lifecycle.ChatMessage {
	out := make([]lifecycle.ChatMessage, 0, len(c.messages))
	for _, raw := range c.messages {
		var m lifecycle.ChatMessage
		if json.Unmarshal(raw, &m) == nil {
			out = append(out, m)
		}
	}
	return out
}

// fits tells whether what a request to talk says is of the types that the server takes.
// One that does not is passed on as it came: the server says what is wrong with it.
func fits(endpoint string, body []byte) bool {
	var q any = &struct {
		Model, Prompt, Suffix, System, Template string
		Raw                                     bool
		Stream                                  *bool
		Images                                  []json.RawMessage
	}{}
	if endpoint == "chat" {
		q = &struct {
			Model    string
			Messages []struct{ Role, Content, Thinking string }
			Stream   *bool
		}{}
	}
	return json.NewDecoder(bytes.NewReader(body)).Decode(q) == nil
}

// isChore tells what a client asks for itself, a title of the conversation perhaps,
// from what a person says. Open WebUI writes such requests so.
func isChore(said string) bool {
	return strings.HasPrefix(said, "### Task:") && strings.Contains(said, "<chat_history>")
}

// weave puts the companion's memory into a request, and notes the turn.
func (e *exchange) weave(ctx context.Context, off bool) {
	if e.misfit = !fits(e.endpoint, e.ask.body); e.misfit {
		return
	}
	e.talk = understand(e.endpoint, e.ask.object)
	e.off = off || e.ask.off
	switch {
	case e.talk.plain:
		return
	case e.off:
		e.outcome = outcomeOff
		return
	}
	if e.talk.said != "" && e.talk.fresh {
		e.turn = &lifecycle.Turn{Said: e.talk.said, By: e.ask.model, Source: source, Allowed: e.door.opts.Companion.Allowed()}
	}
	d := e.door
	if d.server == nil {
		return
	}
	settling, cancel := context.WithTimeout(ctx, weaveTimeout)
	offers := d.opts.Companion.OffersTo(settling, e.ask.model)
	cancel()
	ctx, cancel = context.WithTimeout(ctx, weaveTimeout)
	defer cancel()
	before := e.talk.before()
	if e.turn != nil {
		e.turn.Heard = lifecycle.HeardIn(lifecycle.Woven{}, before)
	}
	woven, err := d.opts.Companion.Weave(ctx, e.talk.said, d.opts.Recall)
	if err != nil {
		e.outcome = outcomeUnwoven
		if e.client.Err() == nil {
			d.opts.Log.Warn("a conversation goes on without memory", "error", err)
		}
		return
	}
	if woven.ByWords != "" {
		d.opts.Log.Info("what a conversation is given to know was found by words only", "why", woven.ByWords)
	}
	if woven.System == "" {
		return
	}
	if e.turn != nil {
		e.turn.Heard, e.turn.Told = lifecycle.HeardIn(woven, before), woven.Told
	}
	e.outcome = outcomeWoven
	o := slices.Clone(e.ask.object) // without a server the request is answered as it came
	if e.endpoint == "generate" {
		system := woven.System
		if own := o.text("system"); own != "" {
			system += "\n\n" + prompt.Neutral(own)
		}
		o.neutralise("prompt")
		o.set("system", quoted(system))
	} else {
		first := json.RawMessage(`{"role":"system","content":` + string(quoted(woven.System)) + `}`)
		o.set("messages", list(append([]json.RawMessage{first}, neutral(e.talk.messages)...)))
		e.offer(ctx, &o, offers)
	}
	e.ask.body = o.bytes()
}

// neutral are messages in whose words nothing can be taken for a mark of the model's
// template. What has none, and all that is no words, stays as it came.
func neutral(messages []json.RawMessage) []json.RawMessage {
	out := make([]json.RawMessage, 0, len(messages))
	for _, raw := range messages {
		o := parseObject(raw)
		if o.neutralise("content", "thinking") {
			raw = o.bytes()
		}
		out = append(out, raw)
	}
	return out
}

// neutralise does that to the members of these names, and tells whether it changed any.
func (o object) neutralise(keys ...string) (changed bool) {
	for i, m := range o {
		named := func(key string) bool { return strings.EqualFold(key, m.key) }
		var said string
		if !slices.ContainsFunc(keys, named) || json.Unmarshal(m.value, &said) != nil {
			continue
		}
		if plain := prompt.Neutral(said); plain != said {
			o[i].value, changed = quoted(plain), true
		}
	}
	return changed
}

// list is an array of values.
func list(values []json.RawMessage) json.RawMessage {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}
