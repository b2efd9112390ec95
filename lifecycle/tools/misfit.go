package tools

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// misfit is one way in which arguments do not fit a schema. says holds what the schema
// wants and nothing of the arguments.
type misfit struct {
	argument string // of those declared, or ""
	missing  bool
	says     string
}

// validate holds arguments against the schema.
func (c *compiled) validate(arguments map[string]any) []misfit {
	err := c.root.Validate(arguments)
	if err == nil {
		return nil
	}
	var wrong *jsonschema.ValidationError
	if !errors.As(err, &wrong) {
		return []misfit{{says: "the arguments do not fit the schema"}}
	}
	var all []misfit
	c.gather(wrong, &all)
	return all
}

// gather keeps the causes that have no cause themselves.
func (c *compiled) gather(e *jsonschema.ValidationError, all *[]misfit) {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf, *kind.Not: // their causes contradict each other
	default:
		if len(e.Causes) > 0 {
			for _, cause := range e.Causes {
				c.gather(cause, all)
			}
			return
		}
	}
	argument := ""
	if len(e.InstanceLocation) > 0 {
		if _, declared := c.properties[e.InstanceLocation[0]]; declared {
			argument = e.InstanceLocation[0]
		}
	}
	if k, ok := e.ErrorKind.(*kind.Required); ok && len(e.InstanceLocation) == 0 {
		for _, name := range k.Missing {
			*all = append(*all, misfit{argument: name, missing: true, says: fmt.Sprintf("the argument %q is missing", name)})
		}
		return
	}
	says := "the arguments together do not fit: "
	if argument != "" {
		says = fmt.Sprintf("the argument %q does not fit: ", argument)
	}
	*all = append(*all, misfit{argument: argument, says: says + wanted(e.ErrorKind)})
}

// wanted says what a keyword asks for. It reads what the schema wants, never what was
// got.
func wanted(k jsonschema.ErrorKind) string {
	number := func(r *big.Rat) string {
		f, _ := r.Float64()
		text, _ := scalarText(f)
		return text
	}
	switch k := k.(type) {
	case *kind.Type:
		return "it must be of the type " + strings.Join(k.Want, " or ")
	case *kind.Enum:
		return "it must be one of: " + values(k.Want)
	case *kind.Const:
		return "it must be " + values([]any{k.Want})
	case *kind.Minimum:
		return "it must be at least " + number(k.Want)
	case *kind.Maximum:
		return "it must be at most " + number(k.Want)
	case *kind.ExclusiveMinimum:
		return "it must be more than " + number(k.Want)
	case *kind.ExclusiveMaximum:
		return "it must be less than " + number(k.Want)
	case *kind.MultipleOf:
		return "it must be a multiple of " + number(k.Want)
	case *kind.MinLength:
		return fmt.Sprintf("it must have at least %d letters", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("it must have at most %d letters", k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("it must have at least %d items", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("it must have at most %d items", k.Want)
	case *kind.Pattern:
		return "it must match the pattern " + k.Want
	case *kind.Format:
		return "it must be of the format " + k.Want
	case *kind.Required:
		return "it lacks a part: " + strings.Join(k.Missing, ", ")
	case *kind.FalseSchema, *kind.AdditionalProperties:
		return "it has a part that is not declared"
	case *kind.AnyOf:
		return "it fits none of the forms that the schema lists"
	case *kind.OneOf:
		return "it must fit exactly one of the forms that the schema lists"
	case *kind.Not:
		return "it is of a form that the schema forbids"
	}
	if path := k.KeywordPath(); len(path) > 0 && slices.Contains(Keywords, path[0]) {
		return "the schema's " + path[0] + " forbids it"
	}
	return "the schema forbids it"
}

// values lists what a schema names, not more than some of them.
func values(list []any) string {
	const most = 12
	var out []string
	for _, v := range list[:min(len(list), most)] {
		data, err := canonical(v)
		if err != nil {
			continue
		}
		out = append(out, clipped(string(data)))
	}
	if len(list) > most {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}

func clipped(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// names lists the arguments that a schema declares.
func (c *compiled) names() []string { return slices.Sorted(maps.Keys(c.properties)) }
