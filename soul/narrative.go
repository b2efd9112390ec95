package soul

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// MaxNarrative is the greatest length of a Narrative in characters (code points).
const MaxNarrative = 1200

// Narrative is the identity in plain prose, as it is embedded for the witness
// gap: the start of Given, the character, the strongest tendencies and the
// deepest impressions. It holds no date, identifier or figure of the machinery,
// so that it changes only as the identity does. Never empty.
func Narrative(s Summary) string {
	var parts []string
	if text := Quote(s.Given, 360); text != "" {
		parts = append(parts, text)
	}
	if s.GStore.Check() == nil {
		parts = append(parts, characterSentence(s.GStore.Shares(), false))
	}
	var names []string
	for _, t := range s.Tendencies[:min(len(s.Tendencies), 5)] {
		if n := Quote(t.Name, 48); n != "" {
			names = append(names, n)
		}
	}
	if len(names) > 0 {
		parts = append(parts, "I tend towards "+list(names)+".")
	}
	for _, d := range s.Deep[:min(len(s.Deep), maxDeep)] {
		if text := Quote(d.Text, 100); text != "" {
			parts = append(parts, "I remember: "+text)
		}
	}
	if len(parts) == 0 {
		return "I am new: no experience has left an impression yet."
	}
	return cutRunes(strings.Join(parts, "\n"), MaxNarrative)
}

// cutRunes is the start of text with at most n code points, up to a letter's border.
func cutRunes(text string, n int) string {
	at, rest, state := 0, text, -1
	for rest != "" {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if n -= utf8.RuneCountInString(cluster); n < 0 {
			break
		}
		at += len(cluster)
	}
	return text[:at]
}

// ErrVoice: a model's words say something that the summary does not.
var ErrVoice = errors.New("the text goes beyond the summary")

var numeral = regexp.MustCompile(`\d+(?:[.,]\d+)*`)

// CheckVoice holds a model's Character text against the summary: it must not be
// empty or longer than 900 letters, and every number and every name (a
// capitalised word inside a sentence) in it must occur in the built-in text or
// in Given. The error is ErrVoice and names no word of the text.
func CheckVoice(s Summary, text string) error {
	s.Voice = ""
	if strings.TrimSpace(text) == "" {
		return fmt.Errorf("soul: the model's text is empty: %w", ErrVoice)
	}
	if n := uniseg.GraphemeClusterCount(text); n > maxVoice {
		return fmt.Errorf("soul: the model's text has %d letters, more than %d: %w", n, maxVoice, ErrVoice)
	}
	if err := s.check(); err != nil {
		return err
	}
	s.Unsettled = nil // a claim vouches for nothing
	s = quoted(s)
	known := s.Given + "\n" + sections(&s, plan{
		texts: min(len(s.Deep), maxDeep), deep: min(len(s.Deep), maxDeep),
		tendencies: min(len(s.Tendencies), maxTendencies), trend: min(len(s.Trend), maxTrend),
		rules: min(len(s.Rules), maxRules), unresolved: min(len(s.Unresolved), maxUnresolved),
	})
	numbers := map[string]bool{}
	for _, n := range numeral.FindAllString(known, -1) {
		numbers[n] = true
	}
	for i, n := range numeral.FindAllString(text, -1) {
		if !numbers[n] {
			return fmt.Errorf("soul: number %d of the model's text is not in the summary: %w", i+1, ErrVoice)
		}
	}
	words := map[string]bool{"i": true}
	for _, w := range strings.FieldsFunc(known, notLetter) {
		words[strings.ToLower(w)] = true
	}
	starts := true // the next word begins a sentence
	word := 0
	for field := range strings.FieldsSeq(text) {
		for _, w := range strings.FieldsFunc(field, notLetter) {
			word++
			first, _ := utf8.DecodeRuneInString(w)
			if unicode.IsUpper(first) && !starts && !words[strings.ToLower(w)] {
				return fmt.Errorf("soul: a name (word %d) of the model's text is not in the summary: %w", word, ErrVoice)
			}
			starts = false
		}
		starts = starts || strings.ContainsAny(field[len(field)-1:], ".!?:")
	}
	return nil
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }
