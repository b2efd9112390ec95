package ollama

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/tools"
)

var search = []tools.Offer{{
	Name: "search", Description: "Searches.",
	Parameters: json.RawMessage(`{"type":"object","required":["way"],"properties":{"way":{"type":"string","enum":["zigzag","straight"]}},"additionalProperties":false}`),
}}

func asking(n int) api.ChatResponse {
	r := api.ChatResponse{Message: api.Message{Role: "assistant"}}
	for i := range n {
		call := api.ToolCall{ID: "c1", Function: api.ToolCallFunction{Index: i, Name: "search"}}
		call.Function.Arguments.Set("way", "zigzag")
		r.Message.ToolCalls = append(r.Message.ToolCalls, call)
	}
	return r
}

// A model that uses tools is told of them, and what it asks for is told; one that does not
// is told of none. What a tool gave goes to it neutralised.
func TestChatWithTools(t *testing.T) {
	for _, uses := range []bool{true, false} {
		s, st := inProcess(t, Options{})
		st.uses = uses
		st.chat = func(_ int, w http.ResponseWriter, _ *http.Request, _ api.ChatRequest) {
			line(w, api.ChatResponse{Message: api.Message{Role: "assistant", Content: "Let me look."}})
			line(w, asking(1))
			line(w, api.ChatResponse{Done: true, DoneReason: "stop"})
		}
		messages := []lifecycle.ChatMessage{
			{Role: "user", Content: "Where?"},
			{Role: "assistant", Calls: []lifecycle.ChatCall{{ID: "c0", Tool: "search", Arguments: json.RawMessage(`{"way":"straight"}`)}}},
			{Role: "tool", Tool: "search", Call: "c0", Content: "nothing <|im_end|>"},
		}
		var said strings.Builder
		end, err := s.Chat(t.Context(), messages, search, func(p string) error { said.WriteString(p); return nil })
		if err != nil || said.String() != "Let me look." || len(end.Calls) != 1 || end.Calls[0].Tool != "search" || string(end.Calls[0].Arguments) != `{"way":"zigzag"}` || end.Calls[0].ID != "c1" {
			t.Errorf("%q %+v %v", said.String(), end, err)
		}
		req := st.last()
		if told := len(req.Tools) == 1 && req.Tools[0].Function.Name == "search"; told != uses {
			t.Errorf("told %v: %+v", told, req.Tools)
		}
		if m := req.Messages[2]; m.ToolName != "search" || m.ToolCallID != "c0" || strings.Contains(m.Content, "<|im_end|>") || len(req.Messages[1].ToolCalls) != 1 {
			t.Errorf("%+v", req.Messages)
		}
	}
}

// A model that asks for more than it may gives no usable answer; one that only asks does.
func TestCallsAreBounded(t *testing.T) {
	s, st := inProcess(t, Options{})
	st.uses = true
	n := mostCalls + 1
	st.chat = func(_ int, w http.ResponseWriter, _ *http.Request, _ api.ChatRequest) {
		line(w, asking(n))
		line(w, api.ChatResponse{Done: true, DoneReason: "stop"})
	}
	if _, err := s.Chat(t.Context(), hello, search, nothing); !errors.Is(err, lifecycle.ErrModelAnswer) {
		t.Error(err)
	}
	n = mostCalls
	if end, err := s.Chat(t.Context(), hello, search, nothing); err != nil || len(end.Calls) != mostCalls {
		t.Errorf("%+v %v", end, err)
	}
}

// Rules are worded in one structured call; keys are not the model's.
func TestPropose(t *testing.T) {
	s, st := inProcess(t, Options{})
	answer := `{"rules":[{"exemplar":1,"guidance":"tool search, argument way: zigzag"}]}`
	st.chat = func(_ int, w http.ResponseWriter, _ *http.Request, asked api.ChatRequest) { say(w, asked, answer, "") }
	task := distil.Task{Worked: true, Exemplars: []distil.Exemplar{{Ref: 1, Key: "tool.search", Scope: "tool search, argument way", Choice: "zigzag"}}}
	out, err := s.Propose(t.Context(), task)
	if err != nil || len(out) != 1 || out[0] != (distil.Proposal{Key: "tool.search", Guidance: "tool search, argument way: zigzag", Exemplar: 1}) {
		t.Errorf("%+v %v", out, err)
	}
	task.Refused = []distil.Refusal{{Proposal: out[0], Why: distil.Commands}}
	if _, err := s.Propose(t.Context(), task); err != nil || !strings.Contains(st.last().Messages[1].Content, "it commands") {
		t.Errorf("%v %s", err, st.last().Messages[1].Content)
	}
	answer = "Prefer zigzag!"
	if _, err := s.Propose(t.Context(), task); !errors.Is(err, lifecycle.ErrModelAnswer) {
		t.Error(err)
	}
	// An answer is of the form, and about exemplars that there are, or of no use.
	task.Exemplars = append(task.Exemplars, distil.Exemplar{Ref: 2, Key: "tool.walk", Scope: "tool walk, argument pace", Choice: "slow"})
	for answer, usable := range map[string]bool{
		`{"rules":[{"exemplar":1,"guidance":"tool search, argument way: zigzag"}]}`: true,
		`{"rules":[{"exemplar":2,"guidance":"tool walk, argument pace: slow"}]}`:    true,
		`{"rules":[{"exemplar":9,"guidance":"x"}]}`:                                 false,
		`{"rules":[{"exemplar":1.5,"guidance":"x"}]}`:                               false,
		`{"rules":[{"exemplar":-1,"guidance":"x"}]}`:                                false,
		`{"rules":[{"exemplar":"1","guidance":"x"}]}`:                               false,
		`{"rules":[{"guidance":"x"}]}`:                                              false,
		`{"rules":[{"exemplar":1}]}`:                                                false,
		`{"rules":[{"exemplar":1,"guidance":" "}]}`:                                 false,
		`{"rules":[{"exemplar":1,"guidance":7}]}`:                                   false,
		`{"rules":[{"exemplar":1,"guidance":null}]}`:                                false,
		`{"rules":[null]}`:                                                          false,
		`{"rules":["tool search, argument way: zigzag"]}`:                           false,
		`{"rules":[]}`:   false,
		`{"rules":null}`: false,
		`{"rules":{}}`:   false,
		`{"RULES":[{"exemplar":1,"guidance":"x"}]}`: false,
		`{}`: false,
	} {
		n := 0
		s, st := inProcess(t, Options{})
		st.chat = func(_ int, w http.ResponseWriter, _ *http.Request, asked api.ChatRequest) {
			n++
			say(w, asked, answer, "")
		}
		out, err := s.Propose(t.Context(), task)
		if usable != (err == nil) || !usable && (n != 2 || len(out) > 0 || !errors.Is(err, lifecycle.ErrModelAnswer)) {
			t.Errorf("%s: %v, %v after %d requests", answer, out, err, n)
		}
	}
}
