package main

import (
	"context"

	"github.com/spf13/cobra"
)

func (a *app) doctorVerb() *cobra.Command {
	return &cobra.Command{
		Use:     "doctor",
		Short:   "Look for what a person may have to mend",
		Example: "  jivad doctor\n  jivad doctor --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.looking(cmd.Context(), func(ctx context.Context, c companion) error {
				checks, err := c.Doctor(ctx)
				if err != nil {
					return err
				}
				if err := a.answer(checks, func(p *printer) { tellChecks(p, checks) }); err != nil {
					return err
				}
				for _, k := range checks {
					if !k.OK {
						return errFoundFaults
					}
				}
				return nil
			})
		},
	}
}
