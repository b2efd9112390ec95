package ollama

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/prompt"
	"github.com/jivad/jivad/reactivation"
)

const (
	// answerRunes is the most of an answer, in bytes, that an object is looked for in.
	answerLength = 32 << 10
	// objectsTried bounds how often.
	objectsTried = 16
)

// objectIn gives the one JSON object of an answer: the whole of it, or the only one
// in it, with or without a fence, behind thinking that was ended. thinking is what
// came apart from the content; it is an answer only where there is no other and it
// is nothing but an object. Errors are *flaw.
func objectIn(content, thinking string) ([]byte, error) {
	if len(content) > answerLength || len(thinking) > answerLength {
		return nil, &flaw{wrong: "it is longer than an answer may be"}
	}
	text, ended := withoutThinking(content)
	if !ended {
		return nil, &flaw{wrong: "it only thinks, and does not come to an answer"}
	}
	if text == "" {
		if o := wholeObject(unfenced(strings.TrimSpace(thinking))); o != nil {
			return o, nil
		}
		if strings.TrimSpace(thinking) != "" {
			return nil, &flaw{wrong: "it only thinks, and does not come to an answer"}
		}
		return nil, &flaw{wrong: "it says nothing"}
	}
	if o := wholeObject(unfenced(text)); o != nil {
		return o, nil
	}
	switch found := objectsAmid(text); len(found) {
	case 0:
		return nil, &flaw{wrong: "it is no whole JSON object", answer: text}
	case 1:
		return found[0], nil
	default:
		return nil, &flaw{wrong: "it has several JSON objects", answer: text}
	}
}

// thinkingTags begin and end what a model thinks aloud.
var thinkingTags = [][2]string{{"<think>", "</think>"}, {"<thinking>", "</thinking>"}, {"<thought>", "</thought>"}}

// withoutThinking cuts thinking off the beginning of an answer, also where only its
// end is there; ended is false where it has no end.
func withoutThinking(text string) (rest string, ended bool) {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	for _, tag := range thinkingTags {
		if i := strings.LastIndex(text, tag[1]); i >= 0 && !strings.HasPrefix(text, "{") {
			return strings.TrimSpace(text[i+len(tag[1]):]), true
		}
		if strings.HasPrefix(text, tag[0]) {
			return "", false
		}
	}
	return text, true
}

// unfenced is a text without the Markdown fence round it.
func unfenced(text string) string {
	inner, ok := strings.CutPrefix(text, "```")
	if !ok {
		return text
	}
	if inner, ok = strings.CutSuffix(inner, "```"); !ok {
		return text
	}
	if word, rest, ok := strings.Cut(inner, "\n"); ok && !strings.Contains(word, "{") {
		inner = rest
	}
	return strings.TrimSpace(inner)
}

func wholeObject(text string) []byte {
	if !strings.HasPrefix(text, "{") || !json.Valid([]byte(text)) {
		return nil
	}
	return []byte(text)
}

// objectsAmid finds objects among prose, none within another.
func objectsAmid(text string) [][]byte {
	var found [][]byte
	for range objectsTried {
		i := strings.IndexByte(text, '{')
		if i < 0 {
			return found
		}
		text = text[i:]
		var o json.RawMessage
		d := json.NewDecoder(strings.NewReader(text))
		if err := d.Decode(&o); err != nil {
			text = text[1:]
			continue
		}
		found = append(found, bytes.Clone(o))
		text = text[d.InputOffset():]
	}
	return found
}

// assessmentIn reads a judgement; assessor is who judged. A number that is absent, not
// whole or out of its range is refused, not bent into it. Errors are *flaw.
func assessmentIn(object []byte, assessor string) (lifecycle.Assessment, error) {
	var none lifecycle.Assessment
	members, err := membersOf(object)
	if err != nil {
		return none, err
	}
	var n [8]float64
	for i, name := range []string{"intensity", "novelty", "emotion", "match", "tamas", "rajas", "sattva", "valence"} {
		low := 0.0
		if name == "valence" {
			low = -100
		}
		if n[i], err = whole(members, name, low, 100); err != nil {
			return none, err
		}
	}
	shares := n[4:7]
	// Shares that come to 1 and not to 100 say that the scale was another one: then a
	// 1 would be the most and not next to nothing.
	if sum := shares[0] + shares[1] + shares[2]; sum < 3 {
		return none, &flaw{wrong: `"tamas", "rajas" and "sattva" are not shares in per cent, together 100`}
	}
	guna, err := reactivation.NewGuna(math.Sqrt(shares[0]), math.Sqrt(shares[1]), math.Sqrt(shares[2]))
	if err != nil {
		return none, &flaw{wrong: `"tamas", "rajas" and "sattva" are not shares in per cent, together 100`}
	}
	category, err := text(members, "category")
	if err != nil {
		return none, err
	}
	if category = strings.ToLower(strings.TrimSpace(category)); category != "" && !slices.Contains(prompt.Categories(), category) {
		return none, &flaw{wrong: `"category" is none of those that were given`}
	}
	gist, err := text(members, "gist")
	if err != nil {
		return none, err
	}
	reason, err := text(members, "reason")
	if err != nil {
		return none, err
	}
	novelty, match := n[1]/100, n[3]/100
	return lifecycle.Assessment{
		Judgement: fold.Judgement{
			Assessor:  assessor,
			Intensity: n[0] / 100, Emotion: n[2] / 100, Novelty: &novelty, Match: &match,
			Guna: guna, Valence: n[7]/100 + 0, // + 0: never -0
		},
		Category: category,
		Gist:     short(gist, prompt.GistRunes),
		Reason:   short(reason, prompt.ReasonRunes),
		Claims:   claimsIn(members["claims"]),
	}, nil
}

// claimsIn reads the statements of a judgement. What is none is left out: the judgement is
// good without. They are held against the entry by who asked.
func claimsIn(list json.RawMessage) (out []lifecycle.Proposed) {
	var claims []json.RawMessage
	if json.Unmarshal(list, &claims) != nil {
		return nil
	}
	for _, raw := range claims {
		var c struct{ Subject, Text string }
		if json.Unmarshal(raw, &c) == nil && len(out) < prompt.Claims {
			out = append(out, lifecycle.Proposed{Subject: strings.TrimSpace(c.Subject), Text: strings.TrimSpace(c.Text)})
		}
	}
	return out
}

// membersOf takes an object apart.
func membersOf(object []byte) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil || members == nil {
		return nil, &flaw{wrong: "it is no JSON object"}
	}
	return members, nil
}

// whole reads a whole number from low to high.
func whole(members map[string]json.RawMessage, name string, low, high float64) (float64, error) {
	var v *float64
	if raw, ok := members[name]; !ok || json.Unmarshal(raw, &v) != nil || v == nil ||
		math.IsNaN(*v) || *v != math.Trunc(*v) || *v < low || *v > high {
		return 0, &flaw{wrong: fmt.Sprintf("%q is not a whole number from %v to %v", name, low, high)}
	}
	return *v, nil
}

// text reads a string; one that is absent is empty.
func text(members map[string]json.RawMessage, name string) (string, error) {
	raw, ok := members[name]
	if !ok {
		return "", nil
	}
	var v string
	if json.Unmarshal(raw, &v) != nil {
		return "", &flaw{wrong: fmt.Sprintf("%q is not a text", name)}
	}
	return v, nil
}

// short is a text on one line, of visible letters, and of at most n of them.
func short(s string, n int) string {
	s = strings.Join(strings.Fields(strings.Map(visible, strings.ToValidUTF8(s, ""))), " ")
	kept, cut := prompt.Clip(s, n)
	if cut == 0 {
		return kept
	}
	kept, _ = prompt.Clip(kept, n-1)
	if i := strings.LastIndexByte(kept, ' '); i > len(kept)/2 {
		kept = kept[:i]
	}
	return strings.TrimRight(kept, " ") + "…"
}

// visible drops what a terminal would obey, and what turns the direction of text.
func visible(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != 0x200c && r != 0x200d:
		return -1
	}
	return r
}
