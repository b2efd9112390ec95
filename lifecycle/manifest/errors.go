package manifest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// ErrManifest: a manifest cannot be used as it is; see [Error].
var ErrManifest = errors.New("the manifest has faults")

// Fault is one thing that is wrong with a manifest.
type Fault struct {
	// Where is "line 12"; empty where the line is not known.
	Where string
	// Key is the full name, such as life.ttl, or the tool or grant that it is about.
	Key string
	// Value is what was given, shortened; empty where there is nothing to show, and always
	// for the mission and for names.
	Value string
	// Text says what is wrong and what would be accepted.
	Text string
}

// String is the fault in one line.
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

// Error is all that is wrong with a manifest. It is [ErrManifest].
type Error struct {
	// Path is the file; empty where the manifest was no file.
	Path   string
	Faults []Fault
}

// Error lists the faults, one in a line.
func (e *Error) Error() string {
	path := e.Path
	if path == "" {
		path = "the manifest"
	}
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.String()
	}
	if len(lines) == 1 {
		return path + ": " + lines[0]
	}
	return fmt.Sprintf("%s has %d faults:\n  %s", path, len(lines), strings.Join(lines, "\n  "))
}

// Is tells that it is ErrManifest.
func (e *Error) Is(target error) bool { return target == ErrManifest }

// nearest finds the name that was probably meant, or "".
func nearest(name string, names []string) string {
	if len(name) > 64 {
		return "" // no slip of the hand leads there
	}
	best, found := 1+len(name)/2, ""
	for _, n := range names {
		if d := distance(name, n); d < best {
			best, found = d, n
		}
	}
	return found
}

// distance is the least number of bytes to change, add or drop (Levenshtein).
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

// shortened is a text in one line of at most some 80 bytes, with nothing in it that a
// terminal obeys.
func shortened(text string) string { return clean(text, 80) }

// clean is a text in one line of at most so many bytes and a mark where it was longer.
func clean(text string, most int) string {
	cut := ""
	if len(text) > most {
		text, cut = text[:most], "…"
	}
	text = strings.ToValidUTF8(text, "")
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text) + cut
}

// shown is a value of TOML, shortened.
func shown(value any) string {
	if text, ok := value.(string); ok {
		return strconv.Quote(shortened(text))
	}
	return shortened(fmt.Sprint(value))
}
