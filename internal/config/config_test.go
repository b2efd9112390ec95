package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jivad/jivad/boards"
)

func TestEmptyIsDefault(t *testing.T) {
	c, err := Parse("jivad.toml", "", nil)
	if err != nil || !reflect.DeepEqual(c, Default()) {
		t.Errorf("%+v %v, want the defaults", c, err)
	}
}

var commentedKey = regexp.MustCompile(`(?m)^#([a-z0-9_]+ = )`)

func TestGeneratedFileIsTheDefault(t *testing.T) {
	for name, text := range map[string]string{
		"as it is":                  Generate(nil),
		"with every # taken away":   commentedKey.ReplaceAllString(Generate(nil), "$1"),
		"with one key of every set": Generate(map[string]string{"log.level": "info"}),
	} {
		c, err := Parse("jivad.toml", text, nil)
		if err != nil || !reflect.DeepEqual(c, Default()) {
			t.Errorf("%s: %+v %v, want the defaults\n%s", name, c, err, text)
		}
	}
}

// Every field of Config, however deep, is a key of the table, is explained, and
// stands in the generated file.
func TestEveryFieldIsAnExplainedKey(t *testing.T) {
	text := commentedKey.ReplaceAllString(Generate(nil), "$1")
	explained := map[string]bool{}
	section := ""
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]") + "."
		}
		if name, _, ok := strings.Cut(line, " = "); ok && !strings.HasPrefix(line, "#") {
			explained[section+name] = strings.HasPrefix(lines[i-1], "# ") && len(lines[i-1]) > 4
		}
	}
	fields := map[any]string{} // pointer to a field: its Go name
	var c Config
	var walk func(name string, v reflect.Value)
	walk = func(name string, v reflect.Value) {
		for i := range v.NumField() {
			f := v.Field(i)
			full := name + "." + v.Type().Field(i).Name
			if f.Kind() == reflect.Struct {
				walk(full, f)
				continue
			}
			fields[f.Addr().Interface()] = full
		}
	}
	walk("Config", reflect.ValueOf(&c).Elem())
	if len(fields) < 30 {
		t.Fatalf("only %d fields found", len(fields))
	}
	for _, k := range keys() {
		delete(fields, k.field(&c))
		if !explained[k.name] {
			t.Errorf("%s is not explained in the generated file", k.name)
		}
		if k.about == "" {
			t.Errorf("%s has no explanation in the table", k.name)
		}
	}
	for _, name := range fields {
		t.Errorf("%s has no key", name)
	}
}

func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		env  []string
		want []string // each in the message
	}{
		"a typing error":                    {"[diary]\n\npaht = \"x\"", nil, []string{"jivad.toml: line 3: diary.paht", "no such key", "did you mean diary.path?"}},
		"a section that is there twice":     {Generate(nil) + "[model]\nchat = \"m\"", nil, []string{"'model' has already been defined", "take the # before the key away where it stands first"}},
		"a key that is there twice":         {"[model]\nchat = \"m\"\nchat = \"n\"", nil, []string{"line 3: Key 'model.chat' has already been defined", "take the # before the key away where it stands first"}},
		"a key in the wrong section":        {"[session]\nlevel = \"info\"", nil, []string{"line 2: session.level", "no such key"}},
		"a section that does not exist":     {"[dairy]\npath = \"x\"", nil, []string{"line 1: dairy", "did you mean diary?"}},
		"nothing like it":                   {"zzzzzzzzzzzzzzzz = 1", nil, []string{"line 1: zzzzzzzzzzzzzzzz", "jivad init"}},
		"another type":                      {"[session]\nidle = 30", nil, []string{"line 2: session.idle = 30", `a duration in quotes, such as "30m"`}},
		"a duration that is none":           {"[session]\nidle = \"half an hour\"", nil, []string{`line 2: session.idle = "half an hour"`, "a duration"}},
		"a duration out of range":           {"\nstop_timeout = \"3h\"", nil, []string{`line 2: stop_timeout = "3h"`, `from "1s" to "1h"`}},
		"a number out of range":             {"[dynamics.gate]\n# a comment\nk_base = 500", nil, []string{"line 3: dynamics.gate.k_base = 500", "a number from 0 to 100"}},
		"a whole number written as another": {"[limits]\nworkers = 2.5", nil, []string{"line 2: limits.workers = 2.5", "a whole number"}},
		"not a number":                      {"[dynamics.reactivation]\nlambda = nan", nil, []string{"line 2: dynamics.reactivation.lambda = NaN", "from 0 to 1000"}},
		"one against another":               {"[dynamics.gate]\nmin_similarity = 0.1\nnoise_floor = 0.5", nil, []string{"line 3: dynamics.gate.noise_floor = 0.5", "MinSimilarity"}},
		"a mode":                            {"[dynamics.gate]\nmode = \"loud\"", nil, []string{`line 2: dynamics.gate.mode = "loud"`, `"concentrate" or "literal"`}},
		"a time zone":                       {"[diary]\nlocation = \"Mars\"", nil, []string{`line 2: diary.location = "Mars"`, "Europe/Berlin"}},
		"dotted":                            {"diary.day_starts_at = \"25h\"", nil, []string{`line 1: diary.day_starts_at = "25h"`, `below "24h"`}},
		"a value for a section":             {"diary = 3", nil, []string{"line 1: diary", "[diary]"}},
		"a section for a value":             {"[stop_timeout]\nx = 1", nil, []string{"line 1: stop_timeout", "a value, not a section"}},
		"not TOML":                          {"\nidle = = 1", nil, []string{"jivad.toml: line 2"}},
		"twice":                             {"[log]\nlevel = \"info\"\nlevel = \"warn\"", nil, []string{"line 3", "already"}},
		"a variable":                        {"", []string{"JIVAD_SESSION_IDLE=soon"}, []string{`JIVAD_SESSION_IDLE: session.idle = "soon"`, "a duration"}},
		"a variable out of range":           {"", []string{"JIVAD_DYNAMICS_GATE_K_BASE=-1"}, []string{"JIVAD_DYNAMICS_GATE_K_BASE: dynamics.gate.k_base = -1", "from 0 to 100"}},
		"a variable with a typing error":    {"", []string{"JIVAD_DIARY_PAHT=/x"}, []string{"JIVAD_DIARY_PAHT: there is no such key; did you mean JIVAD_DIARY_PATH?"}},
		"all at once":                       {"[log]\nlevle = \"info\"\n[session]\nidle = 3\n[zzzzzzzzz]\n", []string{"JIVAD_LIMITS_WORKERS=x"}, []string{"4 faults", "line 2: log.levle", "line 4: session.idle", "line 5: zzzzzzzzz", "JIVAD_LIMITS_WORKERS"}},
		"all out of range at once":          {"[log]\nlevel = \"loud\"\n[session]\nidle = \"0s\"", nil, []string{"2 faults", "line 2: log.level", "line 4: session.idle"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("jivad.toml", c.text, c.env)
			var faults *Error
			if !errors.As(err, &faults) {
				t.Fatalf("%v, want faults", err)
			}
			at := 0
			for _, want := range c.want {
				i := strings.Index(err.Error()[at:], want)
				if i < 0 {
					t.Fatalf("%q does not tell, in order, %q", err, want)
				}
				at += i
			}
		})
	}
}

func TestWhatIsGoodComesWithTheFaults(t *testing.T) {
	c, err := Parse("x", "data = \"/srv\"\n[log]\nlevle = 1\n", nil)
	if err == nil || c.Data != "/srv" || c.StopTimeout != Default().StopTimeout {
		t.Errorf("%+v %v", c, err)
	}
	if c, err := Parse("x", "data = \"/srv\"\n[log", nil); err == nil || c != (Config{}) {
		t.Errorf("%+v %v, want nothing of what is not TOML", c, err)
	}
}

func TestLongValuesAreCut(t *testing.T) {
	_, err := Parse("x", "[log]\nlevel = 1\n[session]\nidle = [\""+strings.Repeat("ä", 500)+"\"]", nil)
	if err == nil || len(err.Error()) > 400 || !strings.Contains(err.Error(), "ä…") {
		t.Errorf("the message is %v", err)
	}
}

func TestTheEnvironmentGoesFirst(t *testing.T) {
	c, err := Parse("x", "[session]\nidle = \"1m\"\n[log]\nlevel = \"wrong\"", []string{
		"JIVAD_SESSION_IDLE=2m", "JIVAD_LOG_LEVEL=debug", "JIVAD_DIARY_ALWAYS_CREATE=false", "JIVAD_DYNAMICS_REACTIVATION_R0=7.5",
		"JIVAD_DATA=/elsewhere", "JIVAD_SHARED=/x", "PATH=/bin", "JIVAD_STOP_TIMEOUT=9s",
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Session.Idle != 2*time.Minute || c.Log.Level != "debug" || c.Diary.AlwaysCreate || c.Dynamics.Reactivation.R0 != 7.5 || c.StopTimeout != 9*time.Second {
		t.Errorf("%+v", c)
	}
	if c.Data != "" {
		t.Errorf("data %q: JIVAD_DATA belongs to the flag --data", c.Data)
	}
}

func TestPathsBeginAtTheFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", "/home/ada")
	path := filepath.Join(dir, "jivad.toml")
	text := "data = \"/srv/ada\"\n[diary]\npath = \"~/diary\"\n[soul]\npath = \"agent/SOUL.md\"\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Data != "/srv/ada" || c.Diary.Path != "/home/ada/diary" || c.Soul.Path != filepath.Join(dir, "agent", "SOUL.md") || c.Socket != "" {
		t.Errorf("%q %q %q %q", c.Data, c.Diary.Path, c.Soul.Path, c.Socket)
	}
	after, err := os.ReadFile(path)
	if err != nil || string(after) != text {
		t.Errorf("the file is now %q, %v", after, err)
	}
}

func TestLoadRefusesWhatIsNoFile(t *testing.T) {
	if _, err := Load(t.TempDir(), nil); err == nil {
		t.Error("a folder was read")
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want ErrNotExist", err)
	}
}

func TestBoardFillsWhatIsLeftOpen(t *testing.T) {
	p := boards.Profile{Queue: 12, Workers: 3}
	if c := Default().On(p); c.Limits.Queue != 12 || c.Limits.Workers != 3 {
		t.Errorf("%+v", c.Limits)
	}
	own := Default()
	own.Limits = Limits{Queue: 5, Workers: 1, SnapshotEvery: 500}
	if c := own.On(p); c.Limits != own.Limits {
		t.Errorf("%+v, want what the person set", c.Limits)
	}
}

func TestCandidatesAgreeWithTheBoards(t *testing.T) {
	all, err := boards.Profiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if p.Candidates != Default().Dynamics.Gate.Candidates {
			t.Errorf("%s has %d candidates, the default is %d", p.Name, p.Candidates, Default().Dynamics.Gate.Candidates)
		}
	}
}

func TestChanged(t *testing.T) {
	a, b := Default(), Default()
	b.Log.Level, b.Session.Idle = "debug", time.Hour
	live, later := Changed(a, b)
	if !reflect.DeepEqual(live, []string{"log.level"}) || !reflect.DeepEqual(later, []string{"session.idle"}) {
		t.Errorf("%v %v", live, later)
	}
}

func TestSnake(t *testing.T) {
	for name, want := range map[string]string{"R0": "r0", "MMR": "mmr", "KBase": "k_base", "MinSimilarity": "min_similarity", "Alpha": "alpha"} {
		if got := snake(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("[diary]\npath = \"x\"")
	f.Add("a.b.c = [1, {x = 2}]")
	f.Add("[[diary]]\n\"\" = 1979-05-27")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("x", text, nil)
		var faults *Error
		if err != nil && (!errors.As(err, &faults) || len(faults.Faults) == 0) {
			t.Fatalf("%v is no list of faults", err)
		}
		if err == nil && (c.Dynamics.Gate.On(usual).Validate() != nil || c.Dynamics.Reactivation.Validate() != nil) {
			t.Fatal("the dynamics of an accepted file are not valid")
		}
	})
}
