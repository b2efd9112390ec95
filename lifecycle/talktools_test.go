package lifecycle_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/lifecycle/tools"
)

// scripted is a model that asks for the ways it is told to prefer, or else tries them in
// turn, until one works.
type scripted struct {
	wise
	asked []lifecycle.ChatMessage
	told  []tools.Offer
	calls int
	// without end it never answers.
	endless bool
}

func (s *scripted) Chat(_ context.Context, messages []lifecycle.ChatMessage, offers []tools.Offer, emit func(string) error) (lifecycle.ChatEnd, error) {
	s.asked, s.told = slices.Clone(messages), offers
	var tried []string
	for _, m := range messages {
		for _, c := range m.Calls {
			tried = append(tried, string(c.Arguments))
		}
	}
	last := messages[len(messages)-1]
	if last.Role == "tool" && !strings.Contains(last.Content, "Refused") && s.worked(tried) && !s.endless || len(offers) == 0 {
		return lifecycle.ChatEnd{}, emit("It is there.")
	}
	ways := []string{"sideways", "straight", "zigzagwise"}
	if strings.Contains(messages[0].Content, "argument way: prefer zigzagwise") {
		ways = []string{"zigzagwise"}
	}
	way := ways[min(len(tried), len(ways)-1)]
	s.calls++
	return lifecycle.ChatEnd{Calls: []lifecycle.ChatCall{{ID: fmt.Sprint("c", s.calls), Tool: "search", Arguments: fmt.Appendf(nil, `{"way":%q}`, way)}}}, nil
}

func (s *scripted) worked(tried []string) bool {
	return len(tried) > 0 && strings.Contains(tried[len(tried)-1], "zigzagwise")
}

// A model that is talked to asks for tools; a refusal is told to it as one; what worked is
// a rule of the lives after it, which take one call.
func TestTalkUsesTools(t *testing.T) {
	w := newWorld(t)
	m := &scripted{wise: wise{digest: strings.Repeat("ab", 32)}}
	w.opts.Model = m
	c := w.lived(t)
	for n := 1; n <= 3; n++ {
		before := m.calls
		r, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: fmt.Sprintf("Where is it, the %d. time?", n)}, func(string) error { return nil })
		if err != nil || r.Answer != "It is there." || len(m.told) != 1 {
			t.Fatalf("%+v %v", r, err)
		}
		want := map[bool]int{true: 3, false: 1}[n == 1]
		if m.calls-before != want || len(r.Acts) != want || !r.Acts[want-1].OK || r.Acts[want-1].Tool != "search" {
			t.Errorf("talk %d took %d calls: %+v", n, m.calls-before, r.Acts)
		}
		if n == 1 && (len(r.Acts[0].Refused) == 0 || !strings.Contains(text(m.asked, "tool"), "Refused")) {
			t.Errorf("the refusal is not told: %+v", m.asked)
		}
		if _, err := c.EndSession(t.Context()); err != nil {
			t.Fatal(err)
		}
		until(t, func() bool {
			l, err := c.Rate(t.Context(), 0, 1)
			return err == nil && l.Obligation.Status == lives.Met
		})
	}
}

// A model that asks without end has to answer at last.
func TestTalkUsesToolsWithoutEnd(t *testing.T) {
	w := newWorld(t)
	m := &scripted{wise: wise{digest: strings.Repeat("ab", 32)}, endless: true}
	w.opts.Model = m
	c := w.lived(t)
	r, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: "Where?"}, func(string) error { return nil })
	if err != nil || r.Answer != "It is there." || len(r.Acts) != 8 {
		t.Errorf("%+v %v", r, err)
	}
}

func text(messages []lifecycle.ChatMessage, role string) string {
	var out strings.Builder
	for _, m := range messages {
		if m.Role == role {
			out.WriteString(m.Content + "\n")
		}
	}
	return out.String()
}
