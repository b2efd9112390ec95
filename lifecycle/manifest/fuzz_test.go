package manifest

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// FuzzParse: whatever the text, there is a manifest that passes its own checks and has an
// id, or faults that are lines of plain text.
func FuzzParse(f *testing.F) {
	f.Add(Generate())
	f.Add(uncommented(Generate()))
	for _, text := range []string{
		"mission = 3", "consent = [\"*\", \"health\", \"x.y\"]", "[life]\nroll = 04:00:00\nttl = \"1h\"", "[[grants]]\nwithin = '{'", "tools = [{}, 4]",
		"[distillation]\nnames = [\"a\"]\nsignals = { x = nan, \"said.a\" = inf }", "a.b.c.d.e.f.g.h.i.j = 1", "\"\\u001b\" = 1", "[life]\n[life]",
		"[[tools]]\nname = \"a\"\n[tools.arguments.properties.x]\ntype = 1\n[[grants]]\ncapability = \"exec.a\"\n", "grants = [{ capability = \"exec\" }]",
		"[substrate]\nlineage = 1979-05-27\n", "[[distillation.signals]]\n", "[[life]]\nttl = 1", "substrate.digest = \"sha256:sha256:\"",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse("m", text)
		if err == nil {
			if err := m.Check(); err != nil {
				t.Errorf("it was read, and its check says %v", err)
			}
			if _, err := m.Digest(); err != nil {
				t.Error(err)
			}
			if again, err := Parse("m", text); err != nil || !reflect.DeepEqual(again.Life, m.Life) || digest(t, again) != digest(t, m) {
				t.Errorf("a second reading gives another manifest: %v", err)
			}
			return
		}
		var e *Error
		if !errors.As(err, &e) || len(e.Faults) == 0 {
			t.Fatalf("%v", err)
		}
		for _, fault := range e.Faults {
			if line := fault.String(); fault.Text == "" || !plain(line) || strings.ContainsAny(line, "\n\t") {
				t.Errorf("a fault reads %q", line)
			}
		}
	})
}
