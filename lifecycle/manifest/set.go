package manifest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/jivad/jivad/internal/faults"
	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/tools"
	"github.com/jivad/jivad/soul/lineage"
)

const (
	wantDuration = `a duration in quotes, such as "30m" or "1h30m"`
	wantBool     = "true or false"
	wantInt      = "a whole number"
	wantFloat    = "a number"
	wantText     = "a text in quotes"
	wantTexts    = "a list of texts in quotes"
	wantVersion  = `"head", or the 64 lower-case hexadecimal digits of a version`
	head         = "head"
)

// set puts a value of the file into its field, or tells what it must be.
func (r *reader) set(k key, value any) {
	want := ""
	switch f := k.field(&r.m).(type) {
	case *[]consent.Selector:
		want = r.setConsent(f, value)
	case *Names:
		texts, ok := textsOf(value)
		if want = unless(ok, wantTexts); ok {
			*f = texts
		}
	case *map[string]float64:
		want = r.setSignals(f, value)
	case *[]tools.Grant:
		want = r.setGrants(f, value)
	case *[]tools.Declaration:
		tables, ok := tablesOf(value)
		if want = unless(ok, "tables: write [["+k.name+"]] and the keys of each below it"); ok {
			*f = make([]tools.Declaration, len(tables))
			for i, one := range tables {
				_ = (*f)[i].UnmarshalTOML(one) // keeps its faults for later
			}
		}
	default:
		want = set(f, value, k.maybe)
	}
	if want == "" {
		return
	}
	given := ""
	if !k.private && reflect.ValueOf(value).Kind() != reflect.Map && reflect.ValueOf(value).Kind() != reflect.Slice {
		given = shown(value)
	}
	r.fault(r.begin(r.paths[k.name], value), k.name, given, "it must be %s", want)
}

// set puts a plain value into its field, or says what it must be.
func set(field, value any, maybe bool) string {
	text, isText := value.(string)
	switch f := field.(type) {
	case *string:
		if !isText {
			return wantText
		}
		*f = text
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
		x, ok := number(value)
		if !ok {
			return wantFloat
		}
		*f = x
	case *time.Duration:
		if maybe && isText && text == "" {
			*f = 0
			return ""
		}
		d, err := time.ParseDuration(text)
		if !isText || err != nil || d == 0 {
			return wantDuration + unless(!maybe, `, or ""`)
		}
		*f = d
	case *lineage.Digest:
		if isText && text == head {
			*f = lineage.Digest{}
			return ""
		}
		d, err := lineage.DigestOf(text)
		if !isText || err != nil || d == (lineage.Digest{}) {
			return wantVersion
		}
		*f = d
	}
	return ""
}

// setConsent reads the scope; each thing in it that is not known is told.
func (r *reader) setConsent(f *[]consent.Selector, value any) string {
	texts, ok := textsOf(value)
	if !ok {
		return wantTexts
	}
	*f = []consent.Selector{}
	for i, text := range texts {
		s, err := consent.ParseSelector(text)
		if err != nil && i < MostConsent { // beyond it their number is the fault
			r.fault(r.begin(r.paths[keyConsent], nil), item(keyConsent, i), shown(text), "%v", err)
			continue
		}
		*f = append(*f, s)
	}
	return ""
}

func (r *reader) setSignals(f *map[string]float64, value any) string {
	table, ok := value.(map[string]any)
	if !ok {
		return "a table: write [" + keySignals + "]"
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		x, ok := number(table[name])
		if !ok {
			hint := ""
			if _, nested := table[name].(map[string]any); nested {
				hint = `; a name with a dot in it is written in quotes, as "said.helped"`
			}
			r.fault(r.begin([]string{"distillation", "signals", name}, table[name]), keySignals+"."+shortened(name), "", "it must be a number from -1 to 1%s", hint)
			continue
		}
		if *f == nil {
			*f = map[string]float64{}
		}
		(*f)[name] = x
	}
	return ""
}

func (r *reader) setGrants(f *[]tools.Grant, value any) string {
	tables, ok := tablesOf(value)
	if !ok {
		return "tables: write [[" + keyGrants + "]] and the keys of each below it"
	}
	*f = make([]tools.Grant, len(tables)) // all of them, for their lines are counted
	for i, table := range tables {
		g := &(*f)[i]
		label := fmt.Sprintf("grant %d", i+1)
		where := r.lineOfTable(keyGrants, i+1)
		for _, name := range slices.Sorted(maps.Keys(table)) {
			switch name {
			case "capability":
				if g.Capability, ok = table[name].(string); !ok {
					r.fault(where, label+", capability", shown(table[name]), "it must be %s", wantText)
				}
			case "within":
				_ = g.Within.UnmarshalTOML(table[name]) // keeps its faults for later
			default:
				hint := "capability and within are what there is"
				if n := faults.Nearest(name, []string{"capability", "within"}); n != "" {
					hint = "did you mean " + n + "?"
				}
				r.fault(where, label+", "+shortened(name), "", "there is no such key; %s", hint)
			}
		}
	}
	return ""
}

func number(value any) (float64, bool) {
	switch x := value.(type) {
	case float64:
		return x, true
	case int64:
		return float64(x), true
	}
	return 0, false
}

func textsOf(value any) ([]string, bool) {
	list, ok := value.([]any)
	if !ok {
		return nil, false
	}
	var out []string
	for _, v := range list {
		text, ok := v.(string)
		if !ok {
			return nil, false
		}
		out = append(out, text)
	}
	return out, true
}

// tablesOf takes a list of tables, as [[NAME]] or as a list of tables in one line.
func tablesOf(value any) ([]map[string]any, bool) {
	if tables, ok := value.([]map[string]any); ok {
		return tables, true
	}
	list, ok := value.([]any)
	if !ok {
		return nil, false
	}
	out := make([]map[string]any, len(list))
	for i, v := range list {
		if out[i], ok = v.(map[string]any); !ok {
			return nil, false
		}
	}
	return out, true
}

// show writes the value of a field as the file would.
func show(field any) string {
	switch f := field.(type) {
	case *time.Duration:
		if *f == 0 {
			return `""`
		}
		return strconv.Quote(faults.Duration(*f))
	case *bool:
		return strconv.FormatBool(*f)
	case *int:
		return strconv.Itoa(*f)
	case *float64:
		return strconv.FormatFloat(*f, 'g', -1, 64)
	case *lineage.Digest:
		if *f == (lineage.Digest{}) {
			return strconv.Quote(head)
		}
		return strconv.Quote(f.String())
	case *[]consent.Selector:
		texts := make([]string, len(*f))
		for i, s := range *f {
			texts[i] = s.String()
		}
		return list(texts)
	case *Names:
		return list(*f)
	case *string:
		return strconv.Quote(*f)
	}
	return ""
}

func list(texts []string) string {
	out := "["
	for i, text := range texts {
		if i > 0 {
			out += ", "
		}
		out += strconv.Quote(text)
	}
	return out + "]"
}
