package consent

import (
	"fmt"
	"slices"
	"strings"
)

// Category is a kind of data. The zero value is none, of which everything is denied.
type Category uint8

// The nine categories, in the order in which they are shown.
const (
	Identity         Category = iota + 1 // who somebody is: legal names, dates of birth, papers
	Health                               // illness, treatment, body and mind, readings of a wearable
	Communications                       // what people say and write to each other, and their addresses
	Location                             // where somebody lives, works, is and goes
	Behavioural                          // what somebody does, likes and is used to
	Financial                            // accounts, income, debts, purchases
	Biometric                            // what tells one body from all others: face, voice, finger
	MinorOrDependent                     // of a child, or of somebody whom the person answers for
	Operational                          // of the running of the program, about nobody
)

// categoryCount and dimensionCount are the sides of the grid.
const (
	categoryCount  = int(Operational)
	dimensionCount = int(DeletionOrPortability)
)

// word is a value of a vocabulary: its name, how a table shows it, and what else it may
// be typed as.
type word struct {
	name    string
	aliases []string
}

// categoryWords are by category, from Identity on. Names and aliases are as normal gives them.
var categoryWords = [categoryCount]word{
	{"identity", nil},
	{"health", []string{"medical"}},
	{"communications", []string{"communication"}},
	{"location", []string{"place"}},
	{"behavioural", []string{"behavioral", "behaviour", "behavior"}},
	{"financial", []string{"finance", "finances", "money"}},
	{"biometric", []string{"biometrics"}},
	{"minor_or_dependent", []string{"minor", "dependent", "minor_dependent", "minors", "dependents"}},
	{"operational", nil},
}

// Categories are the nine, in the order in which they are shown.
func Categories() []Category { return upTo[Category](categoryCount) }

// Valid tells whether it is one of the nine.
func (c Category) Valid() bool { return c >= 1 && int(c) <= categoryCount }

// String is its name, such as "minor_or_dependent"; "none" for the zero value.
func (c Category) String() string { return nameOf(categoryWords[:], int(c)) }

// MarshalText gives the name, an empty one for the zero value. Error: ErrForm.
func (c Category) MarshalText() ([]byte, error) { return textOf(categoryWords[:], int(c), "category") }

// UnmarshalText reads exactly what String writes. Error: ErrForm.
func (c *Category) UnmarshalText(text []byte) error {
	return unmarshal(c, categoryWords[:], text, "category")
}

// EntryNames are the names that an entry may carry, in its front matter or by a model's
// word. They are older than the grid and have two names for [MinorOrDependent].
func EntryNames() []string {
	var out []string
	for _, c := range Categories() {
		if c == MinorOrDependent {
			out = append(out, "minor", "dependent")
			continue
		}
		out = append(out, c.String())
	}
	return out
}

// OfEntry is the category of a name of [EntryNames], or of a category's own; none for
// any other, which is to be told, and denied until then.
func OfEntry(name string) Category {
	for i, w := range categoryWords {
		if c := Category(i + 1); name == w.name || c == MinorOrDependent && (name == "minor" || name == "dependent") {
			return c
		}
	}
	return 0
}

// OfSource is the category of an entry of which nobody said one, by where it came from: what
// is said to the companion, "chat" or "chat:" and where, is communications, all else
// behavioural.
func OfSource(source string) Category {
	if source == "chat" || strings.HasPrefix(source, "chat:") {
		return Communications
	}
	return Behavioural
}

// protection has the categories from the least protected to the most.
//
// The first is about nobody. The next two are what a companion is for and the person
// allows from the start: what they do concerns them, what is said concerns another as
// well. Then what the person can be harmed with, by how hard the harm is to undo: a
// place is left, an account is closed, a name stays. Above are the two that law holds
// apart for everyone (special categories, GDPR article 9): health changes, a body's marks
// never do. On top is what is not the person's own to give (article 8): whoever it is
// about cannot consent.
var protection = [categoryCount]Category{
	Operational, Behavioural, Communications, Location, Financial, Identity, Health, Biometric, MinorOrDependent,
}

// Protection is how far up the category is in the order of protection, from 1 to 9; 0 for none.
func (c Category) Protection() int { return slices.Index(protection[:], c) + 1 }

// upTo lists the values of a vocabulary.
func upTo[T ~uint8](n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = T(i + 1) //nolint:gosec // at most 9
	}
	return out
}

func nameOf(words []word, n int) string {
	switch {
	case n == 0:
		return "none"
	case n > len(words):
		return fmt.Sprintf("unknown(%d)", n)
	}
	return words[n-1].name
}

func textOf(words []word, n int, what string) ([]byte, error) {
	switch {
	case n == 0:
		return nil, nil
	case n > len(words):
		return nil, fmt.Errorf("%w: there is no %s %d", ErrForm, what, n)
	}
	return []byte(words[n-1].name), nil
}

func unmarshal[T ~uint8](into *T, words []word, text []byte, what string) error {
	for i, w := range words {
		if string(text) == w.name {
			*into = T(i + 1) //nolint:gosec // at most 9
			return nil
		}
	}
	return fmt.Errorf("%w: %q is no %s of consent", ErrForm, clipped(string(text)), what)
}
