package diary

import "slices"

// collectionSize is how many headings with text under them make a collection.
const collectionSize = 8

// divide cuts the body into entries.
func (p *parser) divide() {
	if p.opts.Split == SplitNone {
		p.whole()
		return
	}
	if p.opts.Split != SplitHeading {
		if form, level, ok := p.dateLevel(); ok {
			p.byDates(form, level)
			return
		}
		if p.opts.Split == SplitDate || p.meta.date != "" {
			p.whole()
			return
		}
	}
	least := collectionSize
	if p.opts.Split == SplitHeading {
		least = 2
	}
	if form, level, ok := p.headingLevel(least); ok {
		p.byHeadings(form, level)
		return
	}
	p.whole()
}

type group struct {
	form  form
	level int
}

// dateLevel is the kind of heading that most dates have; of two kinds with as
// many, the higher one. Dates alone on their lines count where no heading is a
// date.
func (p *parser) dateLevel() (form, int, bool) {
	count := make(map[group]int)
	for _, h := range p.heads {
		if h.when.state == isDate {
			count[group{h.form, h.level}]++
		}
	}
	best, most := group{}, 0
	for _, g := range sortedGroups(count) {
		if n := count[g]; n > most && !(g.form == alone && most > 0) {
			best, most = g, n
		}
	}
	return best.form, best.level, most > 0
}

// headingLevel is the highest kind of heading with at least least texts.
func (p *parser) headingLevel(least int) (form, int, bool) {
	count := make(map[group]int)
	for i, h := range p.heads {
		if h.form == alone {
			continue
		}
		end := len(p.lines)
		if i+1 < len(p.heads) {
			end = p.heads[i+1].first
		}
		if text, _ := p.between(h.last+1, end); text != "" {
			count[group{h.form, h.level}]++
		}
	}
	for _, g := range sortedGroups(count) {
		if count[g] >= least {
			return g.form, g.level, true
		}
	}
	return 0, 0, false
}

func sortedGroups(m map[group]int) []group {
	groups := make([]group, 0, len(m))
	for g := range m {
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b group) int {
		if a.level != b.level {
			return a.level - b.level
		}
		return int(a.form) - int(b.form)
	})
	return groups
}

// between is the text of lines from to end without outer blank lines, and the
// line it begins on.
func (p *parser) between(from, end int) (string, int) {
	for from < end && blank(p.line(from)) {
		from++
	}
	for end > from && blank(p.line(end-1)) {
		end--
	}
	if from >= end {
		return "", from
	}
	return p.text[p.lines[from].start:p.lines[end-1].end], from
}

// whole makes one entry of the file.
func (p *parser) whole() {
	p.split = SplitNone
	text, at := p.between(p.body, len(p.lines))
	if text == "" {
		return
	}
	label := p.meta.title
	if label == "" && len(p.heads) > 0 && p.heads[0].first == at && p.heads[0].form != alone {
		label = p.heads[0].text
	}
	p.add(Entry{Date: p.dateOr(p.meta.date), Text: text, Label: label, Line: at + 1})
}

// dateOr is date, or the local day of the last change where the caller gave one.
func (p *parser) dateOr(date string) string {
	if date == "" && !p.opts.Modified.IsZero() {
		return LocalDay(p.opts.Modified, p.opts.Location, p.opts.DayStartsAt)
	}
	return date
}

// byDates divides by the headings of one kind that are dates. Others of the
// same kind begin an entry without a date; higher ones end an entry; deeper
// ones are text.
func (p *parser) byDates(f form, level int) {
	p.split = SplitDate
	// The date of the file is the date of what has none, unless the headings
	// tell of other days: then it is only the day the file was begun.
	date := p.meta.date
	cuts := p.heads[:0:0]
	dated := false
	for _, h := range p.heads {
		isCut := h.when.state == isDate && h.level == level || h.form == f && h.level <= level ||
			h.level < level && f != alone && h.form != underline
		if f == alone { // only date lines divide, and a title may stand before them
			isCut = h.form == alone && h.when.state == isDate || !dated && h.form != alone
		}
		if !isCut {
			continue
		}
		if h.when.state == isDate {
			dated = true
			if h.when.date != date {
				date = ""
			}
		}
		cuts = append(cuts, h)
	}
	p.cut(cuts, level, date)
}

// byHeadings divides a collection by its headings.
func (p *parser) byHeadings(f form, level int) {
	p.split = SplitHeading
	var cuts []heading
	for _, h := range p.heads {
		if h.form == f && h.level <= level || h.level < level && h.form != underline {
			h.when = when{}
			cuts = append(cuts, h)
		}
	}
	p.note(NoteCollection, cuts[0].first+1, "the file has headings and no dates, so every heading begins an entry of its own")
	p.cut(cuts, level, p.dateOr(p.meta.date))
}

// cut makes an entry of what stands between two cuts. undated is the date of
// entries whose heading has none.
func (p *parser) cut(cuts []heading, level int, undated string) {
	start := p.body
	end := len(p.lines)
	if len(cuts) > 0 {
		end = cuts[0].first
	}
	dated := false
	before := func(line int) {
		if p.split == SplitDate && !dated {
			p.note(NotePreamble, line, "the text before the first date is kept as an entry of its own")
		}
	}
	if text, at := p.between(start, end); text != "" {
		before(at + 1)
		p.add(Entry{Date: undated, Text: text, Line: at + 1})
	}
	for i, h := range cuts {
		end := len(p.lines)
		if i+1 < len(cuts) {
			end = cuts[i+1].first
		}
		text, _ := p.between(h.last+1, end)
		line := h.first + 1
		e := Entry{Date: undated, Text: text, Label: h.text, Line: line}
		hasDate := h.when.state == isDate
		if hasDate {
			e.Date, e.Label = h.when.date, h.when.rest
			dated = true
		}
		switch {
		case text != "":
			if !hasDate {
				before(line)
			}
		case h.level < level || !hasDate && i == 0:
			if h.text != "" {
				p.headings = append(p.headings, Heading{Text: h.text, Line: line})
			}
			continue
		case hasDate && h.when.onlyDate():
			p.note(NoteEmpty, line, "nothing is written under this date")
			continue
		case e.Label == "":
			continue
		default: // a heading that says all there is: "2026-03-01 Toothache."
			e.Text, e.Label = e.Label, ""
		}
		if p.split == SplitDate && h.when.state == noDate && dated && h.level == level {
			p.note(NoteUndated, line, "this heading is not a date; its entry is kept without one")
		}
		p.add(e)
	}
}
