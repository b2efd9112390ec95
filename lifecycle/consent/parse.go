package consent

import (
	"fmt"
	"strings"
)

const (
	// settingBytes bounds one setting, settingsCount how many are given at once.
	settingBytes  = 200
	settingsCount = 1000
)

// Selector names cells: one, a row, a column or all. The zero value is all.
type Selector struct {
	// Category and Dimension are none for every one.
	Category  Category
	Dimension Dimension
}

// String is CATEGORY.USE with * for every one.
func (s Selector) String() string {
	category, dimension := "*", "*"
	if s.Category != 0 {
		category = s.Category.String()
	}
	if s.Dimension != 0 {
		dimension = s.Dimension.String()
	}
	return category + "." + dimension
}

// Has tells whether a cell is named.
func (s Selector) Has(c Cell) bool {
	return c.Valid() && (s.Category == 0 || s.Category == c.Category) && (s.Dimension == 0 || s.Dimension == c.Dimension)
}

// Cells are those named, in the order of the grid.
func (s Selector) Cells() []Cell {
	var out []Cell
	for _, c := range Cells() {
		if s.Has(c) {
			out = append(out, c)
		}
	}
	return out
}

// exactness counts the sides that are named: 2 for one cell, 0 for all.
func (s Selector) exactness() (n int) {
	if s.Category != 0 {
		n++
	}
	if s.Dimension != 0 {
		n++
	}
	return n
}

// Setting is an answer for the cells of a selector.
type Setting struct {
	Selector
	Answer Answer
}

// String is what ParseSetting reads.
func (s Setting) String() string { return s.Selector.String() + "=" + s.Answer.String() }

// ParseSelector reads CATEGORY.USE, where either may be * for every one, and a category,
// a use or * alone names its row, its column or all. Case does not matter, and space,
// hyphen, slash and underscore are one. Error: [NameError].
func ParseSelector(text string) (Selector, error) {
	return parseSelector(text, true, func(mended string) string { return mended })
}

// parseSelector reads a selector; alone allows one side of it. whole makes of a mended
// selector all that was typed.
func parseSelector(text string, alone bool, whole func(string) string) (Selector, error) {
	const form = "CATEGORY.USE, such as health.storage, health.* or *.training"
	fault := &NameError{Part: "setting", Text: clipped(text), Known: []string{form}}
	if len(text) > settingBytes {
		return Selector{}, fault
	}
	left, right, dotted := strings.Cut(text, ".")
	left, right = normal(left), normal(right)
	var s Selector
	c, isCategory := side(categoryWords[:], left)
	if !dotted {
		d, isDimension := side(dimensionWords[:], left)
		switch {
		case isCategory:
			s.Category = Category(c)
		case isDimension:
			s.Dimension = Dimension(d)
		default:
			fault.Part, fault.Text = "category or use", clipped(strings.TrimSpace(text))
			fault.Near = near(left, categoryWords[:], dimensionWords[:])
			fault.Known = append(namesOf(categoryWords[:]), namesOf(dimensionWords[:])...)
			return s, fault
		}
		if !alone {
			fault.Whole = whole(s.String())
			return s, fault
		}
		return s, nil
	}
	d, isDimension := side(dimensionWords[:], right)
	if isCategory && isDimension {
		return Selector{Category(c), Dimension(d)}, nil
	}
	if swapped, ok := turned(left, right); ok {
		fault.Known, fault.Whole = nil, whole(swapped.String())
		return s, fault
	}
	// The first side that is not known is told; the mended whole has both.
	nearC, nearD := near(left, categoryWords[:]), near(right, dimensionWords[:])
	if isCategory {
		nearC = []string{starred(categoryWords[:], c)}
		*fault = NameError{Part: "use", Text: clipped(right), Near: nearD, Known: namesOf(dimensionWords[:])}
	} else {
		*fault = NameError{Part: "category", Text: clipped(left), Near: nearC, Known: namesOf(categoryWords[:])}
	}
	if isDimension {
		nearD = []string{starred(dimensionWords[:], d)}
	}
	if len(nearC) > 0 && len(nearD) > 0 {
		fault.Whole = whole(nearC[0] + "." + nearD[0])
	}
	return s, fault
}

// turned tells of a use and a category the wrong way round.
func turned(left, right string) (Selector, bool) {
	d, isDimension := side(dimensionWords[:], left)
	c, isCategory := side(categoryWords[:], right)
	return Selector{Category(c), Dimension(d)}, isDimension && isCategory
}

// ParseSetting reads SELECTOR=ANSWER, such as "health.storage=deny" or "*.training=ask".
// Here a selector has both of its sides. Error: [NameError].
func ParseSetting(text string) (Setting, error) {
	selector, answer, found := strings.Cut(text, "=")
	if !found || len(text) > settingBytes {
		return Setting{}, &NameError{Part: "setting", Text: clipped(text), Known: []string{"CATEGORY.USE=allow, =ask or =deny, such as health.storage=deny"}}
	}
	answer = normal(answer)
	meant := answer
	a, known := lookUp(answerWords[:], answer, false)
	nearA := near(answer, answerWords[:])
	if !known && len(nearA) > 0 {
		meant = nearA[0]
	}
	s, err := parseSelector(selector, false, func(mended string) string {
		if !known && len(nearA) == 0 {
			return ""
		}
		return mended + "=" + meant
	})
	if err != nil {
		return Setting{}, err
	}
	if !known {
		fault := &NameError{Part: "answer", Text: clipped(answer), Near: nearA, Known: namesOf(answerWords[:])}
		if len(nearA) > 0 {
			fault.Whole = s.String() + "=" + meant
		}
		return Setting{}, fault
	}
	return Setting{s, Answer(a - 1)}, nil //nolint:gosec // 1 to 3
}

// ParseSettings reads settings that are given together and gives the changes that they
// are, in the order of the grid. The order in which they are given does not matter: of
// two that meet the more exact one holds (a cell before a row or column, these before
// all), and of two as exact, such as a row and a column, both must say the same. Errors:
// [NameError], [ConflictError]; ErrForm for none at all or too many.
func ParseSettings(texts ...string) ([]Change, error) {
	if len(texts) == 0 || len(texts) > settingsCount {
		return nil, fmt.Errorf("%w: %d settings, not 1 to %d", ErrForm, len(texts), settingsCount)
	}
	settings := make([]Setting, len(texts))
	for i, text := range texts {
		var err error
		if settings[i], err = ParseSetting(text); err != nil {
			return nil, err
		}
	}
	var out []Change
	for _, cell := range Cells() {
		best := -1
		var held Setting
		var against *Setting
		for _, s := range settings {
			if !s.Has(cell) || s.exactness() < best {
				continue
			}
			if s.exactness() > best {
				best, held, against = s.exactness(), s, nil
			} else if s.Answer != held.Answer {
				against = &s
			}
		}
		if against != nil {
			return nil, &ConflictError{Category: cell.Category, Dimension: cell.Dimension, First: held, Second: *against}
		}
		if best >= 0 {
			out = append(out, Change{cell, held.Answer})
		}
	}
	return out, nil
}

// side reads one side of a selector: 0 for *.
func side(words []word, text string) (uint8, bool) {
	if text == "*" {
		return 0, true
	}
	return lookUp(words, text, true)
}

// lookUp finds a word, by its aliases as well where they are taken; it counts from 1.
func lookUp(words []word, text string, aliases bool) (uint8, bool) {
	for i, w := range words {
		if text == w.name {
			return uint8(i + 1), true //nolint:gosec // at most 9
		}
		for _, alias := range w.aliases {
			if aliases && text == alias {
				return uint8(i + 1), true //nolint:gosec // at most 9
			}
		}
	}
	return 0, false
}

func starred(words []word, n uint8) string {
	if n == 0 {
		return "*"
	}
	return words[n-1].name
}

func namesOf(words []word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.name
	}
	return out
}

// normal is how a typed word is looked up: trimmed, in lower case, and with one
// underscore for any run of spaces, hyphens, slashes and underscores.
func normal(text string) string {
	parts := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" \t-/_", r) })
	return strings.Join(parts, "_")
}
