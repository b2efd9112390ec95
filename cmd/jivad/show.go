package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/lifecycle"
)

func (a *app) showVerb() *cobra.Command {
	return &cobra.Command{
		Use:     "show ID",
		Short:   "Show one entry with all its numbers",
		Long:    "Shows one entry by its id, or by the beginning or the end of it (at least 4 letters).",
		Example: "  jivad show 4f0c91ab",
		Args:    exactArgs(1, "one id, or the beginning or end of one"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.reading(cmd.Context(), func(ctx context.Context, c companion) error {
				m, err := c.Show(ctx, args[0])
				if err != nil {
					return err
				}
				return a.answer(m, func(p *printer) { tellImpression(p, m) })
			})
		},
	}
}

func tellImpression(p *printer, m lifecycle.Impression) {
	p.row("id", "%s", m.ID)
	p.row("date", "%s", dash(m.Date))
	p.row("source", "%s", dash(oneLine(m.Source)))
	if len(m.Linked) > 0 {
		p.row("impression", "none of its own; it acted on %s", count(len(m.Linked), "other", "others"))
	} else {
		p.row("depth", "%.3f now, %.3f at its deepest", m.Depth, m.Peak)
		if m.Unplaced {
			p.row("place", "none: its text was not kept when the embedder changed, so nothing wakes it")
		}
		p.row("session", "%d, last woken in %d, %s, age %d", m.Session, m.LastSession, count(m.Activations, "activation", "activations"), m.Age)
	}
	p.row("character", "%s", shares(m.Shares))
	p.row("judged", "valence %+.2f, intensity %.2f, emotion %.2f, by %s", m.Valence, m.Intensity, m.Emotion, dash(m.Assessor))
	if m.Tendency != "" {
		p.row("tendency", "%s", oneLine(m.Tendency))
	}
	p.row("category", "%s", dash(oneLine(m.Category)))
	p.row("kept", "%s", keptOf(m))
	if m.Text != "" {
		fmt.Fprintf(p.out, "\n%s\n", harmless(m.Text))
	}
}

// keptOf says what became of a text.
func keptOf(m lifecycle.Impression) string {
	burial := ""
	if m.BuryAt > 0 {
		burial = fmt.Sprintf("; buried at the end of session %d if nothing lifts it before", m.BuryAt)
	}
	switch m.Kept {
	case lifecycle.KeepBuried:
		return "buried: it faded, so its text and the link to its source were deleted"
	case lifecycle.KeepNone:
		return "no text"
	case lifecycle.KeepGist:
		return "the gist of the text" + burial
	}
	return "all of the text" + burial
}

// excerptOf is what is shown of an entry on one line.
func excerptOf(m lifecycle.Impression) string {
	switch {
	case m.Excerpt != "":
		return oneLine(m.Excerpt)
	case m.Kept == lifecycle.KeepBuried:
		return "(buried)"
	case m.Kept == lifecycle.KeepNone:
		return "(no text is kept)"
	}
	return ""
}
