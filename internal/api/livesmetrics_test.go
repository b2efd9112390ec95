package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/lives"
)

// living is a companion with lives.
type living struct {
	fake
	all       []lifecycle.Life // the oldest first
	known     lifecycle.LineageSummary
	excisions int
	// read counts the lives that were asked for.
	read   int
	broken error
}

func (l *living) Lineage(context.Context) (lifecycle.LineageSummary, error) { return l.known, nil }
func (l *living) Excisions(context.Context) ([]lifecycle.ExcisionRecord, error) {
	return make([]lifecycle.ExcisionRecord, l.excisions), nil
}

func (l *living) Lives(_ context.Context, most int) ([]lifecycle.Life, error) {
	newest := slices.Clone(l.all)
	slices.Reverse(newest)
	newest = newest[:min(most, len(newest))]
	l.read += len(newest)
	return newest, l.broken
}

// lived is a life with a number and with figures.
func lived(n int64, state lives.State, owed lives.Status, acts, refused int) lifecycle.Life {
	l := lifecycle.Life{Sequence: n, State: state}
	l.Obligation.Status, l.Spent.Acts, l.Spent.Refused = owed, acts, refused
	return l
}

// Lives are counted by state and by what they owe, with what they did and left.
func TestMetricsOfLives(t *testing.T) {
	c := &living{known: lifecycle.LineageSummary{Lives: 7, Rules: 7, Contested: 2, Distillates: 3, Waiting: 1, Missing: make([]lives.Lack, 4)}, excisions: 1}
	c.all = []lifecycle.Life{
		lived(1, lives.Dissolved, lives.Met, 10, 1), lived(3, lives.Dissolved, lives.Declined, 0, 0), // the second was taken out
		lived(4, lives.Quarantined, lives.Owed, 5, 2), lived(5, lives.Dissolved, lives.Met, 0, 0), // over before the one before it
		lived(6, lives.Withdrawn, lives.Drafted, 3, 0), lived(7, lives.Active, lives.None, 2, 9),
	}
	h := NewProbes(c)
	sees := func(when string, want map[string]float64) {
		t.Helper()
		_, text := ask(h, "/metrics")
		got, err := parsed(text)
		if err != nil {
			t.Fatalf("%s: %v\n%s", when, err, text)
		}
		maps.DeleteFunc(got, func(name string, _ float64) bool {
			name, _, _ = strings.Cut(name, "map[")
			return !strings.HasPrefix(name, "jivad_lives") && !slices.Contains([]string{"jivad_acts", "jivad_refusals", "jivad_rules", "jivad_rules_contested",
				"jivad_distillates", "jivad_excisions", "jivad_birth_lacks", "jivad_scrape_errors"}, name)
		})
		full := map[string]float64{}
		for name, x := range map[string]float64{"jivad_scrape_errors": 0, "jivad_rules": 7, "jivad_rules_contested": 2, "jivad_distillates": 3, "jivad_excisions": 1, "jivad_lives_waiting": 1, "jivad_birth_lacks": 4} {
			full[keyOf(name, map[string]string{})] = x
		}
		for _, s := range lives.States() {
			full[keyOf("jivad_lives", map[string]string{"state": string(s)})] = 0
		}
		for _, s := range []lives.Status{lives.Owed, lives.Drafted, lives.Met, lives.Declined, lives.Discarded, "none"} {
			full[keyOf("jivad_lives_obligation", map[string]string{"status": string(s)})] = 0
		}
		for name, x := range want {
			labels := map[string]string{}
			base, value, ok := strings.Cut(name, " ")
			if ok {
				labels[map[string]string{"jivad_lives": "state", "jivad_lives_obligation": "status"}[base]] = value
			}
			full[keyOf(base, labels)] = x
		}
		if !maps.Equal(got, full) {
			t.Errorf("%s: %v\nwant %v", when, got, full)
		}
	}
	first := map[string]float64{
		"jivad_lives dissolved": 3, "jivad_lives quarantined": 1, "jivad_lives withdrawn": 1, "jivad_lives active": 1,
		"jivad_lives_obligation met": 2, "jivad_lives_obligation declined": 1, "jivad_lives_obligation owed": 1, "jivad_lives_obligation drafted": 1, "jivad_lives_obligation none": 1,
		"jivad_acts": 20, "jivad_refusals": 12,
	}
	sees("at first", first)
	sees("again", first)

	c.all[2] = lived(4, lives.Dissolved, lives.Discarded, 5, 2)
	c.all[5] = lived(7, lives.Active, lives.None, 4, 9)
	c.all, c.known.Lives = append(c.all, lived(8, lives.Avyakrta, lives.None, 0, 0)), 8
	sees("later", map[string]float64{
		"jivad_lives dissolved": 4, "jivad_lives withdrawn": 1, "jivad_lives active": 1, "jivad_lives avyakrta": 1,
		"jivad_lives_obligation met": 2, "jivad_lives_obligation declined": 1, "jivad_lives_obligation discarded": 1, "jivad_lives_obligation drafted": 1, "jivad_lives_obligation none": 2,
		"jivad_acts": 22, "jivad_refusals": 12,
	})

	c.all, c.excisions = c.all[1:], 2
	sees("after an excision", map[string]float64{
		"jivad_lives dissolved": 3, "jivad_lives withdrawn": 1, "jivad_lives active": 1, "jivad_lives avyakrta": 1, "jivad_excisions": 2, "jivad_lives_obligation met": 1,
		"jivad_lives_obligation declined": 1, "jivad_lives_obligation discarded": 1, "jivad_lives_obligation drafted": 1, "jivad_lives_obligation none": 2,
		"jivad_acts": 12, "jivad_refusals": 11,
	})

	c.broken = errors.New("it cannot be read")
	if _, text := ask(h, "/metrics"); !strings.Contains(text, "jivad_scrape_errors 1\n") || !strings.Contains(text, "\njivad_rules 7\n") || strings.Contains(text, "jivad_acts") {
		t.Errorf("where lives cannot be read:\n%s", text)
	}
}

// A thousand lives that are over are read once, and not at every scrape.
func TestMetricsReadOldLivesOnce(t *testing.T) {
	c := &living{known: lifecycle.LineageSummary{Lives: 1001}}
	for n := range int64(1000) {
		c.all = append(c.all, lived(n+1, lives.Dissolved, lives.Met, 1, 0))
	}
	c.all = append(c.all, lived(1001, lives.Active, lives.None, 1, 0))
	h := NewProbes(c)
	for i := range 20 {
		_, text := ask(h, "/metrics")
		if !strings.Contains(text, "\njivad_acts 1001\n") {
			t.Fatal(text)
		}
		if want := 1001 + i; c.read != want {
			t.Fatalf("%d lives were read, want %d", c.read, want)
		}
	}
}

// The words for states are those of the lives.
func TestStatesOfTheMetrics(t *testing.T) {
	if got := fmt.Sprint(lives.States()); got != fmt.Sprint(lifeStates) {
		t.Errorf("%v, want %s", lifeStates, got)
	}
}
