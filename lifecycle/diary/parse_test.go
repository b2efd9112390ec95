package diary

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf16"
)

func parse(t testing.TB, name, text string, o Options) File {
	t.Helper()
	f, err := Parse(name, strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// short writes entries as "date|label|text" lines.
func short(f File) string {
	var b strings.Builder
	for _, e := range f.Entries {
		fmt.Fprintf(&b, "%s|%s|%s\n", e.Date, e.Label, strings.ReplaceAll(e.Text, "\n", "⏎"))
	}
	return b.String()
}

func (f File) has(k NoteKind, line int) bool {
	for _, n := range f.Notes {
		if n.Kind == k && n.Line == line {
			return true
		}
	}
	return false
}

func TestDates(t *testing.T) {
	for text, want := range map[string]string{
		"2026-03-01":                        "2026-03-01|",
		"2026-03-01 Sunday":                 "2026-03-01|",
		"2026-03-01 (Sun)":                  "2026-03-01|",
		"2026-03-01, Sunday, Bath":          "2026-03-01|Bath",
		"2026-03-01 Sunday in Bath":         "2026-03-01|Sunday in Bath",
		"2026-03-01 07:30":                  "2026-03-01|07:30",
		"2026-03-01T07:30":                  "2026-03-01|07:30",
		"2026-03-01 – Bath":                 "2026-03-01|Bath",
		"2026-03-01: Bath, again":           "2026-03-01|Bath, again",
		"2026-03-01 -5 degrees":             "2026-03-01|-5 degrees",
		"2026/3/1":                          "2026-03-01|",
		"2026. 3. 1.":                       "2026-03-01|",
		"[[2026-03-01]]":                    "2026-03-01|",
		"**2026-03-01**":                    "2026-03-01|",
		"<2026-03-01 Sun>":                  "2026-03-01|",
		"[2026-03-01 Sun 10:00]":            "2026-03-01|10:00",
		"[2026-03-01 Sun 10:00] Bath":       "2026-03-01|10:00 Bath",
		"1 March 2026":                      "2026-03-01|",
		"Sunday, 1 March 2026":              "2026-03-01|",
		"1st of March, 2026":                "2026-03-01|",
		"March 1, 2026":                     "2026-03-01|",
		"Sun, Mar. 1st, 2026":               "2026-03-01|",
		"01.03.2026":                        "2026-03-01|",
		"1. 3. 2026":                        "2026-03-01|",
		"25/12/2026":                        "2026-12-25|",
		"12/25/2026":                        "2026-12-25|",
		"3/3/2026":                          "2026-03-03|",
		"Sonntag, 1. März 2026":             "2026-03-01|",
		"So., 1. Ma\u0308rz 2026":           "2026-03-01|",
		"den 3. Jänner 1897":                "1897-01-03|",
		"dimanche 1er mars 2026":            "2026-03-01|",
		"le 2 décembre 1851":                "1851-12-02|",
		"Domingo, 1 de marzo de 2026":       "2026-03-01|",
		"domenica 1º marzo 2026":            "2026-03-01|",
		"segunda-feira, 2 de março de 2026": "2026-03-02|",
		"zondag 1 maart 2026":               "2026-03-01|",
		"2026年3月1日":                         "2026-03-01|",
		"2026年3月1日（日）晴":                     "2026-03-01|晴",
		"２０２６年３月１日　日曜日":                     "2026-03-01|",
		"2026년 3월 1일":                       "2026-03-01|",
		"0934-12-21":                        "0934-12-21|",
		"934-12-21":                         "0934-12-21|",
		"21 December 934":                   "0934-12-21|",
		"2024-02-29":                        "2024-02-29|",
	} {
		w := readDate(text)
		if got := w.date + "|" + w.rest; w.state != isDate || got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]dateState{
		"": noDate, "1.1": noDate, "I.1": noDate, "chapter I": noDate, "1838": noDate, "2026-03": noDate,
		"March 2026": noDate, "Fin de janvier 1852 [1852-01]": noDate, "Jeudi, janvier [1861-01]": noDate,
		"游天台山日記 癸丑（公元１６１３年）之三月晦": noDate, "Thursday.": noDate, "2026-03-011": noDate,
		"2026-03-01-05": noDate, "1.2.2026.5": noDate, "192.168.1.1": noDate, "1 Marchpane 2026": noDate,
		"Mayor 1, 2026": noDate, "12 eggs, 2026": noDate, "2026-03-01x": noDate, "20260301": noDate,
		"2026-02-30": impossible, "2025-02-29": impossible, "1900-02-29": impossible, "2026-13-01": impossible,
		"2026-00-10": impossible, "31 April 2026": impossible, "32.01.2026": impossible, "40/40/2026": impossible,
		"0000-01-01": impossible,
		"03/04/2026": ambiguous, "3-4-2026": ambiguous,
	} {
		if w := readDate(text); w.state != want || w.date != "" {
			t.Errorf("%q: state %d %q, want %d", text, w.state, w.date, want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"days under a title", "a.md", "# My diary\n\n## 2026-03-01\n\nOne.\n\n## 2026-03-02 Sunday\nTwo.\n\nMore.\n",
			"2026-03-01||One.\n2026-03-02||Two.⏎⏎More.\n"},
		{"text before the first date", "a.md", "Begun in spring.\n\n## 2026-03-01\nOne.\n", "||Begun in spring.\n2026-03-01||One.\n"},
		{"text under the title", "a.md", "# Diary\nOf a nobody.\n# 2026-03-01\nOne.\n", "|Diary|Of a nobody.\n2026-03-01||One.\n"},
		{"short entries", "a.md", "## 2026-03-01\nToothache.\n## 2026-03-02 The funeral.\n## 2026-03-03\n\n\n",
			"2026-03-01||Toothache.\n2026-03-02||The funeral.\n"},
		{"twice a day", "a.md", "## 2026-03-01 07:30\nUp.\n## 2026-03-01 22:00\nTo bed.\n", "2026-03-01|07:30|Up.\n2026-03-01|22:00|To bed.\n"},
		{"undated among dates", "a.md", "## 2026-03-01\nOne.\n## Thursday.\nTwo.\n### deeper\nThree.\n", "2026-03-01||One.\n|Thursday.|Two.⏎### deeper⏎Three.\n"},
		{"years and months over days", "a.md", "# 2026\n## March\n### 2026-03-01\nOne.\n## April\nSpring.\n### 2026-04-01\nTwo.\n",
			"2026-03-01||One.\n|April|Spring.\n2026-04-01||Two.\n"},
		{"a deeper date is text", "a.md", "# 2026-03-01\nOne.\n## 2026-02-01 looked back\nOld.\n# 2026-03-02\nTwo.\n",
			"2026-03-01||One.⏎## 2026-02-01 looked back⏎Old.\n2026-03-02||Two.\n"},
		{"code", "a.md", "## 2026-03-01\n```\n## 2026-03-02\n```\nOne.\n~~~~ x\n## 2026-03-03\n~~~\n~~~~\n", "2026-03-01||```⏎## 2026-03-02⏎```⏎One.⏎~~~~ x⏎## 2026-03-03⏎~~~⏎~~~~\n"},
		{"code without an end", "a.md", "## 2026-03-01\n```\nOne.\n## 2026-03-02\nTwo.\n", "2026-03-01||```⏎One.\n2026-03-02||Two.\n"},
		{"underlined", "a.md", "Diary\n=====\n\n2026-03-01\n----------\nOne.\n\na rule\nabove\n---\n\n2 March 2026\n---\nTwo.\n",
			"2026-03-01||One.⏎⏎a rule⏎above⏎---\n2026-03-02||Two.\n"},
		{"rules are not headings", "a.md", "## 2026-03-01\n\nOne.\n---\nTwo.\n\n## 2026-03-02\nThree.\n", "2026-03-01||One.⏎---⏎Two.\n2026-03-02||Three.\n"},
		{"dates on lines", "a.txt", "Notes of mine\n\n1 March 2026\nOne.\n2 March 2026, 08:00\nTwo: born 3 March 1990.\n",
			"||Notes of mine\n2026-03-01||One.\n2026-03-02|08:00|Two: born 3 March 1990.\n"},
		{"dates on lines, with headings", "a.md", "# Diary\n\n**2026-03-01**\n\nOne.\n\n## Evening\nLate.\n\n2026-03-02\n\nTwo, on\n2026-03-03\nas said.\n",
			"2026-03-01||One.⏎⏎## Evening⏎Late.\n2026-03-02||Two, on⏎2026-03-03⏎as said.\n"},
		{"org", "a.org", "#+TITLE: Diary\n\n* <2026-03-01 Sun>\nOne.\n** Evening\nLate.\n* 2026-03-02 Monday\nTwo.\n", "2026-03-01||One.⏎** Evening⏎Late.\n2026-03-02||Two.\n"},
		{"org tree", "a.org", "* 2026\n** 2026-03 March\n*** 2026-03-01 Sunday\n**** Bath\nOne.\n*** 2026-03-02 Monday\nTwo.\n", "2026-03-01||**** Bath⏎One.\n2026-03-02||Two.\n"},
		{"org keyword", "a.org", "#+DATE: <2026-03-01 Sun>\n#+TITLE: Bath\nOne.\n", "2026-03-01|Bath|One.\n"},
		{"name", "2026-03-01.md", "One.\n\n## Evening\nLate.\n", "2026-03-01||One.⏎⏎## Evening⏎Late.\n"},
		{"name and title", "2026-03-01.md", "# Bath\nOne.\n", "2026-03-01|Bath|# Bath⏎One.\n"},
		{"name gives its date to what has none", "2026-03-01.md", "First.\n# 2026-03-01 10:00\nOne.\n# Later\nTwo.\n", "2026-03-01||First.\n2026-03-01|10:00|One.\n2026-03-01|Later|Two.\n"},
		{"name of the first day only", "2026-03-01.md", "First.\n# 2026-03-01\nOne.\n# 2026-03-02\nTwo.\n", "||First.\n2026-03-01||One.\n2026-03-02||Two.\n"},
		{"front matter", "2020-01-01.md", "---\ndate: 2026-03-01T23:30:00+08:00\ntitle: Bath\ntags: [a, b]\n---\n\nOne.\n", "2026-03-01|Bath|One.\n"},
		{"toml", "a.md", "+++\ndate = 2026-03-01\n+++\nOne.\n", "2026-03-01||One.\n"},
		{"a title that is a date", "a.md", "---\ntitle: 1 March 2026\n---\nOne.\n", "2026-03-01||One.\n"},
		{"front matter with a fault", "a.md", "---\ntitle: Bath: the second day\ndate: 2026-03-01\n---\nOne.\n", "2026-03-01|Bath: the second day|One.\n"},
		{"a rule at the top", "a.md", "---\nDear diary\n---\nOne.\n", "||---⏎Dear diary⏎---⏎One.\n"},
		{"an open block at the top", "a.md", "---\ndate: 2026-03-01\n\nOne.\n", "||---⏎date: 2026-03-01⏎⏎One.\n"},
		{"nothing", "a.md", "\n \n", ""},
		{"only front matter", "a.md", "---\ndate: 2026-03-01\n---\n", ""},
		{"a tag is no heading", "a.md", "#2026-03-01\n#tag\n", "||#2026-03-01⏎#tag\n"},
		{"windows line ends", "a.md", "## 2026-03-01\r\nOne.\r\n\r\nMore.\r\n## 2026-03-02\r\nTwo.", "2026-03-01||One.\r⏎\r⏎More.\n2026-03-02||Two.\n"},
		{"old mac line ends", "a.md", "## 2026-03-01\rOne.\r## 2026-03-02\rTwo.", "2026-03-01||One.\n2026-03-02||Two.\n"},
		{"habit", "a.md", "## 03/04/2026\nOne.\n## 25/04/2026\nTwo.\n", "2026-04-03||One.\n2026-04-25||Two.\n"},
		{"no habit", "a.md", "## 03/04/2026\nOne.\n## 25/04/2026\nTwo.\n## 04/26/2026\nThree.\n", "|03/04/2026|One.\n2026-04-25||Two.\n2026-04-26||Three.\n"},
		{"no such day", "a.md", "## 2026-02-28\nOne.\n## 2026-02-30\nTwo.\n", "2026-02-28||One.\n|2026-02-30|Two.\n"},
		{"few headings", "a.md", "# a\nOne.\n# b\nTwo.\n", "|a|# a⏎One.⏎# b⏎Two.\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := short(parse(t, c.file, c.text, Options{})); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestNotes(t *testing.T) {
	for _, c := range []struct {
		file, text string
		kind       NoteKind
		line       int
	}{
		{"a.md", "# Title\n\nBefore.\n\n## 2026-03-01\nOne.\n", NotePreamble, 1},
		{"a.md", "\n\nBefore.\n## 2026-03-01\nOne.\n", NotePreamble, 3},
		{"a.md", "## 2026-03-01\nOne.\n## 2026-02-30\nTwo.\n", NoteImpossible, 3},
		{"2026-02-30.md", "One.\n", NoteImpossible, 0},
		{"a.md", "\n## 03/04/2026\nOne.\n", NoteAmbiguous, 2},
		{"a.md", "## 2026-03-01\n\n## 2026-03-02\nTwo.\n", NoteEmpty, 1},
		{"a.md", "## 2026-03-01\nOne.\n## Later\nTwo.\n", NoteUndated, 3},
		{"a.md", "---\n[: x\n---\nOne.\n", NoteFrontMatter, 1},
		{"a.md", "---\ndate: yesterday\n---\nOne.\n", NoteFrontMatter, 1},
		{"a.md", "---\ndate: 2026-03-01\nOne.\n", NoteFrontMatter, 1},
		{"a.org", "#+TITLE: x\n#+DATE: soon\nOne.\n", NoteFrontMatter, 2},
		{"a.md", "x\n```\n## 2026-03-01\nOne.\n", NoteFence, 2},
		{"a.txt", "sch\xf6n\n", NoteEncoding, 0},
		{"a.md", strings.Repeat("## verse\ntext\n", 8), NoteCollection, 1},
	} {
		f := parse(t, c.file, c.text, Options{})
		if !f.has(c.kind, c.line) {
			t.Errorf("%q: notes %v, want %s at line %d", c.text, f.Notes, c.kind, c.line)
		}
	}
	quiet := parse(t, "a.md", "# Title\n\n## 2026-03-01\nOne.\n\n### a\n\n## 2026-03-02 Bath\nTwo.\n", Options{})
	if len(quiet.Notes) != 0 {
		t.Error("notes on a plain diary:", quiet.Notes)
	}
	many := parse(t, "a.md", strings.Repeat("## 2026-02-30\ntext\n", 50), Options{})
	if n := len(many.Notes); n != notesPerKind+2 { // the rest in one, and the collection
		t.Error("50 faults gave", n, "notes")
	}
}

func TestFrontMatterValues(t *testing.T) {
	for file, text := range map[string]string{
		"yaml.md":  "---\nTags:\n  - walk\n  - '#bath'\ncategory: health\n---\n## 2026-03-01\nOne.\n## 2026-03-02\nTwo.\n",
		"yaml2.md": "---\ntags: walk, bath\ncategory: health\nother: {a: [1]}\n...\n## 2026-03-01\nOne.\n## 2026-03-02\nTwo.\n",
		"toml.md":  "+++\ntags = [\"walk\", \"bath\"]\ncategory = \"health\"\nn = 1\n+++\n## 2026-03-01\nOne.\n## 2026-03-02\nTwo.\n",
		"keys.org": "#+FILETAGS: :walk:bath:\n#+CATEGORY: health\n* 2026-03-01\nOne.\n* 2026-03-02\nTwo.\n",
	} {
		f := parse(t, file, text, Options{})
		if len(f.Entries) != 2 || len(f.Notes) != 0 {
			t.Fatal(file, f)
		}
		for _, e := range f.Entries {
			if strings.Join(e.Tags, " ") != "walk bath" || e.Category != "health" {
				t.Errorf("%s: tags %q category %q", file, e.Tags, e.Category)
			}
		}
	}
}

func TestSplitAsAsked(t *testing.T) {
	text := "# Title\n\n## a\nOne.\n## 2026-03-01\nTwo.\n"
	for s, want := range map[Split]string{
		SplitNone:    "|Title|# Title⏎⏎## a⏎One.⏎## 2026-03-01⏎Two.\n",
		SplitHeading: "|a|One.\n|2026-03-01|Two.\n",
		SplitDate:    "|a|One.\n2026-03-01||Two.\n",
		SplitAuto:    "|a|One.\n2026-03-01||Two.\n",
		"":           "|a|One.\n2026-03-01||Two.\n",
	} {
		if got := short(parse(t, "a.md", text, Options{Split: s})); got != want {
			t.Errorf("%q: got\n%s\nwant\n%s", s, got, want)
		}
	}
	verses := "# Verses\n" + strings.Repeat("## v\ntext\n", 8)
	if f := parse(t, "a.md", verses, Options{Split: SplitDate}); len(f.Entries) != 1 || f.Split != SplitNone {
		t.Error("divided by headings although dates were asked for")
	}
	if f := parse(t, "2026-03-01.md", verses, Options{}); len(f.Entries) != 1 {
		t.Error("a day with headings was taken for a collection")
	}
}

func TestUndatedFileTakesItsDayOnlyWhenLive(t *testing.T) {
	shanghai := time.FixedZone("Shanghai", 8*3600)
	changed := time.Date(2026, 2, 28, 19, 53, 0, 0, time.UTC) // 03:53 in Shanghai
	live := Options{Modified: changed, Location: shanghai}
	if f := parse(t, "a.md", "One.", live); f.Entries[0].Date != "2026-03-01" {
		t.Error("live:", f.Entries[0].Date)
	}
	live.DayStartsAt = 4 * time.Hour
	if f := parse(t, "a.md", "One.", live); f.Entries[0].Date != "2026-02-28" {
		t.Error("before the day begins:", f.Entries[0].Date)
	}
	if f := parse(t, "a.md", "One.", Options{Location: shanghai}); f.Entries[0].Date != "" {
		t.Error("import:", f.Entries[0].Date)
	}
	if f := parse(t, "1911-01-02.md", "One.", live); f.Entries[0].Date != "1911-01-02" {
		t.Error("its own date:", f.Entries[0].Date)
	}
	if f := parse(t, "a.md", "---\ndate: 2026-03-01T23:30:00Z\n---\nOne.", live); f.Entries[0].Date != "2026-03-02" {
		t.Error("universal time:", f.Entries[0].Date)
	}
}

func TestEncodings(t *testing.T) {
	text := "## 2026-03-01\nEin schöner Tag, 今天 😀\n"
	want := "2026-03-01||Ein schöner Tag, 今天 😀\n"
	var le, be []byte
	for _, u := range append([]uint16{0xfeff}, utf16.Encode([]rune(text))...) {
		le = append(le, byte(u), byte(u>>8))
		be = append(be, byte(u>>8), byte(u))
	}
	for name, data := range map[string]string{"plain": text, "mark": "\ufeff" + text, "UTF-16LE": string(le), "UTF-16BE": string(be)} {
		f := parse(t, "a.md", data, Options{})
		if got := short(f); got != want || len(f.Notes) != 0 {
			t.Errorf("%s: %q %v", name, got, f.Notes)
		}
	}
	if got := short(parse(t, "a.md", "Sch\xf6n \x96 \x93so\x94", Options{})); got != "||Schön – “so”\n" {
		t.Errorf("Windows-1252: %q", got)
	}
	for name, data := range map[string]string{"NUL": "text\x00text", "odd UTF-16": string(le[:len(le)-1]), "image": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"} {
		_, err := Parse("a.md", strings.NewReader(data), Options{})
		var e *Error
		if !errors.Is(err, ErrBinary) || !errors.As(err, &e) || e.Name != "a.md" || strings.Contains(err.Error(), "text\x00") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A letter of several bytes may stand on any border.
func TestLettersOnBlockBorders(t *testing.T) {
	for _, border := range []int{512, 4096, 65536} {
		for shift := range 4 {
			text := strings.Repeat("a", border-shift) + "😀今é"
			for _, r := range []string{text, "## 2026-03-01\n" + text} {
				f, err := Parse("a.md", iotest.HalfReader(strings.NewReader(r)), Options{})
				if err != nil || len(f.Entries) != 1 || f.Entries[0].Text != text || len(f.Notes) != 0 {
					t.Fatalf("border %d shift %d: %v %v", border, shift, err, f.Notes)
				}
			}
		}
	}
}

func TestBounds(t *testing.T) {
	_, err := Parse("a.md", &endless{n: MaxBytes + 1}, Options{})
	if !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	_, err = Parse("a.docx", strings.NewReader("x"), Options{})
	if !errors.Is(err, ErrKind) {
		t.Error(err)
	}
	broken := errors.New("the disk is gone")
	if _, err = Parse("a.md", iotest.ErrReader(broken), Options{}); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// endless gives n letters.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	n := min(len(p), e.n)
	for i := range p[:n] {
		p[i] = 'a'
	}
	if e.n -= n; n == 0 {
		return 0, errors.New("read past the bound")
	}
	return n, nil
}
