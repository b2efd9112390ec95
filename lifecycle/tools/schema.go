package tools

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a JSON schema (draft 2020-12) of the arguments of a tool, or of what a
// grant covers of them. The zero value is the empty one.
//
// It may hold the keywords of [Keywords], and references only to its own $defs. Objects
// never take members that are not declared, whatever stands in it: additionalProperties
// may be written as false only.
type Schema struct {
	given any   // as JSON has it: map[string]any and so on; nil for none
	err   error // it could not be read
}

// SchemaOf reads a schema from a text of JSON; faults are kept for [Check].
func SchemaOf(text string) Schema {
	given, err := strictJSON([]byte(text), schemaBounds)
	return Schema{given: given, err: err}
}

// UnmarshalTOML takes a table, or a text that is JSON; faults are kept for [Check].
func (s *Schema) UnmarshalTOML(value any) error {
	*s = schemaOf(value)
	return nil
}

// schemaOf makes a schema from a value of TOML.
func schemaOf(value any) Schema {
	if text, ok := value.(string); ok {
		return SchemaOf(text)
	}
	given, err := jsonOf(value, schemaBounds.depth)
	return Schema{given: given, err: err}
}

// jsonOf turns a value of TOML into one of JSON.
func jsonOf(value any, depth int) (any, error) {
	if depth == 0 {
		return nil, errTooDeep
	}
	switch v := value.(type) {
	case string:
		return plainText(v)
	case bool:
		return v, nil
	case int64:
		return exactNumber(fmt.Sprint(v))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, errNumber
		}
		return v, nil
	case []any:
		list := make([]any, len(v))
		for i, one := range v {
			var err error
			if list[i], err = jsonOf(one, depth-1); err != nil {
				return nil, err
			}
		}
		return list, nil
	case []map[string]any:
		list := make([]any, len(v))
		for i, one := range v {
			list[i] = one
		}
		return jsonOf(list, depth)
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, one := range v {
			var err error
			if object[name], err = jsonOf(one, depth-1); err != nil {
				return nil, err
			}
		}
		return object, nil
	}
	return nil, errors.New("a date has no place in it")
}

// tree is the schema as a value of JSON; an object without members where none is given.
func (s Schema) tree() any {
	if s.given == nil {
		return map[string]any{"type": "object"}
	}
	return s.given
}

// Keywords are those that a schema may hold; any other is a fault, so that a keyword
// which is written wrongly does not silently allow everything.
var Keywords = slices.Concat(plainWords, []string{"properties", "$defs", "items", "prefixItems", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref", "additionalProperties"})

var (
	plainWords = []string{
		"$schema", "$comment", "title", "description", "examples", "default", "type", "enum", "const", "required", "dependentRequired",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "format",
		"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
	}
	formats = []string{
		"date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid", "regex", "json-pointer",
	}
	memberForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
	refForm    = regexp.MustCompile(`^#/\$defs/([A-Za-z_][A-Za-z0-9_]{0,63})$`)
)

const (
	dialect      = "https://json-schema.org/draft/2020-12/schema"
	schemaBudget = 4096 // subschemas, references followed
)

// compiled is a schema that values can be held against.
type compiled struct {
	root       *jsonschema.Schema
	properties map[string]any // of the top, as given
	defs       map[string]any
	defaults   map[string]any
}

// noLoader keeps the compiler from fetching anything.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errors.New("nothing is fetched") }

// compile makes a schema ready. A closed one must be of an object and takes nothing that
// is not declared; an open one (of a grant) only narrows. fault is called for each thing
// wrong with it.
func (s Schema) compile(closed bool, fault func(where, what, mend string)) *compiled {
	if s.err != nil {
		fault("", s.err.Error(), "write a table, or a text that is JSON")
		return nil
	}
	top, ok := s.tree().(map[string]any)
	if !ok {
		fault("", "it is no object", `write type = "object" and its properties`)
		return nil
	}
	if s.given == nil && !closed {
		top = map[string]any{}
	}
	if closed && top["type"] != "object" {
		fault("type", "the arguments are not declared as an object", `write type = "object"`)
		return nil
	}
	c := &compiled{defaults: map[string]any{}}
	c.properties, _ = top["properties"].(map[string]any)
	c.defs, _ = top["$defs"].(map[string]any)

	w := &walker{fault: func(where, what, mend string) { ok = false; fault(where, what, mend) }}
	tree := w.walk(top, "", closed, closed, true)
	if !ok {
		return nil
	}
	if budget := schemaBudget; !expands(top, c.defs, &budget) {
		fault("", "its references lead in a circle, or to more than it may hold", "write it without the circle, or smaller")
		return nil
	}
	const base = "urn:jivad:schema"
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	compiler.UseLoader(noLoader{})
	err := compiler.AddResource(base, tree)
	if err == nil {
		c.root, err = compiler.Compile(base)
	}
	if err != nil {
		fault("", "it is no schema of draft 2020-12: a keyword has a value that it cannot have", "look at types, bounds, patterns and $ref in it")
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(c.properties)) {
		given, there := c.properties[name].(map[string]any)["default"]
		if !there {
			continue
		}
		property, err := compiler.Compile(base + "#/properties/" + name)
		if err != nil || property.Validate(given) != nil {
			fault("properties."+name+".default", "the default does not fit the schema of its own argument", "change one of them")
			continue
		}
		c.defaults[name] = given
	}
	return c
}

// walker looks at every subschema and makes the copy that is compiled.
type walker struct {
	fault func(where, what, mend string)
}

// walk copies a schema. Where shut, a value must be declared in all its parts; below
// says whether that is so for the parts too (it is not where a schema only asks).
func (w *walker) walk(given any, where string, shut, below, top bool) any {
	schema, ok := given.(map[string]any)
	if !ok {
		w.fault(where, "true and false are no schemas here", "write what is accepted, or leave it out")
		return given
	}
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(schema)) {
		value, at := schema[key], strings.TrimPrefix(where+"."+key, ".")
		switch key {
		case "properties", "$defs":
			if key == "$defs" && !top {
				w.fault(at, "$defs stand at the top only", "move them there")
			}
			out[key] = w.each(value, at, below)
		case "items":
			out[key] = w.walk(value, at, below, below, false)
		case "prefixItems":
			out[key] = w.list(value, at, below, below)
		case "allOf", "anyOf", "oneOf":
			out[key] = w.list(value, at, false, below)
		case "then", "else":
			out[key] = w.walk(value, at, false, below, false)
		case "not", "if":
			out[key] = w.walk(value, at, false, false, false)
		case "additionalProperties":
			if value != false {
				w.fault(at, "arguments that are not declared are always refused", "write false, or leave it out")
			}
		case "$ref":
			if text, _ := value.(string); !refForm.MatchString(text) {
				w.fault(at, "it does not point into the schema's own $defs", `write "#/$defs/NAME"; nothing is fetched`)
			}
			out[key] = value
		case "$schema":
			if value != dialect {
				w.fault(at, "it is of another dialect", "leave it out, or write "+dialect)
			}
		case "format":
			if text, _ := value.(string); !slices.Contains(formats, text) {
				w.fault(at, "there is no such format", fmt.Sprintf("write one of %v, or a pattern", formats))
			}
			out[key] = value
		default:
			if !slices.Contains(plainWords, key) {
				w.fault(at, "there is no such keyword here", "remove it; closed objects, bounds, patterns, lists of values and $defs are what there is")
			}
			out[key] = value
		}
	}
	if shut {
		out["unevaluatedProperties"], out["unevaluatedItems"] = false, false
	}
	return out
}

// each walks the members of an object of schemas.
func (w *walker) each(given any, where string, shut bool) any {
	object, ok := given.(map[string]any)
	if !ok {
		w.fault(where, "it is no table of schemas", "write a table")
		return given
	}
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !memberForm.MatchString(name) {
			w.fault(where, "a name in it is not made of 1 to 64 letters, digits and _, the first no digit", "rename it")
		}
		out[name] = w.walk(object[name], where+"."+name, shut, shut, false)
	}
	return out
}

func (w *walker) list(given any, where string, shut, below bool) any {
	list, ok := given.([]any)
	if !ok {
		w.fault(where, "it is no list of schemas", "write a list")
		return given
	}
	out := make([]any, len(list))
	for i, one := range list {
		out[i] = w.walk(one, fmt.Sprintf("%s[%d]", where, i), shut, below, false)
	}
	return out
}

// expands tells whether a schema with every reference followed is within the budget; one
// in a circle is not.
func expands(given any, defs map[string]any, budget *int) bool {
	if *budget--; *budget < 0 {
		return false
	}
	schema, ok := given.(map[string]any)
	if !ok {
		return true
	}
	for key, value := range schema {
		var inner []any
		switch key {
		case "properties":
			object, _ := value.(map[string]any)
			inner = slices.Collect(maps.Values(object))
		case "items", "not", "if", "then", "else":
			inner = []any{value}
		case "prefixItems", "allOf", "anyOf", "oneOf":
			inner, _ = value.([]any)
		case "$ref":
			text, _ := value.(string)
			inner = []any{defs[strings.TrimPrefix(text, "#/$defs/")]}
		}
		for _, one := range inner {
			if !expands(one, defs, budget) {
				return false
			}
		}
	}
	return true
}

// scalar tells whether an argument can only be a text, a number or a truth value.
func (c *compiled) scalar(name string) bool {
	given := c.properties[name]
	for range len(c.defs) + 1 {
		schema, ok := given.(map[string]any)
		if !ok {
			return false
		}
		if isScalar(schema) {
			return true
		}
		ref, _ := schema["$ref"].(string)
		given = c.defs[strings.TrimPrefix(ref, "#/$defs/")]
	}
	return false
}

func isScalar(schema map[string]any) bool {
	plain := func(v any) bool { _, ok := scalarText(v); return ok }
	if list, ok := schema["enum"].([]any); ok && len(list) > 0 {
		return !slices.ContainsFunc(list, func(v any) bool { return !plain(v) })
	}
	if v, there := schema["const"]; there {
		return plain(v)
	}
	types, ok := schema["type"].([]any)
	if !ok {
		types = []any{schema["type"]}
	}
	return len(types) > 0 && !slices.ContainsFunc(types, func(t any) bool {
		return t != "string" && t != "integer" && t != "number" && t != "boolean"
	})
}

// sure tells whether an argument is there in every valid call: required, or with a
// default.
func (c *compiled) sure(name string, top any) bool {
	if _, there := c.defaults[name]; there {
		return true
	}
	schema, _ := top.(map[string]any)
	required, _ := schema["required"].([]any)
	return slices.Contains(required, any(name))
}
