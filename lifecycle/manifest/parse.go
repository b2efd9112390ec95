package manifest

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/jivad/jivad/internal/faults"
)

// Parse reads a manifest of at most MaxBytes. Keys that are not there have the values of
// [Default]; path only names the text. The error is an [*Error] with everything that is
// wrong, and then there is no manifest. Whatever the text, it does not panic.
func Parse(path, text string) (Manifest, error) {
	r := reader{text: text, m: Default(), keys: keys()}
	r.read()
	if len(r.faults) > 0 {
		slices.SortStableFunc(r.faults, func(a, b Fault) int { return lineOf(a.Where) - lineOf(b.Where) })
		return Manifest{}, &Error{Path: path, Faults: r.faults}
	}
	return r.m, nil
}

// reader gathers values and faults.
type reader struct {
	text   string
	m      Manifest
	keys   []key
	paths  map[string][]string // of the keys that are there
	lines  map[string]string   // those that were looked for
	looked int                 // how often the text was read for a line
	faults []Fault
}

func (r *reader) fault(where, key, value, format string, args ...any) {
	r.faults = append(r.faults, Fault{Where: where, Key: key, Value: value, Text: fmt.Sprintf(format, args...)})
}

func (r *reader) read() {
	if len(r.text) > MaxBytes {
		r.fault("", "", "", "it is longer than %d bytes, and is not read; take out what is no part of it", MaxBytes)
		return
	}
	var tree map[string]any
	if _, err := toml.Decode(r.text, &tree); err != nil {
		var at toml.ParseError
		if errors.As(err, &at) {
			r.fault(lineText(at.Position.Line), "", "", "%s", shortenedMessage(at.Message)+twice(at.Message))
			return
		}
		r.fault("", "", "", "it is not TOML that can be read: %s", shortenedMessage(err.Error()))
		return
	}
	r.paths, r.lines = map[string][]string{}, map[string]string{}
	r.table(nil, tree)
	r.m.Mission = strings.TrimSpace(r.m.Mission)
	r.m.Substrate.Digest, r.m.Substrate.EmbedderDigest = digestText(r.m.Substrate.Digest), digestText(r.m.Substrate.EmbedderDigest)
	for _, s := range r.m.faults() {
		where := ""
		switch path, there := r.paths[s.key]; {
		case s.place > 0:
			where = r.lineOfTable(s.key, s.place)
		case s.key == keyTools || s.key == keyGrants || !there:
		case s.under != "":
			where = r.begin(append(slices.Clone(path), s.under), nil)
		default:
			where = r.begin(path, nil)
		}
		s.Where = where
		r.faults = append(r.faults, s.Fault)
	}
}

// twice is what to do where a section or a key is there a second time, as when an example
// was put below the rest.
func twice(message string) string {
	if !strings.Contains(message, "already been defined") {
		return ""
	}
	return "; it may be there once: change it where it stands first, and take this one out"
}

// shortenedMessage is a message of the reader of TOML in one line, in which it may quote
// the text.
func shortenedMessage(message string) string {
	const most = 200
	if len(message) > most {
		message = message[:most] + "…"
	}
	var out strings.Builder
	for _, word := range strings.Fields(message) {
		out.WriteString(" " + shortened(word))
	}
	return strings.TrimSpace(out.String())
}

// table takes the values of one table and of the tables in it.
func (r *reader) table(above []string, tree map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		path := append(slices.Clone(above), name)
		full := strings.Join(path, ".")
		sub, isTable := tree[name].(map[string]any)
		i := slices.IndexFunc(r.keys, func(k key) bool { return k.name == full })
		switch {
		case len(above) > 1 || strings.Contains(name, "."):
			r.unknown(path, tree[name]) // a quoted name with a dot in it is no path
		case i >= 0:
			r.paths[full] = path
			r.set(r.keys[i], tree[name])
		case isTable && r.isSection(full):
			r.table(path, sub)
		case r.isSection(full):
			r.fault(r.begin(path, tree[name]), full, "", "it is a section: write [%s]", full)
		default:
			r.unknown(path, tree[name])
		}
	}
}

// unknown refuses a key or section that does not exist.
func (r *reader) unknown(path []string, value any) {
	parts := make([]string, len(path))
	for i, p := range path {
		if parts[i] = p; !bareForm.MatchString(p) {
			parts[i] = strconv.Quote(shortened(p))
		}
	}
	full := strings.Join(parts, ".")
	section, leaf := strings.Join(path[:len(path)-1], "."), path[len(path)-1]
	where := r.begin(path, value)
	for _, k := range r.keys { // one that was put into another section
		switch {
		case k.leaf() != leaf:
		case k.section() == "":
			r.fault(where, full, "", "there is no such key; did you mean %s, above the first section?", k.name)
			return
		default:
			r.fault(where, full, "", "there is no such key; did you mean %s, below [%s]?", k.name, k.section())
			return
		}
	}
	var names []string
	for _, k := range r.keys {
		if k.section() == section {
			names = append(names, k.name)
		}
	}
	if section == "" {
		for _, s := range sections[1:] {
			names = append(names, s.name)
		}
	}
	if n := faults.Nearest(full, names); n != "" && faults.Nearest(leaf, leaves(names)) != "" {
		r.fault(where, full, "", "there is no such key; did you mean %s?", n)
		return
	}
	r.fault(where, full, "", "there is no such key; jivad init writes a manifest that explains all of them")
}

// leaves are the names without their sections.
func leaves(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = n[strings.LastIndexByte(n, '.')+1:]
	}
	return out
}

var bareForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (r *reader) isSection(name string) bool {
	return slices.ContainsFunc(r.keys, func(k key) bool { return strings.HasPrefix(k.name, name+".") })
}

// readAgain bounds how many bytes are read a second time to find lines.
const readAgain = 1 << 20

// line finds where a key is in the text. The decoder tells the place of a value only when
// it refuses it, so it is given a type that refuses that one. Beyond a bound of work there
// is no line.
func (r *reader) line(path []string) string {
	id := strings.Join(path, "\x00")
	if at, known := r.lines[id]; known {
		return at
	}
	if r.looked++; len(path) > 8 || r.looked > 4 && r.looked*len(r.text) > readAgain || r.looked > 1000 {
		return ""
	}
	target := reflect.TypeFor[refusal]()
	for _, name := range slices.Backward(path) {
		target = reflect.StructOf([]reflect.StructField{{Name: "Field", Type: target, Tag: reflect.StructTag(`toml:` + strconv.Quote(name))}})
	}
	var at toml.ParseError
	if _, err := toml.Decode(r.text, reflect.New(target).Interface()); errors.As(err, &at) {
		r.lines[id] = lineText(at.Position.Line)
	}
	return r.lines[id]
}

// begin is the line of a key, or of the first thing in it: a table that is only named as
// part of another's name has no line of its own.
func (r *reader) begin(path []string, value any) string {
	if at := r.line(path); at != "" || len(path) > 8 {
		return at
	}
	first := ""
	sub, _ := value.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(sub)) {
		if at := r.begin(append(slices.Clone(path), name), sub[name]); first == "" || lineOf(at) < lineOf(first) {
			first = at
		}
	}
	return first
}

// lineOfTable is the line of the n-th table of a list. The decoder tells nothing of
// those, so the lines that look like its head are counted; where there are more or fewer
// than tables, one of them is no head, and none is told.
func (r *reader) lineOfTable(list string, n int) string {
	heads := regexp.MustCompile(`(?m)^[ \t]*\[\[[ \t]*["']?`+list+`["']?[ \t]*\]\]`).FindAllStringIndex(r.text, -1)
	tables := len(r.m.Tools)
	if list == keyGrants {
		tables = len(r.m.Grants)
	}
	if len(heads) != tables || n > tables {
		return ""
	}
	return lineText(1 + strings.Count(r.text[:heads[n-1][0]], "\n"))
}

// refusal is a value that the decoder cannot set.
type refusal struct{}

var errRefused = errors.New("refused")

// UnmarshalTOML implements toml.Unmarshaler.
func (*refusal) UnmarshalTOML(any) error { return errRefused }

func lineText(n int) string {
	if n < 1 {
		return ""
	}
	return fmt.Sprintf("line %d", n)
}

func lineOf(where string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(where, "line "))
	if err != nil {
		return MaxBytes + 1 // those without a line come last
	}
	return n
}
