package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/tools"
	"github.com/jivad/jivad/soul/lineage"
)

const hex64 = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

func TestParseEmptyIsDefault(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "[life]\n"} {
		if m, err := Parse("m", text); err != nil || !reflect.DeepEqual(m, Default()) {
			t.Errorf("%q reads as %+v, %v", text, m, err)
		}
	}
	if err := Default().Check(); err != nil {
		t.Error(err)
	}
	if g := consent.Default(); g.Answer(Default().Consent[0].Category, Default().Consent[0].Dimension) != consent.Allow {
		t.Error("the default manifest asks for more than is allowed from the start")
	}
}

func TestParseEveryKey(t *testing.T) {
	m, err := Parse("m", `
mission = """
  Keep the greenhouse.
"""
consent = ["health.storage", "*.access", "location"]
[substrate]
chat = "qwen3:0.6b"
digest = "sha256:`+strings.ToUpper(hex64)+`"
builtin = false
embedder = "ollama/nomic-embed-text@0a109f422b47"
embedder_digest = "`+hex64+`"
lineage = "`+hex64+`"
[life]
ttl = "720h"
max_events = 7
max_failures = 2
witness_gap = 2
idle = "90s"
roll = "23:59"
[distillation]
written_by = "rules"
names = ["Anna Maier", "李明"]
implicit = true
judgement_window = "48h"
[distillation.signals]
"said.helped" = 1
"seen.asked_again" = -0.25
[[grants]]
capability = "read"
within = { properties = { zone = { maximum = 3 } } }
[[tools]]
name = "zone"
description = "Tells a temperature."
consequence = "low"
arguments = { type = "object", properties = { zone = { type = "integer", minimum = 0 } }, required = ["zone"] }
read = { root = "/sys/class/thermal", path = "thermal_zone{{zone}}/temp", may_come = true }
`)
	if err != nil {
		t.Fatal(err)
	}
	pin, _ := lineage.DigestOf(hex64)
	want := Substrate{Chat: "qwen3:0.6b", Digest: hex64, Embedder: "ollama/nomic-embed-text@0a109f422b47", EmbedderDigest: hex64, Lineage: pin}
	if m.Substrate != want {
		t.Errorf("substrate: %+v", m.Substrate)
	}
	if want := (Life{720 * time.Hour, 7, 2, 2, 90 * time.Second, "23:59"}); m.Life != want {
		t.Errorf("life: %+v", m.Life)
	}
	d := m.Distillation
	if d.WrittenBy != Rules || !reflect.DeepEqual([]string(d.Names), []string{"Anna Maier", "李明"}) || !d.Satisfaction.Implicit ||
		d.Satisfaction.Window != 48*time.Hour || !reflect.DeepEqual(d.Satisfaction.Signals, map[string]float64{"said.helped": 1, "seen.asked_again": -0.25}) {
		t.Errorf("distillation: %+v", d)
	}
	if m.Mission != "Keep the greenhouse." || len(m.Grants) != 1 || len(m.Tools) != 1 || m.Tools[0].Kind() != tools.KindRead {
		t.Errorf("%+v", m)
	}
	// health.storage, nine of access, and the eight of location, one of which is among them
	if got := len(m.Scope()); got != 1+9+8-1 {
		t.Errorf("the scope has %d cells", got)
	}
}

func TestRollAt(t *testing.T) {
	for text, want := range map[string]time.Duration{"00:00": 0, "04:30": 4*time.Hour + 30*time.Minute, "23:59": 24*time.Hour - time.Minute} {
		if at, ok := (Life{Roll: text}).RollAt(); !ok || at != want {
			t.Errorf("%s: %v, %v", text, at, ok)
		}
	}
	if _, ok := (Life{}).RollAt(); ok {
		t.Error("an empty one is a time of day")
	}
}

// One text per fault; the line of it is the second.
func TestParseFaults(t *testing.T) {
	tool := func(lines string) string {
		return "[[tools]]\nname = \"a\"\ndescription = \"It tells.\"\nconsequence = \"low\"\n" + lines
	}
	tests := []struct{ text, want string }{
		{"\nmission = 3", "line 2: mission: it must be a text in quotes"},
		{"\nmission = \"  \"", "line 2: mission: it must be a plain text of 1 to 2000 letters"},
		{"\nmission = \"" + strings.Repeat("ü", 2001) + "\"", "line 2: mission: it must be a plain text"},
		{"\nmission = \"a\\u0007b\"", "line 2: mission: it must be a plain text"},
		{"\nmisson = \"x\"", "line 2: misson: there is no such key; did you mean mission?"},
		{"\nzzzzzzzz = \"x\"", "line 2: zzzzzzzz: there is no such key; jivad init writes"},
		{"\n[lief]\nttl = \"1h\"", "line 2: lief: there is no such key; did you mean life?"},
		{"[life]\ntll = \"1h\"", "line 2: life.tll: there is no such key; did you mean life.ttl?"},
		{"[substrate]\nttl = \"1h\"", "line 2: substrate.ttl: there is no such key; did you mean life.ttl, below [life]?"},
		{"[life]\nconsent = []", "line 2: life.consent: there is no such key; did you mean consent, above the first section?"},
		{"\nttl = \"1h\"", "line 2: ttl: there is no such key; did you mean life.ttl, below [life]?"},
		{"\n\"life.ttl\" = \"1h\"", "line 2: \"life.ttl\": there is no such key"},
		{"\n\"\\u001b[31m\" = 1", "line 2: \" [31m\": there is no such key"},
		{"\nlife = 5", "line 2: life: it is a section: write [life]"},
		{"\n[life.ttl]\nx = 1", "line 2: life.ttl: it must be a duration in quotes"},
		{"\n[life.", "line 2: "},
		{"[life]\n[life]", "line 2: Key 'life' has already been defined.; it may be there once"},
		{"\nconsent = \"health\"", "line 2: consent = \"health\": it must be a list of texts in quotes"},
		{"\nconsent = [1]", "line 2: consent: it must be a list of texts"},
		{"\nconsent = [\"health.storage\", \"helth.storage\"]", "line 2: consent[1] = \"helth.storage\": \"helth\" is no category of consent; did you mean health.storage?"},
		{"\nconsent = [" + strings.Repeat("\"health.*\",", 73) + "]", "line 2: consent: there are 73; write at most 72"},
		{"[substrate]\nchat = \"a b\"", "line 2: substrate.chat = \"a b\": it must be the name of a model"},
		{"[substrate]\ndigest = \"abc\"", "line 2: substrate.digest = \"abc\": it must be 64 hexadecimal digits, or \"\""},
		{"[substrate]\nbuiltin = \"yes\"", "line 2: substrate.builtin = \"yes\": it must be true or false"},
		{"[substrate]\nembedder = \"a b\"", "line 2: substrate.embedder = \"a b\": it must be an id"},
		{"[substrate]\nembedder_digest = \"g\"", "line 2: substrate.embedder_digest = \"g\": it must be 64"},
		{"[substrate]\nlineage = \"newest\"", "line 2: substrate.lineage = \"newest\": it must be \"head\", or the 64"},
		{"[substrate]\nlineage = \"" + strings.Repeat("0", 64) + "\"", "line 2: substrate.lineage = \"000"},
		{"[substrate]\nlineage = 4", "line 2: substrate.lineage = 4: it must be \"head\""},
		{"[life]\nttl = \"59s\"", "line 2: life.ttl = \"59s\": it must be a duration from \"1m\" to \"720h\""},
		{"[life]\nttl = \"721h\"", "line 2: life.ttl = \"721h\": it must be a duration from"},
		{"[life]\nttl = \"90500ms\"", "line 2: life.ttl = \"1m30.5s\": it must be a duration from \"1m\" to \"720h\" in whole seconds"},
		{"[life]\nttl = \"\"", "line 2: life.ttl = \"\": it must be a duration in quotes"},
		{"[life]\nttl = 24", "line 2: life.ttl = 24: it must be a duration in quotes"},
		{"[life]\nmax_events = -1", "line 2: life.max_events = -1: it must be a whole number from 0"},
		{"[life]\nmax_events = 1.5", "line 2: life.max_events = 1.5: it must be a whole number"},
		{"[life]\nmax_failures = 0", "line 2: life.max_failures = 0: it must be a whole number from 1 to 1000"},
		{"[life]\nwitness_gap = 2.1", "line 2: life.witness_gap = 2.1: it must be a number above 0, at most 2, or 0"},
		{"[life]\nwitness_gap = -0.1", "line 2: life.witness_gap = -0.1: it must be"},
		{"[life]\nwitness_gap = nan", "line 2: life.witness_gap = NaN: it must be"},
		{"[life]\nidle = \"0s\"", "line 2: life.idle = \"0s\": it must be a duration in quotes, such as \"30m\" or \"1h30m\", or \"\""},
		{"[life]\nidle = \"25h\"", "line 2: life.idle = \"25h\": it must be a duration from \"1s\" to \"24h\""},
		{"[life]\nroll = \"4:00\"", "line 2: life.roll = \"4:00\": it must be a time of day"},
		{"[life]\nroll = \"24:00\"", "line 2: life.roll = \"24:00\": it must be a time of day"},
		{"[life]\nroll = 04:00:00", "it must be a text in quotes"},
		{"[distillation]\nwritten_by = \"me\"", "line 2: distillation.written_by = \"me\": it must be \"auto\" or \"rules\""},
		{"[distillation]\nnames = \"Anna\"", "line 2: distillation.names: it must be a list of texts"},
		{"[distillation]\nnames = [\"Anna\", \"Bo\"]", "line 2: distillation.names[1]: it is too short"},
		{"[distillation]\nnames = [\"\"]", "line 2: distillation.names[0]: it must be a name of 1 to 100 letters"},
		{"[distillation]\nnames = [" + strings.Repeat("\"Anna\",", 257) + "]", "line 2: distillation.names: there are 257; write at most 256"},
		{"[distillation]\nimplicit = 1", "line 2: distillation.implicit = 1: it must be true or false"},
		{"[distillation]\njudgement_window = \"721h\"", "line 2: distillation.judgement_window = \"721h\": it must be a duration from"},
		{"[distillation]\njudgement_window = \"0s\"", "line 2: distillation.judgement_window = \"0s\": it must be a duration in quotes"},
		{"[distillation.signals]\n\"said.helped\" = 1.5", "line 2: distillation.signals.said.helped: the weight of \"said.helped\" is from -1 to 1"},
		{"[distillation.signals]\n\"said.helped\" = \"a\"", "line 2: distillation.signals.said.helped: it must be a number from -1 to 1"},
		{"[distillation.signals]\nsaid.helped = 1", "line 2: distillation.signals.said: it must be a number from -1 to 1; a name with a dot in it is written in quotes"},
		{"[distillation.signals]\nhelped = 1", "line 2: distillation.signals.helped: a signal is said.NAME, task.NAME or seen.NAME"},
		{"[distillation]\nsignals = 4", "line 2: distillation.signals = 4: it must be a table: write [distillation.signals]"},
		{"\n[[grants]]\ncapability = \"shell\"", "line 2: grant \"shell\": there is no such capability"},
		{"\n[[grants]]\ncapability = \"exec.say\"", "line 2: grant \"exec.say\": it covers no tool; declare the tool, or remove the grant"},
		{"\n[[grants]]\ncapability = 4", "line 2: grant 1, capability = 4: it must be a text in quotes"},
		{"\n[[grants]]\ncapabilty = \"read\"", "line 2: grant 1, capabilty: there is no such key; did you mean capability?"},
		{"\ngrants = [\"read\"]", "line 2: grants: it must be tables: write [[grants]]"},
		{"\ngrants = \"read\"", "line 2: grants = \"read\": it must be tables: write [[grants]]"},
		{"\n[grants]\ncapability = \"read\"", "line 2: grants: it must be tables: write [[grants]]"},
		{"\n[tools]\nname = \"a\"", "line 2: tools: it must be tables: write [[tools]]"},
		{"\n" + tool("read = { root = \"sys\", path = \"x\" }"), "line 2: tool \"a\", read.root: it is no absolute path"},
		{"\n" + tool("raed = { root = \"/sys\", path = \"x\" }"), "line 2: tool \"a\", raed: there is no such key"},
		{"\n" + tool("exec = { argv = [\"/bin/sh\"] }"), "line 2: tool \"a\", exec.argv[0]: it is a shell"},
		{"\n[[tools]]\n", "line 2: tool 1, name: it is missing or no name"},
		{tool("read = { root = \"/sys\", path = \"x\" }\n") + tool("read = { root = \"/sys\", path = \"x\" }"), "tool \"a\", name: tool 1 has this name too"},
		{"\n[[grants]]\ncapability = \"read.a\"\nwithin.properties.zone.maximum = 4\n" + tool("read = { root = \"/sys\", path = \"x\" }"), "line 2: grant \"read.a\", within: no tool that it covers has the argument \"zone\""},
		{"\n[[grants]]\ncapability = \"exec\"\n" + tool("read = { root = \"/sys\", path = \"x\" }"), "line 2: grant \"exec\": it covers no tool"},
		{"\n[[grants]]\ncapability = \"exec.a\"\n" + tool("read = { root = \"/sys\", path = \"x\" }"), "line 2: grant \"exec.a\": it covers no tool"},
		{"\n" + strings.Repeat("[[grants]]\ncapability=\"read\"\n", 257), "grants: there are 257; write at most 256"},
		{strings.Repeat("#", MaxBytes+1), "it is longer than 1048576 bytes"},
		{"mission = \"\xff\"", ""},
	}
	for _, test := range tests {
		m, err := Parse("/home/x/manifest.toml", test.text)
		shown := test.text[:min(len(test.text), 100)]
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, ErrManifest) || e.Path != "/home/x/manifest.toml" || !strings.HasPrefix(err.Error(), e.Path) {
			t.Errorf("%q: %v", shown, err)
			continue
		}
		if !reflect.DeepEqual(m, Manifest{}) {
			t.Errorf("%q: a manifest came with its faults", shown)
		}
		found := false
		for _, f := range e.Faults {
			found = found || strings.HasPrefix(f.String(), test.want)
			if strings.HasPrefix(test.want, "it must") {
				found = strings.Contains(f.String(), test.want)
			}
		}
		if !found {
			t.Errorf("%q:\n got %v\nwant %s", shown, err, test.want)
		}
		if test.want != "" && len(e.Faults) != 1 && !strings.Contains(test.text, "[[") {
			t.Errorf("%q: %d faults for one: %v", shown, len(e.Faults), err)
		}
	}
}

// All faults at once, by their lines; a key with a fault does not hide another.
func TestParseAllFaultsAtOnce(t *testing.T) {
	_, err := Parse("m.toml", `missoin = "x"
consent = ["helth.storage", "health.sotrage"]
[life]
ttl = "1s"
idle = 4
[distillation]
names = ["Bo", "Cy"]
[[tools]]
name = "a"
[[grants]]
capability = "shell"
[substrate]
digest = "4"
`)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	var got []string
	for _, f := range e.Faults {
		got = append(got, f.Where+" "+f.Key)
	}
	want := []string{
		"line 1 missoin", "line 2 consent[0]", "line 2 consent[1]", "line 4 life.ttl", "line 5 life.idle",
		"line 7 distillation.names[0]", "line 7 distillation.names[1]",
		`line 8 tool "a", description`, `line 8 tool "a", consequence`, `line 8 tool "a"`,
		`line 10 grant "shell"`, "line 13 substrate.digest",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if first := strings.Split(err.Error(), "\n")[0]; first != "m.toml has 12 faults:" {
		t.Errorf("it begins with %q", first)
	}
}

// A line that only looks like the head of a table takes the lines away, not the faults.
func TestParseHeadInText(t *testing.T) {
	_, err := Parse("m", "mission = '''\n[[tools]]\n'''\n[[tools]]\nname = \"A\"\n")
	if err == nil || strings.Contains(err.Error(), "line") || !strings.Contains(err.Error(), `tool "A", name`) {
		t.Errorf("%v", err)
	}
}

// Names and the mission are in no message, and names in no print.
func TestNamesStayPrivate(t *testing.T) {
	for _, text := range []string{
		"mission = \"Zebulon\\u0007\"\n[distillation]\nnames = [\"Zebulon\\nX\"]\n",
		"[distillation]\nnames = \"Zebulon\"\n",
		"[distillation]\nnames = [\"Zebulon\", 4]\n",
	} {
		if _, err := Parse("m", text); err == nil || strings.Contains(err.Error(), "Zebulon") {
			t.Errorf("%v", err)
		}
	}
	m := Default()
	m.Distillation.Names = Names{"Zebulon"}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		if out := fmt.Sprintf(format, m.Distillation); strings.Contains(out, "Zebulon") || strings.Contains(out, "5a6562") || !strings.Contains(out, "1 names") {
			t.Errorf("%s writes %s", format, out)
		}
	}
	if out, err := json.Marshal(m); err != nil || strings.Contains(string(out), "Zebulon") {
		t.Errorf("%s, %v", out, err)
	}
}

// All faults are told however many there are; the work of finding their lines is bounded.
func TestParseManyFaults(t *testing.T) {
	const many = 3000
	var text strings.Builder
	for i := range many {
		fmt.Fprintf(&text, "k%d = %d\n", i, i)
	}
	_, err := Parse("m", text.String())
	var e *Error
	if !errors.As(err, &e) || len(e.Faults) != many {
		t.Fatalf("%d faults", len(e.Faults))
	}
	lines := 0
	for _, f := range e.Faults {
		if f.Where != "" {
			lines++
		}
	}
	if lines == 0 || lines*text.Len() > readAgain {
		t.Errorf("%d lines were looked for in a text of %d bytes", lines, text.Len())
	}
}

// A manifest that was made otherwise than by Parse is held to the same.
func TestCheck(t *testing.T) {
	m := Default()
	m.Life.TTL, m.Consent = time.Second, []consent.Selector{{Category: 77}}
	m.Grants = []tools.Grant{{Capability: "read"}}
	m.Tools = []tools.Declaration{{Name: "a"}}
	err := m.Check()
	var e *Error
	if !errors.As(err, &e) || len(e.Faults) != 5 { // of the tool: description, consequence, no way of doing it
		t.Errorf("%v", err)
	}
}
