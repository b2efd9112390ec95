package diary

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// ReadJSONL reads one object a line: {"date": "YYYY-MM-DD" or null, "text",
// and perhaps "label", "tags", "category"}. Blank lines are passed over.
//
// A line that cannot be read is an [*Error] with [ErrLine] and its number, and
// nothing is returned: half an import is worse than none. A line without text
// and fields of other names are told in the notes.
func ReadJSONL(name string, r io.Reader) (File, error) {
	text, enc, err := readText(name, r)
	if err != nil {
		return File{}, err
	}
	p := parser{name: name, text: text, lines: splitLines(text), split: SplitNone}
	if enc != "" {
		p.note(NoteEncoding, 0, "the file is not UTF-8 and was read as "+enc)
	}
	unknown := make(map[string]int) // field name: first line
	for i := range p.lines {
		l := p.line(i)
		if blank(l) {
			continue
		}
		e, err := p.jsonLine([]byte(l), i+1, unknown)
		if err != nil {
			return File{}, &Error{Op: "read", Name: name, Line: i + 1, Err: fmt.Errorf("%w: %w", ErrLine, err),
				Hint: `every line is {"date": "YYYY-MM-DD" or null, "text": "…"}`}
		}
		if e.Text == "" {
			p.note(NoteEmpty, i+1, "nothing is written here")
			continue
		}
		e.Ordinal = len(p.entries)
		p.entries = append(p.entries, e)
	}
	fields := make([]string, 0, len(unknown))
	for f := range unknown {
		fields = append(fields, f)
	}
	slices.Sort(fields)
	for _, f := range fields {
		p.note(NoteField, unknown[f], "the field "+f+" is not known and was passed over")
	}
	return p.file(), nil
}

var (
	errJSON = errors.New("it is not a JSON object with the right kinds of values")
	errText = errors.New(`it has no "text"`)
	errDate = errors.New(`its "date" is not a day written YYYY-MM-DD`)
)

func (p *parser) jsonLine(data []byte, line int, unknown map[string]int) (Entry, error) {
	// The decoder's own errors quote the text; these do not.
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil || fields == nil {
		return Entry{}, errJSON
	}
	var date, text, label, category *string
	var tags []string
	for key, value := range fields {
		var err error
		switch key {
		case "date":
			err = json.Unmarshal(value, &date)
		case "text":
			err = json.Unmarshal(value, &text)
		case "label":
			err = json.Unmarshal(value, &label)
		case "category":
			err = json.Unmarshal(value, &category)
		case "tags":
			err = json.Unmarshal(value, &tags)
		default:
			if at, ok := unknown[key]; !ok || line < at {
				unknown[key] = line
			}
		}
		if err != nil {
			return Entry{}, errJSON
		}
	}
	if text == nil {
		return Entry{}, errText
	}
	e := Entry{Date: value(date), Text: trimBlankLines(*text), Label: value(label), Category: p.category(value(category), line), Tags: tags, Line: line}
	if e.Date != "" && !ValidDate(e.Date) {
		return Entry{}, errDate
	}
	return e, nil
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
