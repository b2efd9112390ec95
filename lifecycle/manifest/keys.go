package manifest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jivad/jivad/internal/faults"
)

// key is one setting: its name in the file, what it is for, where it is kept and what it
// may be.
type key struct {
	name  string
	about string
	// field points to where it is kept.
	field func(*Manifest) any
	// check says what would be accepted, or "" where the value is fine. Lists are looked at
	// elsewhere, thing by thing.
	check func(Manifest) string
	// maybe durations may be empty; private values are never shown.
	maybe, private bool
}

// section is the part of the name before the last dot.
func (k key) section() string { return k.name[:max(0, strings.LastIndexByte(k.name, '.'))] }

// leaf is the part behind it.
func (k key) leaf() string { return k.name[strings.LastIndexByte(k.name, '.')+1:] }

// sections are the tables of the file, in the order in which they are written.
var sections = []struct{ name, about string }{
	{"", ""},
	{"substrate", "What the life stands on. All of it must be there, or it is not born: then each\nthing that is missing is told, with what mends it."},
	{"life", "What ends a life; whichever is first. So does your own jivad session end."},
	{"distillation", "How rules for later lives are made of a life. What happened in it is destroyed."},
}

// The names of the keys that are lists or tables of their own.
const (
	keyConsent = "consent"
	keyNames   = "distillation.names"
	keySignals = "distillation.signals"
	keyGrants  = "grants"
	keyTools   = "tools"
)

var (
	rollForm   = regexp.MustCompile(`^([01][0-9]|2[0-3]):[0-5][0-9]$`)
	chatForm   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,199}$`)
	digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)
	idForm     = regexp.MustCompile(`^[!-~]{1,128}$`)
)

// keys is the table of all keys, in the order of the generated file.
func keys() []key {
	return []key{
		{name: "mission", private: true, about: fmt.Sprintf("What the life is for, in plain words; up to %d letters.", MissionRunes),
			field: func(m *Manifest) any { return &m.Mission },
			check: func(m Manifest) string {
				fine := strings.TrimSpace(m.Mission) != "" && utf8.RuneCountInString(m.Mission) <= MissionRunes && plain(m.Mission)
				return unless(fine, fmt.Sprintf("a plain text of 1 to %d letters", MissionRunes))
			}},
		{name: keyConsent, about: "What must be allowed in the grid of consent, as CATEGORY.USE; * stands for every one.\njivad consent show prints the grid.",
			field: func(m *Manifest) any { return &m.Consent }},

		{name: "substrate.chat", about: "The name of the chat model, such as \"qwen3:0.6b\". Empty: that of the config.",
			field: func(m *Manifest) any { return &m.Substrate.Chat },
			check: func(m Manifest) string {
				return unless(m.Substrate.Chat == "" || chatForm.MatchString(m.Substrate.Chat), `the name of a model, such as "qwen3:0.6b", or ""`)
			}},
		{name: "substrate.digest", about: "The digest that it must have, as the model server tells it: 64 hexadecimal digits.\nEmpty: any.",
			field: func(m *Manifest) any { return &m.Substrate.Digest },
			check: func(m Manifest) string { return wantDigest(m.Substrate.Digest) }},
		{name: "substrate.builtin", about: "true: the built-in model stands in where that one is not there, or is another.\nfalse: there is no life without it.",
			field: func(m *Manifest) any { return &m.Substrate.Builtin }},
		{name: "substrate.embedder", about: "The id of the embedder, as jivad status tells it. Empty: that of the store.",
			field: func(m *Manifest) any { return &m.Substrate.Embedder },
			check: func(m Manifest) string {
				return unless(m.Substrate.Embedder == "" || idForm.MatchString(m.Substrate.Embedder), `an id of up to 128 letters without spaces, or ""`)
			}},
		{name: "substrate.embedder_digest", about: "The digest that it must have. Empty: any.",
			field: func(m *Manifest) any { return &m.Substrate.EmbedderDigest },
			check: func(m Manifest) string { return wantDigest(m.Substrate.EmbedderDigest) }},
		{name: "substrate.lineage", about: "The version of what earlier lives learned: \"head\" for the newest, or the 64\nhexadecimal digits of one.",
			field: func(m *Manifest) any { return &m.Substrate.Lineage }},

		{name: "life.ttl", about: "Its running time, \"1m\" to \"720h\". Time in which the program does not run is no part of it.",
			field: func(m *Manifest) any { return &m.Life.TTL },
			check: func(m Manifest) string { return seconds(m.Life.TTL, LeastTTL, MostTTL) }},
		{name: "life.max_events", about: "How many events it takes. 0: any number.",
			field: func(m *Manifest) any { return &m.Life.MaxEvents },
			check: func(m Manifest) string { return whole(m.Life.MaxEvents, 0, MostEvents) }},
		{name: "life.max_failures", about: fmt.Sprintf("How many uses of tools may fail in a row; 1 to %d.", MostFailures),
			field: func(m *Manifest) any { return &m.Life.MaxFailures },
			check: func(m Manifest) string { return whole(m.Life.MaxFailures, 1, MostFailures) }},
		{name: "life.witness_gap", about: "How far the character may be from its witness before the session is over: above 0,\nat most 2. 0: any distance.",
			field: func(m *Manifest) any { return &m.Life.WitnessGap },
			check: func(m Manifest) string {
				return unless(m.Life.WitnessGap >= 0 && m.Life.WitnessGap <= MostGap, fmt.Sprintf("a number above 0, at most %v, or 0", MostGap))
			}},
		{name: "life.idle", maybe: true, about: "How long after its last event it ends, \"1s\" to \"24h\". Empty: session.idle of the config.",
			field: func(m *Manifest) any { return &m.Life.Idle },
			check: func(m Manifest) string {
				if m.Life.Idle == 0 {
					return ""
				}
				return seconds(m.Life.Idle, time.Second, 24*time.Hour)
			}},
		{name: "life.roll", about: "The local time at which it ends each day, such as \"04:00\". Empty: diary.day_starts_at\nof the config.",
			field: func(m *Manifest) any { return &m.Life.Roll },
			check: func(m Manifest) string {
				return unless(m.Life.Roll == "" || rollForm.MatchString(m.Life.Roll), `a time of day from "00:00" to "23:59", or ""`)
			}},

		{name: "distillation.written_by", about: "auto: the chat model words the rules, where there is one. rules: never a model.",
			field: func(m *Manifest) any { return &m.Distillation.WrittenBy },
			check: func(m Manifest) string {
				return unless(slices.Contains([]string{Auto, Rules}, m.Distillation.WrittenBy), `"auto" or "rules"`)
			}},
		{name: keyNames, private: true, about: "Names of people and places that no rule may hold, such as [\"Anna Maier\"]. They are\nnever written into a log.",
			field: func(m *Manifest) any { return &m.Distillation.Names }},
		{name: "distillation.implicit", about: "true: where you say nothing of a life, it is judged by what you do: the signals seen.*\nbelow, which count for little.",
			field: func(m *Manifest) any { return &m.Distillation.Satisfaction.Implicit }},
		{name: "distillation.judgement_window", about: "How long after a life your rating counts, \"1s\" to \"720h\".",
			field: func(m *Manifest) any { return &m.Distillation.Satisfaction.Window },
			check: func(m Manifest) string {
				if m.Distillation.Satisfaction.Window == 0 {
					return "" // that is the default, filled in later
				}
				return seconds(m.Distillation.Satisfaction.Window, time.Second, 30*24*time.Hour)
			}},
		{name: keySignals, field: func(m *Manifest) any { return &m.Distillation.Satisfaction.Signals }},
		{name: keyGrants, field: func(m *Manifest) any { return &m.Grants }},
		{name: keyTools, field: func(m *Manifest) any { return &m.Tools }},
	}
}

// unless gives what is wanted when the value is not fine.
func unless(fine bool, want string) string {
	if fine {
		return ""
	}
	return want
}

func whole(n, low, high int) string {
	return unless(n >= low && n <= high, fmt.Sprintf("a whole number from %d to %d", low, high))
}

func seconds(d, low, high time.Duration) string {
	return unless(d >= low && d <= high && d%time.Second == 0, fmt.Sprintf("a duration from %q to %q in whole seconds", faults.Duration(low), faults.Duration(high)))
}

func wantDigest(text string) string {
	return unless(text == "" || digestForm.MatchString(digestText(text)), `64 hexadecimal digits, or ""`)
}

// plain tells whether a text is one, without anything that a terminal obeys.
func plain(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' })
}
