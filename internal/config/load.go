package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/jivad/jivad/internal/faults"
)

// MaxBytes is the largest file that is read.
const MaxBytes = 1 << 20

// Load reads the settings of a file; environ are the variables of the process,
// as os.Environ gives them, of which JIVAD_SECTION_KEY overrides a key. An
// unreadable file is the error of the system; everything that is wrong in it is
// one [*Error]. What was good is returned with it, the defaults for the rest; of
// a file that is not TOML nothing is.
func Load(path string, environ []string) (Config, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Config{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > MaxBytes {
		return Config{}, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is not a file of less than 1 MB")}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return Config{}, err
	}
	c, faults := Parse(path, string(text), environ)
	folder := filepath.Dir(path)
	for _, p := range []*string{&c.Data, &c.Socket, &c.Diary.Path, &c.Soul.Path, &c.Backups.Path,
		&c.MQTT.PasswordFile, &c.MQTT.CAFile, &c.MQTT.CertFile, &c.MQTT.KeyFile} {
		if *p, err = resolve(*p, folder); err != nil {
			return Config{}, err
		}
	}
	return c, faults
}

// Parse is Load of a text; path only names it, and paths stay as they are written.
func Parse(path, text string, environ []string) (Config, error) {
	r := reader{text: text, config: Default(), where: map[string]string{}, keys: keys()}
	if !r.file() {
		return Config{}, &Error{Path: path, Faults: r.faults}
	}
	r.environment(environ)
	if len(r.faults) == 0 {
		r.ranges()
	}
	if len(r.faults) > 0 {
		return r.config, &Error{Path: path, Faults: r.faults}
	}
	return r.config, nil
}

// reader gathers settings and faults.
type reader struct {
	text   string
	config Config
	keys   []key
	// where says what gave a key its value.
	where  map[string]string
	faults []Fault
}

func (r *reader) fault(where, key, value, format string, args ...any) {
	r.faults = append(r.faults, Fault{Where: where, Key: key, Value: value, Text: fmt.Sprintf(format, args...)})
}

// file reads the TOML; false says that it is none.
func (r *reader) file() bool {
	var tree map[string]any
	if _, err := toml.Decode(r.text, &tree); err != nil {
		var at toml.ParseError
		if errors.As(err, &at) {
			r.fault(fmt.Sprintf("line %d", at.Position.Line), "", "", "%s", at.Message+twice(at.Message))
			return false
		}
		r.fault("", "", "", "%v", err)
		return false
	}
	r.table(nil, tree)
	slices.SortStableFunc(r.faults, func(a, b Fault) int { return lineOf(a.Where) - lineOf(b.Where) })
	return true
}

// twice is what to do where a message of the reader says that a section or a key is
// there a second time, as when an example of the manual was put below the rest.
func twice(message string) string {
	if !strings.Contains(message, "already been defined") {
		return ""
	}
	return " It may be there once. jivad init has written every section and key: take the # before the key away where it stands first, give it its value there, and take this one out."
}

// table takes the values of one table and of the tables in it.
func (r *reader) table(above []string, tree map[string]any) {
	for _, name := range sorted(tree) {
		path := append(slices.Clone(above), name)
		full := strings.Join(path, ".")
		sub, isTable := tree[name].(map[string]any)
		switch k, known := r.find(full); {
		case known && isTable:
			r.fault(r.line(path), full, "", "it is a value, not a section")
		case known:
			r.where[full] = r.line(path)
			if want := set(k.field(&r.config), tree[name]); want != "" {
				r.fault(r.where[full], full, written(tree[name]), "it must be %s", want)
			}
		case isTable && r.isSection(full):
			r.table(path, sub)
		case r.isSection(full):
			r.fault(r.line(path), full, "", "it is a section: write [%s]", full)
		default:
			r.unknown(r.begin(path, tree[name]), full)
		}
	}
}

// unknown refuses a key or section that does not exist.
func (r *reader) unknown(where, name string) {
	names := make([]string, 0, len(r.keys)+len(sections))
	for _, k := range r.keys {
		names = append(names, k.name)
	}
	for _, s := range sections {
		above, _, _ := strings.Cut(s.name, ".")
		names = append(names, s.name, above)
	}
	if n := faults.Nearest(name, names); n != "" {
		r.fault(where, name, "", "there is no such key; did you mean %s?", n)
		return
	}
	r.fault(where, name, "", "there is no such key; jivad init writes a file that explains all of them")
}

// environment takes the variables that override keys. One that begins like a
// section but names no key of it is a fault, like a typing error in the file.
func (r *reader) environment(environ []string) {
	for _, pair := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(pair, "=")
		if value == "" || !strings.HasPrefix(name, "JIVAD_") {
			continue // an empty variable is one that is not set
		}
		i := slices.IndexFunc(r.keys, func(k key) bool { return Env(k.name) == name })
		if i < 0 {
			r.unknownVariable(name)
			continue
		}
		k := r.keys[i]
		if k.name == "data" || k.name == "socket" {
			continue // global flags have these variables, and go before
		}
		r.where[k.name] = name
		r.faults = slices.DeleteFunc(r.faults, func(f Fault) bool { return f.Key == k.name })
		if want := setText(k.field(&r.config), value); want != "" {
			r.fault(name, k.name, strconv.Quote(value), "it must be %s", want)
		}
	}
}

func (r *reader) unknownVariable(name string) {
	for _, s := range sections {
		if s.name == "" || !strings.HasPrefix(name, Env(s.name)+"_") {
			continue
		}
		names := make([]string, len(r.keys))
		for i, k := range r.keys {
			names[i] = Env(k.name)
		}
		hint := ""
		if n := faults.Nearest(name, names); n != "" {
			hint = "; did you mean " + n + "?"
		}
		r.fault(name, "", "", "there is no such key%s", hint)
		return
	}
}

// ranges checks the values against each other and their bounds.
func (r *reader) ranges() {
	for _, k := range r.keys {
		if k.check == nil {
			continue
		}
		if want := k.check(&r.config); want != "" {
			r.fault(r.where[k.name], k.name, show(k.field(&r.config)), "it must be %s", want)
		}
	}
	slices.SortStableFunc(r.faults, func(a, b Fault) int { return lineOf(a.Where) - lineOf(b.Where) })
}

func (r *reader) find(name string) (key, bool) {
	for _, k := range r.keys {
		if k.name == name {
			return k, true
		}
	}
	return key{}, false
}

// isSection tells whether a table of that name may be there.
func (r *reader) isSection(name string) bool {
	return slices.ContainsFunc(r.keys, func(k key) bool { return strings.HasPrefix(k.name, name+".") })
}

// line finds where a key is in the file. The decoder tells the place of a value
// only when it refuses it, so it is given a type that refuses that one.
func (r *reader) line(path []string) string {
	target := reflect.TypeFor[refusal]()
	for _, name := range slices.Backward(path) {
		target = reflect.StructOf([]reflect.StructField{{Name: "Field", Type: target, Tag: reflect.StructTag(`toml:` + strconv.Quote(name))}})
	}
	var at toml.ParseError
	if _, err := toml.Decode(r.text, reflect.New(target).Interface()); errors.As(err, &at) && at.Position.Line > 0 {
		return fmt.Sprintf("line %d", at.Position.Line)
	}
	return ""
}

// begin is the line of a key, or of the first thing in it: a table that is
// only named as part of another's name has no line of its own.
func (r *reader) begin(path []string, value any) string {
	if at := r.line(path); at != "" {
		return at
	}
	first := ""
	sub, _ := value.(map[string]any)
	for name, v := range sub {
		if at := r.begin(append(slices.Clone(path), name), v); first == "" || lineOf(at) < lineOf(first) {
			first = at
		}
	}
	return first
}

// refusal is a value that the decoder cannot set.
type refusal struct{}

var errRefused = errors.New("refused")

// UnmarshalTOML implements toml.Unmarshaler.
func (*refusal) UnmarshalTOML(any) error { return errRefused }

func lineOf(where string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(where, "line "))
	if err != nil {
		return MaxBytes // variables come after the file
	}
	return n
}

func sorted(tree map[string]any) []string {
	names := make([]string, 0, len(tree))
	for n := range tree {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// resolve makes a path absolute: ~/ is the home, another relative path begins
// at the folder of the file.
func resolve(path, folder string) (string, error) {
	if path == "" {
		return "", nil
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok || path == "~" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		if path == "~" {
			rest = ""
		}
		return filepath.Join(home, rest), nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	return filepath.Abs(path)
}

// set puts a value of the file into its field, or says what it must be.
func set(field, value any) string {
	switch f := field.(type) {
	case *time.Duration:
		s, ok := value.(string)
		if !ok {
			return wantDuration
		}
		return setText(f, s)
	case *bool:
		b, ok := value.(bool)
		if !ok {
			return wantBool
		}
		*f = b
	case *int:
		n, ok := value.(int64)
		if !ok || int64(int(n)) != n {
			return wantInt
		}
		*f = int(n)
	case *float64:
		switch x := value.(type) {
		case float64:
			*f = x
		case int64:
			*f = float64(x)
		default:
			return wantFloat
		}
	default:
		s, ok := value.(string)
		if !ok {
			return wantString
		}
		return setText(field, s)
	}
	return ""
}

const (
	wantDuration = `a duration in quotes, such as "30m" or "1h30m"`
	wantBool     = "true or false"
	wantInt      = "a whole number"
	wantFloat    = "a number"
	wantString   = "a text in quotes"
)

// setText puts a value that came as text into its field, or says what it must be.
func setText(field any, text string) string {
	switch f := field.(type) {
	case *time.Duration:
		d, err := time.ParseDuration(text)
		if err != nil {
			return wantDuration
		}
		*f = d
	case *bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return wantBool
		}
		*f = b
	case *int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return wantInt
		}
		*f = n
	case *float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return wantFloat
		}
		*f = x
	default:
		reflect.ValueOf(field).Elem().SetString(text)
	}
	return ""
}

// show writes the value of a field as the file would.
func show(field any) string {
	switch f := field.(type) {
	case *time.Duration:
		return strconv.Quote(faults.Duration(*f))
	case *bool:
		return strconv.FormatBool(*f)
	case *int:
		return strconv.Itoa(*f)
	case *float64:
		return strconv.FormatFloat(*f, 'g', -1, 64)
	default:
		return strconv.Quote(reflect.ValueOf(field).Elem().String())
	}
}

// written shows a value of any kind, cut to one short line.
func written(value any) string {
	s := fmt.Sprint(value)
	if t, ok := value.(string); ok {
		s = strconv.Quote(t)
	}
	const most = 60
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
