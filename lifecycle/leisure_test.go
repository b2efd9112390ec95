package lifecycle_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// What is judged again gives way in the midst of it to whoever waits for an answer, and is
// asked again after that; it is no failed try. A conversation that never ends holds it up
// for a while only.
func TestWhatIsJudgedAgainGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := newWorld(t), &speaking{pieces: []string{"Yes."}}
		m.away = "starting"
		var busy atomic.Int64
		m.behaves(func(ctx context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
			busy.Add(1)
			defer busy.Add(-1)
			return slowly(50*time.Second)(ctx, e)
		})
		w.opts.Model, w.opts.Deadline = m, time.Minute
		w.opts.Now = func() (time.Time, bool) { return time.Now(), true }
		c := w.live(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- c.Run(ctx) }()
		defer func() { cancel(); <-done }()
		w.write(t, c, "A slow walk by the river.")
		m.is("", "abc")
		time.Sleep(5 * time.Second)
		if busy.Load() != 1 {
			t.Fatal("nothing is judged again")
		}
		over := c.Talking()
		time.Sleep(time.Second)
		if busy.Load() != 0 {
			t.Error("the model is busy while somebody waits for it")
		}
		time.Sleep(3 * time.Minute)
		if n := len(questions(m)); n != 1 {
			t.Errorf("it was asked %d times in the meantime", n)
		}
		over()
		time.Sleep(2 * time.Minute)
		if s := modelOf(t, c); s.Owed != 0 || s.Reassessed != 1 || s.GivenUp != 0 {
			t.Errorf("%+v", s)
		}
		defer c.Talking()() // whose client never leaves
		m.is("gone", "abc")
		w.write(t, c, "Another slow walk.")
		m.is("", "abc")
		time.Sleep(9 * time.Minute)
		if s := modelOf(t, c); s.Owed != 1 {
			t.Errorf("%+v", s)
		}
		time.Sleep(4 * time.Minute)
		if s := modelOf(t, c); s.Owed != 0 {
			t.Errorf("a conversation without end stops all judging: %+v", s)
		}
	})
}

// A turn of a talk goes before what is judged again: of a long backlog one question at most
// is waited for.
func TestATalkGoesBeforeTheBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := newWorld(t), &speaking{pieces: []string{"Yes."}}
		m.away = "starting"
		m.behaves(slowly(4 * time.Second))
		w.opts.Model, w.opts.Deadline, w.opts.Rest = m, time.Minute, time.Nanosecond
		w.opts.Now = func() (time.Time, bool) { return time.Now(), true }
		c := w.live(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- c.Run(ctx) }()
		defer func() { cancel(); <-done }()
		for _, day := range strings.Fields("one two three four five six seven eight nine ten") {
			w.write(t, c, "A slow walk by the river on day "+day+".")
		}
		m.is("", "abc")
		time.Sleep(2 * time.Second)
		if _, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: "Is this before the others?"}, nothing); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := c.Judged(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it waited %v for the backlog", took)
		}
		time.Sleep(5 * time.Minute)
		if s := modelOf(t, c); s.Owed != 0 || s.Reassessed != 11 {
			t.Errorf("%+v", s)
		}
	})
}
