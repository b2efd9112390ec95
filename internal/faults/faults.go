// Package faults tells people what is wrong in a file that they wrote: every fault at once,
// each with its line, its key and what would be accepted.
package faults

import (
	"fmt"
	"strings"
	"time"
)

// Fault is one thing that is wrong in a file of settings.
type Fault struct {
	// Where is "line 12" of the file or the name of a variable; empty where it is not known.
	Where string
	// Key is the full name, such as diary.path, or what the fault is about.
	Key string
	// Value is what was given, as it may be shown; empty where there is nothing to show.
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

// Told lists the faults of a file, one in a line.
func Told(path string, faults []Fault) string {
	lines := make([]string, len(faults))
	for i, f := range faults {
		lines[i] = f.String()
	}
	if len(lines) == 1 {
		return path + ": " + lines[0]
	}
	return fmt.Sprintf("%s has %d faults:\n  %s", path, len(lines), strings.Join(lines, "\n  "))
}

// slip is the longest name, in bytes, that is taken for another by a slip of the hand.
const slip = 64

// Nearest finds the name that was probably meant, or "".
func Nearest(name string, names []string) string {
	if len(name) > slip {
		return ""
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

// Duration writes a duration as people do: 30m and not 30m0s.
func Duration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
