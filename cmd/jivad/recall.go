package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/lifecycle"
)

func (a *app) recallVerb() *cobra.Command {
	var q lifecycle.RecallQuery
	cmd := &cobra.Command{
		Use:   "recall QUERY...",
		Short: "Find entries by meaning and by words",
		Long: `Finds entries by meaning and by words, the best first. The match, from 0 to 1, is the
mean of the likeness in meaning and of the share of your words that the entry holds.
Entries that hold the query letter for letter ("literal") come before all others.

With --reminded it shows what the companion itself is reminded of: deep impressions that
are like your words, the match being depth times likeness, and not the same thought twelve times.`,
		Example: "  jivad recall \"walks by the river\"\n  jivad recall --limit 3 --from 2024 --to 2024-06 rain\n  jivad recall --reminded \"rain on the tent\"",
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
			return a.reading(cmd.Context(), func(ctx context.Context, c companion) error {
				hits, err := c.Recall(ctx, q)
				if err != nil {
					return err
				}
				a.tellByWords(ctx, c, hits)
				return a.answer(hits, func(p *printer) { tellRecalled(p, hits) })
			})
		},
	}
	cmd.Flags().IntVar(&q.Limit, "limit", 10, "the most answers, 1 to 100")
	cmd.Flags().StringVar(&q.From, "from", "", "no entry before `DATE`, YYYY[-MM[-DD]]")
	cmd.Flags().BoolVar(&q.Reminded, "reminded", false, "what the companion is reminded of, rather than what fits best")
	cmd.Flags().StringVar(&q.To, "to", "", "no entry after `DATE`, YYYY[-MM[-DD]]")
	return cmd
}

// tellByWords says that answers were found by words only, because the embedder is away.
func (a *app) tellByWords(ctx context.Context, c companion, hits []lifecycle.Recalled) {
	if a.flags.quiet || slices.ContainsFunc(hits, func(h lifecycle.Recalled) bool { return h.Similarity != 0 }) {
		return
	}
	s, err := c.Status(ctx)
	if err != nil || s.EmbedderState == nil || s.EmbedderState.Away == "" {
		return
	}
	fmt.Fprintf(a.stderr, "jivad: the embedder is away (%s: %s), so recall went by words.\n", harmless(oneLine(s.EmbedderState.Name)), harmless(oneLine(s.EmbedderState.Away)))
}

func tellRecalled(p *printer, hits []lifecycle.Recalled) {
	if len(hits) == 0 {
		p.line("Nothing found.")
		return
	}
	const few = 3
	if !slices.ContainsFunc(hits, func(h lifecycle.Recalled) bool { return h.Close }) {
		p.line("Nothing close; the nearest:")
		hits = hits[:min(len(hits), few)]
	}
	p.line("%s", p.dim(fmt.Sprintf("  #  %s  match  %s  id        entry", pad("date", 10), pad("found by", foundBy))))
	for _, h := range hits {
		text := excerptOf(h.Impression)
		if p.terminal { // a line of its own, so that enough of it is seen
			text = "\n     " + cut(text, max(20, p.width-5))
		}
		match, by := matchOf(h)
		p.line("%3d  %s  %5.2f  %s  %s  %s", h.Rank, pad(dash(h.Impression.Date), 10), match, pad(by, foundBy), p.dim(tail(h.Impression.ID)), text)
	}
}

// foundBy is the width of the column that says how an entry was found.
const foundBy = 8

// matchOf is how well an entry fits, from 0 to 1, and by what. Those that hold
// the query letter for letter stand first, whatever the figure.
func matchOf(h lifecycle.Recalled) (match float64, by string) {
	match, by = h.Score, "meaning"
	if h.Lexical > 0 {
		by = "words"
	}
	if h.Phrase {
		match, by = h.Score-1, "literal"
	}
	return min(max(match, 0), 1), by
}
