package lifecycle_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jivad/jivad/gate/evidence"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/tools"
)

const leaks = `
[[instrument]]
id = "leak-3"
topic = "plant/pump3/leak"
when = "wet"
subject = "pump 3"
text = "Pump 3 leaks."
otherwise = "Pump 3 does not leak."
[[instrument]]
id = "damp-3"
topic = "plant/pump3/leak"
field = "share"
when = "> 0.5"
subject = "pump 3"
text = "The floor below pump 3 is damp."
category = "health"
`

// policy writes evidence.toml.
func (w *world) policy(t testing.TB, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, lifecycle.PolicyFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// listed are the claims that there are, each as class, sources and text.
func listed(t testing.TB, c *lifecycle.Companion) (out []string) {
	t.Helper()
	list, err := c.Claims(t.Context(), lifecycle.ClaimQuery{All: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range list {
		out = append(out, fmt.Sprintf("%s %d %s", v.Class, v.Sources, v.Text))
	}
	return out
}

func problems(t testing.TB, c *lifecycle.Companion) string {
	t.Helper()
	s, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(s.Problems, "\n")
}

// What a sensor says makes a claim, a report with one source; of kinds of data that may not
// be kept none. What is no reading is told, and nothing that it said.
func TestASensorMakesAClaim(t *testing.T) {
	w := newWorld(t)
	w.policy(t, leaks)
	c := w.live(t)
	sense := func(payload string) {
		t.Helper()
		if err := c.Sensed(t.Context(), "plant/pump3/leak", []byte(payload)); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.SensorTopics(); !slices.Equal(got, []string{"plant/pump3/leak"}) {
		t.Errorf("%q", got)
	}
	w.write(t, c, "A session of its own.")
	sense("wet")
	sense(" WET\n")
	if got := listed(t, c); !slices.Equal(got, []string{"REPORTED 1 Pump 3 leaks."}) {
		t.Errorf("%q", got)
	}
	if p := problems(t, c); p != "" {
		t.Errorf("of what may not be kept nothing is read: %s", p)
	}
	story, err := c.Claims(t.Context(), lifecycle.ClaimQuery{Subject: "pump 3"})
	if err != nil || story[0].Agent != "leak-3" || story[0].Session != 1 || story[0].Category != "operational" || story[0].Roots[0].Type != evidence.Instrument {
		t.Errorf("%+v, %v", story, err)
	}
	if err := c.Sensed(t.Context(), "plant/elsewhere", []byte("wet")); err != nil {
		t.Fatal(err)
	}
	w.says(t, c, "health.storage=allow", "health.access=allow")
	for range 3 {
		sense("zanzibar")
	}
	if p := problems(t, c); !strings.Contains(p, "instrument damp-3: no reading: it has no such field (3 times)") || strings.Contains(p, "zanzibar") || strings.Contains(p, "leak-3") {
		t.Errorf("it is not told: %q", p)
	}
	sense(`{"share": 0.7}`)
	if p := problems(t, c); p != "" {
		t.Errorf("it gave a reading: %s", p)
	}
	if got := listed(t, c); !slices.Contains(got, "REPORTED 1 The floor below pump 3 is damp.") {
		t.Errorf("%q", got)
	}
	sense(strings.Repeat("x", 64<<10+1))
	if p := problems(t, c); !strings.Contains(p, "leak-3: no reading: more than 65536 bytes (once)") {
		t.Errorf("%q", p)
	}
}

// A change of the policy holds at once; a bad one leaves that of before, and is told until
// it is mended. One that was bad at the start refuses acts of consequence until then.
func TestThePolicyIsReadAgain(t *testing.T) {
	w := newWorld(t)
	w.policy(t, "whatever = 1")
	c := w.live(t)
	gate := func() error {
		_, err := c.GateAct(t.Context(), "close_valve", "medium", nil)
		return err
	}
	if err := gate(); !errors.Is(err, lifecycle.ErrPolicy) || !strings.Contains(problems(t, c), "there is no key whatever") {
		t.Errorf("%v, %s", err, problems(t, c))
	}
	if err := c.ReadPolicy(); !errors.Is(err, lifecycle.ErrPolicy) || !errors.Is(gate(), lifecycle.ErrPolicy) || strings.Count(problems(t, c), "whatever") != 1 {
		t.Errorf("%v, %s", err, problems(t, c))
	}
	w.policy(t, leaks)
	if err := c.ReadPolicy(); err != nil || gate() != nil || problems(t, c) != "" || len(c.SensorTopics()) != 1 {
		t.Errorf("mended: %v, %v, %s", err, gate(), problems(t, c))
	}
	for _, bad := range []string{"[fresh]\nREPORTED = \"soon\"", strings.Replace(leaks, `"health"`, `"rumours"`, 1)} {
		w.policy(t, bad)
		if err := c.ReadPolicy(); !errors.Is(err, lifecycle.ErrPolicy) || !strings.Contains(problems(t, c), "the policy of before stays") || len(c.SensorTopics()) != 1 || gate() != nil {
			t.Errorf("%v, %v, %s", err, gate(), problems(t, c))
		}
	}
	if err := os.Remove(filepath.Join(w.dir, lifecycle.PolicyFile)); err != nil {
		t.Fatal(err)
	}
	if err := c.ReadPolicy(); err != nil || problems(t, c) != "" || len(c.SensorTopics()) != 0 {
		t.Errorf("without a file: %v, %s", err, problems(t, c))
	}
	w.policy(t, strings.Replace(leaks, `"health"`, `"rumours"`, 1))
	w.end(t, c)
	c = w.live(t)
	if err := gate(); !errors.Is(err, lifecycle.ErrPolicy) || !strings.Contains(problems(t, c), "the category is not known") || len(c.SensorTopics()) != 0 {
		t.Errorf("a category that nobody knows: %v, %s", err, problems(t, c))
	}
}

// Sensors speak, acts are judged and the policy is read, all at once.
func TestManyInstrumentsAtOnce(t *testing.T) {
	w := newWorld(t)
	w.policy(t, "whatever = 1")
	c := w.live(t)
	w.policy(t, leaks)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 10 {
				switch i % 4 {
				case 0:
					_ = c.ReadPolicy()
				case 1:
					if err := c.Sensed(t.Context(), "plant/pump3/leak", fmt.Append(nil, []string{"wet", "dry"}[i/4])); err != nil {
						t.Error(err)
					}
				case 2:
					_, _ = c.GateAct(t.Context(), "close_valve", "medium", nil)
				default:
					_, _ = c.Status(t.Context())
				}
			}
		})
	}
	all.Wait()
	if p := problems(t, c); p != "" {
		t.Error(p)
	}
}

const gauges = `
mission = "Read gauges."
[[grants]]
capability = "exec"
[[tools]]
name = "gauge"
description = "Reads the gauge."
consequence = "low"
[tools.arguments]
type = "object"
required = ["path"]
properties.path.type = "string"
[tools.exec]
argv = ["/bin/cat", "{{path}}"]
output_limit = 64
`

// What a tool gave that reads an instrument is a reading: all that it gave, where it did
// what it should.
func TestAToolReadsAnInstrument(t *testing.T) {
	w := newWorld(t)
	w.policy(t, `
[[instrument]]
id = "gauge-3"
tool = "gauge"
when = "< 2.5"
subject = "pump 3"
text = "Pump 3 has lost its pressure."
otherwise = "Pump 3 has its pressure."
`)
	w.opts.Lives = true
	if err := os.WriteFile(filepath.Join(w.dir, lifecycle.ManifestFile), []byte(gauges), 0o600); err != nil {
		t.Fatal(err)
	}
	c := w.live(t)
	for _, x := range []struct {
		gives string
		want  []string
	}{
		{"", nil}, // there is no file
		{"1" + strings.Repeat(" ", 100), nil},
		{"1.5", []string{"REPORTED 1 Pump 3 has lost its pressure."}},
		{"3", []string{"SUPERSEDED 1 Pump 3 has lost its pressure.", "REPORTED 1 Pump 3 has its pressure."}},
	} {
		file := filepath.Join(t.TempDir(), "gauge")
		if x.gives != "" {
			if err := os.WriteFile(file, []byte(x.gives), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		act, err := c.Act(t.Context(), tools.Call{Tool: "gauge", Arguments: fmt.Appendf(nil, `{"path": %q}`, file)})
		if err != nil {
			t.Fatal(err)
		}
		if act.OK != (x.gives != "") {
			t.Fatalf("%+v", act)
		}
		if got := listed(t, c); !slices.Equal(got, x.want) || problems(t, c) != "" {
			t.Errorf("%.5s: %q, %s", x.gives, got, problems(t, c))
		}
	}
}
