package ollama

import (
	"context"
	"encoding/json"
	"math"
	"strings"

	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/prompt"
)

// Propose words the rules of a life: one sentence for each choice that it tried. Nothing
// of what happened is told to the model but the choices. What it says is held against the
// life by who asked. An answer that is not of the form, or about a choice that there
// is not, is asked for once more. Errors as for Assess.
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
	err := s.object(ctx, s.naming, "", func(int) prompt.Prompt { return prompt.Word(tried, task.Worked) }, func(object []byte) (err error) {
		out, err = proposalsIn(object, keys)
		return err
	})
	return out, err
}

// proposalsIn reads the sentences of an answer; keys are those of the exemplars of the
// task, by their numbers. There is at least one sentence where there is
// an exemplar, and each is a text about one of them. Errors are *flaw.
func proposalsIn(object []byte, keys map[int]string) ([]distil.Proposal, error) {
	members, err := membersOf(object)
	if err != nil {
		return nil, err
	}
	var rules []json.RawMessage
	if raw, ok := members["rules"]; !ok || json.Unmarshal(raw, &rules) != nil || rules == nil {
		return nil, &flaw{wrong: `"rules" is not a list`}
	}
	if len(rules) == 0 && len(keys) > 0 {
		return nil, &flaw{wrong: `"rules" is empty; each exemplar should have one`}
	}
	out := make([]distil.Proposal, 0, len(rules))
	for _, raw := range rules {
		rule, err := membersOf(raw)
		if err != nil {
			return nil, &flaw{wrong: `"rules" holds something else than objects`}
		}
		number, err := whole(rule, "exemplar", 1, math.MaxInt32)
		if err != nil {
			return nil, &flaw{wrong: `"exemplar" is not the number of one that was given`}
		}
		key, given := keys[int(number)]
		if !given {
			return nil, &flaw{wrong: `"exemplar" is not the number of one that was given`}
		}
		guidance, err := text(rule, "guidance")
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(guidance) == "" {
			return nil, &flaw{wrong: `"guidance" is empty or missing`}
		}
		out = append(out, distil.Proposal{Key: key, Guidance: guidance, Exemplar: int(number)})
	}
	return out, nil
}
