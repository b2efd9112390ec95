package diary

import (
	"path"
	"path/filepath"
	"strings"
)

// kind is how a file is written.
type kind int

const (
	markdown kind = iota
	plain
	org
)

func kindOf(name string) (kind, bool) {
	switch strings.ToLower(path.Ext(slashed(name))) {
	case ".md", ".markdown":
		return markdown, true
	case ".txt":
		return plain, true
	case ".org":
		return org, true
	}
	return 0, false
}

func slashed(name string) string { return filepath.ToSlash(name) }

// Readable says whether a name, relative to the diary folder, is one that a
// person's writing has: .md, .markdown, .txt or .org, and not [Ignored].
func Readable(name string) bool {
	_, ok := kindOf(name)
	return ok && !Ignored(name)
}

// Ignored says whether a name, relative to the diary folder, is one that
// editors, sync tools and systems make for themselves: hidden files and
// folders, backups, lock files, half-written files and conflict copies.
func Ignored(name string) bool {
	for part := range strings.SplitSeq(slashed(name), "/") {
		if part != "" && part != "." && part != ".." && ignoredPart(strings.ToLower(part)) {
			return true
		}
	}
	return false
}

var (
	// Conflict copies as Syncthing, Dropbox (four languages), Nextcloud,
	// Obsidian and Seafile name them.
	ignoredInside = []string{
		".sync-conflict-", "conflicted copy", "in konflikt stehende kopie", "copie en conflit", "copia en conflicto",
		"sfconflict", "~syncthing~",
	}
	ignoredEndings = []string{
		"~", ".swp", ".swo", ".swx", ".tmp", ".temp", ".part", ".partial", ".crdownload", ".download", ".!sync", ".lock",
	}
	ignoredNames = []string{"@eadir", "__macosx", "$recycle.bin", "lost+found", "thumbs.db", "desktop.ini"}
)

func ignoredPart(part string) bool {
	switch part[0] {
	case '.', '~':
		return true
	case '#':
		if len(part) > 1 && part[len(part)-1] == '#' {
			return true
		}
	}
	for _, end := range ignoredEndings {
		if strings.HasSuffix(part, end) {
			return true
		}
	}
	for _, in := range ignoredInside {
		if strings.Contains(part, in) {
			return true
		}
	}
	for _, n := range ignoredNames {
		if part == n {
			return true
		}
	}
	return false
}

// nameDate finds the date in the name of a file: in its last part
// (2026-03-01.md, 20260301-walk.md, walk 2026_03_01.md, 1 March 2026.md) or in
// its folders (2026/03/01.md, 2026/03-01.md). Two different dates are a span
// and give none.
func nameDate(name string) when {
	name = slashed(name)
	base := strings.TrimSuffix(path.Base(name), path.Ext(name))
	w, span := dateInside(base)
	if w.state != noDate || span {
		return w
	}
	if w := readDate(base); w.state != noDate {
		return w
	}
	// At most three parts, joined, can read as a date.
	parts := strings.Split(path.Join(path.Dir(name), base), "/")
	for n := 2; n <= 3 && n <= len(parts); n++ {
		joined := strings.Join(parts[len(parts)-n:], "-")
		if w := tryDate(joined); w.state != noDate && len(parts[len(parts)-n]) == 4 {
			return w
		}
	}
	return when{}
}

// dateInside looks for YYYY-MM-DD, YYYY_MM_DD, YYYY.MM.DD or YYYYMMDD anywhere;
// span says that there are two.
func dateInside(s string) (found when, span bool) {
	for i := 0; i < len(s); i++ {
		if !digit(s[i]) || (i > 0 && digit(s[i-1])) {
			continue
		}
		var w when
		if n := digits(s[i:]); n == 8 {
			y, m, d := atoi(s[i:i+4]), atoi(s[i+4:i+6]), atoi(s[i+6:i+8])
			if y >= 1000 && y < 3000 && valid(y, m, d) {
				w = when{state: isDate, date: iso(y, m, d)}
			}
		} else if n == 4 {
			w = tryDate(s[i:])
		}
		if w.state == noDate || w.date == found.date && w.state == found.state {
			continue
		}
		if found.state != noDate {
			return when{}, true
		}
		found = w
	}
	return found, false
}
