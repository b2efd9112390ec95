package lifecycle

import (
	"strings"

	"github.com/jivad/jivad/chitta/fold"
)

// judges tell who judged the events of a session.
type judges struct {
	// model and builtin are parts of the events, in [0,1], 0 where there are none.
	model, builtin float64
	// most is who judged most, of the kind that judged most; empty where there are no events.
	most string
}

// judgesOf counts who judged the events of a state's session, as the log stands: it
// walks back from the state's end. An event that cannot be read is not counted.
func (c *Companion) judgesOf(state *fold.State) judges {
	var model, builtin int
	by := map[string]int{}
	number := state.Session.Number
walk:
	for seq := state.Sequence; seq > 0 && model+builtin < int(state.Session.Events); seq-- {
		e, err := c.store.EventAt(seq)
		if err != nil {
			continue
		}
		switch b := e.Body.(type) {
		case fold.Experienced:
			by[b.Judgement.Assessor]++
			if c.isBuiltin(b.Judgement.Assessor) {
				builtin++
			} else {
				model++
			}
		case fold.SessionClosed:
			if b.Number < number {
				break walk // what is before is of other sessions
			}
		}
	}
	all := model + builtin
	if all == 0 {
		return judges{}
	}
	out := judges{model: float64(model) / float64(all), builtin: float64(builtin) / float64(all)}
	for who, n := range by {
		better := n > by[out.most] || n == by[out.most] && who > out.most
		if c.isBuiltin(who) == (builtin >= model) && better {
			out.most = who
		}
	}
	return out
}

// isBuiltin tells the built-in assessor, also one of another version, from a model.
func (c *Companion) isBuiltin(assessor string) bool {
	return assessor == c.opts.Assessor.ID() || strings.HasPrefix(assessor, "builtin-")
}
