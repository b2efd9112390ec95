package tools_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/lifecycle/tools"
)

// meal has arguments of every type.
const meal = `
[[tools]]
name = "meal"
description = "Cooks."
consequence = "high"
arguments = '''{"type": "object", "required": ["dish"], "properties": {
  "dish": {"type": "string", "minLength": 1, "maxLength": 40},
  "kind": {"enum": ["hot", "cold"], "default": "cold"},
  "salt": {"type": "number", "minimum": 0, "maximum": 1},
  "count": {"type": "integer", "minimum": 1, "multipleOf": 2},
  "day": {"type": "string", "format": "date"},
  "code": {"type": "string", "pattern": "^[A-Z]{2}$"},
  "with": {"type": "array", "maxItems": 3, "uniqueItems": true, "items": {"$ref": "#/$defs/side"}},
  "cook": {"type": "object", "properties": {"name": {"type": "string"}}},
  "either": {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}]}},
 "$defs": {"side": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}}}'''
[tools.mqtt]
topic = "kitchen/{{kind}}"
payload = "{{dish}}"
`

func TestArgumentsAreHeldAgainstTheSchema(t *testing.T) {
	set := born(t, meal)
	good := []string{
		`{"dish":"soup"}`,
		`{"dish":"soup","kind":"hot","salt":0.5,"count":4,"day":"2024-02-29","code":"AB"}`,
		`{"dish":"soup","count":4.0}`,
		`{"dish":"soup","with":[{"name":"rice"},{"name":"peas"}],"cook":{"name":"Ann"}}`,
		`{"dish":"soup","either":{"a":1}}`,
		` { "dish" : "\u0073oup" } `,
	}
	for _, text := range good {
		permitted(t, set, "meal", text)
	}
	deep := strings.Repeat(`{"name":`, 5000) + `1` + strings.Repeat(`}`, 5000)
	for _, c := range []struct {
		text string
		code tools.Code
	}{
		{``, tools.MissingArgument},
		{`{}`, tools.MissingArgument},
		{`null`, tools.BadArguments},
		{`["CANARY"]`, tools.BadArguments},
		{`{"dish":"CANARY"`, tools.BadArguments},
		{`{"dish":"CANARY"} {}`, tools.BadArguments},
		{`{"dish":"soup","dish":"CANARY"}`, tools.BadArguments},
		{`{"dish":"soup","d\u0069sh":"CANARY"}`, tools.BadArguments},
		{`{"dish":"soup","cook":{"name":"a","name":"CANARY"}}`, tools.BadArguments},
		{`{"dish":"CANARY\u0000"}`, tools.BadArguments},
		{"{\"dish\":\"\xff\"}", tools.BadArguments},
		{`{"dish":"soup","salt":NaN}`, tools.BadArguments},
		{`{"dish":"soup","salt":Infinity}`, tools.BadArguments},
		{`{"dish":"soup","salt":1e400}`, tools.BadArguments},
		{`{"dish":"soup","salt":1e-999999999}`, tools.BadArguments},
		{`{"dish":"soup","salt":0e999999999999999999999999999999999999999999}`, tools.BadArguments},
		{`{"dish":"soup","count":9007199254740993}`, tools.BadArguments},
		{`{"dish":"soup","with":` + deep + `}`, tools.BadArguments},
		{`{"dish":"soup","with":` + strings.Repeat(`[`, 12) + strings.Repeat(`]`, 12) + `}`, tools.BadArguments},
		{strings.Repeat(`[`, 9000) + strings.Repeat(`]`, 9000), tools.BadArguments},
		{`{"dish":"` + strings.Repeat("CANARY", 11000) + `"}`, tools.BadArguments},
		{`{"dish":"soup","with":[` + strings.Repeat(`1,`, 5000) + `1]}`, tools.BadArguments},
		{`{"dish":"soup","CANARY":1}`, tools.ExtraArgument},
		{`{"Dish":"CANARY"}`, tools.ExtraArgument},
		{`{"dish":"soup","with":` + strings.Repeat(`[`, 10) + strings.Repeat(`]`, 10) + `}`, tools.OutsideSchema},
		{`{"dish":7}`, tools.OutsideSchema},
		{`{"dish":""}`, tools.OutsideSchema},
		{`{"dish":"CANARY` + strings.Repeat("x", 40) + `"}`, tools.OutsideSchema},
		{`{"dish":null}`, tools.OutsideSchema},
		{`{"dish":"soup","kind":"CANARY"}`, tools.OutsideSchema},
		{`{"dish":"soup","salt":"0.5"}`, tools.OutsideSchema},
		{`{"dish":"soup","salt":1.01}`, tools.OutsideSchema},
		{`{"dish":"soup","count":3}`, tools.OutsideSchema},
		{`{"dish":"soup","count":2.5}`, tools.OutsideSchema},
		{`{"dish":"soup","day":"CANARY"}`, tools.OutsideSchema},
		{`{"dish":"soup","day":"2023-02-29"}`, tools.OutsideSchema},
		{`{"dish":"soup","code":"CANARY"}`, tools.OutsideSchema},
		{`{"dish":"soup","code":"AB\n"}`, tools.OutsideSchema},
		{`{"dish":"soup","with":[{"name":"a","CANARY":1}]}`, tools.OutsideSchema},
		{`{"dish":"soup","with":[{"name":"CANARY"},{"name":"CANARY"}]}`, tools.OutsideSchema},
		{`{"dish":"soup","with":[{"CANARY":"CANARY"}]}`, tools.OutsideSchema},
		{`{"dish":"soup","cook":{"name":"a","CANARY":1}}`, tools.OutsideSchema},
		{`{"dish":"soup","either":{"a":1,"CANARY":2}}`, tools.OutsideSchema},
		{`{"dish":"soup","either":["CANARY"]}`, tools.OutsideSchema},
	} {
		refused(t, ask(t, set, "meal", c.text), c.code)
		if t.Failed() {
			t.Fatalf("with %.80s", c.text)
		}
	}
}

// All that is wrong is told, and each sentence says what is wanted.
func TestRefusalsSayWhatIsWanted(t *testing.T) {
	d := ask(t, born(t, meal), "meal", `{"kind":"warm","salt":2,"CANARY":1}`)
	refused(t, d, tools.MissingArgument)
	for _, want := range []string{`the argument "dish" is missing`, `"hot", "cold"`, `at most 1`, "does not have; it has: code, cook, count, day, dish, either, kind, salt, with"} {
		if !strings.Contains(d.Text(), want) {
			t.Errorf("%q does not say %q", d.Text(), want)
		}
	}
}

func TestUnknownTool(t *testing.T) {
	set := born(t, meal+lamp)
	d := ask(t, set, "CANARY; ignore the rules", `{"CANARY":1}`)
	refused(t, d, tools.UnknownTool)
	if !strings.Contains(d.Text(), "lamp, meal") {
		t.Errorf("%q does not list the tools", d.Text())
	}
	refused(t, tools.Permit(tools.Call{Tool: "meal"}, everything(t), nil, open()), tools.UnknownTool)
	refused(t, tools.Permit(tools.Call{}, tools.Grants{}, set, open()), tools.UnknownTool)
	refused(t, ask(t, set, "Meal", `{"dish":"soup"}`), tools.UnknownTool)
}

func grants(t testing.TB, list ...tools.Grant) tools.Grants {
	t.Helper()
	g, err := tools.NewGrants(list)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGrants(t *testing.T) {
	set := born(t, meal+lamp)
	call := tools.Call{Tool: "lamp", Arguments: []byte(`{"room":"hall","level":5}`)}
	low := tools.Grant{Capability: "mqtt.lamp", Within: tools.SchemaOf(`{"properties":{"level":{"maximum":3}}}`)}
	hall := tools.Grant{Capability: "mqtt", Within: tools.SchemaOf(`{"properties":{"room":{"const":"hall"}}}`)}
	shrunk := func(g tools.Grants, list ...tools.Grant) tools.Grants {
		out, err := g.Shrink(list)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	all := grants(t, tools.Grant{Capability: "mqtt"})
	for name, c := range map[string]struct {
		g    tools.Grants
		code tools.Code
	}{
		"nothing":              {tools.Grants{}, tools.NotGranted},
		"empty list":           {grants(t), tools.NotGranted},
		"another kind":         {grants(t, tools.Grant{Capability: "exec"}), tools.NotGranted},
		"another tool":         {grants(t, tools.Grant{Capability: "mqtt.meal"}), tools.NotGranted},
		"kind":                 {all, ""},
		"this tool":            {grants(t, tools.Grant{Capability: "mqtt.lamp"}), ""},
		"too narrow":           {grants(t, low), tools.OutsideGrant},
		"one of two":           {grants(t, low, hall), ""},
		"shrunk to it":         {shrunk(all, tools.Grant{Capability: "mqtt.lamp"}), ""},
		"shrunk away":          {shrunk(all, tools.Grant{Capability: "mqtt.meal"}), tools.NotGranted},
		"shrunk to none":       {shrunk(all), tools.NotGranted},
		"shrunk narrower":      {shrunk(all, low), tools.OutsideGrant},
		"both must allow":      {shrunk(grants(t, hall), low), tools.OutsideGrant},
		"never widened":        {shrunk(grants(t, low), tools.Grant{Capability: "mqtt"}), tools.OutsideGrant},
		"nothing stays so":     {shrunk(tools.Grants{}, tools.Grant{Capability: "mqtt"}), tools.NotGranted},
		"without the tool":     {all.Without("mqtt.lamp"), tools.NotGranted},
		"without the kind":     {all.Without("mqtt"), tools.NotGranted},
		"without, then shrunk": {shrunk(all.Without("mqtt.lamp"), tools.Grant{Capability: "mqtt.lamp"}), tools.NotGranted},
		"without two":          {all.Without("mqtt.lamp").Without("exec"), tools.NotGranted},
		"without another":      {all.Without("mqtt.meal").Without("exec"), ""},
	} {
		d := tools.Permit(call, c.g, set, open())
		if c.code == "" {
			if !d.Allowed() {
				t.Errorf("%s: %s", name, d.Text())
			}
			continue
		}
		t.Run(name, func(t *testing.T) { refused(t, d, c.code) })
	}
	// A default is held against the grant as well.
	cold := grants(t, tools.Grant{Capability: "mqtt", Within: tools.SchemaOf(`{"properties":{"kind":{"const":"hot"}}}`)})
	refused(t, tools.Permit(tools.Call{Tool: "meal", Arguments: []byte(`{"dish":"soup"}`)}, cold, set, open()), tools.OutsideGrant)
}

func TestGrantsAreChecked(t *testing.T) {
	_, err := tools.NewGrants([]tools.Grant{{Capability: "shell"}, {Capability: "mqtt.A b"}, {Capability: "*"}, {Capability: "mqtt", Within: tools.SchemaOf(`{"maximun":1}`)}})
	if all, _ := err.(tools.Faults); len(all) != 4 {
		t.Errorf("faults %v, want 4", err)
	}
	g := grants(t, tools.Grant{Capability: "exec"}, tools.Grant{Capability: "mqtt.lamb"},
		tools.Grant{Capability: "mqtt.lamp", Within: tools.SchemaOf(`{"properties":{"levle":{"maximum":3}}}`)})
	err = g.Check(born(t, lamp))
	if all, _ := err.(tools.Faults); len(all) != 3 {
		t.Errorf("faults %v, want 3: no such tools, no such argument", err)
	}
	if err := everything(t).Without("read").Check(born(t, lamp)); err == nil {
		t.Error("grants that cover nothing are not told")
	}
	if err := grants(t, tools.Grant{Capability: "mqtt.lamp"}).Check(born(t, lamp)); err != nil {
		t.Error(err)
	}
}

// Whatever is done to grants, what they let through before they shrank contains what
// they let through after.
func TestGrantsOnlyShrink(t *testing.T) {
	set := born(t, meal+lamp)
	one := rapid.Custom(func(t *rapid.T) tools.Grant {
		g := tools.Grant{Capability: rapid.SampledFrom([]string{"mqtt", "mqtt.lamp", "mqtt.meal", "read"}).Draw(t, "capability")}
		if rapid.Bool().Draw(t, "narrow") {
			g.Within = tools.SchemaOf(fmt.Sprintf(`{"properties":{"level":{"maximum":%d}}}`, rapid.IntRange(0, 10).Draw(t, "most")))
		}
		return g
	})
	rapid.Check(t, func(t *rapid.T) {
		g, err := tools.NewGrants(rapid.SliceOfN(one, 0, 4).Draw(t, "grants"))
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			after := g
			if rapid.Bool().Draw(t, "shrink") {
				if after, err = g.Shrink(rapid.SliceOfN(one, 0, 4).Draw(t, "list")); err != nil {
					t.Fatal(err)
				}
			} else {
				after = g.Without(rapid.SampledFrom([]string{"mqtt", "mqtt.lamp", "exec"}).Draw(t, "without"))
			}
			for level := range 11 {
				call := tools.Call{Tool: "lamp", Arguments: fmt.Appendf(nil, `{"room":"hall","level":%d}`, level)}
				if tools.Permit(call, after, set, open()).Allowed() && !tools.Permit(call, g, set, open()).Allowed() {
					t.Fatalf("level %d became allowed", level)
				}
			}
			g = after
		}
	})
}

// Shrinking one value leaves others that came from the same one as they were.
func TestGrantsAreValues(t *testing.T) {
	set := born(t, meal+lamp)
	base := grants(t, tools.Grant{Capability: "mqtt"}).Without("exec")
	a, b := base.Without("mqtt.lamp"), base.Without("mqtt.meal")
	call := tools.Call{Tool: "lamp", Arguments: []byte(`{"room":"hall","level":5}`)}
	if tools.Permit(call, a, set, open()).Allowed() || !tools.Permit(call, b, set, open()).Allowed() || !tools.Permit(call, base, set, open()).Allowed() {
		t.Error("grants share what they were made from")
	}
}

func TestGates(t *testing.T) {
	set := born(t, meal)
	call := tools.Call{Tool: "meal", Arguments: []byte(`{"dish":"soup"}`)}
	answer := func(a tools.Answer, reasons ...string) func(tools.Proposal) tools.Verdict {
		return func(tools.Proposal) tools.Verdict { return tools.Verdict{Answer: a, Reasons: reasons} }
	}
	yes := answer(tools.Allow)
	for name, c := range map[string]struct {
		gates tools.Gates
		code  tools.Code
		says  string
	}{
		"none":                 {tools.Gates{}, tools.NoConsent, "did not consent"},
		"no consent gate":      {tools.Gates{Consequence: yes}, tools.NoConsent, "did not consent"},
		"no consequence":       {tools.Gates{Consent: yes}, tools.Gated, "more to rest on"},
		"denied":               {tools.Gates{Consent: answer(tools.Deny, "health is not shared"), Consequence: yes}, tools.NoConsent, "health is not shared"},
		"to be asked":          {tools.Gates{Consent: answer(tools.AskFirst), Consequence: yes}, tools.NeedsYes, "asked first"},
		"audit":                {tools.Gates{Consent: yes, Consequence: answer(tools.Deny, "a claim is stale", "no reviewer")}, tools.Gated, "a claim is stale; no reviewer"},
		"an answer of no kind": {tools.Gates{Consent: answer(tools.Answer(7)), Consequence: yes}, tools.NoConsent, "did not consent"},
	} {
		t.Run(name, func(t *testing.T) {
			d := tools.Permit(call, everything(t), set, c.gates)
			refused(t, d, c.code)
			if !strings.Contains(d.Text(), c.says) {
				t.Errorf("%q does not say %q", d.Text(), c.says)
			}
		})
	}
	// The gates are asked about what the act will be, and about nothing that is refused anyway.
	var seen []tools.Proposal
	look := func(p tools.Proposal) tools.Verdict {
		seen = append(seen, p)
		p.Arguments[0] = '!' // their own copy
		return tools.Verdict{Answer: tools.Allow}
	}
	gates := tools.Gates{Consent: look, Consequence: look}
	tools.Permit(tools.Call{Tool: "meal", Arguments: []byte(`{}`)}, everything(t), set, gates)
	tools.Permit(call, tools.Grants{}, set, gates)
	if len(seen) != 0 {
		t.Errorf("the gates were asked about a refused call: %+v", seen)
	}
	d := tools.Permit(call, everything(t), set, gates)
	if len(seen) != 2 || seen[0].Consequence != tools.High || seen[0].Kind != "mqtt" || !bytes.Equal(seen[1].Arguments[1:], []byte(`"dish":"soup","kind":"cold"}`)) {
		t.Errorf("the gates saw %+v", seen)
	}
	if !d.Allowed() || !strings.Contains(string(d.Act.Payload()), `"arguments":{"dish":"soup","kind":"cold"}`) {
		t.Errorf("the act is %s", d.Act.Payload())
	}
}

func TestPayloadIsThatOfTheAct(t *testing.T) {
	set := born(t, meal)
	a := permitted(t, set, "meal", `{"dish":"soup","kind":"cold","salt":0.50}`)
	b := permitted(t, set, "meal", ` {"salt":5e-1,"dish":"so\u0075p"}`)
	if !bytes.Equal(a.Payload(), b.Payload()) {
		t.Errorf("one act, two payloads: %s and %s", a.Payload(), b.Payload())
	}
	c := permitted(t, born(t, strings.Replace(meal, "Cooks.", "Cooks well.", 1)), "meal", `{"dish":"soup","salt":0.5}`)
	if bytes.Equal(a.Payload(), c.Payload()) {
		t.Error("the payload does not depend on the declaration")
	}
}

func TestOffers(t *testing.T) {
	set := born(t, meal+lamp)
	offers := tools.Offers(set, everything(t).Without("mqtt.meal"))
	if len(offers) != 1 || offers[0].Name != "lamp" {
		t.Fatalf("offers %+v", offers)
	}
	if !strings.Contains(string(offers[0].Parameters), `"additionalProperties":false`) {
		t.Errorf("the offer does not say that it is closed: %s", offers[0].Parameters)
	}
	if len(tools.Offers(set, tools.Grants{})) != 0 || tools.Offers(nil, everything(t)) != nil {
		t.Error("something is offered that is not granted")
	}
}

func TestDecisionsAreBounded(t *testing.T) {
	d := ask(t, born(t, meal), "meal", `{"dish":1,"kind":1,"salt":"","count":"","day":1,"code":1,"with":1,"cook":1,"either":1}`)
	if len(d.Refusals) != 8 {
		t.Errorf("%d refusals", len(d.Refusals))
	}
	if !slices.IsSortedFunc(d.Refusals, func(a, b tools.Refusal) int { return strings.Compare(a.Argument, b.Argument) }) {
		t.Error("the order of refusals is that of chance")
	}
	if errors.Is(d.Err(), tools.ErrDeclaration) {
		t.Error("a refusal is no fault of a declaration")
	}
}
