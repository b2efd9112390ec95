package diary

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// lines that could divide a file, and some that could not.
var trickyLines = []string{
	"", " ", "\t", "word", "# title", "#", "# 2026-03-01", "  # indented", "## 2026-03-02", "## deeper", "###### 1 March 2026", "#no heading",
	"2026-03-03", "3 March 2026", "25/12/2026", "12/25/2026", "03/04/2026", "2026-02-30", "<2026-03-01 Sun>", "===", "---", "  ===", "```", "````", "~~~", "```go", "  ```", "``` a`b",
	"+++", "***", "今天玩成语接龙游戏", "２０２６年3月1日", "2026年3月1日", "\u0085", "a\u2028b", "\ufeff", "\x00", "x\x00y", "* 2026-03-01", "\\# kept", "> # quoted", "Sunday", "1er mars 2026", "- 2026-03-01", "12:30",
}

// drawText draws a text that a note may have.
func drawText(t *rapid.T) string {
	ends := []string{"\n", "\n", "\n", "\r\n", "\r"}
	for {
		var b strings.Builder
		for range rapid.IntRange(1, 8).Draw(t, "lines") {
			b.WriteString(rapid.SampledFrom(trickyLines).Draw(t, "line"))
			b.WriteString(rapid.SampledFrom(ends).Draw(t, "end"))
		}
		if text := b.String(); !blank(text) {
			return text
		}
	}
}

func drawEntries(t *rapid.T, undated bool) []Entry {
	labels := []string{"", "", "evening", "Bath", "12:30", "- Bath", "2026-03-01", "Sunday", "a ## b ##", "#", "two\nlines", "(Bath", "春", "nul\x00"}
	var out []Entry
	for i := range rapid.IntRange(1, 12).Draw(t, "entries") {
		e := Entry{Text: drawText(t), Label: rapid.SampledFrom(labels).Draw(t, "label")}
		if !undated && (i == 0 || rapid.IntRange(0, 3).Draw(t, "dated") > 0) {
			e.Date = rapid.SampledFrom([]string{"2026-03-01", "0934-12-21", "1911-05-02", "9999-12-31", "0001-01-01"}).Draw(t, "date")
		}
		out = append(out, e)
	}
	return out
}

// What is written as Markdown is read back as the same entries: none is divided
// and none is lost, and where nothing was altered they have the same keys.
func TestMarkdownIsReadBackAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkMarkdown(t, drawEntries(t, false), false)
	})
}

// The same of a file of entries without any date, which is divided by headings.
func TestUndatedMarkdownIsReadBackAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkMarkdown(t, drawEntries(t, true), true)
	})
}

func checkMarkdown(t interface{ Fatalf(string, ...any) }, entries []Entry, undated bool) {
	var file []byte
	altered := make([]bool, len(entries))
	for i, e := range entries {
		file, altered[i] = AppendMarkdown(file, e, undated)
	}
	o := Options{}
	if undated {
		if len(entries) < 2 {
			return // one entry without a date is a file and needs no heading
		}
		o.Split = SplitHeading
	}
	f, err := Parse("diary.md", strings.NewReader(string(file)), o)
	if err != nil {
		t.Fatalf("%v\n%s", err, file)
	}
	if len(f.Entries) != len(entries) {
		t.Fatalf("%d entries were written and %d read:\n%q\n%+v", len(entries), len(f.Entries), file, f.Entries)
	}
	for i, e := range entries {
		got := f.Entries[i]
		if got.Date != e.Date {
			t.Fatalf("entry %d: date %q, was %q:\n%q", i, got.Date, e.Date, file)
		}
		if !altered[i] && Key(got.Date, got.Text) != Key(e.Date, e.Text) {
			t.Fatalf("entry %d: %q, was %q:\n%q", i, got.Text, e.Text, file)
		}
		// A mark may stand before blanks that begin a text, which count for nothing without it.
		unmarked := strings.NewReplacer(`\`, "", nulPicture, "\x00")
		if altered[i] && Normalise(unmarked.Replace(got.Text)) != Normalise(unmarked.Replace(e.Text)) {
			t.Fatalf("entry %d: more than marks were added: %q, was %q", i, got.Text, e.Text)
		}
		if got.Label != "" && got.Label != Undated && got.Label != strings.ReplaceAll(e.Label, "\x00", nulPicture) {
			t.Fatalf("entry %d: label %q, was %q", i, got.Label, e.Label)
		}
	}
}

// Ordinary texts stay as they are, and a label that can be read back is kept.
func TestMarkdownKeepsOrdinaryText(t *testing.T) {
	const text = "Rain.\n\n- one\n- two\n\n```\n# a comment\n2026-03-01\n```\n\n## Evening\n\nMore rain, #tag and 2026-03-05 inside."
	out, altered := AppendMarkdown(nil, Entry{Date: "2026-03-01", Label: "Bath", Text: "\n" + text + "\n\n"}, false)
	if want := "# 2026-03-01 Bath\n\n" + text + "\n\n"; string(out) != want || altered {
		t.Errorf("altered %v\n%s", altered, out)
	}
	out, altered = AppendMarkdown(nil, Entry{Date: "2026-03-01", Text: "# Title\ntext\n```\nopen"}, false)
	if want := "# 2026-03-01\n\n\\# Title\ntext\n\\```\nopen\n\n"; string(out) != want || !altered {
		t.Errorf("altered %v\n%s", altered, out)
	}
}
