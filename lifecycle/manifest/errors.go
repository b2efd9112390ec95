package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/jivad/jivad/internal/faults"
)

// ErrManifest: a manifest cannot be used as it is; see [Error].
var ErrManifest = errors.New("the manifest has faults")

// Fault is one thing that is wrong with a manifest. The values of the mission and of names are
// never in it.
type Fault = faults.Fault

// Error is all that is wrong with a manifest. It is [ErrManifest].
type Error struct {
	// Path is the file; empty where the manifest was no file.
	Path   string
	Faults []Fault
}

// Error lists the faults, one in a line.
func (e *Error) Error() string { return faults.Told(cmp.Or(e.Path, "the manifest"), e.Faults) }

// Is tells that it is ErrManifest.
func (e *Error) Is(target error) bool { return target == ErrManifest }

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
