package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// ByReflection names the built-in reflection as who answered.
const ByReflection = "builtin-reflection/1"

// Silence is why no model answers.
type Silence string

// Why no model answers, as the beginning of a sentence.
const (
	NoModel       Silence = "I have no model to think with"
	ModelAway     Silence = "My model cannot be reached now"
	ModelLate     Silence = "My model did not answer in time"
	ModelUnusable Silence = "My model gave no answer that I can use"
)

// Fate is what becomes of what was said, as a sentence; empty where nothing is to be said
// of it.
type Fate string

// What can become of it where it is remembered after the answer.
const (
	Becomes Fate = "What you said becomes an entry of today."
	TooLong Fate = "What you said is not kept: it is longer than 1 MB."
	NoRoom  Fate = "What you said is not kept, since too much waits to be remembered; say it again in a while."
	Ending  Fate = "What you said is not kept, since I am being stopped; say it again when I am back."
)

const (
	isKept  Fate = "What you said is kept."
	noLeave Fate = "Of what you said only the impression is kept, no text: you have not allowed to store what is about %s."
	waits   Fate = "My embedder is away: what you said waits here, and becomes an entry when it is back."
	isLost  Fate = "My embedder is away, so what you said is not kept; say it again when it is back."
	notKept Fate = "What you said could not be kept."
	notToBe Fate = "What you said is not kept, as you asked."
)

// always says that a fate is told with every answer, and not only where nothing else is.
func (f Fate) always() bool {
	return slices.Contains([]Fate{waits, isLost, notKept, TooLong, NoRoom, Ending}, f) || strings.HasPrefix(string(f), string(noLeave)[:20])
}

// mostReflected is how many impressions an answer without a model brings back.
const mostReflected = 3

// Reflect answers without a model, for the reason of why: with what is remembered of
// it, and no more. f is what is to become of what was said; where that is Becomes it is at
// once, or when the embedder is back. It is the same for the same store and words.
func (c *Companion) Reflect(ctx context.Context, said string, why Silence, f Fate) (string, error) {
	w, err := c.Weave(ctx, said, usuallyRecalled)
	if err != nil {
		return "", err
	}
	shown, err := c.worthTelling(ctx, said, w.Recalled)
	if err != nil {
		return "", err
	}
	if f == Becomes && w.ByWords != "" {
		f = waits
	}
	return reflection(shown, w.ByWords != "", why, f), nil
}

// worthTelling are those of what was recalled that say something to a person: what was
// written, the nearest first. Where nothing written comes near, it is what was said in
// earlier talks; but no question, which holds no answer, and nothing that was just said.
func (c *Companion) worthTelling(ctx context.Context, said string, recalled []Recalled) ([]Recalled, error) {
	out := slices.DeleteFunc(slices.Clone(recalled), func(r Recalled) bool { return lineOf(r) == "" || isTalk(r) })
	if len(out) == 0 && slices.ContainsFunc(recalled, isTalk) { // talks may have taken all the places
		var err error
		if out, err = c.written(ctx, clip(said, longestQuery)); err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		now := plain(said)
		out = slices.DeleteFunc(slices.Clone(recalled), func(r Recalled) bool {
			line := lineOf(r)
			return line == "" || isQuestion(line) || plain(line) == now
		})
	}
	return out[:min(len(out), mostReflected)], nil
}

// written are the best of what was written down that a text finds and that comes near.
func (c *Companion) written(ctx context.Context, text string) (out []Recalled, err error) {
	state, hits, err := c.ranked(ctx, text)
	if err != nil {
		return nil, err
	}
	const most = 1000 // of which each is read
	for _, h := range hits[:min(len(hits), most)] {
		if len(out) == mostReflected {
			break
		}
		if !h.close {
			continue
		}
		found, err := c.answer(state, []*hit{h}, RecallQuery{Text: text, Limit: 1})
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			if lineOf(r) != "" && !isTalk(r) {
				r.Rank = len(out) + 1
				out = append(out, r)
			}
		}
	}
	return out, nil
}

// lineOf is the beginning of what was written, on one line.
func lineOf(r Recalled) string { return strings.TrimSpace(excerpt(r.Impression.Text, "")) }

// isTalk tells what was said in a conversation from what was written down.
func isTalk(r Recalled) bool {
	return r.Impression.Source == sourceChat || strings.HasPrefix(r.Impression.Source, sourceChat+":")
}

// isQuestion tells whether a text ends as a question does, in scripts that mark one.
func isQuestion(text string) bool {
	text = strings.TrimRight(text, " \t\n\"'”’»)!…")
	return slices.ContainsFunc([]string{"?", "？", "؟", "՞", "\u037e"}, func(mark string) bool { return strings.HasSuffix(text, mark) })
}

// reflection says what was recalled, and what becomes of what was said. byWords says
// that it was found by words only.
func reflection(shown []Recalled, byWords bool, why Silence, f Fate) string {
	if len(shown) == 0 {
		return strings.TrimSpace(string(why) + ", and what you say brings nothing back. " + string(f))
	}
	lines := []string{string(why) + "; this is what it brings back."}
	for _, r := range shown {
		when, did := "Once", "wrote"
		if r.Impression.Date != "" {
			when = "On " + r.Impression.Date
		}
		if isTalk(r) {
			did = "said to me"
		}
		lines = append(lines, fmt.Sprintf("%s you %s: “%s”", when, did, lineOf(r)))
	}
	last := ""
	if byWords {
		last = "These were found by your words alone."
	}
	if f.always() {
		last = strings.TrimSpace(last + " " + string(f))
	}
	if last != "" {
		lines = append(lines, last)
	}
	return strings.Join(lines, "\n\n")
}
