package lifecycle

import (
	"bytes"
	"context"
	"regexp"
	"strings"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/chitta/vasana"
	"github.com/jivad/jivad/soul"
)

// portrait is who a companion would be that had come to some state.
type portrait struct {
	// lines are those of SOUL.md below its front matter, without the empty ones.
	lines []string
	// identity is the vector of its identity's words.
	identity []float32
}

// painter makes portraits of one companion as it is and as it would be. All of
// them are made in the same way: as if the last session ended now, from its
// state and that at the end of the session before. What the sessions before
// wrote down is taken as it was, less the sessions that would not have been.
type painter struct {
	c *Companion
	// past is what the session before the last really handed on.
	past heritage
	// names are those that a model gave; where what one was made from never was, it
	// was not given.
	names modelNames
	// lines are vectors that were made already.
	lines *remembering
}

// newPainter prepares for a store that came to a state.
func (c *Companion) newPainter(ctx context.Context, state *fold.State) (*painter, error) {
	p := &painter{c: c, lines: &remembering{c.opts.Embedder, map[string][]float32{}}}
	var err error
	if p.past, err = c.apart().heritageOf(ctx, int(state.Session.Number)-1, state); err != nil {
		return p, err
	}
	p.names, err = c.modelNames()
	return p, err
}

// remembering keeps the vectors of what it has embedded.
type remembering struct {
	Embedder
	known map[string][]float32
}

// Embed implements Embedder.
func (e *remembering) Embed(ctx context.Context, text string) ([]float32, error) {
	if v, ok := e.known[text]; ok {
		return v, nil
	}
	v, err := e.Embedder.Embed(ctx, text)
	if err == nil {
		e.known[text] = v
	}
	return v, err
}

// paint makes the portrait of a state. Gone says which sessions would not have
// been; its numbers count without them.
func (p *painter) paint(ctx context.Context, state, earlier *fold.State, gone chitta.Excised) (*portrait, error) {
	c := p.c.apart()
	c.opts.Embedder = p.lines
	summary, err := p.summary(ctx, c, state, earlier, gone)
	if err != nil {
		return nil, err
	}
	out := &portrait{}
	if out.identity, err = c.identityVector(ctx, summary); err != nil {
		return nil, err
	}
	doc, err := soul.Render(summary, c.opts.SoulBytes)
	if err != nil {
		return nil, err
	}
	_, body, _ := bytes.Cut(doc, []byte("\n---\n"))
	for line := range strings.Lines(string(body)) {
		// Sessions of the table go without their numbers: that all of them count one
		// less is no other life.
		if line = numbered.ReplaceAllString(strings.TrimSpace(line), "| "); line != "" {
			out.lines = append(out.lines, line)
		}
	}
	return out, nil
}

func (p *painter) summary(ctx context.Context, c *Companion, state, earlier *fold.State, gone chitta.Excised) (soul.Summary, error) {
	if len(state.Impressions) == 0 {
		given, err := c.given()
		return soul.Summary{Identity: c.store.Meta().ID, LineageVersion: "none", Assessor: c.opts.Assessor.ID(), Given: given}, err
	}
	c.records = recordsWithout(c.records, gone)
	past := p.past.vasanas
	if earlier != nil && len(earlier.Impressions) > 0 {
		var err error
		if past, err = p.tendencies(ctx, c, earlier, past); err != nil {
			return soul.Summary{}, err
		}
	}
	found, err := p.tendencies(ctx, c, state, past)
	if err != nil {
		return soul.Summary{}, err
	}
	depths, err := depthsOf(state)
	if err != nil {
		return soul.Summary{}, err
	}
	record, err := c.trendRecord(state, depths, found, p.past.narrative)
	if err != nil {
		return soul.Summary{}, err
	}
	s, err := c.summary(state, depths, record, found, past)
	p.names.onto(&s, state, found)
	return s, err
}

// numbered is the first cell of a row of the trend.
var numbered = regexp.MustCompile(`^\| \d+ \| `)

func (p *painter) tendencies(ctx context.Context, c *Companion, state *fold.State, past []vasana.Vasana) ([]vasana.Vasana, error) {
	depths, hardness, err := new(fold.Ageing).Of(state)
	if err != nil {
		return nil, err
	}
	return c.tendencies(ctx, state, depths, hardness, past)
}

// recordsWithout are the records of the sessions that would have been, with the
// numbers that they would have.
func recordsWithout(records []sessionRecord, gone chitta.Excised) []sessionRecord {
	var out []sessionRecord
	at := 0
	for _, r := range records {
		for at < len(gone.Sessions) && int(gone.Sessions[at]) < r.Session {
			at++
		}
		if at < len(gone.Sessions) && int(gone.Sessions[at]) == r.Session {
			continue
		}
		r.Session = renumbered(r.Session, gone)
		out = append(out, r)
	}
	return out
}

// missing are the lines of a that b lacks, in order; a line that stands twice
// counts twice.
func missing(a, b []string) []string {
	left := map[string]int{}
	for _, line := range b {
		left[line]++
	}
	out := []string{}
	for _, line := range a {
		if left[line] > 0 {
			left[line]--
			continue
		}
		out = append(out, line)
	}
	return out
}
