package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/lifecycle"
)

func (a *app) recallVerb() *cobra.Command {
	var q lifecycle.RecallQuery
	cmd := &cobra.Command{
		Use:     "recall QUERY...",
		Short:   "Find entries by meaning and by words",
		Example: "  jivad recall \"walks by the river\"\n  jivad recall --limit 3 --from 2024 --to 2024-06 rain",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s takes what to look for", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Text = strings.Join(args, " ")
			if q.Limit < 1 {
				return usage("--limit %d: it must be from 1 to 100", q.Limit)
			}
			return a.with(cmd.Context(), func(ctx context.Context, c companion) error {
				hits, err := c.Recall(ctx, q)
				if err != nil {
					return err
				}
				return a.answer(hits, func(p *printer) { tellRecalled(p, hits) })
			})
		},
	}
	cmd.Flags().IntVar(&q.Limit, "limit", 10, "the most answers, 1 to 100")
	cmd.Flags().StringVar(&q.From, "from", "", "no entry before `DATE`, YYYY[-MM[-DD]]")
	cmd.Flags().StringVar(&q.To, "to", "", "no entry after `DATE`, YYYY[-MM[-DD]]")
	return cmd
}

func tellRecalled(p *printer, hits []lifecycle.Recalled) {
	if len(hits) == 0 {
		p.line("Nothing found.")
	}
	for _, h := range hits {
		text := oneLine(h.Impression.Excerpt)
		if p.terminal { // a line of its own, so that enough of it is seen
			text = "\n     " + cut(text, max(20, p.width-5))
		}
		p.line("%3d  %s  %5.2f  %s  %s", h.Rank, pad(dash(h.Impression.Date), 10), h.Similarity, p.dim(tail(h.Impression.ID)), text)
	}
}
