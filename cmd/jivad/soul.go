package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"
)

func (a *app) soulVerb() *cobra.Command {
	var session int
	var versions bool
	cmd := &cobra.Command{
		Use:     "soul",
		Short:   "Print SOUL.md: who the companion is",
		Example: "  jivad soul\n  jivad soul --session 12\n  jivad soul --versions",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if session < 0 {
				return usage("--session %d: sessions are counted from 1", session)
			}
			return a.reading(cmd.Context(), func(ctx context.Context, c companion) error {
				if versions {
					return a.soulVersions(ctx, c)
				}
				doc, err := c.Soul(ctx, session)
				if err != nil {
					return err
				}
				return a.answer(doc, func(p *printer) {
					text := doc.Text
					if p.terminal {
						text = harmless(text)
					}
					_, _ = io.WriteString(p.out, text)
				})
			})
		},
	}
	cmd.Flags().IntVar(&session, "session", 0, "SOUL.md as session `N` left it (default: now)")
	fromOne(cmd.Flags(), "session")
	cmd.Flags().BoolVar(&versions, "versions", false, "list the sessions whose SOUL.md is kept")
	return cmd
}

func (a *app) soulVersions(ctx context.Context, c companion) error {
	list, err := c.SoulVersions(ctx)
	if err != nil {
		return err
	}
	return a.answer(list, func(p *printer) {
		if len(list) == 0 {
			p.line("No earlier SOUL.md is kept yet: the first is archived when the next one is written.")
		}
		for _, v := range list {
			p.line("%6d  %s", v.Session, p.dim(v.Path))
		}
	})
}
