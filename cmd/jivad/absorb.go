package main

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/internal/atomicfile"
	"github.com/jivad/jivad/lifecycle"
)

// The files that are made.
const (
	trainingFile    = "train.jsonl"
	attestationFile = "attestation.json"
)

// absorbing is what the verb answers.
type absorbing struct {
	Folder string `json:"folder"`
	lifecycle.Absorption
}

func (a *app) absorbVerb() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "absorb DIR",
		Short: "Export what is mature as training data for a model",
		Long: `Writes the rules of the lineage, and the gists of the deepest impressions, as training data
(JSONL in the chat format) to train.jsonl in DIR, and to attestation.json what it was made
of, signed by this device. Never an entry, nothing of what was said in a talk, and nothing of a
category that you do not let be trained with (jivad consent set).

It is refused, with all the reasons, while the rules still move, while one of them is
contested, while a life is in quarantine, or without your consent. What a model was trained
with cannot be taken out of it again: it asks before it writes.`,
		Example: "  jivad absorb training\n  jivad consent set operational.training=allow communications.training=allow",
		Args:    exactArgs(1, "the folder to write to"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(ctx context.Context, c companion) error { return a.absorb(ctx, c, args[0], yes) })
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func (a *app) absorb(ctx context.Context, c companion, dir string, yes bool) error {
	x, err := c.Absorb(ctx)
	if err != nil {
		return err
	}
	show := func(p *printer) {
		p.line("%s and %s would be written to %s.", count(x.Rules, "rule", "rules"), count(x.Gists, "gist", "gists"), dir)
		tellWithheld(p, x)
		p.line("What a model was trained with cannot be taken out of it again.")
	}
	if !yes {
		agreed, err := a.ask(ctx, show, "Export it?", "Nothing was written.")
		if err != nil || !agreed {
			return err
		}
	}
	if err := atomicfile.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, trainingFile), x.Data); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, attestationFile), append(x.Attestation, '\n')); err != nil {
		return err
	}
	x.Data, x.Attestation = nil, nil
	return a.answer(absorbing{dir, x}, func(p *printer) {
		p.line("%s and %s are in %s.", count(x.Rules, "rule", "rules"), count(x.Gists, "gist", "gists"), filepath.Join(dir, trainingFile))
		tellWithheld(p, x)
		p.line("What it was made of is attested in %s.", filepath.Join(dir, attestationFile))
	})
}

func tellWithheld(p *printer, x lifecycle.Absorption) {
	for _, w := range []struct {
		n   int
		why string
	}{
		{x.Withheld, "left out: you do not let their category be trained with"},
		{x.Leaked, "left out: they repeat what happened, or name somebody"},
		{x.Wordless, "without a gist: no model has said one"},
	} {
		if w.n > 0 {
			p.line("%s %s.", count(w.n, "impression", "impressions"), w.why)
		}
	}
}
