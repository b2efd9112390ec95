package diary

import (
	"strings"
	"testing"
)

// Front matter of every kind, with whatever stands in it: it is understood, or
// told and kept as text, and the text below it is not touched.
func FuzzFrontMatter(f *testing.F) {
	for _, s := range []string{
		"date: 2026-03-01\ntags: [a, b]\ncategory: health", "title: Bath: the second day\ndate: 1 March 2026", "date: !!binary x\n&a a: *a", "a: &a [*a, *a]",
		"date = 2026-03-01\ntags = [\"a\"]", "date = 2026-03-01T10:00:00Z\n[x]\ny = 1", "title = '''\n---\n'''", "? {a: b}\n: c", "- 1\n- 2", "", "\x00", "date: 2026-02-30\ncategory: none",
	} {
		for kind := range uint8(3) {
			f.Add(s, kind)
		}
	}
	f.Fuzz(func(t *testing.T, block string, kind uint8) {
		const body = "What was written."
		name, text := "a.md", "---\n"+block+"\n---\n"+body
		switch kind % 3 {
		case 1:
			text = "+++\n" + block + "\n+++\n" + body
		case 2:
			name, text = "a.org", "#+DATE: "+strings.ReplaceAll(block, "\n", "\n#+TAGS: ")+"\n"+body
		}
		checkNothingLost(t, name, text, Options{Split: SplitNone})
		file, err := Parse(name, strings.NewReader(text), Options{Split: SplitNone})
		if err != nil {
			return
		}
		if len(file.Entries) != 1 || !strings.HasSuffix(file.Entries[0].Text, body) {
			t.Fatalf("%+v", file.Entries)
		}
		if e := file.Entries[0]; e.Category != "" && !ValidCategory(e.Category) {
			t.Fatalf("category %q", e.Category)
		}
	})
}

// Any two texts, written as Markdown one after the other, are read as two entries.
func FuzzMarkdown(f *testing.F) {
	for _, a := range trickyLines {
		f.Add("x\n"+a+"\ny\n", "evening", a+"\n2026-03-03\n===\n", false)
		f.Add(a+"\nx", a, "y\n"+a, true)
	}
	f.Fuzz(func(t *testing.T, a, label, b string, undated bool) {
		date := "2026-03-01"
		if undated {
			date = ""
		}
		var entries []Entry
		for _, text := range []string{a, b} {
			text = strings.ToValidUTF8(text, "\ufffd")
			if blank(text) {
				return
			}
			entries = append(entries, Entry{Date: date, Label: strings.ToValidUTF8(label, "\ufffd"), Text: text})
		}
		checkMarkdown(t, entries, undated)
	})
}
