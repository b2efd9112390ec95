package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/soul/lineage"
)

func TestNegativeRatingsAreNoFlags(t *testing.T) {
	for call, want := range map[string]string{
		"rate -0.5":                    "rate -- -0.5",
		"rate 3 -1":                    "rate -- 3 -1",
		"rate -1 --json":               "rate --json -- -1",
		"--data -1 rate 3 -.5 --quiet": "rate --data -1 --quiet -- 3 -.5",
		"rate -x":                      "rate -x",
		"rate 1":                       "rate 1",
		"rate -- -1":                   "rate -- -1",
		"write -1":                     "write -1",
		"recall --limit -3 rate":       "recall --limit -3 rate",
		"-1":                           "-1",
	} {
		if got := negativesLast(strings.Fields(call)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q, want %s", call, got, want)
		}
	}
}

func TestRefusalsOfLivesAreExitCode4(t *testing.T) {
	for _, err := range []error{lifecycle.ErrSettled, lifecycle.ErrLifeState} {
		if got := exitCode(fmt.Errorf("wrapped: %w", err)); got != exitRefused {
			t.Errorf("%v is exit code %d", err, got)
		}
	}
	for _, err := range []error{lifecycle.ErrNoLife, lifecycle.ErrNotInLineage, lifecycle.ErrMoved, errors.New("x")} {
		if got := exitCode(err); got != exitFailed {
			t.Errorf("%v is exit code %d", err, got)
		}
	}
}

// A life tells why it was not born, why it is in quarantine, and what a judgement left.
func TestALifeTellsWhatBecameOfIt(t *testing.T) {
	bad := int64(-1_000_000)
	at := lives.At(time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC), true)
	report := []byte(`[{"source":"rules","acts":9,"rules":4,"dropped":2},{"source":"model","acts":9,"rules":1,"withheld":3,"writer_failed":true}]`)
	for _, c := range []struct {
		name       string
		life       lifecycle.Life
		excised    bool
		want, none []string
	}{
		{"unborn", lifecycle.Life{Sequence: 2, State: lives.Avyakrta, Conceived: at, Missing: []lives.Lack{{What: "no \x1b[31mtool", Mend: "make one"}}}, false,
			[]string{"life          2, not born: something is missing\n", "missing       no ␛[31mtool\n              make one\n"}, []string{"born          ", "ended"}},
		{"quarantine", lifecycle.Life{Sequence: 3, State: lives.Quarantined, Born: at, Ended: at, Reason: "stop", Obligation: lives.Obligation{Status: lives.Owed, Tries: 5, Failure: "the disk is full"}}, false,
			[]string{"in quarantine: its distillation failed 5 times", "failed        5 tries; the last one: the disk is full", "jivad lives clear, supersede or discard 3 lets", "the program was stopped"}, nil},
		{"judged badly", lifecycle.Life{Sequence: 4, State: lives.Dissolved, Born: at, Ended: at, Reason: "excise", Rating: &bad, Obligation: lives.Obligation{Status: lives.Met, Report: report}}, false,
			[]string{"4, distilled\n", "rating        -1.00\n", "judged badly  1 rule of 9 things done or said, worded by model; 3 without consent;", "the model gave no answer", "an excision\n"}, []string{"judged well"}},
		{"excised", lifecycle.Life{Sequence: 4, State: lives.Dissolved, Born: at, Ended: at, Obligation: lives.Obligation{Status: lives.Met}}, true,
			[]string{"4, excised\n"}, []string{"distilled\n"}},
		{"waiting", lifecycle.Life{Sequence: 5, State: lives.Withdrawn, Born: at, Obligation: lives.Obligation{Status: lives.Drafted, Until: time.Hour, Waited: time.Minute, Report: report}}, false,
			[]string{"judgement     waited for, 59m0s more of running time: jivad rate 5 VALUE\n", "judged well   4 rules of 9 things done or said, worded by rules; 2 dropped\n", "judged badly  1 rule"}, nil},
	} {
		got := told(t, func(p *printer) { tellLife(p, c.life, livesKnown{map[lineage.ID]bool{c.life.ID: c.excised}, true}) })
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is not in\n%s", c.name, want, got)
			}
		}
		for _, none := range c.none {
			if strings.Contains(got, none) {
				t.Errorf("%s: %q is in\n%s", c.name, none, got)
			}
		}
	}
}

// The status has a line for the life and one for the lineage, where there is something to say.
func TestStatusHasALineForTheLife(t *testing.T) {
	of := func(l *lifecycle.Life, k lifecycle.LineageSummary) string {
		return told(t, func(p *printer) {
			tellStatus(p, statusReport{Status: lifecycle.Status{Life: l, Lineage: &k}})
		})
	}
	got := of(nil, lifecycle.LineageSummary{})
	if strings.Contains(got, "\nlife ") || strings.Contains(got, "\nlineage ") {
		t.Errorf("there is nothing to tell:\n%s", got)
	}
	got = of(&lifecycle.Life{Sequence: 7, Spent: lives.Spent{Acts: 1, Refused: 2}}, lifecycle.LineageSummary{Rules: 3, Contested: 1, Distillates: 4, Waiting: 2, Quarantined: 1})
	for _, want := range []string{"life          7, since ", ", 1 act, 2 refused\n", ", 3 rules, 1 contested;", "2 lives wait for your judgement", "1 in quarantine (jivad lives)"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	got = of(nil, lifecycle.LineageSummary{Missing: []lives.Lack{{What: "no tool"}, {What: "no model"}}})
	if !strings.Contains(got, "life          none could be born: no tool; 1 more; see jivad manifest check\n") {
		t.Errorf("%s", got)
	}
}
