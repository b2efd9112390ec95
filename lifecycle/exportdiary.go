package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/lifecycle/diary"
)

const (
	// oneDiary is how many bytes of text stand in one diary.md; where there is
	// more, every year has a file, and another one after mostOfFile.
	oneDiary   = 8 << 20
	mostOfFile = 32 << 20
)

// page is one text of the exported diary.
type page struct {
	seq  uint64
	date string
	// day is the date, or that of the entry before.
	day   string
	bytes int
}

// chapter is one file of it.
type chapter struct {
	name  string
	pages []page
}

// chapters puts the texts in order of their days and divides them into files.
func chapters(pages []page) []chapter {
	day := ""
	for _, p := range pages {
		if day = p.date; day != "" {
			break
		}
	}
	total := 0
	for i := range pages {
		day = cmp.Or(pages[i].date, day)
		pages[i].day = day
		total += pages[i].bytes
	}
	slices.SortStableFunc(pages, func(a, b page) int { return cmp.Compare(a.day, b.day) })
	if total <= oneDiary {
		return []chapter{{"diary.md", pages}}
	}
	var out []chapter
	year, volume, room := "", 0, 0
	for _, p := range pages {
		if y := p.day[:min(4, len(p.day))]; len(out) == 0 || y != year || p.bytes > room {
			if volume++; y != year {
				year, volume = y, 1
			}
			name := "diary-" + cmp.Or(year, "undated")
			if volume > 1 {
				name += fmt.Sprintf("-%d", volume)
			}
			out, room = append(out, chapter{name: name + ".md"}), mostOfFile
		}
		room -= p.bytes
		out[len(out)-1].pages = append(out[len(out)-1].pages, p)
	}
	return out
}

// writeDiary writes every text that is kept, as the importer reads it.
func (x *exporting) writeDiary(ctx context.Context) (altered int, err error) {
	for _, ch := range chapters(x.diary) {
		x.out.File(ch.name)
		undated := !slices.ContainsFunc(ch.pages, func(p page) bool { return p.date != "" })
		for _, p := range ch.pages {
			if err := ctx.Err(); err != nil {
				return altered, err
			}
			t, err := x.moment.TextOf(p.seq)
			if errors.Is(err, chitta.ErrNotFound) {
				continue // it was let go meanwhile
			}
			if err != nil {
				return altered, err
			}
			entry, changed := diary.AppendMarkdown(nil, diary.Entry{Date: p.date, Label: t.Label, Text: t.Body}, undated)
			if changed {
				altered++
			}
			if _, err := x.out.Write(entry); err != nil {
				return altered, err
			}
		}
	}
	return altered, nil
}
