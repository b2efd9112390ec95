package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/soul"
)

func (a *app) trendVerb() *cobra.Command {
	var last int
	var csv bool
	var svg string
	cmd := &cobra.Command{
		Use:     "trend",
		Short:   "Show how the companion changed from session to session",
		Long:    "Shows how the companion changed from session to session. A picture is written to a\nnew file besides what --csv or --json print.",
		Example: "  jivad trend\n  jivad trend --last 30\n  jivad trend --csv > trend.csv\n  jivad trend --svg trend.svg",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if last < 0 {
				return usage("--last %d: it must be 0 (all) or more", last)
			}
			if csv && a.flags.json {
				return usage("--csv and --json exclude each other")
			}
			if svg == "-" && (csv || a.flags.json) {
				return usage("--svg - and --csv or --json exclude each other: give the picture a file")
			}
			if err := free(svg); err != nil {
				return err
			}
			return a.reading(cmd.Context(), func(ctx context.Context, c companion) error {
				records, err := c.Trend(ctx, last)
				if err != nil {
					return err
				}
				return a.tellTrend(records, csv, svg)
			})
		},
	}
	cmd.Flags().IntVar(&last, "last", 0, "only the last `N` sessions")
	cmd.Flags().BoolVar(&csv, "csv", false, "print comma-separated values")
	cmd.Flags().StringVar(&svg, "svg", "", "write a picture to a new `FILE` (- for standard output)")
	return cmd
}

func (a *app) tellTrend(records []soul.Record, csv bool, svg string) error {
	switch {
	case svg == "-":
		return soul.TrendSVG(a.stdout, records)
	case svg != "":
		if err := writeSVG(svg, records); err != nil {
			return err
		}
		if !csv && !a.flags.json {
			if !a.flags.quiet {
				fmt.Fprintf(a.stdout, "Written: %s\n", svg)
			}
			return nil
		}
	}
	switch {
	case csv:
		return soul.TrendCSV(a.stdout, records)
	case a.flags.json:
		return soul.TrendJSON(a.stdout, records)
	}
	p := a.printer()
	a.tellSparklines(p, records)
	return p.flush()
}

func (a *app) tellSparklines(p *printer, records []soul.Record) {
	if len(records) == 0 {
		p.line("No session has ended yet.")
		return
	}
	text := soul.TrendText(records, max(40, p.width), soul.TextOptions{ASCII: a.plainLetters()})
	text, warnings := splitWarnings(text, records)
	_, _ = io.WriteString(p.out, text)
	p.line("")
	const most = 8
	rows := [][]string{}
	for _, r := range records[max(0, len(records)-most):] {
		shares := [3]string{"–", "–", "–"}
		if s, ok := r.GStore.Shares(); ok {
			shares = percents(lifecycle.Shares(s))
		}
		rows = append(rows, []string{strconv.Itoa(r.Session), dash(r.Date), strconv.Itoa(r.Events), strconv.Itoa(r.Reactivated), figure(r.WitnessGap), shares[0], shares[1], shares[2], strconv.Itoa(r.Vasanas)})
	}
	p.table([]string{">session", "date", ">entries", ">woken", ">gap", ">tamas", ">rajas", ">sattva", ">tendencies"}, rows)
	if warnings != "" {
		p.line("")
		_, _ = io.WriteString(p.out, warnings)
	}
}

// splitWarnings parts the warnings from the end of the text, so that they can
// stand last.
func splitWarnings(text string, records []soul.Record) (before, warnings string) {
	list := soul.Warnings(records)
	if len(list) == 0 {
		return text, ""
	}
	at := strings.Index(text, list[0].Text)
	if at < 0 {
		return text, ""
	}
	at = strings.LastIndexByte(text[:at], '\n') + 1
	return strings.TrimRight(text[:at], "\n") + "\n", text[at:]
}

// plainLetters tells whether the terminal may lack the block letters.
func (a *app) plainLetters() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := a.getenv(name); v != "" {
			return !strings.Contains(strings.ToUpper(strings.ReplaceAll(v, "-", "")), "UTF8")
		}
	}
	return false
}

func writeSVG(path string, records []soul.Record) error {
	var picture bytes.Buffer
	if err := soul.TrendSVG(&picture, records); err != nil {
		return err
	}
	return writeFile(path, picture.Bytes())
}
