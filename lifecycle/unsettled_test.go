package lifecycle_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// SOUL.md tells of claims in quarantine, and of two that speak against each other, as soon
// as they are, and no longer; while a session is open its end tells. No time changes it.
func TestSoulTellsWhatIsUnsettled(t *testing.T) {
	w := newWorld(t)
	if err := os.WriteFile(filepath.Join(w.dir, lifecycle.PolicyFile), []byte("[[act]]\ntool = \"close_valve\"\nrests_on = [\"pump 3 leaks\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := w.live(t)
	w.write(t, c, "A quiet day at the works.")
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	tells := func(want ...string) {
		t.Helper()
		doc := soulOf(t, w)
		if got := section(doc, "\n## Unresolved\n\n", "\n## "); got != strings.Join(want, "\n")+"\n" {
			t.Errorf("%s", got)
		}
	}
	versions := versionsOf(t, c)
	tells("Nothing.")
	k := verified(t, c, "pump 3", "Pump 3 leaks.")
	tells("Nothing.")
	contested := "- Contested: VERIFIED “Pump 3 leaks.” against REPORTED “Pump 3 is dry.”"
	other := claim(t, c, lifecycle.ClaimDraft{Subject: "pump 3", Text: "Pump 3 is dry.", Source: "the night shift", Contests: k.ID})
	tells(contested)
	change(t, c, lifecycle.ClaimChange{ID: other.ID, What: lifecycle.ClaimDoubt})
	tells("- Quarantined: “Pump 3 is dry.” (who says so: “the night shift”)", "- Contested: VERIFIED “Pump 3 leaks.” against QUARANTINED “Pump 3 is dry.”")
	change(t, c, lifecycle.ClaimChange{ID: other.ID, What: lifecycle.ClaimClear})
	change(t, c, lifecycle.ClaimChange{ID: k.ID, What: lifecycle.ClaimSettle, Other: other.ID})
	tells("Nothing.")
	asWritten(t, c)
	if n := versionsOf(t, c); n != versions {
		t.Errorf("%d versions were %d", n, versions)
	}
	w.write(t, c, "Another quiet day at the works.")
	change(t, c, lifecycle.ClaimChange{ID: k.ID, What: lifecycle.ClaimContest, Other: other.ID})
	tells("Nothing.")
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := section(soulOf(t, w), "\n## Unresolved\n\n", "\n")
	if !strings.HasPrefix(now, "- Contested: VERIFIED “Pump 3 leaks.” against ") {
		t.Errorf("%s", now)
	}
	w.clock.set(at("2026-06-10 08:00"))
	asWritten(t, c)
	w.end(t, c)
	c = w.live(t)
	tells(now)
	asWritten(t, c)
	if _, err := c.GateAct(t.Context(), "close_valve", "high", nil); err != nil { // what is over is written down
		t.Fatal(err)
	}
	if v, err := c.Verify(t.Context(), true, nil); err != nil || !v.OK {
		t.Errorf("%+v, %v", v, err)
	}
	w.end(t, c)
	c = w.live(t)
	tells(strings.Replace(now, "VERIFIED", "STALE", 1))
	asWritten(t, c)
	if s, err := c.Status(t.Context()); err != nil || strings.Contains(strings.Join(s.Problems, " "), "edited") {
		t.Errorf("%q, %v", s.Problems, err)
	}
}

// What is forgotten takes no claim out of SOUL.md that was not taken from it.
func TestSoulTellsWhatIsUnsettledAfterAForgetting(t *testing.T) {
	w := newWorld(t)
	c := w.live(t)
	w.write(t, c, "A quiet day at the works.")
	w.write(t, c, "The quincunxed day.")
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	change(t, c, lifecycle.ClaimChange{ID: claim(t, c, lifecycle.ClaimDraft{Subject: "pump 3", Text: "Pump 3 leaks."}).ID, What: lifecycle.ClaimDoubt})
	if _, err := c.Forget(t.Context(), lifecycle.ForgetQuery{Match: "quincunxed"}, nil); err != nil {
		t.Fatal(err)
	}
	if doc := soulOf(t, w); !strings.Contains(doc, "\n- Quarantined: “Pump 3 leaks.”") {
		t.Errorf("%s", doc)
	}
	asWritten(t, c)
}

// listening is a model that notes what of SOUL.md it is given.
type listening struct {
	wise
	souls []string
}

func (l *listening) Narrate(_ context.Context, summary string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.souls = append(l.souls, summary)
	return "", lifecycle.ErrModelAnswer
}

// The model that judges entries, and words the character, hears of no claim.
func TestNoClaimJudges(t *testing.T) {
	w := newWorld(t)
	m := &listening{}
	m.digest = "abc"
	judged := 0
	m.behaves(func(_ context.Context, e lifecycle.Experience) (lifecycle.Assessment, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		judged++
		m.souls = append(m.souls, e.Soul)
		return verdict(e), nil
	})
	w.opts.Model = m
	c := w.live(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	defer func() { cancel(); <-done }()
	w.write(t, c, "A quiet day at the works.")
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	change(t, c, lifecycle.ClaimChange{ID: claim(t, c, lifecycle.ClaimDraft{Subject: "pump 3", Text: "Pump 3 leaks."}).ID, What: lifecycle.ClaimDoubt})
	w.write(t, c, "Another quiet day.")
	if !strings.Contains(soulOf(t, w), "Pump 3 leaks") {
		t.Fatal("SOUL.md does not tell of it")
	}
	heard := func() (narrated int) {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, s := range m.souls {
			if strings.Contains(s, "Pump 3") {
				t.Errorf("it hears\n%s", s)
			}
		}
		return len(m.souls) - judged
	}
	before := heard()
	if _, err := c.EndSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return heard() > before })
	m.mu.Lock()
	defer m.mu.Unlock()
	if judged < 2 {
		t.Errorf("it judged %d entries", judged)
	}
}
