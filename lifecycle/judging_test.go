package lifecycle_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/tools"
	"github.com/jivad/jivad/reactivation"
)

// wise is a model that can be sent away, made to stumble, and never answer.
type wise struct {
	mu      sync.Mutex
	away    string
	digest  string
	changed []func(lifecycle.ModelState)
	// answer, if not nil, has the first word.
	answer func(ctx context.Context, e lifecycle.Experience) (lifecycle.Assessment, error)
	asked  []string
}

func (w *wise) ID() string { return "wise:1@" + w.State().Digest }
func (w *wise) Assess(ctx context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
	w.mu.Lock()
	away, answer := w.away, w.answer
	w.asked = append(w.asked, e.Text)
	w.mu.Unlock()
	if away != "" {
		return lifecycle.Assessment{}, fmt.Errorf("%w: %s", lifecycle.ErrModelAway, away)
	}
	if answer != nil {
		return answer(ctx, e)
	}
	return verdict(e), nil
}

// verdict is what it says of an entry, by its words alone.
func verdict(e lifecycle.Experience) lifecycle.Assessment {
	x := float64(len(e.Text)%97) / 97
	g, err := reactivation.NewGuna(0.1+x, 0.5, 1.1-x)
	if err != nil {
		panic(err)
	}
	return lifecycle.Assessment{
		Judgement: fold.Judgement{Assessor: "wise:1@abc", Intensity: 0.2 + 0.7*x, Emotion: x, Guna: g, Valence: 2*x - 1},
		Gist:      "It says " + e.Text[:min(12, len(e.Text))], Reason: "by its length",
	}
}

func (w *wise) Narrate(context.Context, string) (string, error) { return "", lifecycle.ErrModelAway }
func (w *wise) Name(context.Context, []string, []string) (string, error) {
	return "", lifecycle.ErrModelAway
}
func (w *wise) Chat(context.Context, []lifecycle.ChatMessage, []tools.Offer, func(string) error) (lifecycle.ChatEnd, error) {
	return lifecycle.ChatEnd{}, lifecycle.ErrModelAway
}
func (w *wise) State() lifecycle.ModelState {
	w.mu.Lock()
	defer w.mu.Unlock()
	return lifecycle.ModelState{Name: "wise:1", Digest: w.digest, Away: w.away}
}
func (w *wise) Watch(ctx context.Context, changed func(lifecycle.ModelState)) {
	w.mu.Lock()
	w.changed = append(w.changed, changed)
	w.mu.Unlock()
	changed(w.State())
	<-ctx.Done()
}

// is puts it into another state and says so.
func (w *wise) is(away, digest string) {
	w.mu.Lock()
	w.away, w.digest = away, digest
	told := slices.Clone(w.changed)
	w.mu.Unlock()
	for _, f := range told {
		f(w.State())
	}
}

func (w *wise) behaves(answer func(context.Context, lifecycle.Experience) (lifecycle.Assessment, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

// thoughtful is a world with a model, and a daemon that runs in it.
func thoughtful(t *testing.T, m *wise) (*world, *lifecycle.Companion) {
	return thoughtfulAgain(t, newWorld(t), m)
}

// thoughtfulAgain is that in a world that there is.
func thoughtfulAgain(t *testing.T, w *world, m *wise) (*world, *lifecycle.Companion) {
	t.Helper()
	w.opts.Model, w.opts.Deadline = m, 10*time.Second
	w.opts.Now = func() (time.Time, bool) { return time.Now(), true }
	c := w.live(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return w, c
}

func modelOf(t *testing.T, c *lifecycle.Companion) lifecycle.ModelStatus {
	t.Helper()
	s, err := c.Status(t.Context())
	if err != nil || s.Model == nil {
		t.Fatalf("%+v, %v", s.Model, err)
	}
	return *s.Model
}

// What the built-in assessor judged while the model was away is judged again when it
// is back, and the character is, bit for bit, what it would be had it been there.
func TestTheModelJudgesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := days(40)
		m := &wise{away: "connection refused"}
		w, c := thoughtful(t, m)
		if _, err := c.Import(t.Context(), list, nil); err != nil {
			t.Fatal(err)
		}
		r := w.write(t, c, "Written while it is away.")
		synctest.Wait()
		if s := modelOf(t, c); s.Fallbacks != 41 || s.Owed != 41 || s.Away == "" || s.Reassessed != 0 {
			t.Errorf("%+v", s)
		}
		if r.Assessor != "plain/1" {
			t.Errorf("judged by %s", r.Assessor)
		}
		m.is("", "abc")
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if s := modelOf(t, c); s.Owed != 0 || s.Reassessed != 41 || s.GivenUp != 0 {
			t.Errorf("%+v", s)
		}

		// The same, from the start.
		other := newWorld(t)
		other.opts.Assessor = always{&wise{}}
		other.opts.Now = w.opts.Now
		there := other.live(t)
		if _, err := there.Import(t.Context(), list, nil); err != nil {
			t.Fatal(err)
		}
		other.write(t, there, "Written while it is away.")
		if digestOf(t, c) != digestOf(t, there) {
			t.Error("the state is not that of a companion that the model judged from the start")
		}
		hit, err := c.Show(t.Context(), r.Event)
		if err != nil || hit.Assessor != "wise:1@abc" || hit.Summary != "It says Written whil" || hit.Reason != "by its length" {
			t.Errorf("%+v, %v", hit, err)
		}
		if v, err := c.Verify(t.Context(), true, nil); err != nil || !v.OK {
			t.Errorf("%+v, %v", v, err)
		}
	})
}

// What was judged again when the companion is closed is written before its end.
func TestWhatWasJudgedIsWrittenAtTheEnd(t *testing.T) {
	for name, byRun := range map[string]bool{"the daemon is asked to end": true, "it is closed": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &wise{away: "connection refused"}
				w := newWorld(t)
				w.opts.Model, w.opts.Deadline = m, 10*time.Second
				w.opts.Now = func() (time.Time, bool) { return time.Now(), true }
				c := w.live(t)
				ctx, stop := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- c.Run(ctx) }()
				for i := range 5 {
					w.write(t, c, fmt.Sprintf("Written while it is away, %d.", i))
				}
				m.behaves(func(ctx context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
					select {
					case <-time.After(4 * time.Second):
						return verdict(e), nil
					case <-ctx.Done():
						return lifecycle.Assessment{}, ctx.Err()
					}
				})
				m.is("", "abc")
				time.Sleep(13 * time.Second) // three are judged, the fourth is asked about
				synctest.Wait()
				if s := modelOf(t, c); s.Reassessed != 0 || s.Owed != 5 {
					t.Fatalf("before: %+v", s)
				}
				if byRun {
					stop()
				}
				if err := c.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				stop()
				<-done
				w.opts.Model = &wise{away: "connection refused"}
				if s := modelOf(t, w.live(t)); s.Owed != 2 {
					t.Errorf("%d of 5 are owed still, want 2", s.Owed)
				}
			})
		})
	}
}

// The log says once that the model went away, why, and that it is back.
func TestTheLogTellsOfTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told bytes.Buffer
		w := newWorld(t)
		w.opts.Log = slog.New(slog.NewTextHandler(&told, nil))
		m := &wise{digest: "abc"}
		thoughtfulAgain(t, w, m)
		synctest.Wait()
		for _, away := range []string{"connection refused", "connection reset", "", "not found", ""} {
			m.is(away, "abc")
			synctest.Wait()
		}
		for what, n := range map[string]int{
			`level=WARN msg="the language model is away; the built-in models do its work until it is back" model=wise:1`: 2,
			`why="connection refused"`: 1, `why="connection reset"`: 0, `why="not found"`: 1,
			`level=INFO msg="the language model is back" model=wise:1`: 2,
		} {
			if got := strings.Count(told.String(), what); got != n {
				t.Errorf("%d times %s, want %d\n%s", got, what, n, told.String())
			}
		}
	})
}

// It is then told what it would have been told at once: what came before in the session.
func TestTheModelIsToldAsMuchWhenItJudgesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := map[string][]string{}
		m := &wise{away: "starting"}
		m.answer = func(_ context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
			told[e.Text] = e.Session
			return verdict(e), nil
		}
		w, c := thoughtful(t, m)
		w.write(t, c, "Of the session before.")
		time.Sleep(25 * time.Hour)
		for _, text := range []string{"The first.", "The second.", "The third."} {
			w.write(t, c, text)
		}
		m.is("", "abc")
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if !slices.Equal(told["The third."], []string{"The first.", "The second."}) || len(told["The first."]) != 0 || len(told) != 4 {
			t.Errorf("it was told %q", told)
		}
	})
}

// always is the model in the place of the built-in assessor.
type always struct{ m *wise }

func (a always) ID() string { return "wise:1@abc" }
func (a always) Assess(ctx context.Context, e lifecycle.Experience) (fold.Judgement, error) {
	j, err := a.m.Assess(ctx, e)
	return j.Judgement, err
}

// What is written live is judged by the model right away, with SOUL.md and what was
// said before in the session; where it is slow, or never answers, nobody behind waits.
func TestTheModelJudgesLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &wise{digest: "abc"}
		w, c := thoughtful(t, m)
		var seen lifecycle.Experience
		m.behaves(func(_ context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
			seen = e
			return verdict(e), nil
		})
		first := w.write(t, c, "The first of today.")
		w.write(t, c, "The second of today.")
		if first.Assessor != "wise:1@abc" || !strings.Contains(seen.Soul, "## Given") || !slices.Equal(seen.Session, []string{"The first of today."}) {
			t.Errorf("%s; it was told %q", first.Assessor, seen.Session)
		}
		// One that never answers, and two hundred behind it.
		m.behaves(func(ctx context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
			if strings.Contains(e.Text, "never") {
				<-ctx.Done()
				return lifecycle.Assessment{}, fmt.Errorf("%w: %w", lifecycle.ErrModelAnswer, ctx.Err())
			}
			time.Sleep(10 * time.Millisecond)
			return verdict(e), nil
		})
		began := time.Now()
		var all sync.WaitGroup
		var slowest time.Duration
		var mu sync.Mutex
		for i := range 200 {
			text := fmt.Sprintf("Entry %d of many.", i)
			if i == 0 {
				text = "It never answers to this."
			}
			all.Go(func() {
				if _, err := c.Write(t.Context(), lifecycle.Note{Text: text}); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				slowest = max(slowest, time.Since(began))
			})
		}
		all.Wait()
		if slowest > 5*time.Second {
			t.Errorf("the last one was done after %v", slowest)
		}
		if s := modelOf(t, c); s.Fallbacks != 1 {
			t.Errorf("%+v", s)
		}
		// Alone it is waited for as long as a model may take that keeps no deadline of its
		// own, and no longer.
		began = time.Now()
		if r := w.write(t, c, "It never answers to this either."); r.Assessor != "plain/1" || time.Since(began) != 20*time.Second {
			t.Errorf("judged by %s after %v", r.Assessor, time.Since(began))
		}
	})
}

// An entry that the model has no answer for is tried a bounded number of times, with
// growing pauses, and keeps no other waiting; what was forgotten is not asked about.
func TestAnEntryWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &wise{away: "starting"}
		w, c := thoughtful(t, m)
		w.write(t, c, "Impossible to judge.")
		w.write(t, c, "Zanzibarine, to be forgotten.")
		w.write(t, c, "Easy to judge.")
		if _, err := c.Forget(t.Context(), lifecycle.ForgetQuery{Match: "zanzibarine"}, nil); err != nil {
			t.Fatal(err)
		}
		if s := modelOf(t, c); s.Owed != 2 {
			t.Errorf("%d are owed, one of them forgotten", s.Owed)
		}
		m.behaves(func(_ context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
			switch {
			case strings.HasPrefix(e.Text, "Impossible"):
				return lifecycle.Assessment{}, fmt.Errorf("%w: prose", lifecycle.ErrModelAnswer)
			case strings.HasPrefix(e.Text, "Zanzibarine"):
				t.Error("it was asked about what is forgotten")
			}
			a := verdict(e)
			if strings.HasPrefix(e.Text, "Mad") {
				a.Judgement.Intensity = 7
			}
			return a, nil
		})
		m.is("", "abc")
		time.Sleep(time.Minute)
		synctest.Wait()
		if s := modelOf(t, c); s.Reassessed != 1 || s.Owed != 1 {
			t.Errorf("after a minute: %+v", s)
		}
		if r := w.write(t, c, "Mad numbers."); r.Assessor != "plain/1" {
			t.Errorf("numbers out of range were taken: %+v", r)
		}
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		tries := 0
		for _, text := range m.asked {
			if strings.HasPrefix(text, "Impossible") {
				tries++
			}
		}
		if s := modelOf(t, c); s.GivenUp != 2 || s.Owed != 0 || tries != 5 {
			t.Errorf("%+v after %d tries", s, tries)
		}
	})
}

// Another digest under the same name is a record of the log, once, and is told.
func TestAnotherModelOfThatName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &wise{digest: "aaaa"}
		w, c := thoughtful(t, m)
		synctest.Wait()
		before, err := c.Status(t.Context())
		if err != nil || len(before.Problems) > 0 {
			t.Fatalf("%+v, %v", before.Problems, err)
		}
		for range 3 {
			m.is("", "bbbb")
		}
		synctest.Wait()
		after, err := c.Status(t.Context())
		if err != nil || after.Events != before.Events+1 || len(after.Problems) != 1 || !strings.Contains(after.Problems[0], "bbbb, was aaaa") {
			t.Errorf("%d records, before %d: %v, %v", after.Events, before.Events, after.Problems, err)
		}
		if after.StateDigest != before.StateDigest {
			t.Error("the state is another one")
		}
		w.write(t, c, "So that there is something.")
		if v, err := c.Verify(t.Context(), true, nil); err != nil || !v.OK {
			t.Errorf("%+v, %v", v, err)
		}
		// It is told after a restart too, and for a week.
		w.end(t, c)
		c = w.live(t)
		for days, told := range []bool{true, false} {
			time.Sleep(time.Duration(days) * 8 * 24 * time.Hour)
			if s, err := c.Status(t.Context()); err != nil || strings.Contains(strings.Join(s.Problems, "\n"), "bbbb, was aaaa") != told {
				t.Errorf("after %d days: %q, %v", 8*days, s.Problems, err)
			}
		}
	})
}
