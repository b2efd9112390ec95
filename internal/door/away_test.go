package door

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// keeper remembers turns while its embedder is there.
type keeper struct {
	*fake
	mu   sync.Mutex
	away bool
	bad  int // so many answers of the embedder cannot be used
	// denied says that leave for what was said is withdrawn.
	denied bool
	kept   []string
}

func (k *keeper) set(away bool) { k.mu.Lock(); defer k.mu.Unlock(); k.away = away }

func (k *keeper) Remember(_ context.Context, t lifecycle.Turn) (lifecycle.Receipt, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.denied && t.Allowed != (lifecycle.Allowance{}) {
		return lifecycle.Receipt{}, lifecycle.ErrWithdrawn
	}
	if k.away {
		return lifecycle.Receipt{}, fmt.Errorf("not kept: %w", lifecycle.ErrEmbedderAway)
	}
	if k.bad--; k.bad >= 0 {
		return lifecycle.Receipt{}, fmt.Errorf("%w: %w", lifecycle.ErrUnjudged, lifecycle.ErrModelAnswer)
	}
	k.kept = append(k.kept, t.Said)
	return lifecycle.Receipt{}, nil
}

func (k *keeper) RememberAll(ctx context.Context, turns []lifecycle.Turn) ([]lifecycle.Receipt, error) {
	return inOrder(ctx, turns, k.Remember)
}

// What was said while the embedder is away is remembered when it is back, in order;
// the client is gone and cannot try again. A daemon that ends does not wait for it.
func TestTurnsWaitForTheEmbedder(t *testing.T) {
	for name, comes := range map[string]bool{"it comes back": true, "the daemon ends before": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := &keeper{fake: newFake(), away: true}
				d := &Door{turns: newTurns(k, slog.New(slog.DiscardHandler))}
				for _, said := range []string{"One.", "Two.", "Three."} {
					d.turns.add(lifecycle.Turn{Said: said})
				}
				time.Sleep(time.Hour)
				if counts, waiting := d.Turns(); d.Held() != 3 || waiting != 3 || len(counts) > 0 {
					t.Errorf("%d held, %d wait, %+v", d.Held(), waiting, counts)
				}
				if comes {
					k.set(false)
					time.Sleep(tryAgain)
					synctest.Wait()
					if !slices.Equal(k.kept, []string{"One.", "Two.", "Three."}) || d.Held() != 0 {
						t.Errorf("kept %q, %d held", k.kept, d.Held())
					}
				}
				began := time.Now()
				d.turns.close(t.Context())
				counts, waiting := d.Turns()
				want := []Count{{Outcome: turnDropped, N: 3}}
				if comes {
					want = []Count{{Outcome: turnRemembered, N: 3}}
				}
				if !slices.Equal(counts, want) || waiting != 0 || d.Held() != 0 || time.Since(began) != 0 {
					t.Errorf("%+v, %d wait, after %v", counts, waiting, time.Since(began))
				}
			})
		})
	}
}

// What waits when leave for it is withdrawn is let go of, also while the embedder is away, and
// what is said after that is remembered.
func TestTurnsThatMayNotBeKeptAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{fake: newFake(), away: true}
		d := &Door{turns: newTurns(k, slog.New(slog.DiscardHandler))}
		for _, said := range []string{"One.", "Two."} {
			d.turns.add(lifecycle.Turn{Said: said, Allowed: k.Allowed()})
		}
		time.Sleep(time.Minute)
		k.mu.Lock()
		k.denied = true
		k.mu.Unlock()
		time.Sleep(2 * tryAgain)
		if counts, waiting := d.Turns(); waiting != 0 || d.turns.size != 0 || !slices.Equal(counts, []Count{{Outcome: turnDropped, N: 2}}) {
			t.Errorf("%d wait, %d bytes, %+v", waiting, d.turns.size, counts)
		}
		d.turns.add(lifecycle.Turn{Said: "Three."})
		k.set(false)
		time.Sleep(2 * tryAgain)
		d.turns.close(t.Context())
		if !slices.Equal(k.kept, []string{"Three."}) {
			t.Errorf("kept %q", k.kept)
		}
	})
}

// A turn that the embedder had no usable answer for is tried again, and does not keep
// the others waiting for ever.
func TestTurnsWithoutAnAnswerAreTriedAgain(t *testing.T) {
	for bad, want := range map[int][]string{2: {"One.", "Two."}, 3: {"Two."}} {
		synctest.Test(t, func(t *testing.T) {
			k := &keeper{fake: newFake(), bad: bad}
			d := &Door{turns: newTurns(k, slog.New(slog.DiscardHandler))}
			d.turns.add(lifecycle.Turn{Said: "One."})
			d.turns.add(lifecycle.Turn{Said: "Two."})
			time.Sleep(time.Minute)
			d.turns.close(t.Context())
			if !slices.Equal(k.kept, want) {
				t.Errorf("%d bad answers: kept %q, want %q", bad, k.kept, want)
			}
		})
	}
}
