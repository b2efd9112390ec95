package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/lifecycle"
)

// Turns are remembered in their order. When they are to hurry no judgement of the model
// is waited for, nor asked for; it judges them later. Those behind one that cannot be
// kept are not.
func TestTurnsAreRememberedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &wise{digest: "abc"}
		_, c := thoughtful(t, m)
		m.behaves(func(ctx context.Context, _ lifecycle.Experience) (lifecycle.Assessment, error) {
			<-ctx.Done()
			return lifecycle.Assessment{}, fmt.Errorf("%w: %w", lifecycle.ErrModelAnswer, ctx.Err())
		})
		var turns []lifecycle.Turn
		for i := range 20 {
			turns = append(turns, lifecycle.Turn{Said: fmt.Sprintf("Said %d of many.", i)})
		}
		hurry, now := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, now)
		began := time.Now()
		receipts, err := c.RememberAll(t.Context(), hurry, turns)
		if err != nil || len(receipts) != 20 || time.Since(began) != time.Second {
			t.Fatalf("%d remembered after %v, %v", len(receipts), time.Since(began), err)
		}
		for i, r := range receipts {
			if hit, err := c.Show(t.Context(), r.Event); err != nil || hit.Text != turns[i].Said || r.Assessor != "plain/1" {
				t.Errorf("%d: %q by %s, %v", i, hit.Text, r.Assessor, err)
			}
		}
		var seen []string
		m.behaves(func(_ context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
			seen = e.Session
			return verdict(e), nil
		})
		if _, err := c.Remember(t.Context(), lifecycle.Turn{Said: "Afterwards."}); err != nil || len(seen) != 8 {
			t.Fatalf("%q, %v", seen, err)
		}
		for i, before := range seen {
			if before != turns[12+i].Said {
				t.Errorf("%d of those before it: %q", i, before)
			}
		}
		// Those that hurry from the start are not asked about.
		asked := len(m.asked)
		receipts, err = c.RememberAll(t.Context(), hurry, []lifecycle.Turn{{Said: "One."}, {Said: "Two."}, {Said: "\u200b"}, {Said: "Four."}})
		if len(receipts) != 2 || !errors.Is(err, lifecycle.ErrEmpty) || len(m.asked) != asked {
			t.Errorf("%d remembered, %v; the model was asked %d times", len(receipts), err, len(m.asked)-asked)
		}
		if r, err := c.Remember(t.Context(), lifecycle.Turn{Said: "One."}); err != nil || !r.Duplicate {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
