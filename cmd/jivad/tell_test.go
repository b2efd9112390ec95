package main

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/internal/config"
	"github.com/jivad/jivad/lifecycle"
)

// told is what a printer writes for somebody who pipes it.
func told(t *testing.T, f func(p *printer)) string {
	t.Helper()
	var out bytes.Buffer
	p := &printer{out: bufio.NewWriter(&out), width: 80}
	f(p)
	if err := p.flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestEveryProblemHasALine(t *testing.T) {
	s := statusReport{Status: lifecycle.Status{Problems: []string{"diary: a.md is not text\nb.md is not text", "the configuration has 2 faults:\n  line 1\n  line 2"}}}
	got := told(t, func(p *printer) { tellStatus(p, s) })
	for _, want := range []string{
		"problem       diary: a.md is not text\n", "problem       b.md is not text\n",
		"problem       the configuration has 2 faults:\n", "\n              line 1\n", "\n              line 2\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

func TestWhatIsFarIsNotAnAnswer(t *testing.T) {
	var hits []lifecycle.Recalled
	for i := range 10 {
		hits = append(hits, lifecycle.Recalled{Rank: i + 1, Score: 0.1, Impression: lifecycle.Impression{Excerpt: fmt.Sprintf("entry %d", i)}})
	}
	got := told(t, func(p *printer) { tellRecalled(p, hits) })
	if !strings.HasPrefix(got, "Nothing close; the nearest:\n") || strings.Count(got, "entry ") != 3 {
		t.Errorf("noise is told as answers:\n%s", got)
	}
	hits[0] = lifecycle.Recalled{Rank: 1, Score: 1.75, Lexical: 1, Phrase: true, Close: true}
	got = told(t, func(p *printer) { tellRecalled(p, hits) })
	if strings.Contains(got, "Nothing close") || strings.Count(got, "\n") != 11 || !strings.Contains(got, "0.75  literal ") || !strings.Contains(got, "0.10  meaning ") {
		t.Errorf("one is close:\n%s", got)
	}
}

// Shares are rounded by one rule, and so sum to 100 wherever they are shown.
func TestSharesSumTo100(t *testing.T) {
	v := lifecycle.Tendency{Name: "rain", Shares: lifecycle.Shares{Tamas: 0.335, Rajas: 0.335, Sattva: 0.33}}
	got := told(t, func(p *printer) { tellVasanas(p, []lifecycle.Tendency{v}) })
	if strings.Count(got, "34 %") != 1 || strings.Count(got, "33 %") != 2 || shares(v.Shares) != "tamas 33 %, rajas 34 %, sattva 33 %" {
		t.Errorf("%s%s", got, shares(v.Shares))
	}
}

func TestInitCommandCanBeTyped(t *testing.T) {
	a := &app{flags: flags{config: "/etc/my jivad.toml", data: "~/it's"}}
	if got := a.initCommand(); got != `jivad --config '/etc/my jivad.toml' --data '~/it'\''s' init` {
		t.Error(got)
	}
}

// Every category that a note may name has its key under [retention], and there is
// no other.
func TestRetentionKnowsEveryCategory(t *testing.T) {
	set := retention(config.Retention{Health: "none"})
	want := lifecycle.Categories()
	if got := slices.Sorted(maps.Keys(set)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("the settings know %v, consent %v", got, want)
	}
	if err := set.Check(); err != nil || set["health"] != lifecycle.KeepNone {
		t.Errorf("%v, %v", set, err)
	}
}
