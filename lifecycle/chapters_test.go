package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// However many texts there are, each stands in one file, in order of the days; a
// small diary is one file, and of a large one every file is of one year.
func TestTheDiaryIsDividedByYears(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		large := rapid.Bool().Draw(t, "large")
		var pages []page
		total := 0
		for i := range rapid.IntRange(0, 60).Draw(t, "texts") {
			p := page{seq: uint64(i + 1), bytes: rapid.IntRange(1, 1000).Draw(t, "bytes")}
			if large {
				p.bytes *= 4 << 10
			}
			if rapid.IntRange(0, 4).Draw(t, "dated") > 0 {
				p.date = fmt.Sprintf("19%02d-05-%02d", rapid.IntRange(10, 13).Draw(t, "year"), rapid.IntRange(1, 31).Draw(t, "day"))
			}
			total += p.bytes
			pages = append(pages, p)
		}
		given := slices.Clone(pages)
		all := chapters(pages)
		var seen []page
		names := map[string]bool{}
		for _, ch := range all {
			if names[ch.name] || !strings.HasSuffix(ch.name, ".md") {
				t.Fatalf("%s twice, or no Markdown", ch.name)
			}
			names[ch.name] = true
			size := 0
			for _, p := range ch.pages {
				size += p.bytes
				if len(all) > 1 && p.date != "" && !strings.HasPrefix(ch.name, "diary-"+p.date[:4]) {
					t.Fatalf("%s is in %s", p.date, ch.name)
				}
			}
			if len(ch.pages) > 1 && size > mostOfFile {
				t.Fatalf("%s has %d bytes", ch.name, size)
			}
			seen = append(seen, ch.pages...)
		}
		if one := len(all) == 1 && all[0].name == "diary.md"; one != (total <= oneDiary) {
			t.Fatalf("%d bytes in %d files", total, len(all))
		}
		if !slices.IsSortedFunc(seen, func(a, b page) int { return strings.Compare(a.day, b.day) }) {
			t.Fatal("not in order of the days")
		}
		slices.SortFunc(seen, func(a, b page) int { return int(a.seq) - int(b.seq) })
		if len(seen) != len(given) {
			t.Fatalf("%d texts of %d", len(seen), len(given))
		}
		for i := range seen {
			if seen[i].seq != given[i].seq || seen[i].date != given[i].date {
				t.Fatalf("text %d is another", i)
			}
		}
	})
}
