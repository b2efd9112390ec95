package lifecycle

import (
	"context"
	"maps"
	"math"
	"strings"
	"unicode/utf8"

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
func (c *Companion) identityVector(ctx context.Context, s soul.Summary) ([]float32, error) {
	lines := strings.Split(soul.Narrative(s), "\n")
	if c.life.lines == nil {
		c.life.lines = map[string]embedded{}
	}
	c.life.withdrawals++
	sum := make([]float64, c.opts.Embedder.Dim())
	for _, text := range lines {
		l, ok := c.life.lines[text]
		if !ok {
			var err error
			if l.vector, err = c.opts.Embedder.Embed(ctx, text); err != nil {
				return nil, err
			}
		}
		l.last = c.life.withdrawals
		c.life.lines[text] = l
		weight := float64(utf8.RuneCountInString(text))
		for i, x := range l.vector {
			sum[i] += weight * float64(x)
		}
	}
	maps.DeleteFunc(c.life.lines, func(_ string, l embedded) bool { return l.last+rememberedFor < c.life.withdrawals })
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
