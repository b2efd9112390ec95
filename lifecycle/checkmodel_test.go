package lifecycle_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// mute is a model that answers nothing, ever.
type mute struct{ wise }

func (m *mute) Assess(ctx context.Context, _ lifecycle.Experience) (lifecycle.Assessment, error) {
	<-ctx.Done()
	return lifecycle.Assessment{}, ctx.Err()
}

func (m *mute) Narrate(ctx context.Context, _ string) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

// The log says of a model that does not answer what happened and what may help, in words.
func TestTheLogHasWordsForALateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told bytes.Buffer
		w := newWorld(t)
		w.opts.Log = slog.New(slog.NewTextHandler(&told, &slog.HandlerOptions{Level: slog.LevelDebug}))
		w.opts.Model = &mute{wise{digest: "abc"}}
		w.opts.Deadline = 10 * time.Second
		w.opts.Now = func() (time.Time, bool) { return time.Now(), true }
		c := w.live(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- c.Run(ctx) }()
		w.write(t, c, "A slow walk by the river.")
		if _, err := c.EndSession(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		cancel()
		<-done
		for _, want := range []string{
			"msg=\"the model did not judge an entry", "msg=\"the built-in words stay in SOUL.md\"",
			"wise:1 had not answered after 20s; a longer model.deadline, or a smaller model, may help",
		} {
			if !strings.Contains(told.String(), want) {
				t.Errorf("no %q in\n%s", want, told.String())
			}
		}
		if strings.Contains(told.String(), "context ") {
			t.Errorf("raw words in\n%s", told.String())
		}
	})
}

// looked is a model that is looked at.
type looked struct {
	wise
	state lifecycle.ModelState
}

func (l *looked) Look(context.Context) (lifecycle.ModelState, string) { return l.state, "do this" }

// Doctor looks at the chat model and says what mends it.
func TestDoctorLooksAtTheChatModel(t *testing.T) {
	long := strings.Repeat("a", 64)
	for name, c := range map[string]struct {
		state lifecycle.ModelState
		want  lifecycle.Check
	}{
		"there": {lifecycle.ModelState{Name: "m", Server: "http://s", Digest: long}, lifecycle.Check{OK: true, Detail: "m@aaaaaaaaaaaa on http://s can be asked"}},
		"away":  {lifecycle.ModelState{Name: "m", Server: "http://s", Away: "gone"}, lifecycle.Check{Detail: "m on http://s is away: gone", Hint: "do this"}},
		"one kind closed": {
			lifecycle.ModelState{Name: "m", Digest: long, Closed: []lifecycle.ClosedKind{{What: "talking", Why: "5 answers in a row could not be used"}}},
			lifecycle.Check{Detail: "m@aaaaaaaaaaaa is there, but talking is not asked of it now: 5 answers in a row could not be used", Hint: "It is tried again by itself; a longer model.deadline, or another model.chat, may help."},
		},
	} {
		w := newWorld(t)
		w.opts.Model = &looked{state: c.state}
		checks, err := w.live(t).Doctor(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c.want.Name = "chat model"
		found := errors.New("there is no such line")
		for _, k := range checks {
			if k.Name == c.want.Name {
				if found = nil; k != c.want {
					t.Errorf("%s: %+v, want %+v", name, k, c.want)
				}
			}
		}
		if found != nil {
			t.Errorf("%s: %v", name, found)
		}
	}
}
