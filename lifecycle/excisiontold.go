package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/soul/lineage"
)

// ExcisionRequest asks for lives to be taken out of the lineage.
type ExcisionRequest struct {
	// Lives are named as for projection.Projections.LifeOf: by the number on this device,
	// or by the beginning of an id. Close takes their descendants out too.
	Lives []string `json:"lives"`
	Close bool     `json:"close,omitempty"`
	// Head, if not empty, is the version of the lineage that was looked at: where it is
	// another one meanwhile, nothing is changed.
	Head string `json:"head,omitempty"`
	// Who is kept in the record of the excision.
	Who string `json:"who,omitempty"`
}

// ExcisionReceipt tells what went. What is left of it comes from looking at everything
// again afterwards, not from what was asked for.
type ExcisionReceipt struct {
	ExcisionRecord
	// Already says that they were excised before, and nothing was left to take out: the
	// record is that of then, and the versions are those of now.
	Already bool `json:"already,omitempty"`
	// Left counts distillates that went and are in the store all the same; Present those
	// of which no proof of absence could be made. Both are 0.
	Left    int `json:"left"`
	Present int `json:"not_proven_absent"`
	// Files of the companion hold a sentence or an id of what went: backups that were made
	// by hand, say. Missing are places that were not there to be looked at.
	Files   []string `json:"files,omitempty"`
	Missing []string `json:"missing,omitempty"`
	// Elsewhere counts sentences that something else has too, so that they are still found.
	Elsewhere int `json:"same_words_elsewhere,omitempty"`
	// Backups counts the backups that were removed, since they may have held it.
	Backups int `json:"backups"`
	// Remaining distillates and Rules are in the lineage.
	Remaining int     `json:"remaining"`
	Rules     int     `json:"rules"`
	Seconds   float64 `json:"seconds"`
}

// PlanExcise tells what ExciseLives would take out. Errors: ErrQuery, ErrNoLife.
func (c *Companion) PlanExcise(ctx context.Context, q ExcisionRequest) (ExcisionPlan, error) {
	if len(q.Lives) == 0 {
		return ExcisionPlan{}, fmt.Errorf("%w: it names no life", ErrQuery)
	}
	return c.PlanExcision(ctx, q.Lives, q.Close)
}

// ExciseLives takes lives out of the lineage as if they had never been distilled (S-5),
// and then looks whether anything is left of them; see Excise. Errors: ErrQuery, ErrNoLife,
// ErrMoved; those of the store.
func (c *Companion) ExciseLives(ctx context.Context, q ExcisionRequest) (r ExcisionReceipt, err error) {
	began := time.Now()
	plan, err := c.PlanExcise(ctx, q)
	if err != nil {
		return r, err
	}
	if q.Head != "" && q.Head != plan.Before.String() {
		return r, fmt.Errorf("%w: it was at %.12s and is at %.12s; nothing was changed, so look again", ErrMoved, q.Head, plan.Before)
	}
	r.Already = plan.Done()
	words := wordsTaught(c.lives.Members(plan.Digests...))
	before, err := c.Backups(ctx)
	if err != nil {
		return r, err
	}
	who := q.Who
	if who == "" {
		who = "api"
	}
	if r.ExcisionRecord, err = c.Excise(ctx, q.Lives, q.Close, who); err != nil {
		return r, err
	}
	err = c.lookAfterExcision(context.WithoutCancel(ctx), words, before, &r)
	r.Seconds = time.Since(began).Seconds()
	return r, err
}

// wordsTaught are the sentences of distillates, as they are kept and as a prompt has them, and
// their ids, which nothing else has.
func wordsTaught(members []*lineage.Distillate) []string {
	var words []string
	for _, d := range members {
		words = append(words, d.ID.String())
		for _, rule := range d.Dispositions {
			words = append(words, sentencesOf(rule.Guidance)...)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

func sentencesOf(guidance string) []string {
	scope, choice, found := strings.Cut(guidance, ": ")
	if !found {
		return []string{guidance}
	}
	return []string{guidance, scope + ": prefer " + choice, scope + ": avoid " + choice}
}

// lookAfterExcision reads everything again.
func (c *Companion) lookAfterExcision(ctx context.Context, words []string, before []BackupFile, r *ExcisionReceipt) (err error) {
	k := c.lives.Known()
	r.Remaining, r.Rules = k.Distillates, k.Rules
	if r.Left, err = c.lives.Kept(r.Digests); err != nil {
		return err
	}
	for _, d := range r.Digests {
		proof, err := c.lives.Prove(d)
		if err != nil || proof.Present || proof.Check() != nil || proof.Version != k.Head {
			r.Present++
		}
	}
	after, err := c.Backups(ctx)
	if err != nil {
		return err
	}
	for _, b := range before {
		if b.Automatic && !slices.ContainsFunc(after, func(a BackupFile) bool { return a.Path == b.Path }) {
			r.Backups++
		}
	}
	missed := toMiss(words)
	stay, err := c.lives.Guidance()
	if err != nil {
		return err
	}
	for _, guidance := range stay {
		for _, s := range sentencesOf(guidance) {
			missed.notIn(s)
		}
	}
	given, err := c.given()
	if err != nil {
		return err
	}
	missed.notIn(given)
	err = c.store.Experiences(ctx, func(x chitta.Experience) error {
		t, err := c.store.TextOf(x.Sequence)
		if err != nil && !errors.Is(err, chitta.ErrNotFound) {
			return err
		}
		missed.notIn(t.Body)
		return nil
	})
	if err != nil {
		return err
	}
	var p *phrases
	if p, r.Elsewhere = missed.left(); len(p.want) == 0 {
		return nil
	}
	r.Files, r.Missing, err = c.filesWith(ctx, p)
	return err
}
