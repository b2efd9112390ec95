package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jivad/jivad/internal/api"
	"github.com/jivad/jivad/lifecycle"
)

// The deeds in which lives are lived: born, act, end, are judged, distilled, merged and
// taken out again.

// searching is a manifest with one tool, which succeeds one way and fails the other.
const searching = `mission = "Look things up."
[[grants]]
capability = "exec"
[[tools]]
name = "search"
description = "Searches."
consequence = "low"
[tools.arguments]
type = "object"
required = ["way"]
properties.way.enum = ["zigzagwise", "straight"]
[tools.exec]
argv = ["/usr/bin/test", "{{way}}", "=", "zigzagwise"]
`

// What is said in the lives, and what the first of them is known by.
var sayings = []string{"Shorter, please. You write too long.", "Where is it? Please ask me first."}

const (
	firstRule = "short ones"
	mostLives = 1000
)

// livesBases are the folders that such deeds begin from.
func livesBases() map[string]ground {
	return map[string]ground{
		// unlived is a companion with a model and a tool, that lived nothing yet.
		"unlived": {make: func(ctx context.Context, l *lab, folder string) error { return l.giveTool(ctx, folder) }},
		// taught has lived two lives, the second with the rule of the first, and a third
		// that nobody judged.
		"taught": {make: func(ctx context.Context, l *lab, folder string) error {
			if err := l.giveTool(ctx, folder); err != nil {
				return err
			}
			d, err := l.daemon(ctx, folder, spec{program: l.binary, environ: l.environ()})
			if err != nil {
				return err
			}
			defer d.kill()
			for _, said := range sayings {
				if _, err := d.client.Talk(ctx, said); err != nil {
					return err
				}
				if _, err := d.client.Rate(ctx, 0, 1); err != nil {
					return err
				}
				if _, err := d.client.EndSession(ctx); err != nil {
					return err
				}
			}
			if err := settled(ctx, d.client); err != nil {
				return err
			}
			if _, err := d.client.Write(ctx, lifecycle.Note{Text: l.material.live[0]}); err != nil {
				return err
			}
			d.terminate()
			return d.wait(ctx)
		}},
	}
}

// giveTool makes a folder whose lives have a model that asks for tools.
func (l *lab) giveTool(ctx context.Context, folder string) error {
	if l.model == nil {
		m, err := startModel()
		if err != nil {
			return err
		}
		l.model = m
	}
	if err := l.verb(ctx, folder, "init", "--yes"); err != nil {
		return err
	}
	settings := fmt.Sprintf("[model]\nserver = %q\nchat = \"talker\"\n", l.model.address)
	return errors.Join(os.WriteFile(filepath.Join(folder, "jivad.toml"), []byte(settings), 0o600),
		os.WriteFile(filepath.Join(folder, lifecycle.ManifestFile), []byte(searching), 0o600))
}

// liveLives talks in one life that is judged while it lasts, and in another that is judged
// when it is over.
func liveLives(ctx context.Context, r *round) error {
	for i, said := range sayings {
		there, err := r.isSaid(ctx, said)
		if err != nil {
			return err
		}
		if !there {
			report, err := r.client.Talk(ctx, said)
			if err != nil {
				return err
			}
			if report.Receipt == nil {
				return fmt.Errorf("talk: it says that it is done, and has no receipt: %+v", report)
			}
			r.acknowledge(report.Receipt.Event)
			if len(report.Acts) != 2 && !r.faulty {
				return fmt.Errorf("talk: 2 acts were asked for: %+v", report)
			}
		}
		if i == 0 {
			if err := r.rateAll(ctx); err != nil {
				return err
			}
		}
		ended, err := r.client.EndSession(ctx)
		switch {
		case err == nil:
			r.acknowledgeEnd(ended.Number)
		case !errors.Is(err, lifecycle.ErrNoSession): // it had ended before
			return err
		}
	}
	if err := r.rateAll(ctx); err != nil {
		return err
	}
	if err := settled(ctx, r.client); err != nil {
		return err
	}
	return r.lookAtLives(ctx)
}

// isSaid tells whether an entry of those words is there.
func (r *round) isSaid(ctx context.Context, said string) (bool, error) {
	plan, err := r.client.PlanForget(ctx, everything())
	if err != nil {
		return false, err
	}
	for _, e := range plan.Entries {
		m, err := r.client.Show(ctx, e.ID)
		if err != nil {
			return false, err
		}
		if m.Text == said {
			return true, nil
		}
	}
	return false, nil
}

// rateAll judges every life that can be.
func (r *round) rateAll(ctx context.Context) error {
	all, err := r.client.Lives(ctx, mostLives)
	if err != nil {
		return err
	}
	for _, l := range all {
		if l.State.Over() || l.Rating != nil || l.Obligation.Settled() {
			continue
		}
		got, err := r.client.Rate(ctx, l.Sequence, 1)
		if err != nil {
			return err
		}
		r.acknowledged(fmt.Sprintf("life %d judged", l.Sequence), func() { r.judged = append(r.judged, got.Sequence) })
	}
	return nil
}

// settled waits until nothing is owed any more.
func settled(ctx context.Context, c *client) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		all, err := c.Lives(ctx, mostLives)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(l lifecycle.Life) bool { return !l.State.Over() && !l.State.Living() })
		if i < 0 {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("%w: life %d is %s after %v: %s", errHangs, all[i].Sequence, all[i].State, patience, all[i].Obligation.Failure)
		}
	}
}

// lookAtLives: each life has one obligation once it has ended and none before, and is in
// the lineage once or not at all; what was judged stays so; no trace is there but of one
// that is lived, or to be distilled.
func (r *round) lookAtLives(ctx context.Context) error {
	all, err := r.client.Lives(ctx, mostLives)
	if err != nil {
		return err
	}
	traces := map[int64]bool{}
	met, ids := map[string]int64{}, map[string]int64{}
	for i, l := range all { // the newest first
		if n := int64(len(all) - i); l.Sequence != n {
			r.fail(kindLost, "life %d is not there, %d is in its place", n, l.Sequence)
		}
		if err := l.Check(); err != nil {
			r.fail(kindLife, "%v", err)
		}
		if l.State.Living() && i > 0 {
			r.fail(kindLife, "life %d is lived, and %d was born since", l.Sequence, all[0].Sequence)
		}
		if other, twice := ids[l.ID.String()]; twice {
			r.fail(kindTwice, "lives %d and %d have one id", other, l.Sequence)
		}
		ids[l.ID.String()] = l.Sequence
		traces[l.Sequence] = l.State.Living() || l.Obligation.Status == "owed"
		if d := l.Obligation.Distillate.String(); l.Obligation.Status == "met" {
			if other, twice := met[d]; twice {
				r.fail(kindTwice, "lives %d and %d were distilled to one distillate", other, l.Sequence)
			}
			met[d] = l.Sequence
		}
	}
	for _, n := range r.judged {
		if i := len(all) - int(n); i < 0 || all[i].Rating == nil {
			r.fail(kindLost, "that life %d was judged was acknowledged, and is not noted", n)
		}
	}
	summary, err := r.client.Lineage(ctx)
	if err != nil {
		return err
	}
	out, err := r.client.Excisions(ctx)
	if err != nil {
		return err
	}
	gone := map[string]bool{}
	for _, x := range out {
		for _, d := range x.Digests {
			gone[d.String()] = true
		}
	}
	if summary.Distillates+len(gone) != len(met) {
		r.fail(kindLife, "%d lives are distilled, the lineage has %d distillates and %d were taken out", len(met), summary.Distillates, len(gone))
	}
	_, err = r.client.VerifyLineage(ctx)
	if errors.Is(err, api.ErrUnreachable) {
		return err // it was killed meanwhile: a deed ends with this look
	}
	if err != nil && summary.Distillates > 0 {
		r.fail(kindVerify, "lineage: %v", err)
	}
	return r.lookAtTraces(traces)
}

// lookAtTraces: nothing is kept of a life that owes nothing from it.
func (r *round) lookAtTraces(mayBe map[int64]bool) error {
	entries, err := os.ReadDir(filepath.Join(r.data, "life"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		var n int64
		var kind string
		if _, err := fmt.Sscanf(strings.Replace(e.Name(), ".", " ", 1), "%d %s", &n, &kind); err == nil && !mayBe[n] {
			r.fail(kindLeft, "%s is there, of a life that owes nothing from it", e.Name())
		}
	}
	return nil
}

// exciseFirst takes the first life out of the lineage, as one who does not know whether it
// is done already.
func exciseFirst(ctx context.Context, r *round) error {
	err := r.verb(ctx, nil, "excise", "--yes", "1")
	if r.again && err != nil && strings.Contains(r.complaint, "excised") {
		err = nil
	}
	if err != nil {
		return err
	}
	r.acknowledged("excised", func() { r.excised = true })
	return nil
}

// lookAtExcision: a life that was taken out is in no byte, and in the lineage neither.
func lookAtExcision(ctx context.Context, r *round) error {
	out, err := r.client.Excisions(ctx)
	if err != nil {
		return err
	}
	if r.excised && len(out) == 0 {
		r.fail(kindBack, "that life 1 was taken out was acknowledged, and is not noted")
	}
	if len(out) > 0 {
		r.checkAbsent(ctx, []remembered{{text: firstRule}})
	}
	return r.lookAtLives(ctx)
}
