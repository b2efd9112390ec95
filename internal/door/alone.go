package door

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"github.com/jivad/jivad/lifecycle"
)

const (
	// ownModel is the name under which the companion itself answers.
	ownModel = "jivad"
	// spoken is the version of Ollama whose formats are spoken.
	spoken = "0.17.4+jivad"
)

// alone answers where no server does.
func (e *exchange) alone() {
	e.outcome = outcomeReflected
	switch e.endpoint {
	case "root":
		e.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = e.w.Write([]byte("jivad is running"))
	case "version":
		e.value(map[string]string{"version": spoken})
	case "tags":
		e.value(api.ListResponse{Models: []api.ListModelResponse{{
			Name: ownModel + ":latest", Model: ownModel + ":latest", ModifiedAt: e.door.opened, Digest: digest(), Details: details(),
		}}})
	case "show":
		if name := strings.TrimSuffix(e.ask.model, ":latest"); name != ownModel {
			e.unavailable("The model " + name + " is not here; ")
			return
		}
		e.value(api.ShowResponse{
			Modelfile:  "# The companion's own reflection, without a model server.\nFROM " + ownModel + "\n",
			Details:    details(),
			ModelInfo:  map[string]any{"general.architecture": ownModel},
			ModifiedAt: e.door.opened, Capabilities: []model.Capability{model.CapabilityCompletion},
		})
	case "chat", "generate":
		e.reflect()
	default:
		e.unavailable("")
	}
}

// digest is that of the model that the companion lists.
func digest() string {
	sum := sha256.Sum256([]byte(ownModel + " " + lifecycle.ByReflection))
	return hex.EncodeToString(sum[:])
}

func details() api.ModelDetails {
	return api.ModelDetails{Format: ownModel, Family: ownModel, Families: []string{ownModel}}
}

// unavailable says that there is no server for what was asked.
func (e *exchange) unavailable(before string) {
	e.outcome = outcomeUnavailable
	why := before + "no model server is set; set model.server in the configuration of jivad to the address of one"
	if e.door.server != nil {
		why = before + "no model server answers at " + e.door.server.String() + "; start it, or mend model.server in the configuration of jivad"
	}
	complain(e.w, http.StatusServiceUnavailable, why)
}

// value answers with one JSON value.
func (e *exchange) value(v any) {
	body, err := json.Marshal(v)
	if err != nil {
		e.outcome = outcomeFailed
		complain(e.w, http.StatusInternalServerError, "the answer could not be written")
		return
	}
	e.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = e.w.Write(body)
}

// reflect answers a conversation from memory. What that cannot honestly do is said
// to be unavailable: code, JSON, a client's chores, an answer without memory.
func (e *exchange) reflect() {
	o := e.ask.object
	if o == nil || e.misfit {
		e.refuse(http.StatusBadRequest, "the request is not the JSON object that belongs here, or has a value of another type than belongs there")
		return
	}
	loads := e.talk.plain && e.talk.said == ""
	var format any
	o.get("format", &format)
	switch {
	case loads && o.text("suffix") == "":
		e.say("", "load")
		return
	case e.talk.plain, e.off:
		e.unavailable("without a model there is no answer to this, and ")
		return
	case format != nil && format != "":
		e.unavailable("without a model there is no answer in a format, and ")
		return
	case e.talk.said == "":
		e.unavailable("there is no text to answer, and ")
		return
	}
	ctx, cancel := context.WithTimeout(e.client, reflectTimeout)
	defer cancel()
	why := lifecycle.NoModel
	if e.door.server != nil {
		why = lifecycle.ModelAway
	}
	answer, err := e.reflection(ctx, why)
	if err != nil {
		if e.client.Err() == nil {
			e.door.opts.Log.Warn("the companion could not answer", "error", err)
		}
		e.unavailable("the companion itself could not answer, and ")
		return
	}
	e.say(answer, "stop")
}

// reflection is the companion's own answer. What was said is taken in before the answer says
// that it is, and where it cannot be the answer says so.
func (e *exchange) reflection(ctx context.Context, why lifecycle.Silence) (string, error) {
	reflect := e.door.opts.Companion.Reflect
	if e.turn == nil {
		return reflect(ctx, e.talk.said, why, "")
	}
	answer, err := reflect(ctx, e.talk.said, why, lifecycle.Becomes)
	if err != nil {
		return "", err
	}
	e.turn.Answered, e.turn.By = answer, lifecycle.ByReflection
	if f := e.door.turns.add(*e.turn); f != lifecycle.Becomes {
		return reflect(ctx, e.talk.said, why, f)
	}
	return answer, nil
}

// say gives an answer, in pieces unless the client wants it whole.
func (e *exchange) say(answer, reason string) {
	stream := true
	e.ask.object.get("stream", &stream)
	if !stream {
		e.value(e.piece(answer, reason))
		return
	}
	e.w.Header().Set("Content-Type", "application/x-ndjson")
	lines := json.NewEncoder(e.w)
	for piece := range strings.SplitAfterSeq(answer, " ") {
		if piece == "" {
			continue
		}
		if lines.Encode(e.piece(piece, "")) != nil || e.w.FlushError() != nil {
			e.outcome = outcomeLeft
			return
		}
	}
	_ = lines.Encode(e.piece("", reason))
}

// piece is a part of an answer; one with a reason is the last.
func (e *exchange) piece(text, reason string) any {
	now, done := time.Now().UTC(), reason != ""
	var m api.Metrics
	if done {
		m.TotalDuration = time.Since(e.came)
	}
	if e.endpoint == "generate" {
		return api.GenerateResponse{Model: ownModel, CreatedAt: now, Response: text, Done: done, DoneReason: reason, Metrics: m}
	}
	return api.ChatResponse{Model: ownModel, CreatedAt: now, Message: api.Message{Role: "assistant", Content: text}, Done: done, DoneReason: reason, Metrics: m}
}
