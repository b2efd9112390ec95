package ollama

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/prompt"
)

const goodAnswer = `{"intensity":40,"novelty":70,"emotion":55,"match":50,"tamas":50,"rajas":25,"sattva":25,"valence":-30,` +
	`"category":"health","gist":"A tooth ached all day.","reason":"pain"}`

func TestAnswersThatCanBeUsed(t *testing.T) {
	for name, c := range map[string]struct{ content, thinking string }{
		"an object":               {goodAnswer, ""},
		"with blanks":             {"\ufeff \n" + goodAnswer + "\n", ""},
		"fenced":                  {"```json\n" + goodAnswer + "\n```", ""},
		"fenced without a word":   {"```\n" + goodAnswer + "\n```", ""},
		"fenced in prose":         {"Here you are:\n```json\n" + goodAnswer + "\n```\nAnything else?", ""},
		"in prose":                {"Sure! " + goodAnswer + " I hope that helps.", ""},
		"behind thinking":         {"<think>Pain {strong}? Yes.</think>\n\n" + goodAnswer, ""},
		"thinking and a fence":    {"<think>\nhm\n</think>```json\n" + goodAnswer + "\n```", ""},
		"only the end of thought": {"so it hurts.\n</think>\n" + goodAnswer, ""},
		"thinking apart":          {goodAnswer, "He is in pain."},
		"all of it in thinking":   {"", goodAnswer},
		"fenced in thinking":      {" ", "```json\n" + goodAnswer + "\n```"},
	} {
		object, err := objectIn(c.content, c.thinking)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		a, err := assessmentIn(object, "who")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		j := a.Judgement
		if j.Assessor != "who" || j.Intensity != 0.4 || *j.Novelty != 0.7 || j.Emotion != 0.55 || *j.Match != 0.5 || j.Valence != -0.3 {
			t.Errorf("%s: %+v", name, j)
		}
		if s := j.Guna.Shares(); math.Abs(s.Tamas-0.5) > 1e-12 || math.Abs(s.Rajas-0.25) > 1e-12 {
			t.Errorf("%s: shares %v", name, s)
		}
		if a.Category != "health" || a.Gist != "A tooth ached all day." || a.Reason != "pain" {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

func TestAnswersThatCannotBeUsed(t *testing.T) {
	with := func(old, new string) string {
		if !strings.Contains(goodAnswer, old) {
			t.Fatalf("no %s", old)
		}
		return strings.Replace(goodAnswer, old, new, 1)
	}
	for name, c := range map[string]struct{ content, thinking string }{
		"nothing":               {"", ""},
		"only thoughts":         {"", "It hurts, so the intensity is high."},
		"thoughts with a draft": {"", "Perhaps " + goodAnswer + "? No."},
		"unended thoughts":      {"<think>It hurts " + goodAnswer, ""},
		"prose":                 {"What a painful day that must have been!", ""},
		"cut":                   {goodAnswer[:len(goodAnswer)-20], ""},
		"an array":              {"[" + goodAnswer + "," + goodAnswer + "]", ""},
		"two":                   {goodAnswer + "\n" + goodAnswer, ""},
		"null":                  {"null", ""},
		"no number":             {with(`"intensity":40,`, ""), ""},
		"null number":           {with(`"intensity":40`, `"intensity":null`), ""},
		"a text for a number":   {with(`"intensity":40`, `"intensity":"40"`), ""},
		"over":                  {with(`"intensity":40`, `"intensity":101`), ""},
		"under":                 {with(`"emotion":55`, `"emotion":-1`), ""},
		"far out":               {with(`"emotion":55`, `"emotion":-5e15`), ""},
		"beyond floats":         {with(`"emotion":55`, `"emotion":1e400`), ""},
		"NaN":                   {with(`"emotion":55`, `"emotion":NaN`), ""},
		"Infinity":              {with(`"emotion":55`, `"emotion":Infinity`), ""},
		"a fraction":            {with(`"novelty":70`, `"novelty":0.7`), ""},
		"valence out of range":  {with(`"valence":-30`, `"valence":-101`), ""},
		"no character":          {with(`"tamas":50,"rajas":25,"sattva":25`, `"tamas":0,"rajas":0,"sattva":0`), ""},
		"another scale":         {with(`"tamas":50,"rajas":25,"sattva":25`, `"tamas":1,"rajas":0,"sattva":0`), ""},
		"an unknown category":   {with(`"health"`, `"secrets"`), ""},
		"a number for the gist": {with(`"A tooth ached all day."`, `7`), ""},
		"too long":              {goodAnswer + strings.Repeat(" ", answerLength), ""},
		"very deep":             {strings.Repeat(`{"a":`, 5000), ""},
		"too long thoughts":     {"", goodAnswer + strings.Repeat(" ", answerLength)},
		"many braces":           {strings.Repeat("{", 30) + goodAnswer, ""},
	} {
		object, err := objectIn(c.content, c.thinking)
		if err == nil {
			_, err = assessmentIn(object, "who")
		}
		var f *flaw
		if !errors.As(err, &f) || f.wrong == "" {
			t.Errorf("%s: %v", name, err)
		}
		if f != nil && (strings.Contains(f.wrong, "tooth") || strings.Contains(f.wrong, "secrets")) {
			t.Errorf("%s: the error quotes the answer: %s", name, f.wrong)
		}
	}
}

func TestTextsOfAnAnswerAreShort(t *testing.T) {
	for name, gist := range map[string]string{
		"long":     strings.Repeat("pain and ", 60),
		"one word": strings.Repeat("日", 400),
		"lines":    "one\ntwo\t three\r\n\x1b[31mred\u202e \u200bend",
	} {
		got := short(gist, prompt.GistRunes)
		if n := utf8.RuneCountInString(got); n > prompt.GistRunes || got == "" {
			t.Errorf("%s: %d letters", name, n)
		}
		if strings.ContainsAny(got, "\n\r\t\x1b\u202e\u200b") {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := short("just so", 7); got != "just so" {
		t.Errorf("%q", got)
	}
}

// The categories that a model is given are those of consent.
func TestCategoriesAreThoseOfConsent(t *testing.T) {
	if !slices.Equal(prompt.Categories(), lifecycle.Categories()) {
		t.Errorf("%v, not %v", prompt.Categories(), lifecycle.Categories())
	}
}

// Whatever a model says, there is a judgement within its bounds or a flaw.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{goodAnswer, "```json\n" + goodAnswer + "\n```", "<think>x</think>" + goodAnswer, "{", `{"intensity":1e999}`, "\xff{}", strings.Repeat(`{"a":`, 50)} {
		f.Add(s, "")
		f.Add("", s)
	}
	f.Fuzz(func(t *testing.T, content, thinking string) {
		var fl *flaw
		object, err := objectIn(content, thinking)
		if err != nil {
			if !errors.As(err, &fl) {
				t.Fatalf("%T", err)
			}
			return
		}
		a, err := assessmentIn(object, "who")
		if err != nil {
			if !errors.As(err, &fl) {
				t.Fatalf("%T", err)
			}
		} else {
			j := a.Judgement
			for _, v := range []float64{j.Intensity, j.Emotion, *j.Novelty, *j.Match, j.Valence + 1, j.Valence/2 + 0.5} {
				if !(v >= 0 && v <= 2) {
					t.Fatalf("%v in %+v", v, j)
				}
			}
			s := j.Guna.Shares()
			if sum := s.Tamas + s.Rajas + s.Sattva; !(math.Abs(sum-1) < 1e-9) {
				t.Fatalf("shares %v", s)
			}
			if utf8.RuneCountInString(a.Gist) > prompt.GistRunes || utf8.RuneCountInString(a.Reason) > prompt.ReasonRunes || !utf8.ValidString(a.Gist) {
				t.Fatalf("%q, %q", a.Gist, a.Reason)
			}
			if lifecycle.CheckCategory(a.Category) != nil {
				t.Fatalf("category %q", a.Category)
			}
		}
		if said, err := saidIn(object, "narrative", func(s string) error { return prompt.CheckNarrative(s, "") }); err == nil && utf8.RuneCountInString(said) > prompt.NarrativeRunes {
			t.Fatalf("%q", said)
		}
	})
}

// The statements of a judgement are taken as far as they are some; without them it is as
// good.
func TestStatementsOfAnAnswer(t *testing.T) {
	for list, want := range map[string][]lifecycle.Proposed{
		`[{"subject":" pump 3","text":"It leaks. "},{"subject":"b","text":"c","kind":"x"},{"subject":"d","text":"e"}]`: {{Subject: "pump 3", Text: "It leaks."}, {Subject: "b", Text: "c"}},
		`[7,{"subject":1},{"subject":"b","text":"c"}]`:                                                                 {{Subject: "b", Text: "c"}},
		`[]`: nil, `null`: nil, `"pump 3 leaks"`: nil, `{"subject":"b","text":"c"}`: nil,
	} {
		a, err := assessmentIn([]byte(strings.TrimSuffix(goodAnswer, "}")+`,"claims":`+list+"}"), "who")
		if err != nil || !slices.Equal(a.Claims, want) || a.Gist == "" {
			t.Errorf("%s: %+v, %v", list, a.Claims, err)
		}
	}
}
