package lifecycle

import (
	"context"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/jivad/jivad/soul"
)

// identityVector embeds the identity narrative line by line and takes the mean,
// weighted by length, as an embedder does with the pieces of a long text. Most
// lines stay as they are from one session to the next, so their vectors are
// kept: the end of a session then costs one or two lines, not the whole.
func (c *Companion) identityVector(ctx context.Context, s soul.Summary) ([]float32, error) {
	lines := strings.Split(soul.Narrative(s), "\n")
	kept := make(map[string][]float32, len(lines))
	sum := make([]float64, c.opts.Embedder.Dim())
	for _, line := range lines {
		v, ok := c.life.lines[line]
		if !ok {
			var err error
			if v, err = c.opts.Embedder.Embed(ctx, line); err != nil {
				return nil, err
			}
		}
		kept[line] = v
		weight := float64(utf8.RuneCountInString(line))
		for i, x := range v {
			sum[i] += weight * float64(x)
		}
	}
	c.life.lines = kept
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
