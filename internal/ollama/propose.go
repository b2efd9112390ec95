package ollama

import (
	"context"
	"encoding/json"

	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/prompt"
)

// Propose words the rules of a life: one sentence for each choice that it tried. Nothing
// of what happened is told to the model but the choices. What it says is held against the
// life by who asked. Errors as for Assess.
func (s *Server) Propose(ctx context.Context, task distil.Task) ([]distil.Proposal, error) {
	keys := map[int]string{}
	var tried []prompt.Tried
	for _, e := range task.Exemplars {
		keys[e.Ref] = e.Key
		t := prompt.Tried{Ref: e.Ref, Scope: e.Scope, Choice: e.Choice}
		for _, r := range task.Refused {
			if r.Exemplar == e.Ref {
				t.Refused = append(t.Refused, r.Guidance+": "+string(r.Why))
			}
		}
		if len(task.Refused) == 0 || len(t.Refused) > 0 {
			tried = append(tried, t)
		}
	}
	var out []distil.Proposal
	err := s.object(ctx, s.naming, "", func(int) prompt.Prompt { return prompt.Word(tried, task.Worked) }, func(object []byte) error {
		var said struct {
			Rules []struct {
				Exemplar int    `json:"exemplar"`
				Guidance string `json:"guidance"`
			} `json:"rules"`
		}
		if err := json.Unmarshal(object, &said); err != nil {
			return &flaw{wrong: "it has not the form that was asked for"}
		}
		out = nil
		for _, r := range said.Rules {
			out = append(out, distil.Proposal{Key: keys[r.Exemplar], Guidance: r.Guidance, Exemplar: r.Exemplar})
		}
		return nil
	})
	return out, err
}
