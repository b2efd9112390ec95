package lifecycle_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle"
)

// bad are answers that are no vectors of 24 components.
var bad = map[string]struct {
	v    func() []float32
	err  error
	want error
}{
	"zeros":     {v: func() []float32 { return make([]float32, 24) }, want: fold.ErrZeroVector},
	"NaN":       {v: func() []float32 { v := make([]float32, 24); v[0], v[3] = 1, float32(math.NaN()); return v }, want: fold.ErrNotFinite},
	"not unit":  {v: func() []float32 { v := make([]float32, 24); v[0] = 3; return v }, want: fold.ErrNotUnit},
	"dimension": {v: func() []float32 { v := make([]float32, 23); v[0] = 1; return v }, want: fold.ErrDimension},
	"empty":     {v: func() []float32 { return []float32{} }, want: fold.ErrDimension},
	"an error":  {err: errors.New("no answer"), want: lifecycle.ErrUnread},
}

// An entry that gets no vector keeps the store as it was, and is named; what was
// computed is kept. Where it may be left out it has no place.
func TestEntriesThatGetNoVector(t *testing.T) {
	for name, c := range bad {
		t.Run(name, func(t *testing.T) {
			w, list := history(t, 10)
			before := digestOf(t, w.live(t))
			e := newAnother()
			e.before = func(_ int, text string) ([]float32, error) {
				if text != list[4].Text {
					return nil, nil
				}
				if c.err != nil {
					return nil, c.err
				}
				return c.v(), nil
			}
			o := w.opts
			o.Embedder = e
			_, err := lifecycle.Reembed(t.Context(), o, lifecycle.ReembedOptions{})
			if !errors.Is(err, chitta.ErrLocked) {
				t.Fatalf("while another has the store: %v", err)
			}
			w.end(t, liveAgain(t, w, before))

			r, err := lifecycle.Reembed(t.Context(), o, lifecycle.ReembedOptions{})
			if !errors.Is(err, lifecycle.ErrUnread) || !errors.Is(err, c.want) || r.LeftOut != 1 {
				t.Fatalf("%+v, %v", r, err)
			}
			if strings.Contains(err.Error(), list[4].Text) {
				t.Error("the error has the text in it")
			}
			w.end(t, liveAgain(t, w, before))
			kept := r.Embedded
			r, err = lifecycle.Reembed(t.Context(), o, lifecycle.ReembedOptions{LeaveOut: true})
			if c.want == fold.ErrDimension { // then it is another embedder than it says
				if !errors.Is(err, c.want) {
					t.Fatalf("%v", err)
				}
				return
			}
			if err != nil || r.Resumed != kept || r.Embedded+r.Resumed != len(list)-1 || r.LeftOut != 1 || r.Unplaced != 1 || e.asked[list[4].Text] != 4 {
				t.Fatalf("%+v, %v; asked %d times", r, err, e.asked[list[4].Text])
			}
			w.opts.Embedder = e
			c := w.live(t)
			hits := recalled(t, c, list[4].Text)
			if len(hits) == 0 || !hits[0].Phrase || !hits[0].Impression.Unplaced {
				t.Errorf("%+v", hits)
			}
		})
	}
}

// liveAgain closes what is open and opens it anew, with the state that it had.
func liveAgain(t *testing.T, w *world, digest string) *lifecycle.Companion {
	t.Helper()
	for _, c := range w.open {
		w.end(t, c)
	}
	w.open = nil
	c := w.live(t)
	if digestOf(t, c) != digest {
		t.Error("the state has changed")
	}
	return c
}

// An embedder that is gone in the middle of the work leaves no one without a place.
func TestAnEmbedderThatGoesAway(t *testing.T) {
	w, list := history(t, 60)
	e := newAnother()
	gone := errors.New("connection refused")
	e.before = func(n int, _ string) ([]float32, error) {
		if n > 30 {
			return nil, gone
		}
		return nil, nil
	}
	w.opts.Embedder = e
	r, err := lifecycle.Reembed(t.Context(), w.opts, lifecycle.ReembedOptions{LeaveOut: true})
	if !errors.Is(err, gone) || r.Embedded != 30 || len(e.asked) > 60 {
		t.Fatalf("%+v, %v; asked for %d", r, err, len(e.asked))
	}
	e.before = nil
	if r := w.reembed(t, e); r.Resumed != 30 || r.Embedded != len(list)-30 || r.Unplaced != 0 {
		t.Errorf("%+v", r)
	}
	w.end(t, w.live(t))
}
