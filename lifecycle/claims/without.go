package claims

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jivad/jivad/gate/evidence"
)

// Goes says what is to be taken out.
type Goes struct {
	// From are the entries or distillates that go; what was taken from them goes with them.
	From map[string]bool
	// Claims are ids of claims that go; Category tells of categories of consent all of whose
	// claims go. Either may be nil.
	Claims   map[string]bool
	Category func(name string) bool
}

// Gone counts what was taken out.
type Gone struct {
	Claims int `json:"claims"`
	Events int `json:"events"`
}

// Without gives the records of claims without what goes: claims that were taken from it or
// are of it, claims that follow from such, all events of those, and evidence that was taken
// from it. That others spoke of them goes too. The fold of what is left is as if they had
// never been made. Other records are given back as they are.
func Without(values []Value, g Goes) ([]Value, Gone, error) {
	var gone Gone
	events := map[string]Event{}
	away := map[string]bool{}
	for _, v := range values {
		if !strings.HasPrefix(v.Name, Prefix) {
			continue
		}
		e, err := decode(0, v.Data)
		if err != nil {
			return nil, gone, fmt.Errorf("record %s: %w", v.Name, err)
		}
		events[v.Name] = e
		if e.Kind != Asserted {
			continue
		}
		goes := g.Claims[e.Claim] || g.From[e.From] || g.Category != nil && g.Category(e.Category)
		for _, id := range e.Asserted.Previous { // they were made before it
			goes = goes || away[id]
		}
		if goes {
			away[e.Claim] = true
		}
	}
	gone.Claims = len(away)
	leaves := func(e Event) bool {
		return away[e.Claim] || g.From[e.From] || away[e.Other] || (e.Kind == Evidence || e.Kind == Renewed) && g.Category != nil && g.Category(e.Category)
	}
	// That a source was taken back goes with the source.
	seen := map[[2]string]bool{}
	for _, e := range events {
		if !leaves(e) {
			for _, r := range e.roots() {
				seen[[2]string{e.Claim, r.Source()}] = true
			}
		}
	}
	var out []Value
	for _, v := range values {
		e, is := events[v.Name]
		switch {
		case !is:
		case !away[e.Claim] && !g.From[e.From] && away[e.Other] && (e.Kind == Superseded || e.Kind == Reviewed && e.Decision == evidence.Replaced):
			// What took its place is gone, and with it why: it is not believed again for that.
			gone.Events++
			data, err := json.Marshal(Event{Form: Form, Kind: Doubted, Claim: e.Claim, At: e.At, Session: e.Session, By: e.By})
			if err != nil {
				return nil, gone, err
			}
			v.Data = data
		case leaves(e), e.Kind == Withdrawn && !seen[[2]string{e.Claim, e.Root.Source()}]:
			gone.Events++
			continue
		}
		out = append(out, v)
	}
	return out, gone, nil
}

// Matching are the ids of the claims of which something that was written matches, among
// records.
func Matching(values []Value, match func(text string) bool) (map[string]bool, error) {
	out := map[string]bool{}
	for _, v := range values {
		if !strings.HasPrefix(v.Name, Prefix) {
			continue
		}
		e, err := decode(0, v.Data)
		if err != nil {
			return nil, fmt.Errorf("record %s: %w", v.Name, err)
		}
		for _, text := range e.words() {
			if text != "" && match(text) {
				out[e.Claim] = true
			}
		}
	}
	return out, nil
}

// roots are the sources that an event adds to a claim.
func (e *Event) roots() (out []evidence.Root) {
	if e.Asserted != nil {
		out = append(out, e.Asserted.Roots...)
	}
	if e.Root != nil && e.Kind != Withdrawn {
		out = append(out, *e.Root)
	}
	return out
}

// words are all texts of an event.
func (e *Event) words() []string {
	out := []string{e.Text, e.Reasoning, e.By}
	if r := e.Root; r != nil {
		out = append(out, r.ID, r.Retrieval, r.Agent)
	}
	if a := e.Asserted; a != nil {
		out = append(out, a.Text, a.Subject, a.Agent, a.Provenance.Source, a.Provenance.Primary, a.Provenance.Reasoning)
		for _, r := range a.Roots {
			out = append(out, r.ID, r.Retrieval, r.Agent)
		}
	}
	return out
}

// Readable tells whether all records of claims among those given can be read.
func Readable(values []Value) bool {
	for _, v := range values {
		if !strings.HasPrefix(v.Name, Prefix) {
			continue
		}
		if _, err := decode(0, v.Data); err != nil {
			return false
		}
	}
	return true
}

// FromOthers are the entries that records of claims were taken from and that are not there.
func FromOthers(values []Value, lacks func(from string) bool) (map[string]bool, error) {
	out := map[string]bool{}
	for _, v := range values {
		e, err := decode(0, v.Data)
		if err != nil {
			return nil, fmt.Errorf("record %s: %w", v.Name, err)
		}
		if e.From != "" && lacks(e.From) {
			out[e.From] = true
		}
	}
	return out, nil
}
