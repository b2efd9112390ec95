package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// Turns are remembered in their order, and those behind one that cannot be kept are not.
// They are durable before the model judged any, and are told to it in their order.
func TestTurnsAreRememberedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &wise{digest: "abc"}
		_, c := thoughtful(t, m)
		var before []string
		m.behaves(func(ctx context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
			before = e.Session
			return slowly(time.Second)(ctx, e)
		})
		var turns []lifecycle.Turn
		for i := range 20 {
			turns = append(turns, lifecycle.Turn{Said: fmt.Sprintf("Said %d of many.", i)})
		}
		began := time.Now()
		receipts, err := c.RememberAll(t.Context(), turns)
		if err != nil || len(receipts) != 20 || time.Since(began) != 0 {
			t.Fatalf("%d remembered after %v, %v", len(receipts), time.Since(began), err)
		}
		for i, r := range receipts {
			if hit, err := c.Show(t.Context(), r.Event); err != nil || hit.Text != turns[i].Said || r.Assessor != "plain/1" || !r.Unjudged {
				t.Errorf("%d: %q by %s, %v", i, hit.Text, r.Assessor, err)
			}
		}
		if err := c.Judged(t.Context()); err != nil || len(m.asked) != 20 || len(before) != 8 {
			t.Fatalf("asked %q, %q before the last, %v", m.asked, before, err)
		}
		for i, text := range before {
			if text != turns[11+i].Said || m.asked[i] != turns[i].Said {
				t.Errorf("%d of those before the last: %q; %d that is asked about: %q", i, text, i, m.asked[i])
			}
		}
		receipts, err = c.RememberAll(t.Context(), []lifecycle.Turn{{Said: "One."}, {Said: "Two."}, {Said: "\u200b"}, {Said: "Four."}})
		if s, _ := c.Status(t.Context()); len(receipts) != 2 || !errors.Is(err, lifecycle.ErrEmpty) || s.Entries != 22 {
			t.Errorf("%d remembered, %v; %d entries", len(receipts), err, s.Entries)
		}
		if r, err := c.Remember(t.Context(), lifecycle.Turn{Said: "One."}); err != nil || !r.Duplicate {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// A turn that came through the door is durable as soon as its answer is whole; what the
// model is then asked about it gives way to the next answer, and is asked again behind
// that, about all of the words, however much of them is kept.
func TestATurnOfTheDoorIsJudgedBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m, c := talking(t, lifecycle.KeepBySource)
		var busy atomic.Int32
		m.behaves(func(ctx context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
			busy.Add(1)
			defer busy.Add(-1)
			return slowly(30*time.Second)(ctx, e)
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- c.Run(ctx) }()
		defer func() { cancel(); <-done }()
		said := "One by the river. " + strings.Repeat("It was a long way, and the snow was soft. ", 9)
		began := time.Now()
		receipts, err := c.RememberAll(t.Context(), []lifecycle.Turn{{Said: said, Answered: "Yes.", Source: "chat:door"}})
		if s, _ := c.Status(t.Context()); err != nil || s.Entries != 1 || time.Since(began) != 0 {
			t.Fatalf("%d entries after %v, %v", s.Entries, time.Since(began), err)
		}
		time.Sleep(20 * time.Second)
		if busy.Load() != 1 {
			t.Error("it is not judged while nobody waits")
		}
		over := c.Talking()
		synctest.Wait()
		if len(questions(m)) != 1 || busy.Load() != 0 {
			t.Errorf("asked %d times, %d goes on while the next answer comes", len(questions(m)), busy.Load())
		}
		over()
		if err := c.Judged(t.Context()); err != nil {
			t.Fatal(err)
		}
		hit, err := c.Show(t.Context(), receipts[0].Event)
		if s := modelOf(t, c); err != nil || hit.Assessor != "wise:1@abc" || hit.Kept != lifecycle.KeepGist || s.Owed != 0 || questions(m)[1] != said {
			t.Errorf("%+v, %v; asked %q; %+v", hit, err, questions(m), s)
		}
	})
}
