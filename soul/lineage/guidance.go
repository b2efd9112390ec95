package lineage

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jivad/jivad/soul/detail"
)

const (
	// GuidanceRunes bounds the sentence of a disposition, ChoiceRunes what it says behind
	// its scope.
	GuidanceRunes = 240
	ChoiceRunes   = 160

	keyBytes = 96
)

var keyForm = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$`)

// Check tells whether it is a rule, and holds no detail that leads to somebody. Error:
// ErrForm, with the kind of detail and nothing of it.
func (p Disposition) Check() error {
	if err := p.check(); err != nil {
		return err
	}
	return p.checkDetails()
}

func (p Disposition) check() error {
	if err := p.checkShape(); err != nil {
		return err
	}
	return CheckRule(p.Key, p.Guidance)
}

// checkShape asks for what the fold needs.
func (p Disposition) checkShape() error {
	switch {
	case len(p.Key) > keyBytes || !keyForm.MatchString(p.Key):
		return fmt.Errorf("%w: a key is AREA.NAME in lower-case letters, digits and _", ErrForm)
	case p.Weight < -Million || p.Weight > Million || p.Confidence <= 0 || p.Confidence > Million:
		return fmt.Errorf("%w: a weight or confidence out of its range", ErrForm)
	}
	return nil
}

func (p Disposition) checkDetails() error {
	if kind, found := detail.Find(p.Guidance); found {
		return fmt.Errorf("%w: guidance that holds what looks like one of these: %s", ErrForm, kind)
	}
	return nil
}

// CheckRule tells whether a sentence is the guidance of a key: plain text in one line, at
// most 240 code points, that says a scope which the key names, a colon and a choice of at
// most 160, and leaves to the weight whether that is good. Error: ErrForm.
func CheckRule(key, text string) error {
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > GuidanceRunes {
		return fmt.Errorf("%w: guidance of more than %d letters", ErrForm, GuidanceRunes)
	}
	if strings.ContainsFunc(text, unplain) || strings.TrimSpace(text) != text || strings.Contains(text, "  ") {
		return fmt.Errorf("%w: guidance that is no plain line of text", ErrForm)
	}
	scope, choice, found := strings.Cut(text, ": ")
	switch {
	case !found || !strings.ContainsFunc(choice, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }):
		return fmt.Errorf("%w: guidance must say what it is about, a colon, and the choice", ErrForm)
	case utf8.RuneCountInString(choice) > ChoiceRunes:
		return fmt.Errorf("%w: guidance with a choice of more than %d letters", ErrForm, ChoiceRunes)
	case !scoped(key, scope):
		return fmt.Errorf(`%w: guidance must begin with what its key is about, as "tool NAME, argument NAME: "`, ErrForm)
	}
	return nil
}

// matters are what rules of the area companion can be about.
var matters = map[string]string{
	"companion.brevity":      "answers, length",
	"companion.detail":       "answers, length",
	"companion.asking":       "questions to the person, how many",
	"companion.asking_first": "questions to the person, how many",
	"companion.plainness":    "answers, tone",
	"companion.warmth":       "answers, tone",
	"companion.simplicity":   "answers, wording",
	"companion.precision":    "answers, wording",
	"companion.help":         "help, how it is given",
}

// whenToCall is the scope of a tool that has no argument to choose.
const whenToCall = "when to call it"

// scoped tells whether a scope is the one that a key names: a matter of the companion; or
// of tool.NAME and tool.NAME.ARGUMENT "tool NAME, argument ARGUMENT", of tool.NAME also
// "tool NAME, when to call it". Names are one word each.
func scoped(key, scope string) bool {
	if matter, known := matters[key]; known {
		return scope == matter
	}
	of, isTool := strings.CutPrefix(scope, "tool ")
	name, rest, _ := strings.Cut(of, ", ")
	if !isTool || !oneWord(name) {
		return false
	}
	whole := "tool." + KeyPart(name)
	if rest == whenToCall {
		return key == whole
	}
	argument, found := strings.CutPrefix(rest, "argument ")
	return found && oneWord(argument) && (key == whole || key == whole+"."+KeyPart(argument))
}

func oneWord(name string) bool { return name != "" && !strings.ContainsFunc(name, unicode.IsSpace) }

// KeyPart writes the name of a tool or an argument as a part of a key: as it is where it
// has that form, else as much of it as can be kept, and a digest, so that two names never
// share a key.
func KeyPart(name string) string {
	const most = 36
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '_'
	}, name)
	if clean == name && clean != "" && len(clean) <= most {
		return clean
	}
	sum := sha256.Sum256([]byte(name))
	return fmt.Sprintf("%.27s_%s", clean, hex.EncodeToString(sum[:4]))
}

// unplain tells of characters that have no place in a plain line: controls, marks of
// direction, line ends, what chat templates are written with.
func unplain(r rune) bool {
	return strings.ContainsRune("<>[]{}|`#\\", r) || unicode.IsControl(r) || r != ' ' && unicode.IsSpace(r) ||
		unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs) && r != 0x200c && r != 0x200d || r == utf8.RuneError
}
