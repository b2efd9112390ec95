package tools_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle/tools"
)

const head = `
[[tools]]
name = "lamp"
description = "Switches the lamp."
consequence = "medium"
`

// lamp is a tool without a fault, to be spoilt.
const lamp = head + `
[tools.arguments]
type = "object"
required = ["room", "level"]
[tools.arguments.properties]
room = {type = "string", pattern = "^[a-z]+$", maxLength = 20}
level = {type = "integer", minimum = 0, maximum = 10}
[tools.mqtt]
topic = "home/{{room}}/lamp"
payload = "{{level}}"
`

// Every kind is declared, decoded and resolved, from TOML and as the same thing in JSON.
func TestDeclarationsAreResolved(t *testing.T) {
	program := script(t, "true")
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	set := born(t, lamp+fmt.Sprintf(`
[[tools]]
name = "run"
description = "Runs."
consequence = "high"
arguments = '{"type":"object","properties":{"n":{"type":"number","default":-1.5}}}'
[tools.exec]
argv = [%q, "--", "{{-n}}"]
time_limit = "3s"
output_limit = 10

[[tools]]
name = "look"
description = "Looks."
consequence = "low"
[tools.read]
root = %q
path = "a"

[[tools]]
name = "later"
description = "Looks later."
consequence = "low"
[tools.read]
root = %q
path = "b"
may_come = true

[[tools]]
name = "fetch"
description = "Fetches."
consequence = "low"
arguments = {type = "object", required = ["id", "q"], properties = {id = {type = "integer"}, q = {type = ["string", "number"]}}}
[tools.http]
url = "https://api.example.org/items/{{id}}?q={{q}}"
hosts = ["*.example.org"]
header = {Accept = "text/plain"}
`, program, folder, folder))
	if want := []string{"fetch", "lamp", "later", "look", "run"}; !slices.Equal(set.Names(), want) {
		t.Errorf("tools %v, want %v", set.Names(), want)
	}
	d, err := set.Declaration("fetch")
	if err != nil || d.HTTP.Method != "GET" || d.HTTP.TimeLimit != tools.DefaultTime || d.HTTP.OutputLimit != tools.DefaultOutput {
		t.Errorf("the defaults are not filled in: %+v, %v", d.HTTP, err)
	}
	d.HTTP.Hosts[0] = "elsewhere.example"
	if again, _ := set.Declaration("fetch"); again.HTTP.Hosts[0] != "*.example.org" {
		t.Error("a set can be changed from outside")
	}
}

// One thing wrong at a time, and the field that it is found in.
func TestFaults(t *testing.T) {
	plainFile := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plainFile, []byte("#!/bin/true\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "harmless")
	if err := os.Symlink("/bin/sh", link); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.Symlink("/etc/passwd", filepath.Join(folder, "out")); err != nil {
		t.Fatal(err)
	}
	change := func(old, new string) string {
		if !strings.Contains(lamp, old) {
			t.Fatalf("%q is not in the sample", old)
		}
		return strings.Replace(lamp, old, new, 1)
	}
	room := `room = {type = "string", pattern = "^[a-z]+$", maxLength = 20}`
	arguments := "arguments = {type = \"object\", required = [\"x\"], properties = {x = {type = \"string\"}}}\n"
	execs := func(argv string) string { return head + arguments + "[tools.exec]\nargv = " + argv }
	https := func(rest string) string { return head + arguments + "[tools.http]\n" + rest }
	reads := func(rest string) string { return head + arguments + "[tools.read]\n" + rest }
	for name, c := range map[string]struct{ text, where string }{
		"unknown key":               {change(`topic =`, "tropic = 1\ntopic ="), "mqtt.tropic"},
		"unknown key at the top":    {change(`consequence =`, "danger = 1\nconsequence ="), "danger"},
		"wrong type":                {change(`payload = "{{level}}"`, "payload = 3"), "mqtt.payload"},
		"no name":                   {change(`name = "lamp"`, ""), "name"},
		"bad name":                  {change(`"lamp"`, `"La mp"`), "name"},
		"no description":            {change(`"Switches the lamp."`, `" "`), "description"},
		"no consequence":            {change(`consequence = "medium"`, ""), "consequence"},
		"bad consequence":           {change(`"medium"`, `"grave"`), "consequence"},
		"two ways":                  {lamp + "[tools.exec]\nargv = [\"/bin/true\"]", ""},
		"no way":                    {head, ""},
		"variable not in schema":    {change(`{{level}}`, `{{power}}`), "mqtt.payload"},
		"variable that can lack":    {change(`, "level"]`, `]`), "mqtt.payload"},
		"no variable":               {change(`{{level}}`, `{{ level }}`), "mqtt.payload"},
		"open variable":             {change(`{{level}}`, `{{level`), "mqtt.payload"},
		"variable of a list":        {change(room, `room = {type = "array", items = {type = "string"}}`), "mqtt.topic"},
		"variable of any type":      {change(room, `room = {}`), "mqtt.topic"},
		"variable that can be null": {change(`type = "string"`, `type = ["string", "null"]`), "mqtt.topic"},
		"dash in a topic":           {change(`{{room}}`, `{{-room}}`), "mqtt.topic"},
		"wildcard":                  {change(`home/`, `home/+/`), "mqtt.topic"},
		"broker's topic":            {change(`home/`, `$SYS/`), "mqtt.topic"},
		"qos":                       {lamp + "qos = 3", "mqtt.qos"},
		"format":                    {lamp + `format = "xml"`, "mqtt.format"},
		"bad JSON payload":          {change(`"{{level}}"`, `'{"a": {{level}'`) + `format = "json"`, "mqtt.payload"},
		"time limit":                {lamp + `time_limit = "11m"`, "mqtt.time_limit"},
		"negative time":             {lamp + `time_limit = "-1s"`, "mqtt.time_limit"},
		"schema not an object":      {change("type = \"object\"\n", ""), "arguments.type"},
		"open schema":               {change("type = \"object\"\n", "type = \"object\"\nadditionalProperties = true\n"), "arguments.additionalProperties"},
		"pattern of names":          {change("type = \"object\"\n", "type = \"object\"\npatternProperties = {}\n"), "arguments.patternProperties"},
		"misspelt keyword":          {change(`maximum`, `maximun`), "arguments.properties.level.maximun"},
		"remote reference":          {change(room, `room = {"$ref" = "https://example.org/s.json"}`), "arguments.properties.room.$ref"},
		"file reference":            {change(room, `room = {"$ref" = "file:///etc/hostname"}`), "arguments.properties.room.$ref"},
		"dangling reference":        {change(room, `room = {"$ref" = "#/$defs/x"}`), "arguments"},
		"bad pattern":               {change(`^[a-z]+$`, `(`), "arguments"},
		"unknown format":            {change(`maxLength = 20`, `format = "postcode"`), "arguments.properties.room.format"},
		"default that does not fit": {change(`maximum = 10`, `maximum = 10, default = 11`), "arguments.properties.level.default"},
		"schema of no JSON":         {head + `arguments = '{"type":"object","type":"object"}'`, "arguments"},
		"a number too large":        {change(`maximum = 10`, `maximum = nan`), "arguments"},
		"a date":                    {change(`maximum = 10`, `maximum = 2020-01-01`), "arguments"},
		"circle": {change("[tools.arguments.properties]", "[tools.arguments.\"$defs\"]\na = {anyOf = [{\"$ref\" = \"#/$defs/a\"}]}\n[tools.arguments.properties]\nc = {\"$ref\" = \"#/$defs/a\"}"),
			"arguments"},
		"no program":          {execs(`[]`), "exec.argv"},
		"absent program":      {execs(`["/bin/absent-program"]`), "exec.argv[0]"},
		"relative program":    {execs(`["true"]`), "exec.argv[0]"},
		"program of variable": {execs(`["/bin/{{x}}"]`), "exec.argv[0]"},
		"not executable":      {execs(`["` + plainFile + `"]`), "exec.argv[0]"},
		"folder":              {execs(`["` + folder + `"]`), "exec.argv[0]"},
		"shell":               {execs(`["/bin/sh", "-c", "echo {{x}}"]`), "exec.argv[0]"},
		"shell by a link":     {execs(`["` + link + `", "-c", "echo {{x}}"]`), "exec.argv[0]"},
		"output limit":        {execs(`["/bin/true"]`) + "\noutput_limit = 0", "exec.output_limit"},
		"list of numbers":     {execs(`["/bin/true", 1]`), "exec.argv[1]"},
		"other scheme":        {https("url = \"file:///{{x}}\"\nhosts = [\"h.example\"]"), "http.url"},
		"scheme of variable":  {https("url = \"{{x}}://h.example/\"\nhosts = [\"h.example\"]"), "http.url"},
		"port of variable":    {https("url = \"http://h.example:{{x}}/\"\nhosts = [\"h.example\"]"), "http.url"},
		"user":                {https("url = \"http://me:{{x}}@h.example/\"\nhosts = [\"h.example\"]"), "http.url"},
		"fragment":            {https("url = \"http://h.example/#{{x}}\"\nhosts = [\"h.example\"]"), "http.url"},
		"steps":               {https("url = \"http://h.example/a/../{{x}}\"\nhosts = [\"h.example\"]"), "http.url"},
		"host not listed":     {https("url = \"http://h.example/\"\nhosts = [\"i.example\"]"), "http.url"},
		"port not listed":     {https("url = \"http://h.example:81/\"\nhosts = [\"h.example\"]"), "http.url"},
		"no hosts":            {https("url = \"http://h.example/\""), "http.hosts"},
		"all hosts":           {https("url = \"http://h.example/\"\nhosts = [\"*\"]"), "http.hosts[0]"},
		"method":              {https("method = \"CONNECT\"\nurl = \"http://h.example/\"\nhosts = [\"h.example\"]"), "http.method"},
		"header taken":        {https("url = \"http://h.example/\"\nhosts = [\"h.example\"]\nheader = {host = \"x\"}"), "http.header.host"},
		"header of variable":  {https("url = \"http://h.example/\"\nhosts = [\"h.example\"]\nheader = {X = \"{{x}}\"}"), "http.header.X"},
		"header of two lines": {https("url = \"http://h.example/\"\nhosts = [\"h.example\"]\nheader = {X = \"a\\r\\nY: b\"}"), "http.header.X"},
		"body of a GET":       {https("url = \"http://h.example/\"\nhosts = [\"h.example\"]\nbody = \"{}\""), "http.body"},
		"body no JSON":        {https("method = \"POST\"\nurl = \"http://h.example/\"\nhosts = [\"h.example\"]\nbody = \"a={{x}}\""), "http.body"},
		"relative root":       {reads("root = \"sys\"\npath = \"a\""), "read.root"},
		"root of variable":    {reads("root = \"/{{x}}\"\npath = \"a\""), "read.root"},
		"absent root":         {reads("root = \"/absent-folder\"\npath = \"{{x}}\""), "read.root"},
		"absent file":         {reads("root = \"" + folder + "\"\npath = \"a\""), "read.path"},
		"link out":            {reads("root = \"" + folder + "\"\npath = \"out\""), "read.path"},
		"path up":             {reads("root = \"" + folder + "\"\npath = \"../{{x}}\""), "read.path"},
		"path absolute":       {reads("root = \"" + folder + "\"\npath = \"/{{x}}\""), "read.path"},
	} {
		t.Run(name, func(t *testing.T) {
			all := faults(t, c.text)
			for _, f := range all {
				if f.What == "" || f.Mend == "" || f.Tool == "" {
					t.Errorf("a fault that does not say what and how: %+v", f)
				}
			}
			if !slices.ContainsFunc(all, func(f tools.Fault) bool { return f.Where == c.where }) {
				t.Errorf("not found in %q, but: %v", c.where, all)
			}
			if len(all) > 2 {
				t.Errorf("one thing is wrong, and %d faults are named: %v", len(all), all)
			}
		})
	}
}

// All faults of all tools are named at once, and each tool by its name.
func TestFaultsAreListedTogether(t *testing.T) {
	all := faults(t, `
[[tools]]
name = "one"
description = "x"
consequence = "none"
colour = "red"
[tools.exec]
argv = ["/absent/program", "{{what}}"]
size = 1

[[tools]]
name = "two"
description = "x"
consequence = "low"
[tools.http]
url = "http://h.example/{{id}}"
hosts = ["i.example"]

[[tools]]
name = "one"
description = "x"
consequence = "low"
[tools.read]
root = "/absent"
path = "x"
`)
	var got []string
	for _, f := range all {
		got = append(got, f.Tool+" "+f.Where)
	}
	slices.Sort(got)
	want := []string{
		`tool "one" colour`, `tool "one" consequence`, `tool "one" exec.argv[0]`, `tool "one" exec.argv[1]`, `tool "one" exec.size`,
		`tool "one" name`, `tool "one" read.root`, `tool "two" http.url`, `tool "two" http.url`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("faults:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSurroundingsAreNeeded(t *testing.T) {
	program := script(t, "true")
	text := lamp + fmt.Sprintf("[[tools]]\nname = \"run\"\ndescription = \"x\"\nconsequence = \"low\"\n[tools.exec]\nargv = [%q]\n", program)
	if err := tools.Check(declared(t, text)); err != nil {
		t.Fatalf("Check looks at the machine: %v", err)
	}
	_, err := tools.Resolve(declared(t, text), tools.Surroundings{Workplace: "/absent"})
	if all, _ := err.(tools.Faults); len(all) != 2 {
		t.Errorf("faults %v, want those of the working place and of the broker", err)
	}
}

// The digest is of what is declared, not of how it is written; and of all of it.
func TestDigest(t *testing.T) {
	digest := func(text string) string {
		d := declared(t, text)
		sum, err := d[0].Digest()
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%x", sum)
	}
	base := digest(lamp)
	inJSON := head + `
arguments = '''{"required": ["room", "level"], "properties": {
  "level": {"maximum": 10.0, "minimum": 0, "type": "integer"},
  "room": {"maxLength": 2e1, "type": "string", "pattern": "^[a-z]+$"}}, "type": "object"}'''
mqtt = {payload = "{{level}}", topic = "home/{{room}}/lamp", time_limit = "10000ms", format = "text", qos = 0, retain = false}
`
	if digest(inJSON) != base {
		t.Error("the same thing written otherwise has another digest")
	}
	for _, change := range [][2]string{
		{`"lamp"`, `"lamb"`}, {"Switches", "Turns"}, {"medium", "high"}, {"maximum = 10", "maximum = 11"}, {"/lamp", "/light"}, {`"{{level}}"`, `"{{room}}"`},
	} {
		if digest(strings.Replace(lamp, change[0], change[1], 1)) == base {
			t.Errorf("%s for %s does not change the digest", change[1], change[0])
		}
	}
	d := declared(t, lamp)
	data, err := d[0].Canonical()
	const want = `{"arguments":{"properties":{"level":{"maximum":10,"minimum":0,"type":"integer"},"room":{"maxLength":20,"pattern":"^[a-z]+$","type":"string"}},` +
		`"required":["room","level"],"type":"object"},"consequence":"medium","description":"Switches the lamp.","form":"jivad/tool/1",` +
		`"mqtt":{"format":"text","payload":"{{level}}","qos":0,"retain":false,"time_limit":10000000000,"topic":"home/{{room}}/lamp"},"name":"lamp"}`
	if err != nil || string(data) != want {
		t.Errorf("canonical form\n%s\nwant\n%s", data, want)
	}
	second := strings.Replace(lamp, `"lamp"`, `"light"`, 1)
	if born(t, lamp+second).Digest() != born(t, second+lamp).Digest() || born(t, lamp).Digest() == born(t, second).Digest() {
		t.Error("the digest of a set is not that of its tools in any order")
	}
}
