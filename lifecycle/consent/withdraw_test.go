package consent_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle/consent"
)

func asked(t *testing.T, g consent.Grid, settings ...string) consent.Grid {
	t.Helper()
	changes, err := consent.ParseSettings(settings...)
	if err != nil {
		t.Fatal(err)
	}
	if g, err = g.With(changes...); err != nil {
		t.Fatal(err)
	}
	return g
}

// What is withdrawn is exactly the difference: given back it makes the grid of before
// wherever that allowed, and nothing else is named.
func TestWithdrawnIsTheDifference(t *testing.T) {
	eachCase(t, cases, func(t *testing.T, rng *rand.Rand) {
		before := someGrid(t, rng)
		after, err := before.With(someChanges(rng)...)
		if err != nil {
			t.Fatal(err)
		}
		lost := consent.Withdrawn(before, after)
		named := map[consent.Cell]consent.Loss{}
		for i, l := range lost {
			if _, twice := named[l.Cell]; twice || i > 0 && slices.Index(consent.Cells(), lost[i-1].Cell) > slices.Index(consent.Cells(), l.Cell) {
				t.Errorf("%v are not in the order of the grid, each once", lost)
			}
			named[l.Cell] = l
		}
		for _, l := range consent.Closed(before, after) {
			if _, twice := named[l.Cell]; twice || l.From != consent.Ask || l.To != consent.Deny {
				t.Errorf("%s was closed", l)
			}
			named[l.Cell] = l
		}
		for _, cell := range consent.Cells() {
			from, to := before.Answer(cell.Category, cell.Dimension), after.Answer(cell.Category, cell.Dimension)
			if l, ok := named[cell]; ok != (to < from) || ok && l != (consent.Loss{Cell: cell, From: from, To: to}) {
				t.Errorf("%s went from %s to %s: %v, %s", cell, from, to, ok, l)
			}
			if was := from == consent.Allow && to != consent.Allow; was != slices.ContainsFunc(lost, func(l consent.Loss) bool { return l.Cell == cell }) {
				t.Errorf("%s went from %s to %s, and %v was withdrawn", cell, from, to, lost)
			}
		}
		if again := consent.Withdrawn(before, before); len(again) != 0 {
			t.Errorf("from nothing: %v", again)
		}
		// On the way over a third grid nothing less is taken away.
		over := someGrid(t, rng)
		steps := slices.Concat(consent.Withdrawn(before, over), consent.Withdrawn(over, after))
		for _, l := range lost {
			if !slices.ContainsFunc(steps, func(s consent.Loss) bool { return s.Cell == l.Cell }) {
				t.Errorf("%s is in no step", l)
			}
		}
	})
}

// A plan purges where storage came to be denied, asks where it came to be asked, drops
// where anything that waits could be of what was taken away, and nothing else.
func TestPlanFollowsTheLosses(t *testing.T) {
	eachCase(t, cases, func(t *testing.T, rng *rand.Rand) {
		before := someGrid(t, rng)
		after, err := before.With(someChanges(rng)...)
		if err != nil {
			t.Fatal(err)
		}
		p := consent.PlanOf(before, after)
		for _, c := range consent.Categories() {
			from, to := before.Answer(c, consent.Storage), after.Answer(c, consent.Storage)
			if purge := to == consent.Deny && from != to; purge != slices.Contains(p.Purge, c) {
				t.Errorf("%s.storage from %s to %s, purge %v", c, from, to, p.Purge)
			}
			if confirm := from == consent.Allow && to == consent.Ask; confirm != slices.Contains(p.Confirm, c) {
				t.Errorf("%s.storage from %s to %s, confirm %v", c, from, to, p.Confirm)
			}
			drop := false
			for _, d := range []consent.Dimension{consent.Storage, consent.ThirdPartySharing, consent.Aggregation, consent.CrossContextUse} {
				drop = drop || after.Answer(c, d) < before.Answer(c, d)
			}
			if drop != slices.Contains(p.Drop, c) {
				t.Errorf("%s, drop %v", c, p.Drop)
			}
			for _, d := range consent.Dimensions() {
				beyond := after.Answer(c, d) < before.Answer(c, d) && (d == consent.Training || d.Leaves())
				if beyond != slices.Contains(p.Beyond, consent.Cell{Category: c, Dimension: d}) {
					t.Errorf("%s.%s, beyond %v", c, d, p.Beyond)
				}
			}
		}
		for _, list := range [][]consent.Category{p.Purge, p.Confirm, p.Drop} {
			if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
				t.Errorf("%v is not in order, each once", list)
			}
		}
		if p.Empty() != (len(p.Withdrawn)+len(p.Closed) == 0) {
			t.Error("empty or not?")
		}
	})
}

func TestReport(t *testing.T) {
	before := asked(t, consent.Default(), "health.storage=allow", "communications.third-party=allow", "identity.storage=ask", "location.storage=allow")
	after := asked(t, before, "health.storage=deny", "communications.third-party=ask", "identity.storage=deny", "location.storage=ask", "financial.*=allow")
	r := consent.Report{Record: idOf(1), Plan: consent.PlanOf(before, after)}
	if got := names(r.Left()); got != "identity health communications location" {
		t.Errorf("left: %s", got)
	}
	r.Done = []consent.Done{
		{Category: consent.Health, Texts: 1, Uploads: 2, Purged: true, Dropped: true},
		{Category: consent.Identity, Texts: 3, Dropped: true, Failure: "the disk is full."},
		{Category: consent.Communications, Dropped: true},
		{Category: consent.Location, Dropped: true},
	}
	if got := names(r.Left()); got != "identity" {
		t.Errorf("left: %s", got)
	}
	want := `Withdrawn:
  identity.storage, was ask, is deny
  health.storage, was allow, is deny
  communications.third_party_sharing, was allow, is ask
  location.storage, was allow, is ask
identity: 3 texts destroyed; some may be left.
identity: 0 waiting uploads dropped.
identity: not finished: the disk is full. It is tried again at the next start.
health: 1 text destroyed.
health: 2 waiting uploads dropped.
communications: 0 waiting uploads dropped.
location: the texts that are there rest unused until you say whether they stay: jivad consent set location.storage=allow, or =deny to destroy them.
location: 0 waiting uploads dropped.
communications.third_party_sharing: what went out before cannot be called back from here.
`
	if got := r.Text(); got != want {
		t.Errorf("%s", got)
	}
	r.Done[1] = consent.Done{Category: consent.Identity, Purged: true, Dropped: true, Failure: "a backup is away"}
	if got := names(r.Left()); got != "identity" {
		t.Errorf("left: %s", got)
	}
	r.Done[1].Failure = ""
	if got := r.Left(); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
	text, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(text), `"withdrawn":[{"category":"health","dimension":"storage","from":"allow","to":"deny"},`) || !strings.Contains(string(text), `"purge":["identity","health"]`) {
		t.Errorf("%s, %v", text, err)
	}
	nothing := consent.Report{Plan: consent.PlanOf(before, before)}
	if text, err := json.Marshal(nothing.Plan); err != nil || strings.Contains(string(text), "null") || nothing.Text() != "Nothing was withdrawn.\n" || len(nothing.Left()) != 0 {
		t.Errorf("%s, %v, %s", text, err, nothing.Text())
	}
}
