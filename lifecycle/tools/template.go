package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// part of a template: fixed text, or a variable.
type part struct {
	text     string
	variable string
	dash     bool // the whole may begin with "-" by this value
}

// template is a text with places for values: {{name}}, or {{-name}} in an argument of a
// program. A value is put in once and never read again as a template.
type template []part

var variableForm = regexp.MustCompile(`^-?[A-Za-z_][A-Za-z0-9_]{0,63}$`)

var errVariable = errors.New(`"{{" begins no variable`)

// parse reads a template. A "}}" without a "{{" before it is text.
func parse(text string) (template, error) {
	var t template
	for text != "" {
		before, rest, found := strings.Cut(text, "{{")
		if before != "" {
			t = append(t, part{text: before})
		}
		if !found {
			break
		}
		name, after, closed := strings.Cut(rest, "}}")
		if !closed || !variableForm.MatchString(name) {
			return nil, errVariable
		}
		plain, dash := strings.CutPrefix(name, "-")
		t = append(t, part{variable: plain, dash: dash})
		text = after
	}
	return t, nil
}

// variables are the names in a template, each once.
func (t template) variables() []string {
	var names []string
	for _, p := range t {
		if p.variable != "" && !slices.Contains(names, p.variable) {
			names = append(names, p.variable)
		}
	}
	return names
}

// fixed is the text of a template without variables.
func (t template) fixed() (string, bool) {
	var b strings.Builder
	for _, p := range t {
		if p.variable != "" {
			return "", false
		}
		b.WriteString(p.text)
	}
	return b.String(), true
}

// expansionBytes bounds what a template becomes.
const expansionBytes = 64 << 10

// fill puts values in. put is called for each value with the text so far, and gives what
// stands in the template for it, or what is wrong with it, as a sentence's end after
// "it".
func (t template) fill(values map[string]any, put func(p part, before string, value any) (string, string)) (string, *misfit) {
	var b strings.Builder
	for _, p := range t {
		if p.variable == "" {
			b.WriteString(p.text)
			continue
		}
		value, there := values[p.variable]
		if !there {
			return "", &misfit{argument: p.variable, missing: true, says: fmt.Sprintf("the argument %q is missing", p.variable)}
		}
		text, wrong := put(p, b.String(), value)
		if wrong == "" && strings.ContainsRune(text, 0) {
			wrong = "holds the character zero"
		}
		if wrong == "" && b.Len()+len(text) > expansionBytes {
			wrong = "is too long"
		}
		if wrong != "" {
			return "", unfit(p.variable, wrong)
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func unfit(variable, wrong string) *misfit {
	return &misfit{argument: variable, says: fmt.Sprintf("the argument %q cannot be used here: it %s", variable, wrong)}
}

const notScalar = "is no text, number or truth value"

// argument makes one argument of a program.
func (t template) argument(values map[string]any) (string, *misfit) {
	return t.fill(values, func(p part, before string, value any) (string, string) {
		text, ok := scalarText(value)
		switch {
		case !ok:
			return "", notScalar
		case before == "" && strings.HasPrefix(text, "-") && !p.dash:
			return "", `begins with "-", which would make an option of it`
		}
		return text, ""
	})
}

// path makes a path below a folder.
func (t template) path(values map[string]any) (string, *misfit) {
	path, wrong := t.fill(values, func(_ part, _ string, value any) (string, string) {
		text, ok := scalarText(value)
		switch {
		case !ok:
			return "", notScalar
		case text == "" || strings.HasPrefix(text, "/"):
			return "", "is empty or an absolute path"
		case climbs(text, "/"):
			return "", `has "." or ".." in its path`
		}
		return text, ""
	})
	if wrong == nil && badPath(path) {
		return "", &misfit{says: "the arguments together make no path inside the tool's folder"}
	}
	return path, wrong
}

// badPath tells of what is no plain path inside a folder.
func badPath(path string) bool {
	return !filepath.IsLocal(path) || climbs(path, "/") || strings.ContainsRune(path, 0) || len(path) > 4000
}

// climbs tells whether "." or ".." stands between separators.
func climbs(text, separators string) bool {
	for _, step := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		if step == "." || step == ".." {
			return true
		}
	}
	return false
}

// topicBytes bounds a topic.
const topicBytes = 1024

// topic makes a topic of MQTT; a value stays within its level.
func (t template) topic(values map[string]any) (string, *misfit) {
	topic, wrong := t.fill(values, func(_ part, before string, value any) (string, string) {
		text, ok := scalarText(value)
		switch {
		case !ok:
			return "", notScalar
		case text == "":
			return "", "is empty"
		case strings.ContainsAny(text, "+#/\x00") || strings.ContainsFunc(text, noTopic):
			return "", "holds a character that has a meaning in topics (+ # /) or none in text"
		case before == "" && strings.HasPrefix(text, "$"):
			return "", `begins with "$", which is the broker's own`
		}
		return text, ""
	})
	if wrong == nil && len(topic) > topicBytes {
		return "", &misfit{says: "the arguments together make too long a topic"}
	}
	return topic, wrong
}

func noTopic(r rune) bool {
	return unicode.IsControl(r) || r == utf8.RuneError || r&0xfffe == 0xfffe || r >= 0xfdd0 && r <= 0xfdef
}

// badTopic tells of a topic that nobody may publish to.
func badTopic(topic string) bool {
	return topic == "" || len(topic) > topicBytes || strings.ContainsAny(topic, "+#") || strings.HasPrefix(topic, "$") ||
		!utf8.ValidString(topic) || strings.ContainsFunc(topic, noTopic)
}

// plain makes a payload of plain text. A value that is the whole payload may have lines;
// one beside other text stays in its line.
func (t template) plain(values map[string]any) (string, *misfit) {
	return t.fill(values, func(_ part, _ string, value any) (string, string) {
		text, ok := scalarText(value)
		switch {
		case !ok:
			return "", notScalar
		case len(t) > 1 && strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) }):
			return "", "holds a line end or another control character"
		}
		return text, ""
	})
}

// jsonTemplate is a template of JSON: a value stands for a whole value, or inside a text.
type jsonTemplate struct {
	template
	quoted []bool // by part: it stands inside a text
}

var errJSONTemplate = errors.New("with its variables filled in it is no JSON")

// parseJSON reads a template of JSON.
func parseJSON(text string) (jsonTemplate, error) {
	t, err := parse(text)
	if err != nil {
		return jsonTemplate{}, err
	}
	j := jsonTemplate{template: t, quoted: make([]bool, len(t))}
	inside, escaped := false, false
	sample := ""
	for i, p := range t {
		if p.variable != "" {
			if escaped {
				return jsonTemplate{}, errJSONTemplate
			}
			j.quoted[i] = inside
			sample += map[bool]string{true: fmt.Sprint("_", i), false: "0"}[inside]
			continue
		}
		sample += p.text
		for _, c := range []byte(p.text) {
			switch {
			case escaped:
				escaped = false
			case inside && c == '\\':
				escaped = true
			case c == '"':
				inside = !inside
			}
		}
	}
	if _, err := strictJSON([]byte(sample), argumentBounds); err != nil {
		return jsonTemplate{}, errJSONTemplate
	}
	return j, nil
}

// json makes the JSON.
func (j jsonTemplate) json(values map[string]any) (string, *misfit) {
	i := -1
	text, wrong := j.fill(values, func(p part, _ string, value any) (string, string) {
		for i++; j.template[i].variable == ""; i++ {
		}
		if !j.quoted[i] {
			data, err := canonical(value)
			if err != nil {
				return "", "is nothing that JSON can hold"
			}
			return string(data), ""
		}
		plain, ok := scalarText(value)
		if !ok {
			return "", notScalar
		}
		data, err := json.Marshal(plain)
		if err != nil {
			return "", "is nothing that JSON can hold"
		}
		return string(data[1 : len(data)-1]), ""
	})
	if wrong != nil {
		return "", wrong
	}
	most := bounds{bytes: 2 * expansionBytes, depth: argumentBounds.depth + schemaBounds.depth, values: 1 << 16}
	if _, err := strictJSON([]byte(text), most); err != nil {
		return "", &misfit{says: "the arguments together make no JSON"}
	}
	return text, nil
}
