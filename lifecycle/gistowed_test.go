package lifecycle_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// What is only kept as a gist is judged later too, where its turn was not judged in time:
// what the model finds to be of a category of which nothing is kept does not stay. Where
// the gist is all of the words the judgement counts; else that of all of them stays.
func TestAGistIsOwedAJudgement(t *testing.T) {
	const more = " It was a long way, and the snow was soft, and nobody came by."
	for name, tc := range map[string]struct {
		said, category string
		kept           lifecycle.Keep
		counts         bool
	}{
		"all of it, of no category": {"My knee by the river.", "", lifecycle.KeepGist, true},
		"all of it, health":         {"My knee by the river.", "health", lifecycle.KeepNone, true},
		"a part, of no category":    {"My knee by the river." + strings.Repeat(more, 9), "", lifecycle.KeepGist, false},
		"a part, health":            {"My knee by the river." + strings.Repeat(more, 9), "health", lifecycle.KeepNone, false},
		"a part, financial":         {"My knee by the river." + strings.Repeat(more, 9), "financial", lifecycle.KeepGist, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, m, c := talking(t, lifecycle.KeepBySource)
				w.end(t, c)
				w.opts.Retention = lifecycle.Retention{"health": lifecycle.KeepNone, "financial": lifecycle.KeepGist}
				c = w.live(t)
				r, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: tc.said}, nothing)
				if err != nil {
					t.Fatal(err)
				}
				before, err := c.Show(t.Context(), r.Receipt.Event)
				if s := modelOf(t, c); err != nil || s.Owed != 1 {
					t.Fatalf("%+v, %v", s, err)
				}
				w.end(t, c) // before it is judged
				m.behaves(func(_ context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
					a := verdict(e)
					a.Category = tc.category
					return a, nil
				})
				c = w.live(t)
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- c.Run(ctx) }()
				defer func() { cancel(); <-done }()
				time.Sleep(time.Hour)
				hit, err := c.Show(t.Context(), r.Receipt.Event)
				if err != nil || hit.Kept != tc.kept || tc.kept == lifecycle.KeepNone && hit.Text+hit.Summary+hit.Reason != "" || tc.kept == lifecycle.KeepGist && hit.Text != before.Text {
					t.Errorf("%+v, %v", hit, err)
				}
				want, intensity := before.Assessor, before.Intensity
				if tc.counts {
					want, intensity = "wise:1@abc", verdict(lifecycle.Experience{Text: tc.said}).Judgement.Intensity
				}
				if s := modelOf(t, c); hit.Assessor != want || hit.Intensity != intensity || s.Owed != 0 || s.GivenUp != 0 {
					t.Errorf("by %s, %v; %+v", hit.Assessor, hit.Intensity, s)
				}
				if !tc.counts && strings.Contains(soulText(t, c), "My knee") != (tc.kept != lifecycle.KeepNone) {
					t.Errorf("SOUL.md quotes it or not:\n%s", soulText(t, c))
				}
				if v, err := c.Verify(t.Context(), true, nil); err != nil || !v.OK {
					t.Errorf("%+v, %v", v, err)
				}
			})
		})
	}
}
