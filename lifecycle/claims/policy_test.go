package claims

import (
	"errors"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jivad/jivad/gate/evidence"
)

func TestPolicyFile(t *testing.T) {
	p, err := ParsePolicy("evidence.toml", `
independent_sources_required = 3
reviewers = ["person", "foreman"]
ask_for = ["medium", "high"]
ask_timeout = "30s"
trust_clock = true
[fresh]
VERIFIED = "90d"
[roots_fresh]
primary_instrument = "15m"
canonical_repository_state = "never"
[[instrument]]
id = "leak-3"
topic = "plant/pump3/leak"
when = "wet"
subject = "pump 3"
text = "Pump 3 leaks."
otherwise = "Pump 3 does not leak."
window = "1m"
[[act]]
tool = "close_valve"
rests_on = ["pump {pump} leaks"]
`)
	if err != nil || p.Sources != 3 || len(p.Reviewers) != 2 || len(p.AskFor) != 2 || p.Asking != 30*time.Second || !p.TrustClock || p.Classes[evidence.Verified] != 90*24*time.Hour ||
		p.Classes[evidence.Reported] != 24*time.Hour || p.Roots[evidence.Instrument] != 15*time.Minute || len(p.Instruments) != 1 || p.Instruments[0].window != time.Minute || p.Topics()[0] != "plant/pump3/leak" || len(p.Acts) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := ParsePolicy("evidence.toml", ""); err != nil || p.Sources != 2 || p.Asking != 2*time.Minute {
		t.Errorf("%+v, %v", p, err)
	}
	instrument := func(more string) string {
		return "[[instrument]]\nid = \"a\"\ntopic = \"t\"\nwhen = \"on\"\nsubject = \"s\"\ntext = \"it is on\"\n" + more
	}
	if _, err := ParsePolicy("evidence.toml", instrument("")); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		"x = 1", "[fresh]\nSTALE = \"1h\"", "[fresh]\nREPORTED = \"soon\"", "[fresh]\nREPORTED = \"0s\"", "[roots_fresh]\nhearsay = \"1h\"", "independent_sources_required = 0", "independent_sources_required = 17",
		"independent_sources_required = \"2\"", "reviewers = []", "reviewers = [\"jivad\"]", "ask_for = [\"grave\"]", "ask_timeout = \"0s\"", "ask_timeout = \"2h\"", "= 1",
		instrument("tool = \"both\""), instrument("otherwise = \"It is  ON.\""), instrument("window = \"25h\""), instrument("consequence = \"x\""), instrument("colour = \"x\""),
		instrument("") + instrument(""), strings.Replace(instrument(""), `"t"`, `"t/#"`, 1), strings.Replace(instrument(""), `"on"`, `"> much"`, 1), strings.Replace(instrument(""), `"a"`, `"a#b"`, 1),
		"[[act]]\ntool = \"t\"", "[[act]]\nrests_on = [\"x\"]", "[[act]]\ntool = \"t\"\nrests_on = [\"x\"]\n[[act]]\ntool = \"t\"\nrests_on = [\"y\"]",
	} {
		if _, err := ParsePolicy("evidence.toml", bad); !errors.Is(err, ErrPolicy) || !strings.HasPrefix(err.Error(), "evidence.toml: ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// The file that a new companion gets says what is so without it, and the parts that it shows
// as examples are good ones.
func TestPolicyText(t *testing.T) {
	p, err := ParsePolicy("evidence.toml", PolicyText)
	if err != nil || !reflect.DeepEqual(p, DefaultPolicy()) {
		t.Errorf("%+v, %v", p, err)
	}
	examples := regexp.MustCompile(`(?m)^# (\[\[|[a-z_]+ = )`).ReplaceAllString(PolicyText, "$1")
	p, err = ParsePolicy("evidence.toml", examples)
	if err != nil || len(p.Instruments) != 1 || len(p.Acts) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	for _, key := range keysOf(reflect.TypeFor[file](), reflect.TypeFor[Instrument](), reflect.TypeFor[Act]()) {
		if !regexp.MustCompile(`(?m)^(# )?\[*` + key + `\b`).MatchString(PolicyText) {
			t.Errorf("%s is not explained", key)
		}
	}
}

// keysOf are the names of the fields of a file.
func keysOf(types ...reflect.Type) (out []string) {
	for _, of := range types {
		for f := range of.Fields() {
			if name := f.Tag.Get("toml"); name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}

func TestReadings(t *testing.T) {
	for _, c := range []struct {
		field, when, payload string
		holds                bool
	}{
		{"", "wet", "Wet\n", true}, {"", "wet", "wetter", false}, {"", "> 2", "2.5", true}, {"", "> 2", "2", false}, {"", ">= 2", "2", true}, {"", "<= -1e3", "-1000", true},
		{"", "= 3", "3.0", true}, {"", "!= 3", "3", false}, {"a.b", "on", `{"a":{"b":"ON"}}`, true}, {"a", "< 1", `{"a":0.5}`, true}, {"a", "true", `{"a":true}`, true},
	} {
		in := Instrument{ID: "i", Topic: "t", Field: c.field, When: c.when}
		if got, err := in.holds([]byte(c.payload)); err != nil || got != c.holds {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
}

func FuzzPolicy(f *testing.F) {
	f.Add("[[instrument]]\nid = \"a\"\n", []byte("wet"))
	f.Add("ask_timeout = \"1d\"\n[fresh]\nREPORTED = \"never\"", []byte(`{"a":1}`))
	f.Fuzz(func(t *testing.T, text string, payload []byte) {
		p, err := ParsePolicy("evidence.toml", text)
		if err != nil {
			if !errors.Is(err, ErrPolicy) {
				t.Error(err)
			}
			return
		}
		for _, in := range p.Instruments {
			if _, err := in.holds(payload); err != nil && !errors.Is(err, ErrReading) {
				t.Error(err)
			}
		}
	})
}
