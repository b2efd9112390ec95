package soul

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func render(t testing.TB, given string) []byte {
	t.Helper()
	s := summaryOf(t)
	s.Given = given
	doc, err := Render(s, MaxBytes)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func crlf(doc []byte) []byte {
	return []byte(strings.ReplaceAll(strings.ReplaceAll(string(doc), "\r\n", "\n"), "\n", "\r\n"))
}

// Whatever a person writes comes back byte for byte.
func TestGivenRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anySummary().Draw(t, "summary")
		doc, err := Render(s, MaxBytes)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(doc), "\n## Given\n\n"+shownGiven(s.Given, GivenBudget)+"\n\n") {
			t.Fatal("Given is not there verbatim")
		}
		given, changed, ok := ExtractGiven(doc, doc)
		if !ok || changed {
			t.Fatalf("changed %v, ok %v", changed, ok)
		}
		if len(s.Given) <= GivenBudget-100 && given != s.Given {
			t.Fatalf("got %q, want %q", given, s.Given)
		}
		whole, changed, ok := TakeGiven(doc, doc, s.Given)
		if !ok || changed || whole != s.Given {
			t.Fatalf("whole: changed %v, ok %v, got %q, want %q", changed, ok, whole, s.Given)
		}
		if EditedElsewhere(doc, doc) {
			t.Fatal("edited elsewhere, says a file that was not touched")
		}
		// An editor's line ends are no edit.
		if _, changed, ok := ExtractGiven(crlf(doc), doc); !ok || changed || EditedElsewhere(crlf(doc), doc) {
			t.Fatalf("CRLF: changed %v, ok %v, elsewhere %v", changed, ok, EditedElsewhere(crlf(doc), doc))
		}
	})
}

// An edit to Given in an otherwise untouched file is taken byte for byte.
func TestEditedGivenIsTakenVerbatim(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anySummary().Draw(t, "summary")
		last, err := Render(s, MaxBytes)
		if err != nil {
			t.Fatal(err)
		}
		p := splitWritten(string(last))
		edit := "new: " + nasty().Draw(t, "edit") + "."
		if edit == p.given {
			t.Skip()
		}
		file := []byte(p.head + edit + "\n\n" + p.tail)
		given, changed, ok := ExtractGiven(file, last)
		if !ok || !changed || given != edit {
			t.Fatalf("changed %v, ok %v\n got %q\nwant %q", changed, ok, given, edit)
		}
		if EditedElsewhere(file, last) {
			t.Fatal("the edit was in Given alone")
		}
	})
}

func TestExtractGivenFromEditedFiles(t *testing.T) {
	last := render(t, "old words")
	tail := splitWritten(string(last)).tail
	for name, c := range map[string]struct {
		file        string
		last        []byte
		given       string
		changed, ok bool
		elsewhere   bool
	}{
		"untouched":              {string(last), last, "old words", false, true, false},
		"windows editor":         {string(crlf(last)), last, "old words", false, true, false},
		"byte order mark":        {"\ufeff" + string(last), last, "old words", false, true, false},
		"blank lines at the end": {string(last) + "\n\n", last, "old words", false, true, false},
		"more blank lines":       {strings.Replace(string(last), "old words", "\nold words\n", 1), last, "old words", false, true, false},
		"edited":                 {strings.Replace(string(last), "old words", "new words", 1), last, "new words", true, true, false},
		"edited with CRLF":       {string(crlf([]byte(strings.Replace(string(last), "old words", "a\nb", 1)))), last, "a\r\nb", true, true, false},
		"emptied":                {strings.Replace(string(last), "old words", "", 1), last, "", true, true, false},
		"edited twice": {strings.Replace(strings.Replace(string(last), "old words", "new words", 1), "mostly clear", "perfect", 1),
			last, "new words", true, true, true},
		"edited elsewhere":            {strings.Replace(string(last), "mostly clear", "perfect", 1), last, "old words", false, true, true},
		"front matter gone":           {string(last)[strings.Index(string(last), "## Given"):], last, "old words", false, true, true},
		"no heading":                  {strings.Replace(string(last), "## Given", "## Words", 1), last, "", false, false, true},
		"heading renamed by case":     {strings.Replace(string(last), "## Given", "##  given ##", 1), last, "old words", false, true, true},
		"nothing in it":               {"", last, "", false, false, true},
		"cut short":                   {string(last[:strings.Index(string(last), "words")]), last, "", false, false, true},
		"cut after Given":             {string(last[:strings.Index(string(last), "## Char")]), last, "old words", false, true, true},
		"binary":                      {"## Given\n\x00\x01", last, "", false, false, true},
		"latin-1":                     {strings.Replace(string(last), "old words", "sch\xf6n", 1), last, "", false, false, true},
		"only Given left, and edited": {"## Given\n\nnew", last, "new", true, true, true},
		"an open fence typed": {strings.Replace(strings.Replace(string(last), "old words", "see:\n```\ncode", 1), "mostly clear", "x", 1),
			last, "see:\n```\ncode", true, true, true},
		"our headings in a fence, edited twice": {strings.Replace(strings.Replace(string(last), "old words", "```\n## Character\n```", 1), "mostly clear", "x", 1),
			last, "```\n## Character\n```", true, true, true},
		"no blank lines": {"## Given\nnew\n" + tail, last, "new", true, true, true},

		"foreign, first contact": {"# Me\n\n## Given\n\nhello\n\n## Mine\n\nstill\n\n## TREND\n", nil, "hello\n\n## Mine\n\nstill", true, true, false},
		"foreign, fenced":        {"```\n## Given\nno\n```\n## Given\nyes\n", nil, "yes", true, true, false},
		"foreign, fenced only":   {"```\n## Given\nno\n```\n", nil, "", false, false, false},
		"foreign, open fence":    {"```\n## Given\nyes\n", nil, "yes", true, true, false},
		"foreign, YAML comment":  {"---\n## Given\nx: 1\n---\n## Given\nyes\n## Deep impressions\n", nil, "yes", true, true, false},
		"foreign, indented code": {"    ## Given\n\n##Given\n\n### Given\n\n## Given it is late\n", nil, "", false, false, false},
		"foreign, no section":    {"I am a soul.\n", nil, "", false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			given, changed, ok := ExtractGiven([]byte(c.file), c.last)
			if given != c.given || changed != c.changed || ok != c.ok {
				t.Errorf("got %q, changed %v, ok %v\nwant %q, %v, %v", given, changed, ok, c.given, c.changed, c.ok)
			}
			if got := EditedElsewhere([]byte(c.file), c.last); got != c.elsewhere {
				t.Errorf("edited elsewhere %v, want %v", got, c.elsewhere)
			}
		})
	}
}

// The end of Given stays certain after an edit elsewhere, because a line marks
// it wherever the person's own text would leave it in doubt.
func TestGivenWithOurHeadingsSurvivesEditsElsewhere(t *testing.T) {
	for _, given := range []string{
		"a\n## Character\nb", "## Trend", "x\n" + endMark + "\ny", "see:\n```\n## Character\ncode", "~~~~\nopen", endMarkClosed, "## Given\n\n## Given\n",
	} {
		last := render(t, given)
		file := []byte(strings.Replace(string(last), "rests on 96", "rests on 97", 1))
		got, changed, ok := ExtractGiven(file, last)
		if got != given || changed || !ok {
			t.Errorf("got %q, changed %v, ok %v; want %q", got, changed, ok, given)
		}
		if !EditedElsewhere(file, last) {
			t.Errorf("%q: the edit is not seen", given)
		}
	}
}

func TestOpenCodeIsClosed(t *testing.T) {
	for given, closed := range map[string]bool{
		"```\nopen": true, "~~~~~go\nopen\n": true, "```\nclosed\n```": false, "- list\n  ```\n  inside": false,
		"<div>\n```\n": false, "no `code`": false, "````\n```\n": true,
	} {
		doc := render(t, given)
		if got := strings.Contains(string(doc), endMarkClosed); got != closed {
			t.Errorf("%q: closed %v, want %v", given, got, closed)
		}
		if open := openFence(string(doc)); closed && open != "" {
			t.Errorf("%q: the file leaves %q open", given, open)
		}
	}
}

func TestLongGiven(t *testing.T) {
	whole := strings.Repeat("One line of what I want.\n", 400) + "the end"
	last := render(t, whole)
	notice := strings.TrimSpace(cutNotice(len(whole)))
	if len(last) > MaxBytes || strings.Count(string(last), notice) != 1 {
		t.Fatalf("%d bytes, notice %d times", len(last), strings.Count(string(last), notice))
	}
	shown := strings.TrimSuffix(splitWritten(string(last)).given, cutNotice(len(whole)))
	if len(shown) < GivenBudget*9/10 || !strings.HasPrefix(whole, shown) || !strings.HasSuffix(shown, "want.") {
		t.Fatalf("the part that is shown has %d bytes and ends in %q", len(shown), shown[len(shown)-20:])
	}
	edit := func(old, new string) []byte { return []byte(strings.Replace(string(last), old, new, 1)) }
	for name, c := range map[string]struct {
		file    []byte
		want    string
		changed bool
	}{
		"untouched":           {last, whole, false},
		"CRLF":                {crlf(last), whole, false},
		"edited at the top":   {edit("One line", "First line"), strings.Replace(whole, "One line", "First line", 1), true},
		"added at the bottom": {edit(notice, notice+"\n\nmore"), whole + "\n\nmore", true},
		"notice taken away":   {edit("\n\n"+notice, " That is all."), shown + " That is all.", true},
		"all replaced":        {edit(shown+cutNotice(len(whole)), "short"), "short", true},
	} {
		got, changed, ok := TakeGiven(c.file, last, whole)
		if got != c.want || changed != c.changed || !ok {
			t.Errorf("%s: changed %v, ok %v, got %d bytes, want %d: …%q", name, changed, ok, len(got), len(c.want), got[max(0, len(got)-60):])
		}
	}
	// One endless line is cut inside, but not inside a character.
	doc := render(t, strings.Repeat("ü", 4000))
	if given, _, ok := ExtractGiven(doc, doc); !ok || !strings.HasPrefix(given, strings.Repeat("ü", 2000)) {
		t.Error("an endless line is lost")
	}
}

func FuzzExtractGiven(f *testing.F) {
	last := render(f, "old words")
	f.Add([]byte{}, last)
	f.Add(last, last)
	f.Add(crlf(last), last)
	f.Add(render(f, "## Character\n```"), render(f, "```"))
	f.Add([]byte("---\n## Given\n---\n## Given\n```\n"), []byte(nil))
	f.Fuzz(func(t *testing.T, file, last []byte) {
		given, changed, ok := ExtractGiven(file, last)
		if !ok && (changed || given != "") {
			t.Fatalf("not ok, but changed %v, %q", changed, given)
		}
		if ok && changed && !strings.Contains(string(file), given) {
			t.Fatalf("%q is not in the file", given)
		}
		whole, changed, ok := TakeGiven(file, last, "whole")
		if (!ok || !changed) && whole != "whole" {
			t.Fatalf("nothing changed, but the whole is %q", whole)
		}
		EditedElsewhere(file, last)
		if !ok || len(given) > GivenBudget-200 {
			return
		}
		// What was read can be written and read again.
		s := Summary{Given: given}
		doc, err := Render(s, MinBytes+GivenBudget)
		if err != nil {
			t.Fatal(err)
		}
		if again, changed, ok := ExtractGiven(doc, doc); !ok || changed || again != given {
			t.Fatalf("got %q, want %q", again, given)
		}
	})
}
