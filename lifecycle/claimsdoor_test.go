package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jivad/jivad/gate/evidence"
	"github.com/jivad/jivad/lifecycle"
)

// A claim of a kind of data that may not be read cannot be named by what is made, changed or
// forgotten, and that is told with what gives leave; nor does an act rest on it.
func TestClaimsThatMayNotBeReadAreNotNamed(t *testing.T) {
	w := newWorld(t)
	w.policy(t, "[[act]]\ntool = \"wake\"\nrests_on = [\"the knee is well\"]\n")
	c := w.live(t)
	w.says(t, c, "health.storage=allow", "health.access=allow")
	k := claim(t, c, lifecycle.ClaimDraft{Subject: "the knee", Text: "The knee is well.", Category: "health"})
	other := claimed(t, c, "The road is shut", "")
	gate := func() lifecycle.GateDecision {
		t.Helper()
		d, err := c.GateAct(t.Context(), "wake", "medium", nil)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if d := gate(); d.Verdict != evidence.Allow || len(d.Claims) != 1 {
		t.Fatalf("%+v", d)
	}
	w.says(t, c, "health.access=deny")
	if d := gate(); d.Verdict == evidence.Allow || len(d.Claims) != 0 {
		t.Errorf("an act rests on what may not be read: %+v", d)
	}
	before := len(claimsOf(t, c))
	for name, do := range map[string]func() error{
		"show": func() error { _, err := c.Claim(t.Context(), k.ID); return err },
		"against": func() error {
			_, err := c.AddClaim(t.Context(), lifecycle.ClaimDraft{Text: "x", Subject: "y", Contests: k.ID})
			return err
		},
		"follows": func() error {
			_, err := c.AddClaim(t.Context(), lifecycle.ClaimDraft{Text: "x", Subject: "y", Previous: []string{k.ID}})
			return err
		},
		"change": func() error {
			_, err := c.ChangeClaim(t.Context(), lifecycle.ClaimChange{ID: k.ID, What: lifecycle.ClaimReject})
			return err
		},
		"supersede by it": func() error {
			_, err := c.ChangeClaim(t.Context(), lifecycle.ClaimChange{ID: other.ID, What: lifecycle.ClaimSupersede, Other: k.ID})
			return err
		},
		"forget": func() error { _, err := c.ForgetClaims(t.Context(), []string{k.ID}); return err },
	} {
		if err := do(); !errors.Is(err, lifecycle.ErrConsent) || !strings.Contains(err.Error(), "health.access=allow") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(claimsOf(t, c)); n != before {
		t.Errorf("%d claims were %d", n, before)
	}
	w.says(t, c, "health.access=allow")
	if d := gate(); d.Verdict != evidence.Allow {
		t.Errorf("%+v", d)
	}
}

// A tool that evidence.toml speaks of and the manifest does not declare is told, in status and
// doctor; the clock's word is that of the claims.
func TestAToolThatNobodyDeclares(t *testing.T) {
	w := newWorld(t)
	w.policy(t, "[[act]]\ntool = \"gauge\"\nrests_on = [\"x\"]\n[[act]]\ntool = \"guage\"\nrests_on = [\"x\"]\n"+
		"[[instrument]]\nid = \"a\"\ntool = \"gaueg\"\nwhen = \"1\"\nsubject = \"s\"\ntext = \"t\"\n")
	if err := os.WriteFile(filepath.Join(w.dir, lifecycle.ManifestFile), []byte(gauges), 0o600); err != nil {
		t.Fatal(err)
	}
	c := w.live(t)
	p := problems(t, c)
	if !strings.Contains(p, `"guage"`) || !strings.Contains(p, `"gaueg"`) || strings.Contains(p, `"gauge"`) {
		t.Errorf("%s", p)
	}
	doctor := func() string {
		t.Helper()
		checks, err := c.Doctor(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, k := range checks {
			out = append(out, fmt.Sprintf("%s %v %s %s", k.Name, k.OK, k.Detail, k.Hint))
		}
		return strings.Join(out, "\n")
	}
	if d := doctor(); !strings.Contains(d, `evidence false evidence.toml: it says what the use of a tool rests on, and the manifest declares no tool of the name "guage"`) {
		t.Errorf("%s", d)
	}
	w.policy(t, "trust_clock = true\n")
	if err := c.ReadPolicy(); err != nil || problems(t, c) != "" {
		t.Errorf("%v, %s", err, problems(t, c))
	}
	claimed(t, c, "The road is shut", "")
	w.clock.set(at("2026-03-01 08:00"))
	if d := doctor(); !strings.Contains(d, "clock false it shows less than it did") {
		t.Errorf("%s", d)
	}
}

// When an entry is edited, the claims that were taken from its words go with these: what is
// taken from the new ones stands in their place, or the person decides. What the entry still
// says stays.
func TestAnEditTakesItsClaimsAlong(t *testing.T) {
	w := newWorld(t)
	w.opts.Diary = filepath.Join(w.dir, "diary")
	if err := os.MkdirAll(w.opts.Diary, 0o700); err != nil {
		t.Fatal(err)
	}
	m := &wise{digest: "abc", answer: func(_ context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
		a := verdict(e)
		for _, n := range []string{"3", "4"} {
			a.Claims = append(a.Claims, lifecycle.Proposed{Subject: "pump " + n, Text: "Pump " + n + " leaks."})
		}
		return a, nil
	}}
	w.opts.Model = m
	c := w.live(t)
	path := filepath.Join(w.opts.Diary, "a.md")
	saved := func(body string) {
		t.Helper()
		if err := os.WriteFile(path, []byte("# 2026-03-10\n\n"+body+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c.TakeIn(t.Context(), "a.md"); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		body string
		want []string
	}{
		{"This morning pump 3 leaks below.", []string{"REPORTED 0 Pump 3 leaks."}},
		{"This morning pump 3 leaks below, I think.", []string{"REPORTED 0 Pump 3 leaks."}},
		{"This morning pump 4 leaks below, I think.", []string{"SUPERSEDED 0 Pump 3 leaks.", "REPORTED 0 Pump 4 leaks."}},
		{"A quiet morning below, I think.", []string{"SUPERSEDED 0 Pump 3 leaks.", "QUARANTINED 0 Pump 4 leaks."}},
	} {
		saved(x.body)
		if got := listed(t, c); !slices.Equal(got, x.want) {
			t.Errorf("%s: %q", x.body, got)
		}
	}
}
