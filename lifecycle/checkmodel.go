package lifecycle

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jivad/jivad/chitta/fold"
)

// Looker is a Model, or a Remote, that can be looked at right away.
type Looker interface {
	// Look asks the server which model it has, and no more. It tells how it is now, and
	// what mends it, with the command, where it is away; empty where nobody can say.
	Look(ctx context.Context) (now ModelState, mend string)
}

// lookAt is a Look, or what is known where there is none.
func lookAt(ctx context.Context, m interface{ State() ModelState }) (ModelState, string) {
	if l, ok := m.(Looker); ok {
		return l.Look(ctx)
	}
	return m.State(), ""
}

// which names a model with its digest and its server.
func which(s ModelState) string {
	out := s.Name
	if s.Digest != "" {
		out += "@" + short(s.Digest)
	}
	if s.Server != "" {
		out += " on " + s.Server
	}
	return out
}

// checkChat looks whether the language model can be asked.
func (c *Companion) checkChat(ctx context.Context) Check {
	const name = "chat model"
	if c.opts.Model == nil {
		return Check{Name: name, OK: true, Detail: "none is configured (model.chat); " + c.opts.Assessor.ID() + " judges"}
	}
	s, mend := lookAt(ctx, c.opts.Model)
	if s.Away != "" {
		return Check{Name: name, Detail: which(s) + " is away: " + s.Away, Hint: mend}
	}
	for _, k := range s.Closed {
		return Check{Name: name, Detail: which(s) + " is there, but " + k.What + " is not asked of it now: " + k.Why,
			Hint: "It is tried again by itself; a longer model.deadline, or another model.chat, may help."}
	}
	if s.Digest == "" {
		return Check{Name: name, OK: true, Detail: which(s) + ": not asked yet"}
	}
	return Check{Name: name, OK: true, Detail: which(s) + " can be asked"}
}

// checkEmbedder has a sentence embedded.
func (c *Companion) checkEmbedder(ctx context.Context) Check {
	const name = "embedder"
	began := time.Now()
	v, err := c.opts.Embedder.Embed(ctx, "The morning was quiet and the tea was hot.")
	if err == nil {
		err = fold.CheckVector(v, c.opts.Embedder.Dim())
	}
	remote, ok := c.opts.Embedder.(Remote)
	if err != nil {
		out := Check{Name: name, Detail: err.Error()}
		if a, other := c.opts.Embedder.(absent); other {
			out.Hint = "jivad reembed, while no daemon runs; or set model.embed to the one of before."
			if r, ok := a.configured.(Remote); ok {
				if s, mend := lookAt(ctx, r); s.Away != "" {
					out.Detail += "; " + which(s) + " is away: " + s.Away
					out.Hint = strings.TrimSuffix(mend, ".") + "; then: " + out.Hint
				}
			}
		}
		if !ok {
			return out
		}
		var s ModelState
		if s, out.Hint = lookAt(ctx, remote); s.Away != "" {
			out.Detail = which(s) + " is away: " + s.Away
		}
		return out
	}
	detail := fmt.Sprintf("%s, %d dimensions, a sentence in %v", c.opts.Embedder.ID(), len(v), time.Since(began).Round(100*time.Microsecond))
	if ok {
		detail += ", on " + remote.State().Server
	}
	return Check{Name: name, OK: true, Detail: detail}
}
