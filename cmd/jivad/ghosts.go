package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/soul"
)

func (a *app) ghostsVerb() *cobra.Command {
	var q lifecycle.GhostQuery
	var svg string
	cmd := &cobra.Command{
		Use:   "ghosts",
		Short: "Show what has faded, and what something left behind",
		Long: `Lists the tendencies whose impressions have all faded, and the impressions that
were deep once and have. With --of it answers what would differ today had an entry,
a session or a tendency never been: everything is lived again with it and without
it, and a number of times without something else, to tell an effect from chance.
It changes nothing and holds nobody up; Ctrl-C ends it.`,
		Example: "  jivad ghosts\n  jivad ghosts --of 4f0c91ab              # an entry, by a part of its id\n  jivad ghosts --of 31 --svg session.svg  # a session, with a picture\n  jivad ghosts --of v-3f9a2c --json       # a tendency",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if q.Of == "" {
				for _, name := range []string{"svg", "baseline"} {
					if cmd.Flags().Changed(name) {
						return usage("--%s goes with --of: say of what", name)
					}
				}
				return a.looking(cmd.Context(), a.listGhosts)
			}
			if svg == "-" && a.flags.json {
				return usage("--svg - and --json exclude each other: give the picture a file")
			}
			if err := free(svg); err != nil {
				return err
			}
			return a.looking(cmd.Context(), func(ctx context.Context, c companion) error {
				bar := a.progress("records", 1)
				report, err := c.GhostsOf(ctx, q, bar.show)
				bar.end()
				if err != nil {
					return err
				}
				return a.tellCounterfactual(report, svg)
			})
		},
	}
	cmd.Flags().StringVar(&q.Of, "of", "", "an entry, session or tendency: `ID`, a part of it, or a session's number")
	cmd.Flags().IntVar(&q.Baseline, "baseline", 20, "compare with `N` random removals of equal size, 0 to 1000")
	cmd.Flags().StringVar(&svg, "svg", "", "write a picture to a new `FILE` (- for standard output)")
	return cmd
}

func (a *app) listGhosts(ctx context.Context, c companion) error {
	report, err := c.Ghosts(ctx)
	if err != nil {
		return err
	}
	return a.answer(report, func(p *printer) { tellGhosts(p, report) })
}

// mostListed bounds what is listed for people; --json lists all.
const mostListed = 20

func tellGhosts(p *printer, r lifecycle.GhostReport) {
	if len(r.Tendencies)+len(r.Impressions) == 0 {
		p.line("No ghost: nothing that was strong once has faded below a depth of %.2f.", r.Floor)
		return
	}
	if n := len(r.Tendencies); n > 0 {
		p.line("%s, faded below a depth of %.2f:", count(n, "tendency", "tendencies"), r.Floor)
		rows := [][]string{}
		for _, t := range r.Tendencies[:min(n, mostListed)] {
			name := oneLine(t.Name)
			if p.terminal {
				name = cut(name, max(24, p.width-60))
			}
			rows = append(rows, []string{name, strconv.Itoa(len(t.Members)), fmt.Sprintf("%.2f", t.Peak), fmt.Sprintf("%.2f", t.Influence), strconv.Itoa(t.LastSession), t.ID})
		}
		p.table([]string{"tendency", ">impressions", ">influence once", ">now", ">last session", "id"}, rows)
		tellMore(p, n)
	}
	if n := len(r.Impressions); n > 0 {
		if len(r.Tendencies) > 0 {
			p.line("")
		}
		p.line("%s, once %.2f deep or more:", count(n, "impression", "impressions"), r.Strong)
		rows := [][]string{}
		for _, m := range r.Impressions[:min(n, mostListed)] {
			rows = append(rows, []string{dash(m.Date), fmt.Sprintf("%.2f", m.Peak), fmt.Sprintf("%.2f", m.Depth), strconv.Itoa(m.LastSession), tail(m.ID), cut(dash(oneLine(m.Excerpt)), max(24, p.width-52))})
		}
		p.table([]string{"date", ">once", ">now", ">last session", "id", "entry"}, rows)
		tellMore(p, n)
	}
	if p.terminal {
		p.line("\n%s", p.dim("What has one of them left behind? jivad ghosts --of ID"))
	}
}

func tellMore(p *printer, n int) {
	if n > mostListed {
		p.line("… and %d more; --json lists all", n-mostListed)
	}
}

func (a *app) tellCounterfactual(r lifecycle.Counterfactual, svg string) error {
	if svg != "" {
		var picture bytes.Buffer
		if err := soul.GhostSVG(&picture, pictureOf(r)); err != nil {
			return err
		}
		if svg == "-" {
			_, err := a.stdout.Write(picture.Bytes())
			return err
		}
		if err := writeFile(svg, picture.Bytes()); err != nil {
			return err
		}
	}
	return a.answer(r, func(p *printer) {
		tellEffect(p, r)
		if svg != "" && !a.flags.quiet {
			p.line("\nWritten: %s", svg)
		}
	})
}

func tellEffect(p *printer, r lifecycle.Counterfactual) {
	p.line("%s", p.bold(titleOf(r)))
	if note := noteOf(r); note != "" {
		p.line("%s", cut(note, max(60, p.width)))
	}
	p.line("")
	rows := [][]string{}
	for _, m := range r.Measures {
		row := []string{measureNames[m.Name], figureOf(m.Name, m.Value), "–", "–", "", "–"}
		if c := m.Chance; c != nil {
			row[2], row[3], row[5] = figureOf(m.Name, c.Median), figureOf(m.Name, c.Upper), fmt.Sprintf("%.2f", c.P)
			row[4] = verdict(*c, r.Baseline.Removals)
		}
		rows = append(rows, row)
	}
	p.table([]string{"what differs today", ">without it", ">by chance", ">up to", "", ">p"}, rows)
	p.line("%s", p.dim(basisOf(r)))
	for _, n := range r.Notes {
		p.line("%s.", n)
	}
	p.line("")
	if r.Events > 0 {
		was := "It was"
		if len(r.Entries) > 1 {
			was = "They were"
		}
		p.line("%s woken or held down %s by the %s left.", was, count(r.Woken, "time", "times"), count(r.Events, "entry that is", "entries that are"))
	}
	tellDepths(p, r)
	if r.Soul != nil {
		tellInstead(p, *r.Soul)
	}
}

func tellDepths(p *printer, r lifecycle.Counterfactual) {
	if len(r.Depths) == 0 {
		p.line("No other impression would be deeper or less deep.")
		return
	}
	switch {
	case r.Changed == 0:
		p.line("No other impression would be deeper or less deep by as much as 0.0005. The most changed:\n")
	case r.Impressions == 1:
		p.line("The only impression that is left would be deeper or less deep:\n")
	default:
		p.line("%d of %d impressions would be deeper or less deep by 0.0005 or more. The most changed:\n", r.Changed, r.Impressions)
	}
	rows := [][]string{}
	for _, d := range r.Depths {
		with, without := fmt.Sprintf("%.3f", d.With), fmt.Sprintf("%.3f", d.Without)
		switch d.Only {
		case "with":
			without = "–"
		case "without":
			with = "–"
		}
		rows = append(rows, []string{dash(d.Date), with, without, fmt.Sprintf("%+.3f", d.Without-d.With), tail(d.ID), cut(dash(oneLine(d.Excerpt)), max(24, p.width-50))})
	}
	p.table([]string{"date", ">as it is", ">without", ">change", "id", "entry"}, rows)
}

// verdict says where a measure lies, empty where that is within chance. Few
// removals cannot tell an effect from chance, and it does not say that they do.
func verdict(c lifecycle.Chance, removals int) string {
	switch {
	case c.Larger:
		return "larger"
	case c.Beyond:
		return fmt.Sprintf("larger than all %d", removals)
	}
	return ""
}

// tellInstead shows what SOUL.md would say.
func tellInstead(p *printer, s lifecycle.GhostSoul) {
	if len(s.Said)+len(s.Instead) == 0 {
		p.line("\nSOUL.md would say the same in all that it says.")
		return
	}
	p.line("\nSOUL.md would differ in %d of its %s (cosine of the identities %.4f).", max(len(s.Said), len(s.Instead)), count(s.Lines, "line", "lines"), s.Cosine)
	show := func(head string, lines []string, paint func(string) string) {
		if len(lines) == 0 {
			return
		}
		p.line("%s", head)
		for _, line := range lines[:min(len(lines), mostListed)] {
			p.line("  %s", paint(oneLine(line)))
		}
		tellMore(p, len(lines))
	}
	show("It says now:", s.Said, p.bad)
	show("It would say:", s.Instead, p.good)
}

var measureNames = map[string]string{
	lifecycle.MeasureDepths: "depths of the others, sum of changes",
	lifecycle.MeasureEvents: "entries that would have woken others",
	lifecycle.MeasureAngle:  "character of the store, degrees",
	lifecycle.MeasureSoul:   "meaning of SOUL.md, 1 − cosine",
	lifecycle.MeasureLines:  "lines of SOUL.md",
}

func figureOf(name string, v float64) string {
	switch name {
	case lifecycle.MeasureEvents, lifecycle.MeasureLines:
		return fmt.Sprintf("%g", v) // a median may lie between two
	case lifecycle.MeasureSoul:
		return fmt.Sprintf("%.4f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

func titleOf(r lifecycle.Counterfactual) string {
	entries := count(len(r.Entries), "entry", "entries")
	switch r.Kind {
	case "session":
		if r.Name != "" {
			return fmt.Sprintf("Without session %s of %s (%s)", r.ID, r.Name, entries)
		}
		return fmt.Sprintf("Without session %s (%s)", r.ID, entries)
	case "tendency":
		if r.Name == "" {
			return fmt.Sprintf("Without the tendency %s (%s)", r.ID, entries)
		}
		return fmt.Sprintf("Without the tendency %s “%s” (%s)", r.ID, oneLine(r.Name), entries)
	}
	date := ""
	if len(r.Entries) > 0 && r.Entries[0].Date != "" {
		date = " of " + r.Entries[0].Date
	}
	return "Without the entry " + tail(r.ID) + date
}

// noteOf is what was removed, on one line.
func noteOf(r lifecycle.Counterfactual) string {
	var parts []string
	for _, e := range r.Entries[:min(len(r.Entries), 3)] {
		if e.Excerpt == "" {
			continue
		}
		text := oneLine(e.Excerpt)
		if len(r.Entries) > 1 {
			text = cut(text, 44)
		}
		parts = append(parts, "“"+text+"”")
	}
	return strings.Join(parts, " ")
}

// basisOf says what chance is here.
func basisOf(r lifecycle.Counterfactual) string {
	b := r.Baseline
	if b == nil {
		return "Not compared with chance."
	}
	text := fmt.Sprintf("By chance: the median of %s of %s each", removalsOf(b), count(b.Entries, "entry", "entries"))
	if b.All {
		text += ": all there are"
	}
	if i := slices.IndexFunc(r.Measures, func(m lifecycle.GhostMeasure) bool { return m.Chance != nil }); i >= 0 {
		c := r.Measures[i].Chance
		text += fmt.Sprintf(".\n%s of such stay within “up to”", inPercent(c.Band))
		if !c.Wide() {
			text += ", too few for 95 %"
		}
	}
	text += "."
	if n := len(r.Sessions); n > 0 || b.Sessions > 0 {
		text += fmt.Sprintf("\nNothing would be left of %s; by chance of %.1f.", count(n, "session", "sessions"), b.Sessions)
	}
	return text
}

// removalsOf is "20 random removals", or "7 removals" where no chance chose them.
func removalsOf(b *lifecycle.GhostBaseline) string {
	if b.All {
		return count(b.Removals, "removal", "removals")
	}
	return count(b.Removals, "random removal", "random removals")
}

// inPercent is a share with one decimal where it needs one.
func inPercent(share float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", 100*share), ".0") + " %"
}

// pictureOf is the report as it is drawn.
func pictureOf(r lifecycle.Counterfactual) soul.GhostPicture {
	p := soul.GhostPicture{Title: titleOf(r), Note: noteOf(r)}
	if b := r.Baseline; b != nil {
		p.Chance = removalsOf(b) + ", their median"
		if b.All {
			p.Chance = "all " + removalsOf(b) + ", their median"
		}
	}
	for _, m := range r.Measures {
		b := soul.GhostBar{Label: measureNames[m.Name], Value: figureOf(m.Name, m.Value), At: max(m.Value, 0)}
		if c := m.Chance; c != nil {
			b.Chance, b.Larger = &[3]float64{max(c.Least, 0), max(c.Median, 0), max(c.Upper, 0)}, c.Larger
			b.Beyond = c.Beyond && !c.Larger
			b.Value += fmt.Sprintf(" (chance up to %s)", figureOf(m.Name, c.Upper))
		}
		p.Bars = append(p.Bars, b)
	}
	for _, e := range r.Entries {
		if e.Session > 0 && !slices.Contains(p.Marks, e.Session) {
			p.Marks = append(p.Marks, e.Session)
		}
	}
	for _, c := range r.Curves {
		p.Curves = append(p.Curves, soul.GhostCurve{Label: strings.TrimSpace(c.Date + " " + oneLine(c.Excerpt)), Session: c.Session, With: c.With, Without: c.Without})
	}
	return p
}
