package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/lifecycle/consent"
)

// pooled are tools and grants, each in ways of writing the same thing: as they stand below
// [[tools]] or [[grants]], and as one line.
var pooled = map[string][][2][]string{
	keyTools: {
		{
			{
				"name = \"say\"\ndescription = \"Says it.\"\nconsequence = \"low\"\nexec = { argv = [\"/usr/bin/say\", \"{{x}}\"] }\narguments = '{\"type\": \"object\", \"required\": [\"x\"], \"properties\": {\"x\": {\"maxLength\": 10, \"type\": \"string\"}}}'",
				"consequence = 'low' # grave it is not\nname = 'say'\ndescription = \"Says it\\u002e\"\n[tools.exec]\ntime_limit = \"10000ms\"\nargv = [\n  '/usr/bin/say', # speaks\n  '{{x}}',\n]\n[tools.arguments]\ntype = \"object\"\nrequired = [\"x\"]\n[tools.arguments.properties.x]\ntype = \"string\"\nmaxLength = 1_0",
			},
			{`{ name = "say", description = "Says it.", consequence = "low", exec.argv = ["/usr/bin/say", "{{x}}"], exec.output_limit = 0x10000, arguments = { type = "object", properties.x = { type = "string", maxLength = 10 }, required = ["x"] } }`},
		},
		{
			{
				"name = \"heat\"\ndescription = \"Reads it.\"\nconsequence = \"low\"\nread = { root = \"/sys\", path = \"heat\" }",
				"read.path = \"heat\"\nread.root = \"/sys\"\nread.may_come = false\nread.time_limit = \"10s\"\nconsequence = \"low\"\ndescription = '''Reads it.'''\nname = \"heat\"",
			},
			{`{ read = { path = "heat", root = "/sys" }, name = "heat", description = "Reads it.", consequence = "low" }`},
		},
		{
			{
				"name = \"lamp\"\ndescription = \"Lights it.\"\nconsequence = \"high\"\n[tools.mqtt]\ntopic = \"lamp\"\npayload = \"on\"",
				"consequence = \"high\"\nname = \"lamp\"\ndescription = \"Lights it.\"\nmqtt = { payload = \"on\", topic = \"lamp\", qos = 0, retain = false, format = \"text\" }",
			},
			{`{ mqtt = { payload = "on", topic = "lamp" }, name = "lamp", description = "Lights it.", consequence = "high" }`},
		},
	},
	keyGrants: {
		{
			{"capability = \"exec.say\"\nwithin = '{\"properties\": {\"x\": {\"maxLength\": 5, \"minLength\": 1}}}'", "[grants.within.properties.x]\nminLength = 1\nmaxLength = 5", "within.properties.x = { maxLength = 5, minLength = 1 }"},
			{`{ capability = "exec.say", within.properties.x = { minLength = 1, maxLength = 5 } }`},
		},
		{{`capability = "read"`, "capability = 'read'\nwithin = {}", "capability = \"read\"\n[grants.within]\ntype = \"object\""}, {`{ capability = "read" }`, `{ within = "{}", capability = "read" }`}},
		{{"capability = \"mqtt.lamp\""}, {`{ capability = "mqtt.lamp" }`}},
	},
}

// meaning is what is written: the values of the keys, and which of the pool.
type meaning struct {
	mission  string
	cells    []consent.Cell
	texts    map[string]string // of the keys that are texts
	ttl      time.Duration
	idle     time.Duration
	events   int
	gap      int // in hundredths
	builtin  bool
	names    []string
	signals  map[string]int // in tenths
	of       map[string][]int
	implicit bool
}

func drawMeaning(t *rapid.T) meaning {
	m := meaning{
		mission:  rapid.SampledFrom([]string{DefaultMission, "Say \"no\" \\ often.", "Öfter\nübel 🜁."}).Draw(t, "mission"),
		cells:    rapid.SliceOfNDistinct(rapid.SampledFrom(consent.Cells()), 0, 20, rapid.ID[consent.Cell]).Draw(t, "cells"),
		ttl:      time.Duration(rapid.SampledFrom([]int{60, 3600, 86400, 5400}).Draw(t, "ttl")) * time.Second,
		idle:     time.Duration(rapid.SampledFrom([]int{0, 1, 1800}).Draw(t, "idle")) * time.Second,
		events:   rapid.SampledFrom([]int{0, 1, 1000}).Draw(t, "events"),
		gap:      rapid.IntRange(0, 200).Draw(t, "gap"),
		builtin:  rapid.Bool().Draw(t, "builtin"),
		implicit: rapid.Bool().Draw(t, "implicit"),
		names:    rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"Anna Maier", "O'Brien", "李明"}), 0, 3, rapid.ID[string]).Draw(t, "names"),
		signals:  rapid.MapOfN(rapid.SampledFrom([]string{"said.helped", "task.done", "seen.left"}), rapid.IntRange(-10, 10), 0, 3).Draw(t, "signals"),
		texts:    map[string]string{}, of: map[string][]int{},
	}
	for name, values := range map[string][]string{
		"substrate.chat": {"", "qwen3:0.6b"}, "substrate.digest": {"", hex64}, "substrate.embedder": {"", "builtin-use-gram/1"},
		"substrate.embedder_digest": {"", hex64}, "substrate.lineage": {"head", hex64}, "life.roll": {"", "04:00"}, "distillation.written_by": {"auto", "rules"},
	} {
		m.texts[name] = rapid.SampledFrom(values).Draw(t, name)
	}
	if rapid.Bool().Draw(t, "tools") { // all, for the grants want them
		m.of[keyTools] = []int{0, 1, 2}
		m.of[keyGrants] = rapid.SliceOfNDistinct(rapid.IntRange(0, 2), 0, 3, rapid.ID[int]).Draw(t, "grants")
	}
	return m
}

// written writes a meaning in one of its ways.
func written(t *rapid.T, m meaning) string {
	one := func(texts ...string) string { return rapid.SampledFrom(texts).Draw(t, "way") }
	text := func(s string) string {
		ways := []string{strconv.Quote(s), `"""` + "\n" + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"""`}
		if !strings.ContainsAny(s, "'\n") {
			ways = append(ways, "'"+s+"'")
		}
		return one(ways...)
	}
	list := func(texts []string) string {
		out := "["
		for _, s := range rapid.Permutation(texts).Draw(t, "order") {
			out += one("", " ", "\n  ", " # why\n") + text(s) + one("", " ") + ","
		}
		return out + one("", "\n", "# end\n") + "]"
	}
	duration := func(d time.Duration) string {
		n := int64(d / time.Second)
		return text(one(d.String(), fmt.Sprintf("%ds", n), fmt.Sprintf("%dm%ds", n/60, n%60), fmt.Sprintf("%dms", n*1000)))
	}
	var scope []string
	for _, c := range m.cells {
		scope = append(scope, one(c.String(), strings.ToUpper(c.String()), " "+strings.ReplaceAll(c.String(), "_", "-")))
	}
	for _, s := range append(rowsOf(m.cells), scope...) {
		if rapid.Bool().Draw(t, "again") {
			scope = append(scope, s)
		}
	}
	values := map[string]string{
		"mission": text(one("", " ", "\n") + m.mission + one("", "\n")), keyConsent: list(scope), keyNames: list(m.names),
		"life.ttl": duration(m.ttl), "life.idle": text(""), "life.max_events": one(fmt.Sprint(m.events), fmt.Sprintf("+%d", m.events), fmt.Sprintf("0x%x", m.events)),
		"life.witness_gap":  fmt.Sprintf("%d.%02d", m.gap/100, m.gap%100) + one("", "0", "e0"),
		"substrate.builtin": fmt.Sprint(m.builtin), "distillation.implicit": fmt.Sprint(m.implicit),
	}
	if m.idle > 0 {
		values["life.idle"] = duration(m.idle)
	}
	for name, s := range m.texts {
		if len(s) == 64 && strings.HasSuffix(name, "digest") {
			s = one(s, "sha256:"+s, strings.ToUpper(s))
		}
		values[name] = text(s)
	}
	if one("stays", "goes") == "goes" { // what has its default need not be there
		for name, usual := range map[string]bool{
			"mission": m.mission == DefaultMission, "life.ttl": m.ttl == 24*time.Hour, "life.idle": m.idle == 0, "life.max_events": m.events == 0,
			"life.witness_gap": m.gap == 0, "substrate.builtin": m.builtin, "distillation.implicit": !m.implicit, keyNames: len(m.names) == 0,
			"substrate.chat": m.texts["substrate.chat"] == "", "substrate.lineage": m.texts["substrate.lineage"] == "head", "life.roll": m.texts["life.roll"] == "",
		} {
			if usual {
				delete(values, name)
			}
		}
	}
	noise := func() string { return one("", "\n", "# a word\n", "   \t\n") }
	var top, below []string
	sections := map[string][]string{}
	for _, k := range keys() {
		if v, there := values[k.name]; there {
			line := one(k.leaf(), `"`+k.leaf()+`"`) + one(" = ", "=") + v
			sections[k.section()] = append(sections[k.section()], line)
		}
	}
	for name, weight := range m.signals {
		sections[keySignals] = append(sections[keySignals], fmt.Sprintf("%q = %s", name, strconv.FormatFloat(float64(weight)/10, 'f', -1, 64)))
	}
	slices.Sort(sections[keySignals])
	top = sections[""]
	for _, name := range []string{"substrate", "life", "distillation"} {
		lines := rapid.Permutation(sections[name]).Draw(t, name)
		if name == "distillation" && len(sections[keySignals]) > 0 {
			if one("table", "line") == "table" {
				below = append(below, "["+keySignals+"]\n"+strings.Join(rapid.Permutation(sections[keySignals]).Draw(t, "signals"), "\n"+noise()))
			} else {
				lines = append(lines, "signals = { "+strings.Join(sections[keySignals], ", ")+" }")
			}
		}
		if one("table", "dots") == "table" || name == "distillation" {
			below = append(below, "[ "+name+" ]\n"+strings.Join(lines, "\n"+noise()))
			continue
		}
		for _, line := range lines {
			top = append(top, name+"."+line)
		}
	}
	for _, name := range []string{keyTools, keyGrants} {
		var tables, inline []string
		for _, i := range rapid.Permutation(m.of[name]).Draw(t, name) {
			tables = append(tables, "[["+name+"]]\n"+one(pooled[name][i][0]...))
			inline = append(inline, one(pooled[name][i][1]...))
		}
		if name == keyGrants {
			for i, table := range tables { // the one way that leaves the capability to be written
				if !strings.Contains(table, "capability") {
					tables[i] = strings.Replace(table, "\n", "\ncapability = \"exec.say\"\n", 1)
				}
			}
		}
		if one("tables", "lines") == "tables" {
			below = append(below, strings.Join(tables, "\n"+noise()))
		} else {
			top = append(top, name+" = ["+strings.Join(inline, ", "+one("", "\n"))+"]")
		}
	}
	out := noise() + strings.Join(rapid.Permutation(top).Draw(t, "top"), "\n"+noise()) + "\n"
	return out + strings.Join(rapid.Permutation(below).Draw(t, "below"), "\n"+noise()) + "\n"
}

// rowsOf are the categories all of whose cells are there.
func rowsOf(cells []consent.Cell) []string {
	var out []string
	for _, c := range consent.Categories() {
		if len(consent.Dimensions()) == len(slices.DeleteFunc(slices.Clone(cells), func(x consent.Cell) bool { return x.Category != c })) {
			out = append(out, c.String()+".*")
		}
	}
	return out
}

// However a thing is written, it has one id.
func TestDigestOfEveryWriting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMeaning(t)
		first, second := written(t, m), written(t, m)
		a, err := Parse("m", first)
		if err != nil {
			t.Fatalf("%v in:\n%s", err, first)
		}
		b, err := Parse("m", second)
		if err != nil {
			t.Fatalf("%v in:\n%s", err, second)
		}
		if digest(t, a) != digest(t, b) {
			x, _ := a.Canonical()
			y, _ := b.Canonical()
			t.Fatalf("two ids for one thing:\n%s\n%s\n%s\n%s", first, x, second, y)
		}
	})
}

// Two things that differ have two ids, however they are written.
func TestDigestTellsApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMeaning(t)
		n := m
		switch rapid.IntRange(0, 3).Draw(t, "what") {
		case 0:
			n.mission += " And more."
		case 1:
			n.ttl += time.Second
		case 2:
			n.builtin = !m.builtin
		case 3:
			n.gap = (m.gap + 1) % 201
		}
		a, errA := Parse("m", written(t, m))
		b, errB := Parse("m", written(t, n))
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if digest(t, a) == digest(t, b) {
			t.Fatal("one id for two things")
		}
	})
}
