// Package diary reads and watches what a person writes: files and folders of
// dated text become entries, and a changed file becomes one [Change].
//
// [Parse] understands one file, [Read] a file or a whole folder, [ReadIn] one
// file of a watched folder, [ReadJSONL] entries that a program wrote, one
// object a line. [Watch] tells which files of a folder are new, changed or
// gone. [Key] names an entry by its day and its words, so that two copies of
// one entry are one.
//
// Files are opened for reading only and never changed. Whatever the reader
// could not understand stays in the text of an entry and is told in
// [File.Notes]; nothing a person wrote is dropped.
package diary

import (
	"io"
	"time"
)

// Entry is one piece of writing.
type Entry struct {
	// Date is the entry's own local date, YYYY-MM-DD, or empty when unknown.
	Date string
	// Text is what was written, without the heading and without blank lines
	// before and after; inside it is never rewritten.
	Text string
	// Label is what the heading says beside the date, or the whole heading
	// when it holds none. A time of day stays in the label.
	Label string
	// Tags and Category come from the front matter of the file. Category is
	// empty or one of [Categories].
	Tags     []string
	Category string
	// Ordinal is the position in the file, from 0.
	Ordinal int
	// Line is where the entry starts (its heading, if it has one), from 1.
	Line int
}

// File is what one file holds.
type File struct {
	// Name is the name that was given to the reader, with slashes.
	Name    string
	Entries []Entry
	// Headings stand over other headings and have no text of their own: the
	// title, a year, a month. They belong to no entry.
	Headings []Heading
	// Notes are things the person should be told.
	Notes []Note
	// Split is how the file was divided: date, heading or none.
	Split Split
}

// Heading is a heading without text of its own.
type Heading struct {
	Text string
	Line int
}

// Split says how a file is divided into entries.
type Split string

const (
	// SplitAuto (or the empty value) divides by date headings where there are
	// any, a file without any date by its headings when it looks like a
	// collection, and leaves every other file whole.
	SplitAuto Split = "auto"
	// SplitDate divides by date headings only.
	SplitDate Split = "date"
	// SplitHeading divides by the shallowest headings that come more than once.
	SplitHeading Split = "heading"
	// SplitNone leaves the file whole.
	SplitNone Split = "none"
)

// Options guide the reader. The zero value is right for an import.
type Options struct {
	Split Split
	// Modified is when the file was last changed. When it is given, entries of
	// a file without any date take its local day: right for a file that is
	// being written now. When it is zero they stay without a date, which is
	// right for an import, where the copy is younger than the writing.
	Modified time.Time
	// Location is where the person lives; nil means the location of Modified.
	Location *time.Location
	// DayStartsAt is the local time of day at which a new day begins, 0 to 24 h.
	DayStartsAt time.Duration
}

// NoteKind names a kind of note.
type NoteKind string

const (
	NoteEncoding    NoteKind = "encoding"     // not UTF-8, read by another table
	NotePreamble    NoteKind = "preamble"     // text before the first date heading
	NoteUndated     NoteKind = "undated"      // a heading without a date among dates
	NoteImpossible  NoteKind = "impossible"   // a date that no calendar has
	NoteAmbiguous   NoteKind = "ambiguous"    // a date that reads two ways
	NoteEmpty       NoteKind = "empty"        // a date without text
	NoteFrontMatter NoteKind = "front-matter" // front matter or a value in it not understood
	NoteCollection  NoteKind = "collection"   // divided by headings
	NoteFence       NoteKind = "fence"        // a code block that is never closed
	NoteField       NoteKind = "field"        // an unknown field of a JSON line
	NoteCategory    NoteKind = "category"     // a category that consent does not know
	NoteLink        NoteKind = "link"         // links of a folder that were not followed
)

// Note is one thing the person should be told about a file. It never quotes
// what they wrote.
type Note struct {
	Kind NoteKind
	// Line is where, from 1; 0 means the whole file.
	Line int
	Text string
}

// notesPerKind bounds how often one kind is told of one file.
const notesPerKind = 20

// MaxBytes is the largest file that is read.
const MaxBytes = 64 << 20

// Parse reads one file of writing. The name decides by its ending how (.md,
// .markdown, .txt, .org), and its date counts when the text has none.
//
// Errors are of type [*Error]: [ErrKind] for another ending, [ErrTooLarge],
// [ErrBinary], or what the reader r said.
func Parse(name string, r io.Reader, o Options) (File, error) {
	kind, ok := kindOf(name)
	if !ok {
		return File{}, &Error{Op: "read", Name: name, Err: ErrKind, Hint: "name it .md, .markdown, .txt or .org"}
	}
	text, enc, err := readText(name, r)
	if err != nil {
		return File{}, err
	}
	p := parser{name: name, kind: kind, opts: o, text: text, lines: splitLines(text)}
	if enc != "" {
		p.note(NoteEncoding, 0, "the file is not UTF-8 and was read as "+enc+"; save it as UTF-8 if letters look wrong")
	}
	p.readMeta()
	p.findHeadings()
	p.settleDates()
	p.divide()
	return p.file(), nil
}

// parser holds one file while it is read.
type parser struct {
	name  string
	kind  kind
	opts  Options
	text  string
	lines []line

	meta     meta
	body     int // first line after the front matter
	heads    []heading
	unclosed []int // lines that begin a code block without an end
	split    Split
	entries  []Entry
	headings []Heading
	notes    []Note
	told     map[NoteKind]int
}

func (p *parser) file() File {
	for _, n := range sortedKinds(p.told) {
		if more := p.told[n] - notesPerKind; more > 0 {
			p.notes = append(p.notes, Note{Kind: n, Text: plural(more, "more place", "more places") + " of the same kind"})
		}
	}
	return File{Name: p.name, Entries: p.entries, Headings: p.headings, Notes: p.notes, Split: p.split}
}

// note tells the person something about a line; 0 is the whole file.
func (p *parser) note(k NoteKind, line int, text string) {
	if p.told == nil {
		p.told = make(map[NoteKind]int)
	}
	if p.told[k]++; p.told[k] <= notesPerKind {
		p.notes = append(p.notes, Note{Kind: k, Line: line, Text: text})
	}
}

func (p *parser) add(e Entry) {
	e.Ordinal = len(p.entries)
	e.Tags, e.Category = p.meta.tags, p.meta.category
	p.entries = append(p.entries, e)
}
