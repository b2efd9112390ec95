package lifecycle

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/projection"
)

// mostAbsorbed bounds the impressions of which a gist is exported, the deepest first.
const mostAbsorbed = 256

// Absorption is what a model may be trained with.
type Absorption struct {
	// Rules and Gists are how many there are. Withheld gists are of entries that may not be
	// trained with, or not be read; Leaked ones repeat what happened or name somebody, and
	// are counted with rules that do; Wordless impressions have none.
	Rules    int `json:"rules"`
	Gists    int `json:"gists"`
	Withheld int `json:"withheld"`
	Leaked   int `json:"leaked"`
	Wordless int `json:"wordless"`
	// Data is JSONL in the chat format; Attestation says what it was made of.
	Data        []byte          `json:"data,omitempty"`
	Attestation json.RawMessage `json:"attestation,omitempty"`
}

// Absorb exports the mature part of the companion as training data (M-1): its rules, and
// the gists of its deepest impressions, never an entry. It is refused, with all reasons,
// while the lineage is not mature or there is no consent. Error: a
// *projection.ImmatureError.
func (c *Companion) Absorb(ctx context.Context) (Absorption, error) {
	var out Absorption
	if missing := c.lives.Immature(); len(missing) > 0 {
		return out, &projection.ImmatureError{Missing: missing}
	}
	m, err := c.readManifest()
	if err != nil {
		return out, err
	}
	detectors := append(distil.BuiltIn(), distil.NamesOf(m.Distillation.Names))
	var b bytes.Buffer
	write := func(asked, answered string) error {
		type message struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		}
		data, err := json.Marshal(map[string][]message{"messages": {{"user", asked}, {"assistant", answered}}})
		b.Write(append(data, '\n'))
		return err
	}
	for _, r := range c.lives.AllRules() {
		if r.Weight == 0 {
			continue
		}
		// It may be older than a name that the manifest has now.
		if len(distil.Leaks(r.Guidance, distil.NewIndex(distil.Trace{}), detectors)) > 0 {
			out.Leaked++
			continue
		}
		scope, choice, _ := strings.Cut(r.Guidance, ": ")
		answer := "I prefer " + choice + "."
		if r.Weight < 0 {
			answer = "I avoid " + choice + "."
		}
		if err := write("How do you choose: "+scope+"?", answer); err != nil {
			return out, err
		}
		out.Rules++
	}
	if err := c.absorbGists(ctx, &out, detectors, write); err != nil {
		return out, err
	}
	out.Data = b.Bytes()
	out.Attestation, err = c.lives.AttestExport(ctx, out.Data, c.opts.Version)
	return out, err
}

func (c *Companion) absorbGists(ctx context.Context, out *Absorption, detectors []distil.Detector, write func(asked, answered string) error) error {
	state := c.store.Snapshot()
	top, err := state.Top(mostAbsorbed)
	if err != nil {
		return err
	}
	for _, d := range top {
		if err := ctx.Err(); err != nil {
			return err
		}
		i := state.Impressions[d.Index]
		e, err := c.store.EventAt(i.Sequence)
		if err != nil {
			return err
		}
		x, ok := e.Body.(fold.Experienced)
		if !ok {
			continue
		}
		t, _, err := c.textOf(i.Sequence)
		gist := Gist(t.Summary)
		if err != nil || gist == "" || i.Buried {
			out.Wordless++
			continue
		}
		if !c.trains(x.Category, t.Found) || !c.mayRead(i.Sequence, x, t) {
			out.Withheld++
			continue
		}
		trace := distil.Trace{Acts: []distil.Act{{Kind: distil.Seen, Text: t.Body}}}
		// Of a talk a gist is kept, and what the model said of it cannot be held against more.
		if t.Gist || len(distil.Leaks(gist, distil.NewIndex(trace), detectors)) > 0 {
			out.Leaked++
			continue
		}
		if err := write("What stayed with you?", gist); err != nil {
			return err
		}
		out.Gists++
	}
	return nil
}

// trains tells whether an entry may be made part of a model: whether that is allowed of the
// category that the person set, and of the one that a model found, if any. What leaves as
// training data is not got back, so here a found one counts though nobody said anything of it.
func (c *Companion) trains(own, found string) bool {
	return c.lives.Trains(consent.OfEntry(own)) && (found == "" || c.lives.Trains(consent.OfEntry(found)))
}
