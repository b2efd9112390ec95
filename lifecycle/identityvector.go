package lifecycle

import (
	"context"
	"errors"
	"maps"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/soul"
)

// rememberedFor is how many sessions the vector of a line is kept after the last
// that had the line: impressions often leave the deepest few and come back.
const rememberedFor = 64

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
// It is nil, and no error, where the store's embedder is not at hand.
func (c *Companion) identityVector(ctx context.Context, s soul.Summary) ([]float32, error) {
	if c.life.lines == nil {
		c.life.lines = map[string]embedded{}
	}
	c.life.withdrawals++
	v, err := identityBy(ctx, c.opts.Embedder, s, c.life.lines, c.life.withdrawals)
	maps.DeleteFunc(c.life.lines, func(_ string, l embedded) bool { return l.last+rememberedFor < c.life.withdrawals })
	if errors.Is(err, ErrEmbedder) {
		return nil, nil
	}
	return v, err
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
