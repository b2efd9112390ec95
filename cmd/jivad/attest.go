package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/soul/lineage"
)

func (a *app) attestVerb() *cobra.Command {
	var out, verify string
	cmd := &cobra.Command{
		Use:   "attest",
		Short: "Say what the lineage is now, signed by this device",
		Long: `Prints a signed statement (in-toto, in a DSSE envelope) on the version of the lineage: how
many distillates, rules and excisions there are, and by which program. With --verify it
checks one, without this companion: no store and no daemon is needed for that. Whether the
device that signed it is to be believed is for you to say: jivad lineage names your own.`,
		Example: "  jivad attest --out lineage.intoto.json\n  jivad attest --verify lineage.intoto.json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if verify != "" {
				if out != "" {
					return usage("--verify looks at a file that is there: give it without --out")
				}
				return a.verifyAttestation(cmd.Context(), verify)
			}
			if err := free(out); err != nil {
				return err
			}
			return a.with(cmd.Context(), func(ctx context.Context, c companion) error {
				envelope, err := c.Attest(ctx)
				if err != nil {
					return err
				}
				return a.deliver(out, envelope, func(p *printer) { p.line("Attestation in %s.", out) })
			})
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write it to `FILE`")
	cmd.Flags().StringVar(&verify, "verify", "", "check the attestation in `FILE` (- for standard input)")
	return cmd
}

func (a *app) verifyAttestation(ctx context.Context, file string) error {
	data, err := a.readDocument(file)
	if err != nil {
		return err
	}
	s, err := lineage.CheckAttestation(ctx, data)
	if err != nil {
		return err
	}
	return a.answer(s, func(p *printer) { tellStatement(p, s) })
}

func tellStatement(p *printer, s lineage.Statement) {
	about := s.Predicate
	p.line("%s  signed by the device that it names, and not changed since", p.good("ok  "))
	p.row("device", "%s", about.Device)
	p.row("genesis", "%s", about.Root)
	p.row("identity", "%s", about.Identity)
	p.row("version", "%s", oneLine(s.Subject[0].Digest["sha256"]))
	p.row("distillates", "%d, in %s", about.Distillates, count(about.Batches, "batch", "batches"))
	p.row("rules", "%d, %d of them contested", about.Rules, about.Contested)
	p.row("excisions", "%d", about.Excisions)
	p.row("program", "%s", clipped(about.Tool, shownName))
}
