package consent

import (
	"fmt"
	"strings"
)

// Table is a grid as it is shown: rows of categories, columns of uses.
type Table struct {
	Columns []Column `json:"columns"`
	Rows    []Row    `json:"rows"`
}

// Column is a use.
type Column struct {
	Dimension Dimension `json:"dimension"`
	// Head is its name in two short lines; the second may be empty.
	Head [2]string `json:"head"`
}

// Row is a category with its answers, in the order of the columns.
type Row struct {
	Category Category `json:"category"`
	Label    string   `json:"label"`
	Answers  []Shown  `json:"answers"`
}

// Shown is an answer as it is shown.
type Shown struct {
	Answer Answer `json:"answer"`
	// Version is of the record in which the person said it, 0 for a default.
	Version int `json:"version"`
}

// heads are by dimension, from Storage on. All of them with the labels fit 80 columns.
var heads = [dimensionCount][2]string{
	{"storage"}, {"access"}, {"third-", "party"}, {"auto-", "decision"}, {"training"}, {"aggre-", "gation"}, {"cross-", "context"}, {"delete,", "export"},
}

// Table is what a chain makes of the grid, with who said what.
func (c *Chain) Table() Table {
	if c == nil {
		return Grid{}.Table()
	}
	return table(c.grid, func(cell Cell) int { return c.said[cell.place()] })
}

// Table is the grid by itself, as if all of it were the default.
func (g Grid) Table() Table { return table(g, func(Cell) int { return 0 }) }

func table(g Grid, said func(Cell) int) Table {
	t := Table{}
	for _, d := range Dimensions() {
		t.Columns = append(t.Columns, Column{d, heads[d-1]})
	}
	for _, c := range Categories() {
		label := c.String()
		if c == MinorOrDependent {
			label = "minor/dependent"
		}
		row := Row{Category: c, Label: label}
		for _, d := range Dimensions() {
			row.Answers = append(row.Answers, Shown{g.Answer(c, d), said(Cell{c, d})})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Only is the part of the table that a selector names.
func (t Table) Only(s Selector) Table {
	out := Table{Columns: []Column{}, Rows: []Row{}}
	for _, c := range t.Columns {
		if s.Dimension == 0 || s.Dimension == c.Dimension {
			out.Columns = append(out.Columns, c)
		}
	}
	for _, r := range t.Rows {
		if s.Category != 0 && s.Category != r.Category {
			continue
		}
		part := Row{Category: r.Category, Label: r.Label, Answers: []Shown{}}
		for i, c := range t.Columns {
			if s.Dimension == 0 || s.Dimension == c.Dimension {
				part.Answers = append(part.Answers, r.Answers[i])
			}
		}
		out.Rows = append(out.Rows, part)
	}
	return out
}

// Text is the table in plain lines of ASCII, at most 80 columns wide, without colour.
// What the person said has a star.
func (t Table) Text() string {
	label, starred := 0, false
	for _, r := range t.Rows {
		label = max(label, len(r.Label))
	}
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		widths[i] = max(len(c.Head[0]), len(c.Head[1]), len("allow*"))
	}
	var out strings.Builder
	line := func(first string, cells func(i int) string) {
		text := fmt.Sprintf("%-*s", label, first)
		for i, w := range widths {
			text += fmt.Sprintf(" %-*s", w, cells(i))
		}
		out.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	line("", func(i int) string { return t.Columns[i].Head[0] })
	line("", func(i int) string { return t.Columns[i].Head[1] })
	for _, r := range t.Rows {
		line(r.Label, func(i int) string {
			a := r.Answers[i]
			if a.Version == 0 {
				return a.Answer.String()
			}
			starred = true
			return a.Answer.String() + "*"
		})
	}
	if starred {
		out.WriteString("* said by you; the rest is the default\n")
	}
	return out.String()
}
