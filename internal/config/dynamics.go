package config

import (
	"errors"
	"reflect"
	"strings"
	"unicode"

	"github.com/jivad/jivad/gate"
	"github.com/jivad/jivad/reactivation"
)

// dynamicsAbout says what each number of the dynamics is for.
var dynamicsAbout = map[string]string{
	"dynamics.reactivation.r0":            "Reinforcement at which a fresh impression is 63 % deep; 0.000001 to 1000000.",
	"dynamics.reactivation.lambda":        "How fast depth fades with age, counted in sessions; 0 (never) to 1000.",
	"dynamics.reactivation.alpha":         "Part of novelty and match that is measured from the meaning; the rest is the\nassessor's word; 0 to 1.",
	"dynamics.reactivation.hardness_gain": "How fast an impression hardens with age; 0 to 1000.",
	"dynamics.reactivation.soft_gain":     "Reinforcement of an impression that was only brushed; 0 to 1.",
	"dynamics.reactivation.drift_rate":    "How far a woken character turns to that of the entry; 0 to 1.",
	"dynamics.reactivation.protection":    "Clarity above which a character turns only to more of it; 0 to 1, 1 protects nothing.",
	"dynamics.reactivation.suppression":   "The most of its depth that a protected impression loses to one entry; 0 (off) to below 1.",
	"dynamics.reactivation.uplift_match":  "Match from which a clear entry turns a character twice as fast; 0 to 1.",
	"dynamics.reactivation.novel":         "Novelty from which an entry becomes an impression of its own (see diary.always_create); 0 to 1.",
	"dynamics.reactivation.context":       "How many impressions a life is opened with; 1 to 4096.",
	"dynamics.reactivation.mmr":           "Relevance (1) against variety (0) among them; 0 to 1.",
	"dynamics.reactivation.bury_below":    "Depth below which an impression is on its way to being buried; 0 (never) to 1. An entry\nthat nothing touches again gets below 0.04 after about 50 sessions.",
	"dynamics.reactivation.bury_after":    "How many sessions on end it must stay below. Then its text and the link to its source\nare deleted, for good; what it left in the character stays. 0 (never) to 1000000; 90 is\na good number.",
	"dynamics.gate.candidates":            "How many of the nearest impressions are read; 1 to 65536.",
	"dynamics.gate.temperature":           "Temperature of the softmax over the similarities; 0.001 to 1000, or 0 for what was\nmeasured with the embedder.",
	"dynamics.gate.k_base":                "How many deviations above the mean the threshold lies; up to 100, or 0 as before.",
	"dynamics.gate.min_similarity":        "Similarity below which nothing is ever woken; up to 1, or 0 as before.",
	"dynamics.gate.noise_floor":           "Similarity below which nothing is touched at all; up to min_similarity, or 0 as before.",
	"dynamics.gate.inertia_gain":          "How far a dull session raises the threshold; 0 to 1.",
	"dynamics.gate.reactivity_gain":       "How much a restless session stiffens what is there; 0 to 100.",
	"dynamics.gate.balance":               "Share from which dullness and restlessness count; 1/3 is a balanced context, 0 counts all of it; 0 to 0.9.",
	"dynamics.gate.mode":                  "concentrate: the more focus, the fewer are woken; literal: the other way round.",
}

// usual stands in for the scale of the embedder while the rest is checked.
var usual = gate.Scale{Temperature: 0.05, KBase: 2, MinSimilarity: 1, NoiseFloor: 0}

// dynamics are the keys of the parameters, by the fields of their types.
func dynamics() []key {
	var out []key
	for _, part := range []struct {
		name  string
		of    func(*Config) reflect.Value
		check func(*Config) error
	}{
		{"dynamics.reactivation.", func(c *Config) reflect.Value { return reflect.ValueOf(&c.Dynamics.Reactivation).Elem() },
			func(c *Config) error { return c.Dynamics.Reactivation.Validate() }},
		{"dynamics.gate.", func(c *Config) reflect.Value { return reflect.ValueOf(&c.Dynamics.Gate).Elem() },
			func(c *Config) error { return c.Dynamics.Gate.On(usual).Validate() }},
	} {
		fields := part.of(&Config{}).Type()
		for i := range fields.NumField() {
			field := fields.Field(i).Name
			name := part.name + snake(field)
			out = append(out, key{
				name: name, about: dynamicsAbout[name],
				field: func(c *Config) any { return part.of(c).Field(i).Addr().Interface() },
				check: func(c *Config) string { return wanted(part.check(c), field) },
			})
		}
	}
	return out
}

// wanted finds, in what a package says of its parameters, what it wants of one.
func wanted(err error, field string) string {
	for _, e := range unjoin(err) {
		var r *reactivation.ValueError
		var g *gate.ValueError
		switch {
		case errors.As(e, &r) && r.Field == "parameter "+field:
			return r.Want
		case errors.As(e, &g) && g.Field == "parameter "+field:
			return g.Want
		case field == "Mode" && strings.Contains(e.Error(), "parameter Mode"):
			return oneOf("", string(gate.Concentrate), string(gate.Literal))
		}
	}
	return ""
}

// unjoin lists the errors that were joined.
func unjoin(err error) []error {
	if err == nil {
		return nil
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var r *reactivation.ValueError
		var g *gate.ValueError
		if !(isA(err, &r) || isA(err, &g)) {
			var out []error
			for _, e := range many.Unwrap() {
				out = append(out, unjoin(e)...)
			}
			return out
		}
	}
	return []error{err}
}

// isA tells whether err itself, not what it wraps, is of a type.
func isA[T error](err error, _ *T) bool { _, ok := err.(T); return ok }

// snake writes a Go name as a key: KBase is k_base, MMR is mmr, R0 is r0.
func snake(name string) string {
	var out strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		starts := unicode.IsUpper(r) && i > 0 && (unicode.IsLower(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if starts {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}
