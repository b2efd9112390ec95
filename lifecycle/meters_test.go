package lifecycle_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle"
)

// slow is an embedder and an assessor that take their time.
type slow struct {
	hashed
	plainJudge
	embeds, judges time.Duration
}

func (s slow) ID() string { return s.hashed.ID() }
func (s slow) Embed(ctx context.Context, text string) ([]float32, error) {
	time.Sleep(s.embeds)
	return s.hashed.Embed(ctx, text)
}

type slowJudge struct{ slow }

func (s slowJudge) ID() string { return s.plainJudge.ID() }
func (s slowJudge) Assess(ctx context.Context, e lifecycle.Experience) (fold.Judgement, error) {
	time.Sleep(s.judges)
	return s.plainJudge.Assess(ctx, e)
}

// Each entry is counted once in each stage that it went through, with the time that
// it took there; one that is known already took none.
func TestMeters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.opts.Workers = 1
		s := slow{hashed: hashed{64}, embeds: 3 * time.Second, judges: 10 * time.Millisecond}
		w.opts.Embedder, w.opts.Assessor = s, slowJudge{s}
		c := w.live(t)
		defer w.end(t, c)
		began := c.Meters()
		if began.Read != nil || began.Shares != nil || len(began.Stages) != 4 {
			t.Errorf("%+v", began)
		}
		embed := stages(t, c)[lifecycle.StageEmbed] // SOUL.md is no entry
		if embed.Sum != 0 {
			t.Errorf("%+v", embed)
		}
		const n = 5
		for i := range n {
			w.write(t, c, fmt.Sprintf("A walk by the river, the %d. of the day, in the rain.", i))
		}
		w.write(t, c, "A walk by the river, the 0. of the day, in the rain.") // known
		now := stages(t, c)
		for stage, want := range map[string]struct {
			count uint64
			sum   time.Duration
			at    int // its bucket
		}{
			lifecycle.StageEmbed: {n, n * s.embeds, 6},
			lifecycle.StageJudge: {n, n * s.judges, 2},
			lifecycle.StageWait:  {n + 1, 0, 0},
			lifecycle.StageStore: {n, 0, 0},
		} {
			if got := now[stage]; got.Sum != want.sum || got.Counts[want.at] != want.count || total(got) != want.count {
				t.Errorf("%s: %+v, want %+v", stage, got, want)
			}
		}
		m := c.Meters()
		if m.Entries.Sum != n*(s.embeds+s.judges) || total(m.Entries) != n {
			t.Errorf("entries: %+v", m.Entries)
		}
		if commits := m.Transactions - began.Transactions; commits != n {
			t.Errorf("%d transactions for %d entries and one that was known", commits, n)
		}
		if m.Read == nil || m.Read.Theta <= 0 || m.Read.Focus < 0 || m.Read.LoadTamas <= 0 || m.Read.LoadRajas <= 0 {
			t.Errorf("%+v", m.Read)
		}
		if _, err := c.EndSession(t.Context()); err != nil {
			t.Fatal(err)
		}
		if x := c.Meters().Shares; x == nil || x.Tamas+x.Rajas+x.Sattva < 0.999 || x.Tamas+x.Rajas+x.Sattva > 1.001 {
			t.Errorf("%+v", x)
		}

		// The second of two that come at once waits while the first is prepared.
		before := stages(t, c)[lifecycle.StageWait]
		done := make(chan error)
		for _, text := range []string{"The mill stands still.", "The mill turns."} {
			go func() {
				_, err := c.Write(t.Context(), lifecycle.Note{Text: text})
				done <- err
			}()
		}
		synctest.Wait()
		if m := c.Meters(); m.Interactive != 2 || m.Backlog != 0 {
			t.Errorf("%d and %d wait", m.Interactive, m.Backlog)
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		if waited := stages(t, c)[lifecycle.StageWait].Sum - before.Sum; waited != s.embeds+s.judges {
			t.Errorf("it waited %v", waited)
		}
	})
}

func stages(t *testing.T, c *lifecycle.Companion) map[string]lifecycle.Times {
	t.Helper()
	out := map[string]lifecycle.Times{}
	for _, s := range c.Meters().Stages {
		if len(s.Counts) != len(lifecycle.TimeBounds())+1 {
			t.Fatalf("%+v", s)
		}
		out[s.Stage] = s.Times
	}
	return out
}

func total(t lifecycle.Times) (n uint64) {
	for _, c := range t.Counts {
		n += c
	}
	return n
}
