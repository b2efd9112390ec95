package diary

import "testing"

var toolNames = []string{
	"entry.sync-conflict-20260101-000000-ABC.md", "entry.md~", "~entry.md", "~$entry.md", ".#entry.md", "#entry.md#",
	".entry.md.swp", "entry.swp", "entry.swx", "entry.tmp", "entry.md.tmp", "entry.part", "entry.md.crdownload",
	"entry (Bob's conflicted copy 2026-01-01).md", "entry (Conflicted copy phone 202601010000).md",
	"~syncthing~entry.md.tmp", ".syncthing.entry.md.tmp", ".~lock.entry.md#", ".DS_Store", ".hidden.md",
	".git/notes.md", ".trash/old.md", ".obsidian/plugin.md", ".stversions/old.md", "sub/.hidden/x.md", "@eaDir/x.md",
	"__MACOSX/x.md",
}

func TestToolNamesAreIgnored(t *testing.T) {
	for _, name := range toolNames {
		if !Ignored(name) || Readable(name) {
			t.Errorf("%s: ignored %v, readable %v", name, Ignored(name), Readable(name))
		}
	}
	for _, name := range []string{
		"2026-03-01.md", "a.MD", "notes.markdown", "b.txt", "c.org", "sub/folder/d.md", "./e.md", "part.md", "tmp.md",
		"#1.md", "C# diary.md", "A conflict at work.md", "日記.txt", "a~b.md",
	} {
		if Ignored(name) || !Readable(name) {
			t.Errorf("%s: ignored %v, readable %v", name, Ignored(name), Readable(name))
		}
	}
	for _, name := range []string{"a.jpg", "a", "md", "a.jsonl", "a.md.gz", "a.docx"} {
		if Ignored(name) || Readable(name) {
			t.Errorf("%s: ignored %v, readable %v", name, Ignored(name), Readable(name))
		}
	}
}

func TestNameDate(t *testing.T) {
	for name, want := range map[string]string{
		"2026-03-01.md":               "2026-03-01",
		"20260301-foo.md":             "2026-03-01",
		"2026_03_01.md":               "2026-03-01",
		"2026.03.01 walk.txt":         "2026-03-01",
		"walk-2026-03-01.org":         "2026-03-01",
		"journals/2026/03/01.md":      "2026-03-01",
		"journals/2026/03/01-walk.md": "2026-03-01",
		"2026/03-01.md":               "2026-03-01",
		"2026/3/1.md":                 "2026-03-01",
		"1 March 2026.md":             "2026-03-01",
		"March 1st, 2026.md":          "2026-03-01",
		"2026年3月1日.md":                "2026-03-01",
		"x/0934-12-21.md":             "0934-12-21",
		"2026-03-01 to 2026-03-07.md": "",
		"pepys_1660.md":               "",
		"amiel_1848_1881.md":          "",
		"2026-03.md":                  "",
		"2026/03.md":                  "",
		"99991399.md":                 "",
		"call 12345678.md":            "",
		"2026-03-01/backup.md":        "",
		"v1.2.3.md":                   "",
		"2026-02-30.md":               "",
		"03-04-2026.md":               "",
	} {
		if got := nameDate(name).date; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
