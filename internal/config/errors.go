package config

import (
	"fmt"
	"strings"
)

// Fault is one thing that is wrong with the settings.
type Fault struct {
	// Where is "line 12" of the file or the name of a variable; it may be empty.
	Where string
	// Key is the full name, such as diary.path.
	Key string
	// Value is what was given, as it was written; empty for an unknown key.
	Value string
	// Text says what is wrong and what would be accepted.
	Text string
}

func (f Fault) String() string {
	var s string
	if f.Where != "" {
		s = f.Where + ": "
	}
	if f.Key != "" {
		s += f.Key
		if f.Value != "" {
			s += " = " + f.Value
		}
		s += ": "
	}
	return s + f.Text
}

// Error is all that is wrong with the settings.
type Error struct {
	// Path is the file.
	Path   string
	Faults []Fault
}

func (e *Error) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.String()
	}
	if len(lines) == 1 {
		return e.Path + ": " + lines[0]
	}
	return fmt.Sprintf("%s has %d faults:\n  %s", e.Path, len(lines), strings.Join(lines, "\n  "))
}

// Nearest finds the name that was probably meant, or "".
func Nearest(name string, names []string) string {
	best, found := 1+len(name)/2, ""
	for _, n := range names {
		if d := distance(name, n); d < best {
			best, found = d, n
		}
	}
	return found
}

// distance is the least number of letters to change, add or drop (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
