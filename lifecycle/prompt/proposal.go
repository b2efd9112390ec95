package prompt

import (
	"fmt"

	"golang.org/x/text/unicode/norm"
)

// CheckClaim tells whether a statement that a model took from an entry says it in the
// entry's words: plain text on one line, of at most ClaimRunes, about a subject of at most
// SubjectRunes; every word of either that is not a common one, and every number and every
// word that denies, must stand in the entry, and one word at least that is not common. It
// cannot tell whether the entry says so. Errors: ErrEmpty, ErrLong, ErrForm, ErrNumber,
// ErrUnknownName, ErrWord.
func CheckClaim(subject, text, entry string) error {
	if err := checkForm(text, ClaimRunes); err != nil {
		return err
	}
	if err := checkForm(subject, SubjectRunes); err != nil {
		return fmt.Errorf("the subject: %w", err)
	}
	known := map[string]bool{}
	for _, w := range wordsOf(norm.NFC.String(entry)) {
		known[w.folded()] = true
	}
	for _, part := range []string{subject, text} {
		if err := checkWords(part, entry); err != nil {
			return err
		}
		says := false
		for _, w := range wordsOf(norm.NFC.String(part)) {
			low := w.folded()
			plain := common[low] && !denies[low]
			if !plain && !known[low] && w.kind == aWord && !caseless([]rune(w.text)[0]) && !numberIn(low, known) {
				return ErrWord
			}
			says = says || !plain
		}
		if !says {
			return ErrEmpty
		}
	}
	return nil
}

// numberIn tells of a number in words that stands in the entry in digits.
func numberIn(low string, known map[string]bool) bool {
	digits, ok := numberWords[low]
	return ok && known[digits]
}

// denies are the common words that turn a statement round.
var denies = setOf("against but despite except few hardly neither never no nobody none nor not nothing unlike without")
