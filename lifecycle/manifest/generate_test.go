package manifest

import (
	"flag"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestGeneratedManifest(t *testing.T) {
	const golden = "testdata/manifest.toml"
	text := Generate()
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("the generated manifest is not that of %s; look at it, and write it anew with -update", golden)
	}
	for i, line := range strings.Split(text, "\n") {
		if n := len([]rune(line)); n > 120 {
			t.Errorf("line %d has %d letters", i+1, n)
		}
	}
}

func TestGeneratedIsDefault(t *testing.T) {
	m, err := Parse("manifest.toml", Generate())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(m, Default()) {
		t.Errorf("it reads as\n%+v\nand not as\n%+v", m, Default())
	}
}

// plainComment begins a line that only explains; other lines with # are keys.
var plainComment = regexp.MustCompile(`(?m)^#( |$)`)

// uncommented takes the # before keys away.
func uncommented(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		if !plainComment.MatchString(line) {
			line = strings.TrimPrefix(line, "#")
		}
		out = append(out, line)
	}
	return strings.Join(out, "")
}

func TestGeneratedUncommented(t *testing.T) {
	m, err := Parse("manifest.toml", uncommented(Generate()))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, tool := range m.Tools {
		kinds = append(kinds, tool.Kind())
	}
	if want := []string{"exec", "http", "mqtt", "read"}; !reflect.DeepEqual(kinds, want) {
		t.Errorf("the examples are of the kinds %v, not %v", kinds, want)
	}
	if len(m.Grants) != 4 || len(m.Distillation.Satisfaction.Signals) == 0 {
		t.Errorf("%d grants and %d signals are in the examples", len(m.Grants), len(m.Distillation.Satisfaction.Signals))
	}
	// Whatever is no example has the default that stands there.
	m.Tools, m.Grants, m.Distillation.Satisfaction.Signals = nil, nil, nil
	m.Distillation.Names = Default().Distillation.Names // an empty list either way
	if !reflect.DeepEqual(m, Default()) {
		t.Errorf("the commented values read as\n%+v\nand not as\n%+v", m, Default())
	}
}

// Each example stands on its own.
func TestGeneratedExamples(t *testing.T) {
	blocks := strings.Split(Generate(), "\n#[[grants]]\n")[1:]
	if len(blocks) != 4 {
		t.Fatalf("%d examples", len(blocks))
	}
	for _, block := range blocks {
		example, _, _ := strings.Cut(block, "\n\n")
		text := uncommented("#[[grants]]\n" + example)
		m, err := Parse("manifest.toml", text)
		if err != nil || len(m.Tools) != 1 || len(m.Grants) != 1 {
			t.Errorf("%v in:\n%s", err, text)
		}
	}
}

// Every key is in it, with words before it.
func TestGeneratedExplainsAllKeys(t *testing.T) {
	lines := strings.Split(Generate(), "\n")
	for _, k := range keys() {
		if k.about == "" {
			continue
		}
		found := false
		for i, line := range lines {
			found = found || i > 0 && strings.HasPrefix(line, "#"+k.leaf()+" = ") && strings.HasPrefix(lines[i-1], "# ")
		}
		if !found {
			t.Errorf("%s is not explained", k.name)
		}
	}
	for _, name := range []string{"[distillation.signals]", "#[[grants]]", "#[[tools]]"} {
		if !strings.Contains(Generate(), "\n"+name+"\n") {
			t.Errorf("%s is not in it", name)
		}
	}
}
