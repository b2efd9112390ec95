package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// nothing takes an answer and has nothing to say of it.
func nothing(string) error { return nil }

// slowly has a model judge everything after a while.
func slowly(took time.Duration) func(context.Context, lifecycle.Experience) (lifecycle.Assessment, error) {
	return func(ctx context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
		select {
		case <-time.After(took):
			return verdict(e), nil
		case <-ctx.Done():
			return lifecycle.Assessment{}, ctx.Err()
		}
	}
}

// questions are what a model was asked to judge.
func questions(m *speaking) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asked)
}

// talking is a world with a model that talks and takes half a minute to judge.
func talking(t *testing.T, keep lifecycle.Keep) (*world, *speaking, *lifecycle.Companion) {
	t.Helper()
	w, m := newWorld(t), &speaking{pieces: []string{"Yes."}}
	m.digest = "abc"
	m.behaves(slowly(30 * time.Second))
	w.opts.Model, w.opts.Deadline = m, time.Minute
	w.opts.Retention = lifecycle.Retention{"communications": keep}
	w.opts.Now = func() (time.Time, bool) { return time.Now(), true }
	return w, m, w.live(t)
}

// A turn is kept and answered for at once, and judged behind that, by all of its words,
// however much of them is kept.
func TestATurnIsJudgedBehindTheTalk(t *testing.T) {
	for _, keep := range []lifecycle.Keep{lifecycle.KeepFull, lifecycle.KeepGist, lifecycle.KeepNone} {
		for _, daemon := range []bool{false, true} {
			t.Run(fmt.Sprint(keep, daemon), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					_, m, c := talking(t, keep)
					if daemon {
						ctx, cancel := context.WithCancel(t.Context())
						done := make(chan error, 1)
						go func() { done <- c.Run(ctx) }()
						defer func() { cancel(); <-done }()
					}
					said := "I walked to the river. " + strings.Repeat("It was a long way, and the snow was soft. ", 9)
					began := time.Now()
					r, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: said}, nothing)
					if err != nil || r.Receipt == nil || !r.Receipt.Unjudged || time.Since(began) > time.Second {
						t.Fatalf("after %v: %+v, %v", time.Since(began), r.Receipt, err)
					}
					hit, err := c.Show(t.Context(), r.Receipt.Event)
					if err != nil || hit.Assessor == "wise:1@abc" || hit.Kept != keep {
						t.Errorf("as it is kept: %+v, %v", hit, err)
					}
					if err := c.Judged(t.Context()); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Minute) // nobody asks for it once more
					hit, err = c.Show(t.Context(), r.Receipt.Event)
					want := verdict(lifecycle.Experience{Text: said}).Judgement
					if err != nil || hit.Assessor != "wise:1@abc" || hit.Intensity != want.Intensity || hit.Kept != keep || keep == lifecycle.KeepFull && hit.Answer != "Yes." {
						t.Errorf("as it is judged: %+v, %v", hit, err)
					}
					if s := modelOf(t, c); len(questions(m)) != 1 || questions(m)[0] != said || s.Owed != 0 || s.Fallbacks != 0 {
						t.Errorf("asked %q; %+v", questions(m), s)
					}
				})
			})
		}
	}
}

// The judging gives way to a talk that begins, and goes on behind it.
func TestJudgingGivesWayToATalk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m, c := talking(t, lifecycle.KeepGist)
		talk := func(said string) string {
			r, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: said}, nothing)
			if err != nil {
				t.Fatal(err)
			}
			return r.Receipt.Event
		}
		first := talk("One by the river.")
		time.Sleep(20 * time.Second)
		done := c.Talking()
		time.Sleep(5 * time.Minute)
		if hit, err := c.Show(t.Context(), first); err != nil || hit.Assessor == "wise:1@abc" || len(questions(m)) != 1 {
			t.Errorf("during a talk: %+v, %v, asked %q", hit, err, questions(m))
		}
		done()
		second := talk("Two by the river.")
		if err := c.Judged(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{first, second} {
			if hit, err := c.Show(t.Context(), id); err != nil || hit.Assessor != "wise:1@abc" {
				t.Errorf("after it: %+v, %v", hit, err)
			}
		}
	})
}

// slowEmbedder takes a while to embed.
type slowEmbedder struct {
	lifecycle.Embedder
	takes time.Duration
}

func (s slowEmbedder) Embed(ctx context.Context, text string) ([]float32, error) {
	time.Sleep(s.takes)
	return s.Embedder.Embed(ctx, text)
}

// Turns that wait for each other to be embedded are judged too, by their words in memory:
// of what is only kept as a gist nothing is owed.
func TestTurnsThatWaitForEachOtherAreJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := newWorld(t), &speaking{pieces: []string{"Yes."}}
		m.digest = "abc"
		m.behaves(slowly(time.Second))
		w.opts.Model, w.opts.Workers = m, 1
		w.opts.Embedder = slowEmbedder{w.opts.Embedder, 3 * time.Second}
		c := w.live(t)
		var talks sync.WaitGroup
		for _, said := range []string{"One by the river.", "Two by the river.", "Three by the river."} {
			talks.Go(func() {
				r, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: said}, nothing)
				if err != nil || r.Receipt == nil || !r.Receipt.Unjudged {
					t.Errorf("%s: %+v, %v", said, r.Receipt, err)
				}
			})
		}
		talks.Wait()
		if err := c.Judged(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := modelOf(t, c); len(questions(m)) != 3 || s.Fallbacks != 0 {
			t.Errorf("asked %q; %+v", questions(m), s)
		}
	})
}

// What the model cannot judge stays as the built-in assessor judged it; a companion that
// is closed waits for no judgement, and what was kept is there.
func TestWhatIsNotJudgedStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m, c := talking(t, lifecycle.KeepGist)
		m.behaves(func(context.Context, lifecycle.Experience) (lifecycle.Assessment, error) {
			return lifecycle.Assessment{}, lifecycle.ErrModelAnswer
		})
		r, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: "One by the river."}, nothing)
		if err = errors.Join(err, c.Judged(t.Context())); err != nil {
			t.Fatal(err)
		}
		if hit, err := c.Show(t.Context(), r.Receipt.Event); err != nil || hit.Assessor == "wise:1@abc" || modelOf(t, c).Fallbacks != 1 {
			t.Errorf("%+v, %v", hit, err)
		}
		m.behaves(slowly(time.Hour))
		if r, err = c.Talk(t.Context(), lifecycle.TalkRequest{Said: "Two by the river."}, nothing); err != nil {
			t.Fatal(err)
		}
		waiting, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := c.Judged(waiting); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting for it: %v", err)
		}
		began := time.Now()
		w.end(t, c)
		if took := time.Since(began); took > time.Second {
			t.Errorf("closing took %v", took)
		}
		c = w.live(t)
		if hit, err := c.Show(t.Context(), r.Receipt.Event); err != nil || hit.Text != "Two by the river." {
			t.Errorf("opened anew: %+v, %v", hit, err)
		}
	})
}

// What is forgotten while the model judges it is not brought back, and the model is not
// asked about it any more; what else was said is judged all the same.
func TestForgottenWhileItIsJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m, c := talking(t, lifecycle.KeepGist)
		for _, said := range []string{"The heron by the river.", "The heron again.", "The roof."} {
			if _, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: said}, nothing); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(10 * time.Second)
		if _, err := c.Forget(t.Context(), lifecycle.ForgetQuery{Match: "heron"}, nil); err != nil {
			t.Fatal(err)
		}
		if err := c.Judged(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s, err := c.Status(t.Context()); err != nil || s.Entries != 1 || len(s.Problems) != 0 {
			t.Errorf("%+v, %v", s, err)
		}
		asked := questions(m)
		if last := asked[len(asked)-1]; last != "The roof." || slices.Contains(asked, "The heron again.") {
			t.Errorf("asked %q", asked)
		}
		hits := recalled(t, c, "roof")
		if len(hits) != 1 || hits[0].Impression.Assessor != "wise:1@abc" {
			t.Errorf("%+v", hits)
		}
	})
}
