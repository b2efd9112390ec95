package lifecycle_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/tools"
)

// What the person says to a rating is kept with the life, and goes with anything that it may
// speak of: what is forgotten, lives that are excised, and what is said without leave.
func TestNotesToRatings(t *testing.T) {
	const note = "Quixotic, and I told it so."
	for name, drop := range map[string]func(w *world, c *lifecycle.Companion) error{
		"forgotten": func(_ *world, c *lifecycle.Companion) error {
			_, err := c.Forget(t.Context(), lifecycle.ForgetQuery{Match: "Nothing to do with it"}, nil)
			return err
		},
		"excised": func(_ *world, c *lifecycle.Companion) error {
			_, err := c.ExciseLives(t.Context(), lifecycle.ExcisionRequest{Lives: []string{"1", "2"}})
			return err
		},
		"said without leave": func(w *world, c *lifecycle.Companion) error {
			w.says(t, c, "communications.storage=deny")
			return nil
		},
		"an entry without leave": func(w *world, c *lifecycle.Companion) error {
			w.says(t, c, "behavioural.storage=deny")
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := w.lived(t)
			w.write(t, c, "I look for the way.")
			act(t, c, "zigzagwise")
			if _, err := c.EndSession(t.Context()); err != nil {
				t.Fatal(err)
			}
			distilled(t, c, 1)
			if l, err := c.RateWith(t.Context(), 1, 1, " "+note+"\n"); err != nil || l.Note != note {
				t.Fatalf("%+v %v", l, err)
			}
			w.write(t, c, "Nothing to do with it.")
			if l, err := c.RateWith(t.Context(), 0, 1, note); err != nil || l.Sequence != 2 || l.Note != note {
				t.Fatalf("%+v %v", l, err)
			}
			if held := holding(t, w, "Quixotic"); len(held) != 1 || held[0] != "chitta.db" {
				t.Fatalf("%q", held)
			}
			if err := drop(w, c); err != nil {
				t.Fatal(err)
			}
			if _, err := c.EndSession(t.Context()); err != nil && !errors.Is(err, lifecycle.ErrNoSession) {
				t.Fatal(err)
			}
			for _, l := range livesOf(t, c) {
				if l.Note != "" {
					t.Errorf("life %d has %q", l.Sequence, l.Note)
				}
			}
			if held := holding(t, w, "Quixotic"); len(held) > 0 {
				t.Errorf("it is still in %q", held)
			}
		})
	}
}

// A note is bounded, is of the rating that it was given with, and is not kept where nothing
// said may be.
func TestNotesAreBounded(t *testing.T) {
	w := newWorld(t)
	c := w.lived(t)
	w.write(t, c, "I look for the way.")
	if _, err := c.RateWith(t.Context(), 0, 1, strings.Repeat("ä", 501)); !errors.Is(err, lifecycle.ErrQuery) {
		t.Error(err)
	}
	if l, err := c.RateWith(t.Context(), 0, 1, strings.Repeat("ä", 500)); err != nil || len(l.Note) != 1000 {
		t.Errorf("%+v %v", l, err)
	}
	if l, err := c.Rate(t.Context(), 0, -1); err != nil || l.Note != "" {
		t.Errorf("%+v %v", l, err)
	}
	w.says(t, c, "communications.storage=deny")
	if l, err := c.RateWith(t.Context(), 0, 1, "Good."); err != nil || l.Note != "" || l.Rating == nil {
		t.Errorf("%+v %v", l, err)
	}
}

// A tool keeps its name in what is told of a talk, though its life ended with it.
func TestAnActThatOutlivesItsLife(t *testing.T) {
	w := newWorld(t)
	m := &wise{digest: digestA}
	w.opts.Model = m
	c := w.livedFrom(t, searching+"\n[life]\nmax_failures = 1\n")
	if o := c.OffersTo(t.Context(), "wise:1"); len(o) != 1 {
		t.Fatalf("%+v", o)
	}
	_, act := c.ActFor(t.Context(), "wise:1", lifecycle.ChatCall{Tool: "search", Arguments: []byte(`{"way":"straight"}`)})
	if all := livesOf(t, c); act.OK || act.Tool != "search" || len(act.Refused) > 0 || len(all) != 1 || all[0].State.Living() {
		t.Errorf("%+v %+v", act, all)
	}
	if _, act := c.ActFor(t.Context(), "wise:1", lifecycle.ChatCall{Tool: "made_up"}); act.Tool != "" || len(act.Refused) == 0 || act.Refused[0] != tools.UnknownTool {
		t.Errorf("%+v", act)
	}
}
