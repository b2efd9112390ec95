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

// slow takes a minute for each call, as the embedder of a slow server does.
type slow struct {
	*fake
	mu   sync.Mutex
	kept []string
}

func (s *slow) RememberAll(_ context.Context, turns []lifecycle.Turn) ([]lifecycle.Receipt, error) {
	time.Sleep(time.Minute)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range turns {
		s.kept = append(s.kept, t.Said)
	}
	return make([]lifecycle.Receipt, len(turns)), nil
}

func (s *slow) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.kept)
}

// Turns that come while others are being embedded are remembered together, in their order,
// and none is lost where the daemon ends.
func TestTurnsThatWaitAreRememberedTogether(t *testing.T) {
	var said []string
	for i := range 100 {
		said = append(said, strings.Repeat("x", i+1))
	}
	for name, ends := range map[string]bool{"the daemon goes on": false, "the daemon ends": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &slow{fake: newFake()}
				d := newTurns(s, slog.New(slog.DiscardHandler))
				d.add(lifecycle.Turn{Said: said[0]})
				synctest.Wait()
				for _, text := range said[1:] {
					d.add(lifecycle.Turn{Said: text})
				}
				began := time.Now()
				if !ends {
					time.Sleep(time.Minute + 1)
					synctest.Wait()
					if n := len(s.all()); n != 1 || d.waiting() != 99 {
						t.Errorf("%d kept and %d wait after a minute", n, d.waiting())
					}
				}
				d.close(t.Context())
				if took := time.Since(began); !slices.Equal(s.all(), said) || took != 5*time.Minute {
					t.Errorf("%d kept of 100, after %v", len(s.all()), took)
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
