package config

import (
	"reflect"
)

// Retention is how much of a text is kept, by its category of consent: "full",
// "gist", "none", or "" for by its source. Its keys are the names of the fields in
// small letters.
type Retention struct {
	Identity       string
	Health         string
	Communications string
	Location       string
	Behavioural    string
	Financial      string
	Biometric      string
	Minor          string
	Dependent      string
	Operational    string
}

// retentionAbout says what belongs to a category.
var retentionAbout = map[string]string{
	"retention.identity":       "Names, papers, accounts: who you are.",
	"retention.health":         "Body and mind.",
	"retention.communications": "What is said in a talk, and what others wrote or said to you.",
	"retention.location":       "Where you are and were.",
	"retention.behavioural":    "What you do and think; an entry that names no category.",
	"retention.financial":      "Money.",
	"retention.biometric":      "Fingerprints, face, voice, gait.",
	"retention.minor":          "Children.",
	"retention.dependent":      "Others whom you care for.",
	"retention.operational":    "What keeps this program and your devices going.",
}

// ByCategory gives what is set by the names of the categories.
func (r Retention) ByCategory() map[string]string {
	out := map[string]string{}
	v := reflect.ValueOf(r)
	for i := range v.NumField() {
		out[snake(v.Type().Field(i).Name)] = v.Field(i).String()
	}
	return out
}

// retention are the keys of the categories.
func retention() []key {
	var out []key
	fields := reflect.TypeFor[Retention]()
	for i := range fields.NumField() {
		name := "retention." + snake(fields.Field(i).Name)
		field := func(c *Config) *string {
			return reflect.ValueOf(&c.Retention).Elem().Field(i).Addr().Interface().(*string)
		}
		out = append(out, key{
			name: name, about: retentionAbout[name],
			field: func(c *Config) any { return field(c) },
			check: func(c *Config) string { return oneOf(*field(c), "full", "gist", "none", "") },
		})
	}
	return out
}
