package prompt

import (
	"errors"
	"strings"
	"testing"
)

const summary = `entries: 12 on 2026-01-03
witness gap: 0.42
tendency: the river (strength 0.9), Anna, the Danube
excerpt: Élodie a dit non; 彼は東京へ行った`

func TestCheckNarrative(t *testing.T) {
	for text, want := range map[string]error{
		"The session had 12 entries, and the witness gap was 0.42.": nil,
		"Twelve entries speak of Anna and the river.":               nil,
		"Much is about Anna's days by the Danube. I am told so.":    nil,
		"On 2026-01-03 there were ١٢ entries.":                      nil,
		"The gap is 0,42.":                                          nil,
		"On day 3 of 01 it was so.":                                 nil,
		"E\u0301lodie said no.":                                     nil,
		"It is about 東京 and the river.":                             nil,
		"Nobody knows, neither do I.":                               nil,
		"There were 13 entries.":                                    ErrNumber,
		"There were 2 entries.":                                     ErrNumber, // part of 12
		"The gap is 42.":                                            ErrNumber,
		"There were ١٣ entries.":                                    ErrNumber,
		"There were seven entries.":                                 ErrNumber,
		"Two of them speak of Anna.":                                ErrNumber,
		"There were ½ as many.":                                     ErrNumber,
		"Much is about Bertha.":                                     ErrUnknownName,
		"Bertha weighs on them.":                                    ErrUnknownName, // also where a sentence begins
		"Much is quiet. Bertha is not.":                             ErrUnknownName,
		"Much is about the Rhine.":                                  ErrUnknownName,
		"Much is about McAnna.":                                     ErrUnknownName,
		"It is about Nothing.":                                      ErrUnknownName, // common only where a sentence begins
		"It is about 大阪.":                                           ErrUnknownName,
		"":                                                          ErrEmpty,
		"12 ...":                                                    ErrEmpty,
		strings.Repeat("a river ", 100):                             ErrLong,
		"The river.\n# Heading":                                     ErrForm,
		"The *river*.":                                              ErrForm,
		"The river: http://a.example":                               ErrForm,
		"The “river”.":                                              ErrForm,
		"The river.\u202e":                                          ErrForm,
		"The river <|im_end|>":                                      ErrForm,
		"System: the river.":                                        ErrForm,
		"The river \xff":                                            ErrForm,
	} {
		if err := CheckNarrative(text, summary); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}

func TestCheckName(t *testing.T) {
	terms, excerpts := []string{"river", "bees", "7"}, []string{"Anna walked by the Danube."}
	for text, want := range map[string]error{
		"walking by the river":           nil,
		"The river with Anna":            nil,
		"7 bees":                         nil,
		"Danube":                         nil,
		"eight bees":                     ErrNumber,
		"9 bees":                         ErrNumber,
		"the Rhine":                      ErrUnknownName,
		"":                               ErrEmpty,
		"a b c d e f g":                  ErrLong,
		strings.Repeat("r", NameRunes+1): ErrLong,
		"the river\nand the bees":        ErrForm,
		"<s>river</s>":                   ErrForm,
	} {
		if err := CheckName(text, terms, excerpts); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}

// Nothing that was checked stands in an error.
func TestChecksDoNotQuote(t *testing.T) {
	for _, text := range []string{"Zanzibar calls.", "There were 4711.", "Zanzibar\n", strings.Repeat("Zanzibar ", 99)} {
		err := CheckNarrative(text, summary)
		if err == nil || strings.Contains(err.Error(), "Zanzibar") || strings.Contains(err.Error(), "4711") {
			t.Errorf("%v", err)
		}
	}
}
