package distil

import (
	"regexp"
	"strings"
)

// shapes are what can be said of a value that must not be said itself: the form that it
// is written in, the narrower ones first. The sentences are of this program.
var shapes = []struct {
	text string
	is   *regexp.Regexp
}{
	{"a date and time written as YYYY-MM-DDThh:mm", regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}\S*$`)},
	{"a date written as YYYY-MM-DD", regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)},
	{"a date written as DD.MM.YYYY", regexp.MustCompile(`^[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}$`)},
	{"a date written as MM/DD/YYYY or DD/MM/YYYY", regexp.MustCompile(`^[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}$`)},
	{"a time written as hh:mm", regexp.MustCompile(`^[0-9]{1,2}:[0-9]{2}$`)},
	{"an e-mail address", regexp.MustCompile(`^\S+@\S+\.\S+$`)},
	{"a whole web address", regexp.MustCompile(`^[a-z]+://\S+$`)},
	{"a telephone number with + and the country in front", regexp.MustCompile(`^\+[0-9 ()/-]{6,}$`)},
	{"three capital letters", regexp.MustCompile(`^[A-Z]{3}$`)},
	{"two capital letters", regexp.MustCompile(`^[A-Z]{2}$`)},
	{"two decimal numbers with a comma between", regexp.MustCompile(`^-?[0-9]+\.[0-9]+,\s*-?[0-9]+\.[0-9]+$`)},
	{"digits alone", regexp.MustCompile(`^[0-9]+$`)},
	{"a decimal number", regexp.MustCompile(`^-?[0-9]+\.[0-9]+$`)},
	{"small letters alone", regexp.MustCompile(`^\p{Ll}+$`)},
	{"one word", regexp.MustCompile(`^\S+$`)},
	{"several words", regexp.MustCompile(`\S\s+\S`)},
}

// shapeOf is the form of a value, where that tells it from every value of the other
// outcome: then it may be what mattered. Else nothing true can be said.
func shapeOf(value string, others []string) string {
	if len(others) == 0 {
		return ""
	}
next:
	for _, s := range shapes {
		if !s.is.MatchString(strings.TrimSpace(value)) {
			continue
		}
		for _, other := range others {
			if s.is.MatchString(strings.TrimSpace(other)) {
				continue next
			}
		}
		return s.text
	}
	return ""
}
