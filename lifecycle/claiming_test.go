package lifecycle_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jivad/jivad/gate/evidence"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/consent"
)

func claimed(t testing.TB, c *lifecycle.Companion, text, category string) lifecycle.Claim {
	t.Helper()
	v, err := c.AddClaim(t.Context(), lifecycle.ClaimDraft{Text: text, Subject: "subject of it", Category: category, Source: "somebody"})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func claimsOf(t testing.TB, c *lifecycle.Companion) (out []string) {
	t.Helper()
	list, err := c.Claims(t.Context(), lifecycle.ClaimQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range list {
		out = append(out, v.Text)
	}
	return out
}

// A claim that is forgotten is in no byte of the data folder, with what follows from it, and
// the others are as they were; also where it is matched by a text, and after a restart.
func TestForgottenClaimsHaveNeverBeen(t *testing.T) {
	for name, forget := range map[string]func(c *lifecycle.Companion, id string) error{
		"by id": func(c *lifecycle.Companion, id string) error {
			gone, err := c.ForgetClaims(t.Context(), []string{id})
			if err == nil && (gone.Claims != 2 || gone.Left != 0) {
				t.Errorf("%+v", gone)
			}
			return err
		},
		"by a text alone": func(c *lifecycle.Companion, _ string) error {
			plan, err := c.PlanForget(t.Context(), lifecycle.ForgetQuery{Match: "ZANZIBARINE"})
			if err != nil || plan.Claims != 2 || len(plan.Entries) != 0 {
				t.Errorf("%+v, %v", plan, err)
			}
			r, err := c.Forget(t.Context(), lifecycle.ForgetQuery{Match: "ZANZIBARINE"}, nil)
			if err == nil && (r.Claims != 2 || r.Forgotten != 0) {
				t.Errorf("%+v", r)
			}
			return err
		},
		"by a text of an entry too": func(c *lifecycle.Companion, _ string) error {
			if _, err := c.Write(t.Context(), lifecycle.Note{Text: "The zanzibarine pump."}); err != nil {
				t.Fatal(err)
			}
			r, err := c.Forget(t.Context(), lifecycle.ForgetQuery{Match: "zanzibarine"}, nil)
			if err == nil && (r.Claims != 2 || r.Forgotten != 1) {
				t.Errorf("%+v", r)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.opts.Retention = lifecycle.Retention{"communications": lifecycle.KeepFull}
			c := imported(t, w, notes(6))
			other := claimed(t, c, "The road is shut", "")
			secret := claimed(t, c, "The zanzibarine pump leaks", "")
			if _, err := c.AddClaim(t.Context(), lifecycle.ClaimDraft{Text: "so the cellar is wet", Subject: "zanzibarine cellar", Previous: []string{secret.ID}}); err != nil {
				t.Fatal(err)
			}
			for _, x := range []lifecycle.ClaimChange{
				{ID: secret.ID, What: lifecycle.ClaimLocate, Root: &evidence.Root{ID: "zanzibarine seal", Type: evidence.Human}, Reasoning: "zanzibarine drops"},
				{ID: secret.ID, What: lifecycle.ClaimContest, Other: other.ID}, {ID: secret.ID, What: lifecycle.ClaimDoubt, Note: "zanzibarine?"},
			} {
				if _, err := c.ChangeClaim(t.Context(), x); err != nil {
					t.Fatalf("%s: %v", x.What, err)
				}
			}
			if name == "by id" { // a model answered with it
				if _, err := c.Remember(t.Context(), lifecycle.Turn{Said: "What do you know of it?", Answered: "They say that the zanzibarine pump leaks.", By: "m"}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := c.EndSession(t.Context()); err != nil && !errors.Is(err, lifecycle.ErrNoSession) {
				t.Fatal(err)
			}
			if _, err := c.Backup(t.Context(), "", nil); err != nil {
				t.Fatal(err)
			}
			if len(traces(t, w.dir, "zanzibarine")) < 1 {
				t.Fatal("the test shows nothing")
			}
			if err := forget(c, secret.ID); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				for _, path := range traces(t, w.dir, "zanzibarine") {
					t.Errorf("it is still in %s", path)
				}
				if got := claimsOf(t, c); !slices.Equal(got, []string{"The road is shut"}) {
					t.Errorf("%q", got)
				}
				if v, err := c.Claim(t.Context(), other.ID); err != nil || len(v.Conflicts) > 0 || len(v.History) != 1 {
					t.Errorf("%+v, %v", v, err)
				}
				w.end(t, c)
				c = w.live(t)
			}
		})
	}
}

// A restore keeps what was found out of claims since, and brings nothing back that was
// forgotten.
func TestARestoreKeepsWhatIsKnownOfClaims(t *testing.T) {
	w := newWorld(t)
	c := imported(t, w, notes(6))
	wrong, secret := claimed(t, c, "The bridge holds", ""), claimed(t, c, "The zanzibarine pump leaks", "")
	b, err := c.Backup(t.Context(), filepath.Join(t.TempDir(), "b.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ForgetClaims(t.Context(), []string{secret.ID}); err != nil { // the last one that was made
		t.Fatal(err)
	}
	if _, err := c.ChangeClaim(t.Context(), lifecycle.ClaimChange{ID: wrong.ID, What: lifecycle.ClaimReject}); err != nil {
		t.Fatal(err)
	}
	road := claimed(t, c, "The road is shut", "")
	w.end(t, c)
	if _, err := lifecycle.Restore(t.Context(), lifecycle.RestoreOptions{Dir: w.dir, File: b.Path}, nil); err != nil {
		t.Fatal(err)
	}
	c = w.live(t)
	if got := claimsOf(t, c); !slices.Equal(got, []string{"The bridge holds", "The road is shut"}) {
		t.Errorf("%q", got)
	}
	if v, err := c.Claim(t.Context(), wrong.ID); err != nil || v.Class != evidence.Rejected {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err := c.Claim(t.Context(), road.ID); err != nil {
		t.Errorf("%+v, %v", v, err)
	}
	for _, path := range traces(t, w.dir, "zanzibarine") {
		t.Errorf("it came back in %s", path)
	}
}

// Claims of a kind of data are read as long as there is leave, and go when it is withdrawn.
func TestClaimsAndConsent(t *testing.T) {
	w := newWorld(t)
	c := imported(t, w, notes(6))
	if _, err := c.AddClaim(t.Context(), lifecycle.ClaimDraft{Text: "x", Subject: "y", Category: "health"}); !errors.Is(err, lifecycle.ErrConsent) || !strings.Contains(err.Error(), "jivad consent set health.storage=allow") {
		t.Errorf("%v", err)
	}
	set := func(grid ...string) {
		t.Helper()
		changes, err := consent.ParseSettings(grid...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.SetConsent(t.Context(), lifecycle.ConsentRequest{Changes: changes, Who: "w"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	set("health.storage=allow", "health.access=allow")
	claimed(t, c, "She sleeps badly zanzibarine", "health")
	claimed(t, c, "The road is shut", "")
	set("health.access=deny")
	if got := claimsOf(t, c); !slices.Equal(got, []string{"The road is shut"}) {
		t.Errorf("%q", got)
	}
	set("health.access=allow")
	if got := claimsOf(t, c); len(got) != 2 {
		t.Errorf("%q", got)
	}
	set("health.storage=deny")
	set("health.storage=allow", "health.access=allow")
	if got := claimsOf(t, c); !slices.Equal(got, []string{"The road is shut"}) {
		t.Errorf("%q", got)
	}
	for _, path := range traces(t, w.dir, "zanzibarine") {
		t.Errorf("it is still in %s", path)
	}
}

// A policy that cannot be used keeps nothing from being remembered, and lets no act of
// consequence through.
func TestABadPolicyFailsClosed(t *testing.T) {
	w := newWorld(t)
	if err := os.WriteFile(filepath.Join(w.dir, lifecycle.PolicyFile), []byte("independent_sources_required = 0"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := w.live(t)
	w.write(t, c, "An entry.")
	s, err := c.Status(t.Context())
	if err != nil || !strings.Contains(strings.Join(s.Problems, "\n"), "must be from 1 to 16") {
		t.Errorf("%q, %v", s.Problems, err)
	}
	for _, consequence := range []string{"medium", "high"} {
		if d, err := c.GateAct(t.Context(), "x", consequence, nil); !errors.Is(err, lifecycle.ErrPolicy) {
			t.Errorf("%s: %+v, %v", consequence, d, err)
		}
	}
	if d, err := c.GateAct(t.Context(), "x", "low", nil); err != nil || d.Verdict != evidence.Allow {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := c.GateAct(t.Context(), "x", "", nil); !errors.Is(err, lifecycle.ErrQuery) {
		t.Errorf("%v", err)
	}
}

// What is over at the beginning of a session is written down, so that a clock that is set
// back makes nothing fresh.
func TestTheQueueAtTheBeginningOfASession(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	k := claimed(t, c, "The road is shut", "")
	due := func() []lifecycle.Claim {
		t.Helper()
		list, err := c.Claims(t.Context(), lifecycle.ClaimQuery{Due: true})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if got := due(); len(got) > 0 {
		t.Fatalf("%+v", got)
	}
	w.clock.set(at("2026-03-14 08:00"))
	w.write(t, c, "A new day.")
	if got := due(); len(got) != 1 || got[0].ID != k.ID || got[0].Reverify == "" {
		t.Errorf("%+v", got)
	}
	story, err := c.Claim(t.Context(), k.ID)
	if err != nil || len(story.History) != 2 || story.History[1].Kind != "expired" {
		t.Errorf("%+v, %v", story.History, err)
	}
	w.end(t, c)
	w.clock.set(at("2026-03-10 09:00").Add(time.Minute))
	c = w.live(t)
	if v, err := c.Claim(t.Context(), k.ID); err != nil || v.Class != evidence.Stale {
		t.Errorf("%+v, %v", v, err)
	}
}
