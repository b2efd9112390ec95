package door

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// slow takes a minute for the judgement of each call, unless it is to hurry.
type slow struct {
	*fake
	mu   sync.Mutex
	kept []string
}

func (s *slow) RememberAll(_, hurry context.Context, turns []lifecycle.Turn) ([]lifecycle.Receipt, error) {
	select {
	case <-hurry.Done():
	case <-time.After(time.Minute):
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range turns {
		s.kept = append(s.kept, t.Said)
	}
	return make([]lifecycle.Receipt, len(turns)), nil
}

// A judgement that takes long is waited for while nobody waits behind it, and for none
// when the daemon ends. Nothing is lost, and the order stays.
func TestTurnsThatWaitHurry(t *testing.T) {
	var said []string
	for i := range 100 {
		said = append(said, strings.Repeat("x", i+1))
	}
	for name, tc := range map[string]struct{ turns, after, kept int }{
		"alone":         {1, 59, 0},
		"alone, judged": {1, 60, 1},
		"many":          {100, 10, 100},
		"many, ending":  {100, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &slow{fake: newFake()}
				d := newTurns(s, slog.New(slog.DiscardHandler))
				for _, text := range said[:tc.turns] {
					d.add(lifecycle.Turn{Said: text})
				}
				time.Sleep(time.Duration(tc.after) * time.Second)
				synctest.Wait()
				if len(s.kept) != tc.kept || d.waiting() != tc.turns-tc.kept {
					t.Errorf("%d kept and %d wait after %d s, want %d kept", len(s.kept), d.waiting(), tc.after, tc.kept)
				}
				began := time.Now()
				d.close(t.Context())
				if !slices.Equal(s.kept, said[:tc.turns]) || time.Since(began) != 0 {
					t.Errorf("%d kept of %d, the end took %v", len(s.kept), tc.turns, time.Since(began))
				}
			})
		})
	}
}

// What can never be kept is not queued, and what waits is bounded in bytes too.
func TestTurnsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		f := newFake()
		f.hold = make(chan struct{})
		d := newTurns(f, slog.New(slog.NewTextHandler(&log, nil)))
		for range 3 {
			d.add(lifecycle.Turn{Said: strings.Repeat("x", lifecycle.MaxNote+1)})
		}
		if n := strings.Count(log.String(), "longer than 1 MB"); n != 1 || d.waiting() != 0 || d.size != 0 {
			t.Errorf("said %d times, %d wait, %d bytes", n, d.waiting(), d.size)
		}
		for range 20 {
			d.add(lifecycle.Turn{Said: strings.Repeat("x", lifecycle.MaxNote)})
		}
		if d.waiting() != 16 || d.size != waitingTurns {
			t.Errorf("%d wait, %d bytes", d.waiting(), d.size)
		}
		close(f.hold)
		d.close(t.Context())
		want := []Count{{Outcome: turnDropped, N: 4}, {Outcome: turnFailed, N: 3}, {Outcome: turnRemembered, N: 16}}
		if got := d.done.list(); !slices.Equal(got, want) || d.size != 0 {
			t.Errorf("%+v, want %+v; %d bytes", got, want, d.size)
		}
	})
}
