package diary

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"pgregory.net/rapid"
)

// offset is where part, cut out of whole, begins in it; -1 when it is not cut out of it.
func offset(whole, part string) int {
	a, b := uintptr(unsafe.Pointer(unsafe.StringData(whole))), uintptr(unsafe.Pointer(unsafe.StringData(part)))
	if b < a || b+uintptr(len(part)) > a+uintptr(len(whole)) {
		return -1
	}
	return int(b - a)
}

// checkNothingLost reads text and holds the reader to its promise: every
// written line after the front matter is in exactly one place.
func checkNothingLost(t interface {
	Helper()
	Fatalf(string, ...any)
}, name, text string, o Options) {
	t.Helper()
	f, err := Parse(name, strings.NewReader(text), o)
	if err != nil {
		return // told, not lost
	}
	kind, _ := kindOf(name)
	decoded, _, _ := decode([]byte(text))
	p := parser{name: name, kind: kind, opts: o, text: decoded, lines: splitLines(decoded)}
	p.readMeta()
	p.findHeadings()
	p.settleDates()
	p.divide()
	if len(p.entries) != len(f.Entries) {
		t.Fatalf("two readings differ")
	}
	headings := make(map[int]heading)
	for _, h := range p.heads {
		headings[h.first] = h
		headings[h.last] = h
	}
	var spans [][2]int             // of the entries, in order
	labels := make(map[int]string) // by line
	end := 0
	for i, e := range p.entries {
		if e.Ordinal != i || e.Line < 1 || e.Line > len(p.lines) || blank(e.Text) || e.Date != "" && !ValidDate(e.Date) {
			t.Fatalf("entry %d: %+v", i, e)
		}
		if !utf8.ValidString(e.Text) {
			t.Fatalf("entry %d is not UTF-8", i)
		}
		labels[e.Line] = e.Label
		at := offset(p.text, e.Text)
		if h, ok := headings[e.Line-1]; ok && e.Label == "" && (e.Text == h.when.rest || e.Text == h.text) {
			labels[e.Line] = e.Text // a heading that says all there is
			if at < 0 {             // less the brackets of its date
				continue
			}
		}
		if at < 0 {
			t.Fatalf("entry %d is not a part of the file", i)
		}
		if at < end {
			t.Fatalf("entry %d overlaps the one before", i)
		}
		end = at + len(e.Text)
		spans = append(spans, [2]int{at, end})
		if f.Entries[i].Text != e.Text || f.Entries[i].Date != e.Date || f.Entries[i].Label != e.Label {
			t.Fatalf("two readings differ at entry %d", i)
		}
	}
	for _, h := range p.headings {
		labels[h.Line] = h.Text
	}
	for i := p.body; i < len(p.lines); i++ {
		s := p.line(i)
		first := len(s) - len(strings.TrimLeft(s, " \t")) // whichever letter is first
		if blank(s) {
			continue
		}
		at := p.lines[i].start + min(first, len(s)-1)
		for len(spans) > 0 && spans[0][1] <= at {
			spans = spans[1:]
		}
		if len(spans) > 0 && spans[0][0] <= at {
			continue
		}
		h, ok := headings[i]
		if !ok {
			t.Fatalf("line %d is lost", i+1)
		}
		if h.text == "" || h.when.state == isDate && h.when.onlyDate() {
			continue
		}
		if label := labels[h.first+1]; label != h.text && label != h.when.rest || label == "" {
			t.Fatalf("what the heading on line %d says is lost", h.first+1)
		}
	}
}

var seeds = []string{
	"# Diary\n\n## 2026-03-01\n\nOne.\n\n## 2026-03-02 Bath\n\n## Thursday.\nTwo.\n",
	"---\ndate: 2026-03-01\ntags: [a]\n---\nOne.\n",
	"+++\ndate = 2026-03-01\n+++\nOne.\n",
	"#+DATE: <2026-03-01 Sun>\n* 2026-03-01\nOne.\n** [2026-03-02 Mon 10:00] x\n",
	"2026-03-01\n===\nOne.\n```\n## x\n```\n1 March 2026\nTwo.\r\n",
	"## 03/04/2026\nOne.\n## 2026年3月1日（日）晴\r二\r## 2026-02-30\n",
	"sch\xf6n\n", "\xff\xfeS\x00", "\ufeff## 2026-03-01\nx", strings.Repeat("## v\ntext\n", 8),
	"---\n&a [*a, *a]\n---\nx", "---\na: &a {b: *a}\n---\nx",
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		for kind := range 4 {
			f.Add([]byte(s), uint8(kind), uint8(0))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, kind, split uint8) {
		name := []string{"a.md", "b.txt", "c.org", "2026-03-01.md"}[kind%4]
		o := Options{Split: []Split{SplitAuto, SplitDate, SplitHeading, SplitNone}[split%4]}
		checkNothingLost(t, name, string(data), o)
	})
}

func FuzzReadJSONL(f *testing.F) {
	f.Add([]byte(`{"date":"2026-03-01","text":"One.","label":"x","tags":["a"],"y":1}` + "\n" + `{"date":null,"text":""}`))
	f.Add([]byte("{\"text\":\"sch\xf6n\"}\n\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ReadJSONL("a.jsonl", strings.NewReader(string(data)))
		if err != nil {
			return
		}
		text, _, _ := decode(data)
		written := 0
		for _, l := range splitLines(text) {
			if !blank(text[l.start:l.end]) {
				written++
			}
		}
		empty := 0
		for _, n := range file.Notes {
			if n.Kind == NoteEmpty {
				empty++
			}
		}
		if len(file.Entries)+empty != written && empty < notesPerKind {
			t.Fatalf("%d lines gave %d entries and %d notes", written, len(file.Entries), empty)
		}
		for i, e := range file.Entries {
			if e.Ordinal != i || blank(e.Text) || e.Date != "" && !ValidDate(e.Date) {
				t.Fatalf("entry %d: %+v", i, e)
			}
		}
	})
}

// Any pile of the lines that diaries are made of is read without loss.
func TestNothingIsLost(t *testing.T) {
	lines := rapid.SampledFrom([]string{
		"", "", " ", "\t", "One.", "Two, 今天 é.", "# Title", "## Thursday.", "### deeper", "# 2026", "## 2026-03-01", "## 2026-03-02 Bath",
		"## 2026-03-01 07:30", "### 2026-03-03", "# 2026-03-04", "## 2026-02-30", "## 03/04/2026", "## 25/04/2026 x", "##", "# #", "## # ##",
		"2026-03-05", "1 March 2026", "**2026-03-06**", "===", "---", "--", "```", "~~~~", "```x", "* 2026-03-07", "** <2026-03-08 Sun> x", "* star",
		"#+DATE: 2026-03-01", "+++", "date: 2026-03-01", "title: a: b", "    ## 2026-03-09", "## <2026-03-10> <x>", "## [2026-03-11 Mon] x", "\u3000x",
	})
	ends := rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n", "\r"})
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 40).Draw(t, "n") {
			b.WriteString(lines.Draw(t, "line") + ends.Draw(t, "end"))
		}
		o := Options{Split: rapid.SampledFrom([]Split{SplitAuto, SplitAuto, SplitDate, SplitHeading, SplitNone}).Draw(t, "split")}
		checkNothingLost(t, rapid.SampledFrom([]string{"a.md", "b.txt", "c.org", "2026-03-01.md"}).Draw(t, "name"), b.String(), o)
	})
}

func TestNothingIsLostOfRealDiaries(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(sharedDir(t, "data", "diaries"), "*.md"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no diaries", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, split := range []Split{SplitAuto, SplitHeading, SplitNone} {
			checkNothingLost(t, filepath.Base(path), string(data), Options{Split: split})
		}
	}
}

func BenchmarkParse(b *testing.B) {
	data, err := os.ReadFile(sharedDir(b, "data", "diaries", "scott_1910_1912.md"))
	if err != nil {
		b.Fatal(err)
	}
	text := string(data)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if f := parse(b, "scott.md", text, Options{}); len(f.Entries) != 403 {
			b.Fatal(len(f.Entries))
		}
	}
}

func BenchmarkKey(b *testing.B) {
	text := strings.Repeat("A long entry of a quiet day, with the usual words. ", 40)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Key("2026-03-01", text)
	}
}
