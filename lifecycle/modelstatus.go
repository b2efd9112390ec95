package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// modelChanged records which model judges from now on, where it is another one than
// before.
func (c *Companion) modelChanged(ctx context.Context, s ModelState) {
	if s.Digest == "" {
		return
	}
	err := c.do(ctx, interactive, func(ctx context.Context) error {
		now := fold.ModelChanged{Model: clip(s.Name, 128), Digest: clip(s.Digest, 128)}
		data, err := c.store.Value(valueModel)
		if err != nil && !errors.Is(err, chitta.ErrNotFound) {
			return err
		}
		before := currentModel{}
		if err == nil {
			if err := unmarshal(valueModel, data, &before); err != nil {
				return err
			}
		}
		if before.ModelChanged == now {
			return nil
		}
		current := currentModel{ModelChanged: now}
		if before.Model == now.Model {
			at, _ := c.opts.Now()
			current.Was, current.Since = before.Digest, at.Unix()
		}
		if data, err = json.Marshal(current); err != nil {
			return err
		}
		_, err = c.store.Append(ctx, chitta.Batch{Entries: []chitta.Entry{{Body: now}}, Values: []chitta.Value{{Name: valueModel, Data: data}}})
		return err
	})
	c.unrecorded.Store(err != nil)
	if c.estranged(false) {
		if err := c.do(ctx, interactive, c.endIfOver); err != nil && ctx.Err() == nil {
			c.problem(fmt.Sprintf("the life that is over could not be ended; it is tried again: %v", err))
		}
	}
	if err != nil && ctx.Err() == nil {
		c.log.Warn("which model judges could not be recorded; it is tried again", "error", err)
	}
}

// valueModel says which model judges.
const valueModel = "model/current"

// currentModel is what stands there.
type currentModel struct {
	fold.ModelChanged
	// Was is the digest that the same name had before, and Since when it has another,
	// Unix seconds.
	Was   string `json:"was,omitempty"`
	Since int64  `json:"since,omitempty"`
}

// modelProblem says for a week that another model has the name of the one before.
func (c *Companion) modelProblem() string {
	var m currentModel
	data, err := c.store.Value(valueModel)
	if err != nil || c.opts.Model == nil || json.Unmarshal(data, &m) != nil || m.Was == "" {
		return ""
	}
	if now, _ := c.opts.Now(); now.Unix()-m.Since > 7*24*3600 {
		return ""
	}
	return fmt.Sprintf("the model %s is another one than before: %s, was %s; judgements of before stay as they are", m.Model, short(m.Digest), short(m.Was))
}

// modelID is the id of the model without the version of the question that judges: who
// talks, narrates and names.
func (c *Companion) modelID() string {
	id, _, _ := strings.Cut(c.opts.Model.ID(), " ")
	return id
}

func short(digest string) string { return digest[:min(12, len(digest))] }

// counts are what happened since the start.
type counts struct {
	fallbacks, reassessed, givenUp   atomic.Int64
	reflections, unnamed, unnarrated atomic.Int64
}

// modelStatus is how the model is, nil where there is none.
func (c *Companion) modelStatus() (*ModelStatus, error) {
	if c.opts.Model == nil {
		return nil, nil
	}
	out := &ModelStatus{
		ModelState: c.opts.Model.State(),
		Fallbacks:  c.counts.fallbacks.Load(), Reassessed: c.counts.reassessed.Load(), GivenUp: c.counts.givenUp.Load(),
		Reflections: c.counts.reflections.Load(), Unnamed: c.counts.unnamed.Load(), Unnarrated: c.counts.unnarrated.Load(),
	}
	out.Owed += int64(c.behind.unrecorded())
	return out, c.store.Values(prefixOwed, func(string, []byte) error { out.Owed++; return nil })
}
