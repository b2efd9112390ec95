package lifecycle

import (
	"context"
	"errors"

	"github.com/jivad/jivad/lifecycle/distil"
)

// ruleWriter is the model as it words rules, nil where there is none that can be asked.
func (c *Companion) ruleWriter() distil.Writer {
	if w, ok := c.opts.Model.(distil.Writer); ok && c.opts.Model.State().Away == "" {
		return &leisurelyWriter{c: c, w: w, may: c.readNow()}
	}
	return nil
}

// leisurelyWriter has a model word rules while nobody waits for it, with the time for an
// answer that the settings say. A life is worded as it would be if it were judged well and
// if not: of other choices, since some worked and others did not. Each of the two is one
// item, for which the model is asked twice at most: either its answer is repaired, or what
// of it cannot be used is worded once more. Where that is not enough the rules' own words
// stand.
type leisurelyWriter struct {
	c *Companion
	w distil.Writer
	// may tells whether nothing was taken back since the lives were read.
	may func() bool
	// repaired says that the answer to the last item was had at the second try.
	repaired bool
}

// errAskedTwice: the model had its two tries at an item.
var errAskedTwice = errors.New("the model was asked twice already")

// Propose implements distil.Writer.
func (l *leisurelyWriter) Propose(ctx context.Context, task distil.Task) (out []distil.Proposal, err error) {
	if len(task.Refused) > 0 && l.repaired {
		return nil, errAskedTwice
	}
	for {
		if err := l.c.atLeisure(ctx); err != nil {
			return nil, err
		}
		before := l.c.opts.Model.State().Repairs
		err = l.c.leisurely(ctx, l.may, func(asking context.Context) (err error) {
			out, err = l.w.Propose(asking, task)
			return err
		})
		// Another question may have been repaired meanwhile: then it is asked less.
		l.repaired = l.c.opts.Model.State().Repairs != before
		if !errors.Is(err, errGaveWay) {
			return out, err
		}
	}
}
