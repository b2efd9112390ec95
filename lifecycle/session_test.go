package lifecycle_test

import (
	"testing"
	"testing/synctest"
	"time"
)

// A live session ends by itself when nothing was written for a while, and when
// its day is over; a session that is written to goes on.
func TestLiveSessionsEndByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.opts.Idle = 30 * time.Minute
		c := w.live(t)
		done := make(chan error, 1)
		go func() { done <- c.Run(t.Context()) }()
		w.write(t, c, "Morning.")
		time.Sleep(20 * time.Minute)
		w.write(t, c, "Still there.")
		time.Sleep(20 * time.Minute)
		if s, err := c.Session(t.Context(), 0); err != nil || !s.Open || s.Events != 2 {
			t.Errorf("twenty minutes after the last entry: %+v, %v", s, err)
		}
		time.Sleep(12 * time.Minute)
		if s, err := c.Session(t.Context(), 0); err != nil || s.Open || s.Reason != "idle" {
			t.Errorf("after half an hour: %+v, %v", s, err)
		}
		w.write(t, c, "Late.")
		w.clock.set(at("2026-03-11 00:01"))
		time.Sleep(2 * time.Minute)
		if s, err := c.Session(t.Context(), 0); err != nil || s.Open || s.Reason != "roll" {
			t.Errorf("on the next day: %+v, %v", s, err)
		}
	})
}
