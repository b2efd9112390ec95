package lifecycle

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jivad/jivad/lifecycle/consent"
)

// ErrCategory: a note names a category that consent does not know.
var ErrCategory = errors.New("the category is not known")

// Categories are the categories of consent that a note may name.
func Categories() []string { return consent.EntryNames() }

// CheckCategory is ErrCategory, with what is allowed, for a name that is neither
// empty nor one of [Categories].
func CheckCategory(name string) error {
	if name == "" || slices.Contains(Categories(), name) {
		return nil
	}
	return fmt.Errorf("%w: it must be one of %s", ErrCategory, strings.Join(Categories(), ", "))
}
