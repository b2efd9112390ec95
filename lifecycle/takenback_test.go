package lifecycle_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/consent"
)

// What was said in a talk and waits for its judgement is not sent any more once it was
// taken back: not by a question that waits, and not by one that is under way.
func TestWhatIsTakenBackIsNotAsked(t *testing.T) {
	said := func(d consent.Dimension) func(*testing.T, *lifecycle.Companion) {
		return func(t *testing.T, c *lifecycle.Companion) {
			change := consent.Change{Cell: consent.Cell{Category: consent.Communications, Dimension: d}, Answer: consent.Deny}
			if _, err := c.SetConsent(t.Context(), lifecycle.ConsentRequest{Who: "me", Changes: []consent.Change{change}}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	forgets := func(t *testing.T, c *lifecycle.Companion) {
		if _, err := c.Forget(t.Context(), lifecycle.ForgetQuery{Match: "river"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for name, takeBack := range map[string]func(*testing.T, *lifecycle.Companion){
		"access": said(consent.Access), "storage": said(consent.Storage), "forgotten": forgets,
	} {
		for _, keep := range []lifecycle.Keep{lifecycle.KeepFull, lifecycle.KeepGist} {
			t.Run(name+" "+string(keep), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					_, m, c := talking(t, keep)
					var ended []string
					m.behaves(func(ctx context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
						a, err := slowly(30*time.Second)(ctx, e)
						if err != nil {
							ended = append(ended, e.Text)
						}
						return a, err
					})
					ctx, cancel := context.WithCancel(t.Context())
					done := make(chan error, 1)
					go func() { done <- c.Run(ctx) }()
					defer func() { cancel(); <-done }()
					for _, text := range []string{"One by the river.", "Two by the river."} {
						if _, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: text}, nothing); err != nil {
							t.Fatal(err)
						}
					}
					time.Sleep(10 * time.Second)
					before := questions(m) // the first may have given way to the second talk
					takeBack(t, c)
					time.Sleep(10 * time.Minute)
					if got := questions(m); slices.Contains(before, "Two by the river.") || !slices.Equal(got, before) || !slices.Equal(ended, got) {
						t.Errorf("asked %q, then %q, left off %q", before, got, ended)
					}
					if s := modelOf(t, c); s.Owed != 0 {
						t.Errorf("%+v", s)
					}
				})
			})
		}
	}
}

// Names are asked for one after the other, of a list that is made once: what is taken back
// meanwhile is in none of those that follow.
func TestANameIsNotAskedOfWhatIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newNamer(func(ctx context.Context, words, excerpts []string) (string, error) {
			select {
			case <-time.After(10 * time.Second):
				return about(ctx, words, excerpts)
			case <-ctx.Done():
				return "", ctx.Err()
			}
		})
		c := imported(t, named(t, m), days(40))
		run(t, c)
		time.Sleep(5 * time.Second)
		if m.count() != 1 {
			t.Fatalf("%d names were asked for", m.count())
		}
		change := consent.Change{Cell: consent.Cell{Category: consent.Behavioural, Dimension: consent.Access}, Answer: consent.Deny}
		if _, err := c.SetConsent(t.Context(), lifecycle.ConsentRequest{Who: "me", Changes: []consent.Change{change}}, nil); err != nil {
			t.Fatal(err)
		}
		later()
		if m.count() != 1 {
			t.Errorf("what was taken back was asked about %d times", m.count()-1)
		}
	})
}
