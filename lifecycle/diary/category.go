package diary

import (
	"slices"
	"strings"
)

// Categories are the kinds of data that consent is given for, as an entry may
// name one.
func Categories() []string {
	return []string{
		"identity", "health", "communications", "location", "behavioural", "financial", "biometric", "minor", "dependent", "operational",
	}
}

// ValidCategory tells whether a name is one of [Categories].
func ValidCategory(name string) bool { return slices.Contains(Categories(), name) }

// category takes the category that a file names. One that is not known is told
// and passed over.
func (p *parser) category(name string, line int) string {
	found := strings.ToLower(strings.TrimSpace(name))
	if found == "" || ValidCategory(found) {
		return found
	}
	p.note(NoteCategory, line, "the category is not known and was passed over; known are "+strings.Join(Categories(), ", "))
	return ""
}
