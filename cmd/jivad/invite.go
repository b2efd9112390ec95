package main

import (
	"context"

	"github.com/spf13/cobra"
)

func (a *app) inviteVerb() *cobra.Command {
	var hub, out string
	cmd := &cobra.Command{
		Use:   "invite",
		Short: "Invite a further device to this lineage",
		Long: `Prints an invitation for a further device: one line of text, signed by this one. It names the
genesis root, the digest of the base model, this device and, with --hub, where a hub is. It
holds no rule, no secret and nothing that you wrote.`,
		Example: "  jivad invite\n  jivad invite --hub mqtts://hub.example:8883 --out invitation.txt",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := free(out); err != nil {
				return err
			}
			return a.with(cmd.Context(), func(ctx context.Context, c companion) error {
				v, err := c.Invite(ctx, hub)
				if err != nil {
					return err
				}
				if out == "" || out == "-" {
					return a.answer(v, func(p *printer) { p.line("%s", v.Text) })
				}
				if err := writeFile(out, []byte(v.Text+"\n")); err != nil {
					return err
				}
				if a.flags.quiet && !a.flags.json {
					return nil
				}
				return a.answer(v, func(p *printer) { p.line("Invitation in %s.", out) })
			})
		},
	}
	cmd.Flags().StringVar(&hub, "hub", "", "`URL` of a hub, such as mqtts://hub.example:8883")
	cmd.Flags().StringVar(&out, "out", "", "write it to `FILE`")
	return cmd
}
