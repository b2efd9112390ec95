package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/reactivation"
	"github.com/jivad/jivad/soul"
)

func (a *app) vasanasVerb() *cobra.Command {
	return &cobra.Command{
		Use:     "vasanas",
		Short:   "List the tendencies, strongest first",
		Long:    "Lists the tendencies (vasanas) as the last session left them: impressions that are\nalike in meaning and in character.",
		Example: "  jivad vasanas\n  jivad vasanas --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.reading(cmd.Context(), func(ctx context.Context, c companion) error {
				list, err := c.Vasanas(ctx)
				if err != nil {
					return err
				}
				return a.answer(list, func(p *printer) { tellVasanas(p, list) })
			})
		},
	}
}

func tellVasanas(p *printer, list []lifecycle.Tendency) {
	if len(list) == 0 {
		p.line("No tendency yet: they form at the end of a session, from impressions that are alike.")
		return
	}
	rows := make([][]string, len(list))
	for i, v := range list {
		name := oneLine(v.Name)
		if p.terminal {
			name = cut(name, max(24, p.width-62))
		}
		shares := percents(v.Shares)
		rows[i] = []string{name, strconv.Itoa(len(v.Members)), shares[0], shares[1], shares[2], fmt.Sprintf("%.2f", v.Influence), v.Trend, v.ID}
	}
	p.table([]string{"tendency", ">impressions", ">tamas", ">rajas", ">sattva", ">influence", "trend", "id"}, rows)
}

// percents writes shares as they are rounded everywhere: they sum to 100.
func percents(s lifecycle.Shares) (out [3]string) {
	for i, p := range soul.Percents(reactivation.Shares(s)) {
		out[i] = fmt.Sprintf("%d %%", p)
	}
	return out
}
