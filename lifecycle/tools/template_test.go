package tools_test

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jivad/jivad/lifecycle/tools"
)

// every has a tool of each kind whose template holds {{v}}, a text, and {{n}}.
const every = `
[[tools]]
name = "argv"
description = "x"
consequence = "low"
arguments = {type = "object", required = ["v", "n"], properties = {v = {type = "string"}, n = {type = "number"}}}
[tools.exec]
argv = ["/bin/true", "a {{v}} {v} b", "--v={{v}}", "{{-v}}", "{{n}}{{v}}"]

[[tools]]
name = "bare"
description = "x"
consequence = "low"
arguments = {type = "object", required = ["v"], properties = {v = {type = ["string", "number"]}}}
[tools.exec]
argv = ["/bin/true", "{{v}}"]

[[tools]]
name = "url"
description = "x"
consequence = "low"
arguments = {type = "object", required = ["v", "n"], properties = {v = {type = "string"}, n = {type = "number"}}}
[tools.http]
method = "POST"
url = "https://h.example/a/{{v}}/b{{n}}?q={{v}}&r={{n}}"
hosts = ["h.example"]
body = '{"text": "<{{v}}> {{n}}", "whole": {{v}}, "n": {{n}}}'

[[tools]]
name = "host"
description = "x"
consequence = "low"
arguments = {type = "object", required = ["v"], properties = {v = {type = "string"}}}
[tools.http]
url = "https://{{v}}.example.org/a"
hosts = ["*.example.org"]

[[tools]]
name = "topic"
description = "x"
consequence = "low"
arguments = {type = "object", required = ["v", "n"], properties = {v = {type = "string"}, n = {type = "number"}}}
[tools.mqtt]
topic = "{{v}}/{{n}}/set"
payload = "v {{v}}"

[[tools]]
name = "json"
description = "x"
consequence = "low"
arguments = {type = "object", required = ["v", "n"], properties = {v = {type = "string"}, n = {type = "array", items = {type = "number"}}}}
[tools.mqtt]
topic = "a"
payload = '{"a\"{": {"b":"{{v}}{v}","c":[{{v}},{{n}}]}}'
format = "json"

[[tools]]
name = "path"
description = "x"
consequence = "low"
arguments = {type = "object", required = ["v"], properties = {v = {type = "string"}}}
[tools.read]
root = "/proc"
path = "a/.{{v}}/b"
may_come = true
`

// What a value becomes in each place.
func TestValuesInTheirPlaces(t *testing.T) {
	set := born(t, every)
	for _, v := range []string{
		"plain", "{{n}}", "{{v}}", "{{-v}}", "{v}", "{{", "}}", "$(id) `id` ${PATH} ;|&<>*?~!'\"\\", "two words\nand a line", "ä 日本 👍", "%2e%2e%2f", "a?b#c&d=e", "\x7f\x1b[0m",
	} {
		a := permitted(t, set, "argv", object("v", v, "n", 0.5))
		want := []string{"/bin/true", "a " + v + " {v} b", "--v=" + v, v, "0.5" + v}
		if got := a.Argv(); strings.Join(got, "\x00") != strings.Join(want, "\x00") {
			t.Errorf("arguments %q, want %q", got, want)
		}
		checkAct(t, permitted(t, set, "json", object("v", v, "n", []int{1})), v)
	}
}

func TestNumbersHaveOneForm(t *testing.T) {
	set := born(t, every)
	for text, want := range map[string]string{
		"5": "5", "5.0": "5", "5e0": "5", "-0": "0", "0.1": "0.1", "1.50": "1.5", "9007199254740991": "9007199254740991", "1e3": "1000", "0.00001": "1e-05",
	} {
		if got := permitted(t, set, "topic", `{"v":"x","n":`+text+`}`).Topic(); got != "x/"+want+"/set" {
			t.Errorf("%s becomes %q", text, got)
		}
	}
	refused(t, ask(t, set, "topic", `{"v":"x","n":1e21}`), tools.Unusable) // 1e+21 holds a +
}

func TestValuesThatCannotStand(t *testing.T) {
	set := born(t, every)
	long := strings.Repeat("CANARY", 1000)
	for _, c := range []struct{ tool, arguments string }{
		{"bare", object("v", "--CANARY")},
		{"bare", object("v", "-")},
		{"bare", object("v", -5)},
		{"argv", object("v", "x", "n", -5)},
		{"argv", object("v", "x", "n", -0.5)},
		{"url", object("v", "", "n", 1)},
		{"url", object("v", "..", "n", 1)},
		{"url", object("v", ".", "n", 1)},
		{"url", object("v", "../../CANARY", "n", 1)},
		{"url", object("v", `a\..\CANARY`, "n", 1)},
		{"host", object("v", "CANARY/")},
		{"host", object("v", "CANARY.example/?")},
		{"host", object("v", "me@CANARY")},
		{"host", object("v", "CANARY:80")},
		{"host", object("v", "CANARY#")},
		{"host", object("v", "CANARY.")},
		{"host", object("v", "CANARY..a")},
		{"host", object("v", "")},
		{"host", object("v", "ä")},
		{"host", object("v", "a\r\nHost: CANARY")},
		{"topic", object("v", "CANARY/+", "n", 1)},
		{"topic", object("v", "#", "n", 1)},
		{"topic", object("v", "+", "n", 1)},
		{"topic", object("v", "a/CANARY", "n", 1)},
		{"topic", object("v", "", "n", 1)},
		{"topic", object("v", "$SYS", "n", 1)},
		{"topic", object("v", "a\nCANARY", "n", 1)},
		{"topic", object("v", "\ufffe", "n", 1)},
		{"topic", object("v", long, "n", 1)},
		{"path", object("v", "")},
		{"path", object("v", "/etc/CANARY")},
		{"path", object("v", "..")},
		{"path", object("v", ".")}, // with the dot before it, it is ".."
		{"path", object("v", "./CANARY")},
		{"path", object("v", "../CANARY")},
		{"path", object("v", "a/../../../CANARY")},
		{"path", object("v", long)},
	} {
		refused(t, ask(t, set, c.tool, c.arguments), tools.Unusable)
		if t.Failed() {
			t.Fatalf("%s with %.60s", c.tool, c.arguments)
		}
	}
	refused(t, ask(t, set, "topic", object("v", "a\tb", "n", 1)), tools.Unusable)
	if a := permitted(t, set, "bare", object("v", "a-b")); a.Argv()[1] != "a-b" {
		t.Error("a dash inside is refused")
	}
}

// One line stays one line beside other text; a payload that is one value may have lines.
func TestTextPayload(t *testing.T) {
	const text = `
[[tools]]
name = "say"
description = "x"
consequence = "low"
arguments = {type = "object", required = ["v"], properties = {v = {type = "string"}}}
[tools.mqtt]
topic = "a"
payload = "PAYLOAD"
`
	whole := born(t, strings.Replace(text, "PAYLOAD", "{{v}}", 1))
	if got := permitted(t, whole, "say", object("v", "a\nb")).Message(); got != "a\nb" {
		t.Errorf("payload %q", got)
	}
	beside := born(t, strings.Replace(text, "PAYLOAD", "v={{v}}", 1))
	refused(t, ask(t, beside, "say", object("v", "a\nCANARY=b")), tools.Unusable)
	refused(t, ask(t, beside, "say", object("v", "a\u2028CANARY=b")), tools.Unusable)
}

// FuzzValues puts any text into every place: it is refused, or it is that value in that
// place and nothing else.
func FuzzValues(f *testing.F) {
	for _, v := range []string{"", "a", "-x", "..", "../..", "{{v}}", "{{n}}", "$(id)", "a/b", "a\x00b", "\xff", "%2e%2e", "a\nb", "+", "#", "$SYS", "a.b", "\u2028", `\`, `"`} {
		f.Add(v, 0.5)
	}
	set := born(f, every)
	f.Fuzz(func(t *testing.T, v string, n float64) {
		if n != n || n > 1e300 || n < -1e300 || !utf8.ValidString(v) {
			return
		}
		for _, tool := range set.Names() {
			arguments := object("v", v, "n", n)
			switch tool {
			case "bare", "host", "path":
				arguments = object("v", v)
			case "json":
				arguments = object("v", v, "n", []float64{n})
			}
			d := ask(t, set, tool, arguments)
			if d.Allowed() {
				checkAct(t, d.Act, v)
			} else if len(d.Refusals) == 0 {
				t.Fatal("refused without a reason")
			}
		}
	})
}

func checkAct(t *testing.T, a *tools.Act, v string) {
	t.Helper()
	switch a.Tool() {
	case "argv":
		if argv := a.Argv(); len(argv) != 5 || argv[0] != "/bin/true" || argv[1] != "a "+v+" {v} b" || argv[2] != "--v="+v || argv[3] != v || strings.HasPrefix(argv[4], "-") {
			t.Fatalf("arguments %q of %q", argv, v)
		}
	case "bare":
		if argv := a.Argv(); len(argv) != 2 || argv[1] != v || strings.HasPrefix(v, "-") {
			t.Fatalf("arguments %q of %q", argv, v)
		}
	case "url":
		u, err := url.Parse(a.Address())
		if err != nil || u.Scheme != "https" || u.Host != "h.example" || u.User != nil || u.Fragment != "" {
			t.Fatalf("address %q, %v", a.Address(), err)
		}
		steps := strings.Split(u.EscapedPath(), "/")
		if step, err := url.PathUnescape(steps[2]); len(steps) != 4 || err != nil || step != v || v == ".." || v == "." || v == "" {
			t.Fatalf("path %q of %q", u.EscapedPath(), v)
		}
		if q, err := url.ParseQuery(u.RawQuery); err != nil || len(q) != 2 || q.Get("q") != v {
			t.Fatalf("query %q of %q", u.RawQuery, v)
		}
		var body struct{ Text, Whole string }
		if err := json.Unmarshal([]byte(a.Body()), &body); err != nil || body.Whole != v || !strings.HasPrefix(body.Text, "<"+v+"> ") {
			t.Fatalf("body %s of %q", a.Body(), v)
		}
	case "host":
		u, err := url.Parse(a.Address())
		if err != nil || !strings.HasSuffix(u.Host, ".example.org") || u.Path != "/a" || u.RawQuery != "" || u.User != nil {
			t.Fatalf("address %q of %q", a.Address(), v)
		}
	case "topic":
		if levels := strings.Split(a.Topic(), "/"); len(levels) != 3 || levels[0] != v || levels[2] != "set" || strings.ContainsAny(a.Topic(), "+#\x00") || v == "" || v[0] == '$' {
			t.Fatalf("topic %q of %q", a.Topic(), v)
		}
		if a.Message() != "v "+v || strings.ContainsAny(v, "\r\n") {
			t.Fatalf("payload %q of %q", a.Message(), v)
		}
	case "json":
		var body map[string]struct {
			B string
			C []any
		}
		if err := json.Unmarshal([]byte(a.Message()), &body); err != nil || body[`a"{`].B != v+"{v}" || len(body[`a"{`].C) != 2 || body[`a"{`].C[0] != v {
			t.Fatalf("payload %s of %q", a.Message(), v)
		}
	case "path":
		if p := a.Path(); p != "a/."+v+"/b" || !filepath.IsLocal(p) || strings.HasPrefix(filepath.Clean(p), "..") || !strings.HasPrefix(filepath.Clean(p), "a/.") {
			t.Fatalf("path %q of %q", p, v)
		}
	}
}

// FuzzTemplates declares any text as a template: it is a fault, or a template that keeps
// its promises with any value.
func FuzzTemplates(f *testing.F) {
	for _, text := range []string{"{{v}}", "a{{v}}b", "http://h.example/{{v}}?{{v}}", "http://{{v}}/", "http://h.example:80/{{v}}/..", "{{-v}}", "{{", "{{v", "a/{{v}}", "../{{v}}", `{"a":"{{v}}"}`, `"\{{v}}"`, `"\\{{v}}"`, "[{{v}}]", "{{{v}}}", "http://[::1]{{v}}/"} {
		f.Add(text, "x")
		f.Add(text, "../..")
		f.Add(text, `","b":"`)
	}
	arguments := tools.SchemaOf(`{"type":"object","required":["v"],"properties":{"v":{"type":"string"}}}`)
	f.Fuzz(func(t *testing.T, text, v string) {
		if !utf8.ValidString(v) {
			return
		}
		base := tools.Declaration{Name: "x", Description: "x", Consequence: tools.Low, Arguments: arguments}
		e, h, m, r := base, base, base, base
		e.Exec = &tools.Exec{Argv: []string{"/bin/true", text}}
		h.HTTP = &tools.HTTP{URL: text, Hosts: []string{"h.example", "*.h.example"}}
		m.MQTT = &tools.MQTT{Topic: text, Payload: text}
		r.Read = &tools.Read{Root: "/proc", Path: text, MayCome: true}
		j := base
		j.MQTT = &tools.MQTT{Topic: "a", Payload: text, Format: tools.FormatJSON}
		for _, d := range []tools.Declaration{e, h, m, r, j} {
			set, err := tools.Resolve([]tools.Declaration{d}, tools.Surroundings{Workplace: "/tmp", Broker: true})
			if err != nil {
				continue
			}
			decision := ask(t, set, "x", object("v", v))
			if !decision.Allowed() {
				continue
			}
			a := decision.Act
			switch {
			case d.Exec != nil:
				if len(a.Argv()) != 2 || strings.HasPrefix(a.Argv()[1], "-") && !strings.HasPrefix(text, "-") && !strings.Contains(text, "{{-") {
					t.Fatalf("arguments %q of %q", a.Argv(), text)
				}
			case d.HTTP != nil:
				u, err := url.Parse(a.Address())
				if err != nil || u.User != nil || u.Port() != "" && u.Port() != "80" && u.Port() != "443" || u.Hostname() != "h.example" && !strings.HasSuffix(u.Hostname(), ".h.example") {
					t.Fatalf("address %q of %q", a.Address(), text)
				}
			case d.MQTT != nil && d.MQTT.Format == tools.FormatJSON:
				if !json.Valid([]byte(a.Message())) {
					t.Fatalf("payload %q of %q", a.Message(), text)
				}
			case d.MQTT != nil:
				if strings.ContainsAny(a.Topic(), "+#\x00") || strings.Count(a.Topic(), "/") != strings.Count(text, "/") {
					t.Fatalf("topic %q of %q", a.Topic(), text)
				}
			case d.Read != nil:
				if !filepath.IsLocal(a.Path()) {
					t.Fatalf("path %q of %q", a.Path(), text)
				}
			}
		}
	})
}

func TestPublicAddresses(t *testing.T) {
	for text, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1111": true, "1.1.1.1": true, "2001:4860:4860::8888": true,
		"127.0.0.1": false, "127.9.9.9": false, "10.0.0.1": false, "172.16.0.1": false, "172.31.255.255": false, "172.32.0.1": true, "192.168.1.1": false,
		"169.254.169.254": false, "100.64.0.1": false, "0.0.0.0": false, "0.1.2.3": false, "224.0.0.1": false, "255.255.255.255": false, "198.18.0.1": false, "192.0.0.8": false,
		"::1": false, "::": false, "fe80::1": false, "fd00::1": false, "fc00::1": false, "ff02::1": false, "64:ff9b::a00:1": false, "2002:a00:1::": false, "2001::1": false, "::ffff:10.0.0.1": false, "::10.0.0.1": false, "fec0::1": false,
	} {
		if got := tools.Public(netip.MustParseAddr(text).Unmap()); got != want {
			t.Errorf("%s is public: %v", text, got)
		}
	}
}

func TestHostsAreCovered(t *testing.T) {
	for _, c := range []struct {
		scheme, list, address string
		want                  bool
	}{
		{"https", "a.example", "a.example:443", true},
		{"https", "a.example", "a.example:80", false},
		{"http", "a.example", "a.example:80", true},
		{"https", "a.example:8443", "a.example:8443", true},
		{"https", "a.example:8443", "a.example:443", false},
		{"https", "*.a.example", "b.a.example:443", true},
		{"https", "*.a.example", "c.b.a.example:443", true},
		{"https", "*.a.example", "a.example:443", false},
		{"https", "*.a.example", "xa.example:443", false},
		{"https", "a.example", "b.a.example:443", false},
		{"https", "a.example", "a.example.evil.example:443", false},
		{"http", "10.0.0.1", "10.0.0.1:80", true},
		{"http", "10.0.0.1:81", "10.0.0.1:81", true},
		{"http", "[fd00::1]:81", "[fd00::1]:81", true},
		{"http", "fd00:0::1", "[fd00::1]:80", true},
		{"http", "A.example", "a.example:80", false}, // not read
	} {
		if got := tools.Covers(c.scheme, []string{c.list}, c.address); got != c.want {
			t.Errorf("%s %s covers %s: %v", c.scheme, c.list, c.address, got)
		}
	}
}

func TestTextIsBounded(t *testing.T) {
	for _, c := range []struct {
		data string
		most int
		want string
		cut  bool
	}{
		{"abc", 3, "abc", false},
		{"abcd", 3, "abc", true},
		{"aéé", 4, "aé", true},
		{"a日本", 5, "a日", true},
		{"a👍", 4, "a", true},
		{"a\xffb", 9, "a\ufffdb", false},
		{"a\xff\xffb", 4, "a\ufffd", true},
		{"\xe6\x97", 9, "\ufffd", false},
		{"\xff\xff\xff", 2, "", true},
		{"", 1, "", false},
	} {
		got, cut := tools.Bounded([]byte(c.data), c.most)
		if got != c.want || cut != c.cut {
			t.Errorf("%q in %d bytes: %q, %v; want %q, %v", c.data, c.most, got, cut, c.want, c.cut)
		}
	}
}
