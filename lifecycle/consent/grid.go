package consent

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/gowebpki/jcs"
)

// Answer is what the grid says to a use. Answers are ordered: a greater one allows more.
type Answer uint8

// The three answers. The zero value denies.
const (
	Deny Answer = iota
	Ask
	Allow
)

// answerWords are by answer; aliases are only suggested, never taken.
var answerWords = [...]word{{"deny", []string{"no", "never", "off", "false", "forbid"}}, {"ask", nil}, {"allow", []string{"yes", "on", "true", "permit"}}}

// Valid tells whether it is one of the three.
func (a Answer) Valid() bool { return a <= Allow }

// String is its name: deny, ask or allow.
func (a Answer) String() string { return nameOf(answerWords[:], int(a)+1) }

// MarshalText gives the name. Error: ErrForm.
func (a Answer) MarshalText() ([]byte, error) { return textOf(answerWords[:], int(a)+1, "answer") }

// UnmarshalText reads exactly what String writes. Error: ErrForm.
func (a *Answer) UnmarshalText(text []byte) error {
	var n Answer
	if err := unmarshal(&n, answerWords[:], text, "answer"); err != nil {
		return err
	}
	*a = n - 1
	return nil
}

// Cell is a place of the grid.
type Cell struct {
	Category  Category  `json:"category"`
	Dimension Dimension `json:"dimension"`
}

// Cells are all 72 places, category by category.
func Cells() []Cell {
	out := make([]Cell, 0, categoryCount*dimensionCount)
	for _, c := range Categories() {
		for _, d := range Dimensions() {
			out = append(out, Cell{c, d})
		}
	}
	return out
}

// Valid tells whether it is in the grid.
func (c Cell) Valid() bool { return c.Category.Valid() && c.Dimension.Valid() }

// String is CATEGORY.USE.
func (c Cell) String() string { return c.Category.String() + "." + c.Dimension.String() }

// place numbers the cells from 0, category by category; the cell is valid.
func (c Cell) place() int { return (int(c.Category)-1)*dimensionCount + int(c.Dimension) - 1 }

// Grid is an answer for each of the 72 cells. Grids are values and compare with ==; the
// zero one denies everything.
type Grid struct {
	answers [categoryCount * dimensionCount]Answer
}

// Default is the grid before the person said anything: behavioural, communications and
// operational are stored and read, health is stored after asking, all else is denied. It
// belongs to the schema of the records: another default needs another [Schema].
func Default() Grid {
	var g Grid
	for _, c := range []Category{Behavioural, Communications, Operational} {
		g.answers[Cell{c, Storage}.place()] = Allow
		g.answers[Cell{c, Access}.place()] = Allow
	}
	g.answers[Cell{Health, Storage}.place()] = Ask
	return g
}

// Answer is what the grid says of a use of a category; Deny where either is not known.
func (g Grid) Answer(c Category, d Dimension) Answer {
	cell := Cell{c, d}
	if !cell.Valid() {
		return Deny
	}
	return g.answers[cell.place()]
}

// With is the grid after changes, one after the other. Error: ErrForm for a change that
// is none.
func (g Grid) With(changes ...Change) (Grid, error) {
	for _, c := range changes {
		if err := c.check(); err != nil {
			return Grid{}, err
		}
		g.answers[c.Cell.place()] = c.Answer
	}
	return g, nil
}

// Within tells whether category a is allowed no use further than b is.
func (g Grid) Within(a, b Category) bool {
	for _, d := range Dimensions() {
		if g.Answer(a, d) > g.Answer(b, d) {
			return false
		}
	}
	return true
}

// Settle is the category that an entry has: that of its source, or what the person set,
// or what a model proposes; the zero value of each is no opinion. What the person set is
// left only for a category that is more protected; and in no case does a proposal lead
// to a category that allows any use further, so that a text cannot talk a model into
// opening what is closed. Beside none, of which all is denied, that is a category of
// which all is denied too.
func (g Grid) Settle(source, set, proposed Category) Category {
	from := source
	if set.Valid() {
		from = set
	}
	switch {
	case !proposed.Valid():
		return from
	case set.Valid() && proposed.Protection() <= set.Protection():
		return set
	case !g.Within(proposed, from):
		return from
	}
	return proposed
}

// MarshalJSON gives an object of categories, each an object of uses with their answers,
// in canonical form (RFC 8785).
func (g Grid) MarshalJSON() ([]byte, error) {
	out := map[Category]map[Dimension]Answer{}
	for _, c := range Categories() {
		out[c] = map[Dimension]Answer{}
		for _, d := range Dimensions() {
			out[c][d] = g.Answer(c, d)
		}
	}
	return canonical(out)
}

// UnmarshalJSON reads a grid with all of its cells, each once. Error: ErrForm.
func (g *Grid) UnmarshalJSON(data []byte) error {
	if len(data) > MaxBytes {
		return fmt.Errorf("%w: a grid of %d bytes; at most %d", ErrForm, len(data), MaxBytes)
	}
	var rows map[Category]map[Dimension]Answer
	if err := json.Unmarshal(data, &rows); err != nil {
		return fmt.Errorf("%w: it is no grid of categories, uses and answers", ErrForm)
	}
	var read Grid
	for _, cell := range Cells() {
		a, ok := rows[cell.Category][cell.Dimension]
		if !ok {
			return fmt.Errorf("%w: the grid says nothing of %s", ErrForm, cell)
		}
		read.answers[cell.place()] = a
	}
	// Written again it is the same, or something stood in it twice.
	again, err := read.MarshalJSON()
	if err != nil {
		return err
	}
	if given, err := jcs.Transform(data); err != nil || !bytes.Equal(given, again) {
		return fmt.Errorf("%w: something stands twice in the grid", ErrForm)
	}
	*g = read
	return nil
}

func canonical(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jcs.Transform(data)
}
