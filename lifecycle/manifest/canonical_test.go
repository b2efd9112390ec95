package manifest

import (
	"bytes"
	"crypto/sha256"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gowebpki/jcs"

	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/tools"
	"github.com/jivad/jivad/soul/lineage"
)

// full is a manifest in which everything is set: one tool of each kind, each granted.
func full() Manifest {
	m := Default()
	m.Substrate = Substrate{Chat: "qwen3:0.6b", Digest: hex64, Embedder: "builtin-use-gram/1", EmbedderDigest: hex64, Lineage: lineage.Digest{1}}
	m.Life = Life{time.Hour, 10, 3, 0.5, time.Minute, "04:00"}
	m.Distillation.Names = Names{"Anna", "Berta"}
	m.Distillation.Satisfaction.Signals = map[string]float64{"said.helped": 1, "task.done": 0.5}
	arguments := `{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}`
	m.Tools = []tools.Declaration{
		{Name: "say", Description: "Says it.", Consequence: tools.Low, Arguments: tools.SchemaOf(arguments), Exec: &tools.Exec{Argv: []string{"/usr/bin/say", "{{x}}"}}},
		{Name: "ask", Description: "Asks it.", Consequence: tools.Low, Arguments: tools.SchemaOf(arguments), HTTP: &tools.HTTP{Method: "POST", URL: "https://a.example/{{x}}", Hosts: []string{"a.example"}, Body: `{"x":{{x}}}`}},
		{Name: "lamp", Description: "Lights it.", Consequence: tools.Medium, Arguments: tools.SchemaOf(arguments), MQTT: &tools.MQTT{Topic: "lamp", Payload: "{{x}}"}},
		{Name: "heat", Description: "Reads it.", Consequence: tools.Low, Arguments: tools.SchemaOf(arguments), Read: &tools.Read{Root: "/sys", Path: "{{x}}"}},
	}
	m.Grants = []tools.Grant{{Capability: "exec.say", Within: tools.SchemaOf(`{"properties":{"x":{"maxLength":5}}}`)}, {Capability: "read"}}
	return m
}

// changes change one field each, of a manifest as full gives it. The table must have every
// field that there is.
var changes = map[string]func(m *Manifest){
	"Mission":                            func(m *Manifest) { m.Mission += " Always." },
	"Consent":                            func(m *Manifest) { m.Consent = append(m.Consent, consent.Selector{Category: consent.Health}) },
	"Consent.Category":                   func(m *Manifest) { m.Consent[0].Category = consent.Health },
	"Consent.Dimension":                  func(m *Manifest) { m.Consent[0].Dimension = consent.Training },
	"Substrate.Chat":                     func(m *Manifest) { m.Substrate.Chat = "other" },
	"Substrate.Digest":                   func(m *Manifest) { m.Substrate.Digest = strings.Repeat("1", 64) },
	"Substrate.Builtin":                  func(m *Manifest) { m.Substrate.Builtin = !m.Substrate.Builtin },
	"Substrate.Embedder":                 func(m *Manifest) { m.Substrate.Embedder = "other" },
	"Substrate.EmbedderDigest":           func(m *Manifest) { m.Substrate.EmbedderDigest = "" },
	"Substrate.Lineage":                  func(m *Manifest) { m.Substrate.Lineage = lineage.Digest{} },
	"Life.TTL":                           func(m *Manifest) { m.Life.TTL += time.Second },
	"Life.MaxEvents":                     func(m *Manifest) { m.Life.MaxEvents = 0 },
	"Life.MaxFailures":                   func(m *Manifest) { m.Life.MaxFailures++ },
	"Life.WitnessGap":                    func(m *Manifest) { m.Life.WitnessGap += 1e-9 },
	"Life.Idle":                          func(m *Manifest) { m.Life.Idle = 0 },
	"Life.Roll":                          func(m *Manifest) { m.Life.Roll = "" },
	"Distillation.WrittenBy":             func(m *Manifest) { m.Distillation.WrittenBy = Rules },
	"Distillation.Names":                 func(m *Manifest) { m.Distillation.Names[0] = "Annabel" },
	"Distillation.Satisfaction.Implicit": func(m *Manifest) { m.Distillation.Satisfaction.Implicit = true },
	"Distillation.Satisfaction.Window":   func(m *Manifest) { m.Distillation.Satisfaction.Window = time.Hour },
	"Distillation.Satisfaction.Signals":  func(m *Manifest) { m.Distillation.Satisfaction.Signals["task.done"] = 0.500001 },
	"Grants":                             func(m *Manifest) { m.Grants = m.Grants[1:] },
	"Grants.Capability":                  func(m *Manifest) { m.Grants[1].Capability = "read.heat" },
	"Grants.Within":                      func(m *Manifest) { m.Grants[0].Within = tools.SchemaOf(`{"properties":{"x":{"maxLength":6}}}`) },
	"Tools":                              func(m *Manifest) { m.Tools = m.Tools[1:] },
	"Tools.Name":                         func(m *Manifest) { m.Tools[2].Name = "light" },
	"Tools.Description":                  func(m *Manifest) { m.Tools[2].Description += "!" },
	"Tools.Consequence":                  func(m *Manifest) { m.Tools[2].Consequence = tools.High },
	"Tools.Arguments":                    func(m *Manifest) { m.Tools[2].Arguments = tools.SchemaOf(`{"type":"object"}`) },
	"Tools.Exec":                         func(m *Manifest) { m.Tools[0].Exec, m.Tools[0].Read = nil, m.Tools[3].Read },
	"Tools.Exec.Argv":                    func(m *Manifest) { m.Tools[0].Exec.Argv = []string{"{{x}}", "/usr/bin/say"} },
	"Tools.Exec.TimeLimit":               func(m *Manifest) { m.Tools[0].Exec.TimeLimit = time.Second },
	"Tools.Exec.OutputLimit":             func(m *Manifest) { m.Tools[0].Exec.OutputLimit = 1 },
	"Tools.HTTP":                         func(m *Manifest) { m.Tools[1].HTTP, m.Tools[1].Read = nil, m.Tools[3].Read },
	"Tools.HTTP.Method":                  func(m *Manifest) { m.Tools[1].HTTP.Method = "PUT" },
	"Tools.HTTP.URL":                     func(m *Manifest) { m.Tools[1].HTTP.URL += "/" },
	"Tools.HTTP.Hosts":                   func(m *Manifest) { m.Tools[1].HTTP.Hosts = append(m.Tools[1].HTTP.Hosts, "b.example") },
	"Tools.HTTP.Header":                  func(m *Manifest) { m.Tools[1].HTTP.Header = map[string]string{"Accept": "a/b"} },
	"Tools.HTTP.Body":                    func(m *Manifest) { m.Tools[1].HTTP.Body = "" },
	"Tools.HTTP.TimeLimit":               func(m *Manifest) { m.Tools[1].HTTP.TimeLimit = time.Second },
	"Tools.HTTP.OutputLimit":             func(m *Manifest) { m.Tools[1].HTTP.OutputLimit = 1 },
	"Tools.MQTT":                         func(m *Manifest) { m.Tools[2].MQTT, m.Tools[2].Read = nil, m.Tools[3].Read },
	"Tools.MQTT.Topic":                   func(m *Manifest) { m.Tools[2].MQTT.Topic = "other" },
	"Tools.MQTT.Payload":                 func(m *Manifest) { m.Tools[2].MQTT.Payload = "x" },
	"Tools.MQTT.Format":                  func(m *Manifest) { m.Tools[2].MQTT.Format = tools.FormatJSON },
	"Tools.MQTT.QoS":                     func(m *Manifest) { m.Tools[2].MQTT.QoS = 1 },
	"Tools.MQTT.Retain":                  func(m *Manifest) { m.Tools[2].MQTT.Retain = true },
	"Tools.MQTT.TimeLimit":               func(m *Manifest) { m.Tools[2].MQTT.TimeLimit = time.Second },
	"Tools.Read":                         func(m *Manifest) { m.Tools[3].Read, m.Tools[3].Exec = nil, m.Tools[0].Exec },
	"Tools.Read.Root":                    func(m *Manifest) { m.Tools[3].Read.Root = "/" },
	"Tools.Read.Path":                    func(m *Manifest) { m.Tools[3].Read.Path = "y" },
	"Tools.Read.MayCome":                 func(m *Manifest) { m.Tools[3].Read.MayCome = true },
	"Tools.Read.TimeLimit":               func(m *Manifest) { m.Tools[3].Read.TimeLimit = time.Second },
	"Tools.Read.OutputLimit":             func(m *Manifest) { m.Tools[3].Read.OutputLimit = 1 },
}

// fields are the names of all exported fields below a type: those that hold structures
// themselves only where they can be there or not.
func fields(t reflect.Type, above string) []string {
	var out []string
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		name, inner := above+f.Name, f.Type
		for inner.Kind() == reflect.Slice || inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		below := []string{}
		if inner.Kind() == reflect.Struct {
			below = fields(inner, name+".")
		}
		if f.Type.Kind() != reflect.Struct || len(below) == 0 {
			out = append(out, name)
		}
		out = append(out, below...)
	}
	return out
}

func TestDigestChangesWithEachField(t *testing.T) {
	base := digest(t, full())
	seen := map[lineage.Digest]string{base: "nothing"}
	known := fields(reflect.TypeFor[Manifest](), "")
	for _, name := range known {
		change, there := changes[name]
		if !there {
			t.Errorf("no change of %s is tried", name)
			continue
		}
		m := full()
		change(&m)
		d := digest(t, m)
		if name == "Distillation.Names" {
			if d != base { // it could be guessed from the id, which leaves the device
				t.Error("the names are in the id")
			}
			continue
		}
		if before, twice := seen[d]; twice {
			t.Errorf("with %s changed the id is that of %s changed", name, before)
		}
		seen[d] = name
	}
	if len(known) != len(changes) {
		t.Errorf("%d fields and %d changes", len(known), len(changes))
	}
}

func digest(t interface {
	Helper()
	Fatal(...any)
}, m Manifest) lineage.Digest {
	t.Helper()
	d, err := m.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// What is not written has its default in the canonical form too.
func TestCanonicalFillsIn(t *testing.T) {
	same := map[string][2]func(m *Manifest){
		"window":     {func(m *Manifest) { m.Distillation.Satisfaction.Window = 0 }, func(m *Manifest) { m.Distillation.Satisfaction.Window = 24 * time.Hour }},
		"time limit": {func(m *Manifest) { m.Tools[0].Exec.TimeLimit = 0 }, func(m *Manifest) { m.Tools[0].Exec.TimeLimit = tools.DefaultTime }},
		"empty lists": {func(m *Manifest) { m.Grants, m.Tools, m.Distillation.Names, m.Consent = nil, nil, nil, nil }, func(m *Manifest) {
			m.Grants, m.Tools, m.Distillation.Names, m.Consent = []tools.Grant{}, []tools.Declaration{}, Names{}, []consent.Selector{}
		}},
		"no narrowing":  {func(m *Manifest) { m.Grants[0].Within = tools.Schema{} }, func(m *Manifest) { m.Grants[0].Within = tools.SchemaOf(`{}`) }},
		"twice granted": {func(m *Manifest) {}, func(m *Manifest) { m.Grants = append(m.Grants, m.Grants[0]) }},
		"twice named":   {func(m *Manifest) {}, func(m *Manifest) { m.Distillation.Names = append(m.Distillation.Names, "Anna") }},
		"digest":        {func(m *Manifest) {}, func(m *Manifest) { m.Substrate.Digest = "sha256:" + strings.ToUpper(hex64) }},
		"mission":       {func(m *Manifest) {}, func(m *Manifest) { m.Mission = "\n" + m.Mission + " " }},
	}
	for name, two := range same {
		a, b := full(), full()
		two[0](&a)
		two[1](&b)
		if digest(t, a) != digest(t, b) {
			t.Errorf("%s: two ids for the same thing", name)
		}
	}
}

func TestCanonicalForm(t *testing.T) {
	data, err := full().Canonical()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := jcs.Transform(data); err != nil || !bytes.Equal(again, data) {
		t.Errorf("it is not in canonical form: %v", err)
	}
	if d := digest(t, full()); d != sha256.Sum256(data) {
		t.Error("the id is not the SHA-256 of the canonical form")
	}
	const want = `{"consent":["behavioural.storage","behavioural.access"],"distillation":{"implicit":false,"judgement_window":86400,"signals":{},"written_by":"auto"},"form":"jivad/manifest/1","grants":[],"life":{"idle":0,"max_events":0,"max_failures":5,"roll":"","ttl":86400,"witness_gap":0},"mission":"` + DefaultMission + `","substrate":{"builtin":true,"chat":"","digest":"","embedder":"","embedder_digest":"","lineage":"head"},"tools":[]}`
	if data, err = Default().Canonical(); err != nil || string(data) != want {
		t.Errorf("the default is\n%s\nand was\n%s", data, want)
	}
	m := full()
	before := digest(t, m)
	if digest(t, m) != before || m.Distillation.Names[0] != "Anna" {
		t.Error("taking the id changes the manifest")
	}
}
