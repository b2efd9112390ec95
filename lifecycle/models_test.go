package lifecycle_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/reactivation"
)

// badEmbedder answers like hashed, except to one text.
type badEmbedder struct {
	hashed
	vector []float32
}

func (b badEmbedder) Embed(ctx context.Context, text string) ([]float32, error) {
	if text == "bad" {
		return b.vector, nil
	}
	return b.hashed.Embed(ctx, text)
}

// badJudge answers like plainJudge, except to one text.
type badJudge struct {
	plainJudge
	change func(*fold.Judgement)
}

func (b badJudge) Assess(ctx context.Context, e lifecycle.Experience) (fold.Judgement, error) {
	j, err := b.plainJudge.Assess(ctx, e)
	if e.Text == "bad" {
		b.change(&j)
	}
	return j, err
}

// Whatever a model makes up, a value that is no value is refused by its kind,
// nothing of it is kept, and the next entry is taken.
func TestWhatModelsMakeUpIsRefused(t *testing.T) {
	of := func(x float64) []float32 {
		v := make([]float32, 64)
		v[0], v[7] = 1, float32(x)
		return v
	}
	for name, c := range map[string]struct {
		vector []float32
		judge  func(*fold.Judgement)
		want   error
	}{
		"no vector":          {vector: nil, want: fold.ErrDimension},
		"zero vector":        {vector: make([]float32, 64), want: fold.ErrZeroVector},
		"empty vector":       {vector: []float32{}, want: fold.ErrDimension},
		"wrong dimension":    {vector: of(0)[:63], want: fold.ErrDimension},
		"NaN":                {vector: of(math.NaN()), want: fold.ErrNotFinite},
		"infinity":           {vector: of(math.Inf(-1)), want: fold.ErrNotFinite},
		"too long":           {vector: of(2), want: fold.ErrNotUnit},
		"NaN intensity":      {judge: func(j *fold.Judgement) { j.Intensity = math.NaN() }, want: fold.ErrEvent},
		"infinite emotion":   {judge: func(j *fold.Judgement) { j.Emotion = math.Inf(1) }, want: fold.ErrEvent},
		"character of zeros": {judge: func(j *fold.Judgement) { j.Guna = reactivation.Guna{} }, want: reactivation.ErrGuna},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if c.judge == nil {
				w.opts.Embedder = badEmbedder{hashed{64}, c.vector}
			} else {
				w.opts.Assessor = badJudge{change: c.judge}
			}
			live := w.live(t)
			w.write(t, live, "Before.")
			before := digestOf(t, live)
			if _, err := live.Write(t.Context(), lifecycle.Note{Text: "bad"}); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if digestOf(t, live) != before {
				t.Error("something of it was kept")
			}
			if r := w.write(t, live, "After."); !r.Created {
				t.Errorf("the next entry: %+v", r)
			}
		})
	}
}

// One entry that the models cannot read does not stop an import, and is told.
func TestOneBadEntryDoesNotStopAnImport(t *testing.T) {
	w := newWorld(t)
	w.opts.Embedder = badEmbedder{hashed{64}, nil}
	c := w.live(t)
	list := notes(5)
	list[3].Text = "bad"
	r, err := c.Import(t.Context(), list, nil)
	if !errors.Is(err, lifecycle.ErrUnjudged) || r.New != len(list)-1 {
		t.Errorf("%+v, %v", r, err)
	}
	if s, err := c.Session(t.Context(), 0); err != nil || s.Open {
		t.Errorf("the history was not ended: %+v, %v", s, err)
	}
}
