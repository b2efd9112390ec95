package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/soul"
)

// rememberedFor is how many sessions the vector of a line is kept after the last
// that had the line: impressions often leave the deepest few and come back.
const rememberedFor = 64

// identityTime is how long the end of a session waits for an embedder of a server. What
// came until then is kept, so the next time takes less.
const identityTime = 30 * time.Second

// embedded is a line of the identity with its vector and the last withdrawal that
// had it.
type embedded struct {
	vector []float32
	last   int
}

// identityVector embeds the identity narrative line by line and takes the mean,
// weighted by length, as an embedder does with the pieces of a long text. Most
// lines stay as they are from one session to the next, or come back soon, so
// their vectors are kept: the end of a session then costs a line or two, not the
// whole.
//
// It is nil, and no error, where the store's embedder is not at hand, or takes too long.
func (c *Companion) identityVector(ctx context.Context, s soul.Summary) ([]float32, error) {
	if c.life.lines == nil {
		c.life.lines = map[string]embedded{}
	}
	c.life.withdrawals++
	within := ctx
	if _, ok := c.opts.Embedder.(Remote); ok {
		var stop context.CancelFunc
		within, stop = context.WithTimeout(ctx, identityTime)
		defer stop()
	}
	v, err := identityBy(within, c.opts.Embedder, s, c.life.lines, c.life.withdrawals)
	maps.DeleteFunc(c.life.lines, func(_ string, l embedded) bool { return l.last+rememberedFor < c.life.withdrawals })
	if ctx.Err() == nil && (notAtHand(err) || within.Err() != nil && err != nil) {
		return nil, nil
	}
	return v, err
}

// identityOwed is the record of what the last session, n, handed on, with the vector of
// its identity, where the embedder was not at hand when it ended; the next session is
// measured against that. It is none where nothing is owed.
func (c *Companion) identityOwed(ctx context.Context, n int) ([]chitta.Value, error) {
	h := c.life.left.heritage
	if c.life.left.session != n || c.life.edited {
		var err error
		if h, err = c.keptHeritage(n); err != nil {
			return nil, err
		}
	}
	if n == 0 || h.narrative != nil {
		return nil, nil
	}
	summary, err := c.lastSummary()
	if errors.Is(err, errNotNow) {
		return nil, nil
	}
	if err == nil {
		h.narrative, err = c.identityVector(ctx, summary)
	}
	if err != nil || h.narrative == nil {
		return nil, err
	}
	data, err := h.encode()
	if err != nil {
		return nil, fmt.Errorf("heritage: %w", err)
	}
	c.life.left = handedOn{n, h}
	return []chitta.Value{{Name: heritageName(n), Data: data}}, nil
}

// identityBy is the vector by one embedder, whose vectors of lines may be known;
// those of now are kept there as of a withdrawal.
func identityBy(ctx context.Context, e Embedder, s soul.Summary, known map[string]embedded, withdrawal int) ([]float32, error) {
	sum := make([]float64, e.Dim())
	for line := range strings.SplitSeq(soul.Narrative(s), "\n") {
		l, ok := known[line]
		if !ok {
			var err error
			if l.vector, err = e.Embed(ctx, line); err != nil {
				return nil, err
			}
			if err := fold.CheckVector(l.vector, e.Dim()); err != nil {
				return nil, err
			}
		}
		l.last = withdrawal
		known[line] = l
		weight := float64(utf8.RuneCountInString(line))
		for i, x := range l.vector {
			sum[i] += weight * float64(x)
		}
	}
	var length float64
	for _, x := range sum {
		length += x * x
	}
	if length == 0 {
		return nil, soul.ErrZeroVector
	}
	out := make([]float32, len(sum))
	for i, x := range sum {
		out[i] = float32(x / math.Sqrt(length))
	}
	return out, nil
}
