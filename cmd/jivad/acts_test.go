package main

import (
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/tools"
)

func TestActsLine(t *testing.T) {
	for want, acts := range map[string][]lifecycle.TalkAct{
		"":              nil,
		"(used search)": {{Tool: "search", OK: true}},
		"(used search: failed, shut_valve: refused (needs yes), a tool that there is not: refused (unknown tool))": {
			{Tool: "search"}, {Tool: "shut_valve", Refused: []tools.Code{tools.NeedsYes, tools.Gated}}, {Refused: []tools.Code{tools.UnknownTool}},
		},
	} {
		if got := actsLine(acts); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
