package diary

import (
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"go.yaml.in/yaml/v3"
)

// maxFrontMatter bounds the block that is taken for front matter.
const maxFrontMatter = 64 << 10

// meta is what a file says about itself.
type meta struct {
	date, title, category string
	tags                  []string
}

// readMeta reads the front matter (YAML, TOML or org keywords) and the name.
func (p *parser) readMeta() {
	if p.kind == org {
		p.orgKeywords()
	} else if len(p.lines) > 0 {
		switch strings.TrimRight(p.line(0), " \t") {
		case "---":
			p.frontMatter(yamlValues, "---", "...")
		case "+++":
			p.frontMatter(tomlValues, "+++")
		}
	}
	if p.meta.date == "" {
		w := readDate(p.meta.title)
		if w.state == isDate && w.rest == "" {
			p.meta.date, p.meta.title = w.date, ""
		}
	}
	if p.meta.date == "" {
		switch w := nameDate(p.name); w.state {
		case isDate:
			p.meta.date = w.date
		case impossible:
			p.note(NoteImpossible, 0, "the name of the file is written like a date, but the calendar has no such day")
		case ambiguous:
			p.note(NoteAmbiguous, 0, "the date in the name of the file reads two ways, so it was not taken for one")
		}
	}
}

// frontMatter reads the block between the first line and the next line that is
// one of ends. What is not understood stays text.
func (p *parser) frontMatter(read func(string) (map[string][]string, error), ends ...string) {
	end := 0
	for i := 1; i < len(p.lines) && end == 0 && p.lines[i].start < maxFrontMatter; i++ {
		for _, mark := range ends {
			if strings.TrimRight(p.line(i), " \t") == mark {
				end = i
			}
		}
	}
	if end == 0 {
		if len(p.lines) > 1 && len(lenientValues(p.line(1))) > 0 {
			p.note(NoteFrontMatter, 1, "the block at the beginning is never closed; it was read as text")
		}
		return
	}
	block := newlines.Replace(p.text[p.lines[1].start:p.lines[end].start])
	values, err := read(block)
	if err != nil {
		values = lenientValues(block)
		what := "it was read line by line"
		if len(values) == 0 {
			what = "it was kept as text"
		}
		p.note(NoteFrontMatter, 1, "the block at the beginning is not well-formed; "+what)
		if len(values) == 0 {
			return
		}
	}
	p.body = end + 1
	p.take(values, 1)
}

// take keeps the values that this package knows.
func (p *parser) take(values map[string][]string, line int) {
	first := func(key string) string {
		if v := values[key]; len(v) > 0 {
			return strings.TrimSpace(v[0])
		}
		return ""
	}
	p.meta.title, p.meta.category = first("title"), p.category(first("category"), line)
	for _, v := range values["tags"] {
		for _, t := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' }) {
			if t = strings.TrimLeft(strings.TrimSpace(t), "#"); t != "" {
				p.meta.tags = append(p.meta.tags, t)
			}
		}
	}
	if s := first("date"); s != "" {
		if p.meta.date = p.dayOf(s); p.meta.date == "" {
			p.note(NoteFrontMatter, line, "the date at the beginning cannot be read; write it as YYYY-MM-DD")
		}
	}
}

// dayOf reads a date as people and programs write it. A moment in universal
// time is the day it is at the person's place; every other is the day as written.
func (p *parser) dayOf(s string) string {
	if strings.HasSuffix(s, "Z") && p.opts.Location != nil {
		if t, err := time.Parse(time.RFC3339, s); err == nil {
			return LocalDay(t, p.opts.Location, 0)
		}
	}
	if w := readDate(s); w.state == isDate {
		return w.date
	}
	return ""
}

// yamlValues reads the top level of a YAML mapping: scalars and lists of scalars.
func yamlValues(block string) (map[string][]string, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(block), &doc); err != nil {
		return nil, err
	}
	values := make(map[string][]string)
	if doc.Kind == 0 { // empty
		return values, nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, errNotMapping
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := strings.ToLower(root.Content[i].Value), root.Content[i+1]
		nodes := []*yaml.Node{value}
		if value.Kind == yaml.SequenceNode {
			nodes = value.Content
		}
		for _, n := range nodes {
			if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
				values[key] = append(values[key], n.Value)
			}
		}
	}
	return values, nil
}

// tomlValues reads the top level of a TOML document.
func tomlValues(block string) (map[string][]string, error) {
	var doc map[string]any
	if _, err := toml.Decode(block, &doc); err != nil {
		return nil, err
	}
	values := make(map[string][]string)
	for key, value := range doc {
		key = strings.ToLower(key)
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		for _, v := range list {
			switch v := v.(type) {
			case string:
				values[key] = append(values[key], v)
			case time.Time:
				values[key] = append(values[key], v.Format(time.RFC3339))
			}
		}
	}
	return values, nil
}

// lenientValues reads "key: value" and "key = value" lines of the known keys,
// for blocks that a strict reader refuses (title: Bath: the second day).
func lenientValues(block string) map[string][]string {
	values := make(map[string][]string)
	for l := range strings.SplitSeq(block, "\n") {
		i := strings.IndexAny(l, ":=")
		if i < 0 {
			continue
		}
		key := strings.ToLower(strings.TrimSpace(l[:i]))
		value := strings.Trim(strings.TrimSpace(l[i+1:]), `"'[]`)
		switch key {
		case "date", "title", "tags", "category":
			if value != "" {
				values[key] = append(values[key], value)
			}
		}
	}
	return values
}

// orgKeywords reads the #+KEY: value lines that an org file begins with.
func (p *parser) orgKeywords() {
	values := make(map[string][]string)
	dateLine := 1
	for i := 0; i < len(p.lines); i++ {
		s := strings.TrimSpace(p.line(i))
		if s == "" {
			continue
		}
		key, value, ok := strings.Cut(strings.TrimPrefix(s, "#+"), ":")
		if !strings.HasPrefix(s, "#+") || !ok || strings.ContainsAny(key, " \t") {
			break
		}
		key, value = strings.ToLower(key), strings.TrimSpace(value)
		switch key {
		case "filetags", "tags":
			key, value = "tags", strings.ReplaceAll(strings.Trim(value, ":"), ":", ",")
		case "date":
			dateLine = i + 1
		}
		if value != "" {
			values[key] = append(values[key], value)
		}
		p.body = i + 1
	}
	p.take(values, dateLine)
}
