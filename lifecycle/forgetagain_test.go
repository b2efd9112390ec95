package lifecycle_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// A backup from before a forgetting does not bring back what was forgotten: with
// the next start the character is what it would be had it never been, and no file
// has the words.
func TestARestoreDoesNotBringBackWhatWasForgotten(t *testing.T) {
	list := days(30)
	w, other := newWorld(t), newWorld(t)
	c, never := imported(t, w, list), imported(t, other, without(list, "Zanzibarine"))
	old, err := c.Backup(t.Context(), filepath.Join(t.TempDir(), "old.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, c, "Zanzibarine, that the backup never had.")
	gone, err := c.Forget(t.Context(), lifecycle.ForgetQuery{Match: "zanzibarine"}, nil)
	if err != nil || gone.Forgotten != 7 {
		t.Fatalf("%+v, %v", gone, err)
	}
	w.end(t, c)
	r, err := lifecycle.Restore(t.Context(), lifecycle.RestoreOptions{Dir: w.dir, File: old.Path}, nil)
	if err != nil || r.ToForget != 6 {
		t.Fatalf("%+v, %v", r, err)
	}
	// Who only looks changes nothing, and says what is left to do.
	w.opts.LookOnly = true
	c = w.live(t)
	if s, err := c.Status(t.Context()); err != nil || !strings.Contains(strings.Join(s.Problems, "\n"), "forgets them again") {
		t.Errorf("%v, %v", s.Problems, err)
	}
	_, err = c.Export(t.Context(), nil, func(lifecycle.ExportPart) error { return nil })
	if !errors.Is(err, lifecycle.ErrOwed) {
		t.Errorf("exported meanwhile: %v", err)
	}
	w.end(t, c)
	w.opts.LookOnly = false
	for range 2 { // a start that does it, and one that has nothing left to do
		c = w.live(t)
		if digestOf(t, c) != digestOf(t, never) {
			t.Error("the state is not that of a companion that never had the entries")
		}
		if found := traces(t, w.dir, "zanzibarine"); len(found) > 0 {
			t.Errorf("the words are in %v", found)
		}
		if v, err := c.Verify(t.Context(), true, nil); err != nil || !v.OK {
			t.Errorf("%+v, %v", v, err)
		}
		w.end(t, c)
	}
	c = w.live(t)
	again, err := c.Import(t.Context(), list, nil)
	if err != nil || again.New != 0 || again.Forgotten != 6 {
		t.Errorf("imported again: %+v, %v", again, err)
	}
	w.end(t, c)

	// It comes back where somebody wants it.
	r, err = lifecycle.Restore(t.Context(), lifecycle.RestoreOptions{Dir: w.dir, File: old.Path, WithForgotten: true}, nil)
	if err != nil || r.ToForget != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	c = w.live(t)
	if plan, err := c.PlanForget(t.Context(), lifecycle.ForgetQuery{Match: "zanzibarine"}); err != nil || len(plan.Entries) != 6 {
		t.Errorf("%+v, %v", plan, err)
	}
}

// Before a forgetting it is said which backups go with it, which stay, and what the
// sessions after it are called then.
func TestPlanOfForgettingTellsOfBackupsAndNumbers(t *testing.T) {
	w := newWorld(t)
	c := imported(t, w, days(12)) // two a day, a session a day
	made, err := c.Backup(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	byHand, err := c.Backup(t.Context(), filepath.Join(w.dir, "backups", "mine.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	q := lifecycle.ForgetQuery{From: "1911-01-02", To: "1911-01-02"}
	plan, err := c.PlanForget(t.Context(), q)
	if err != nil || len(plan.Sessions) != 1 || len(plan.Renumbered) != 1 || plan.Renumbered[0] != (lifecycle.Renumbered{First: 2, Last: 5, Before: 3}) {
		t.Fatalf("%+v, %v", plan, err)
	}
	if len(plan.Backups) != 1 || plan.Backups[0] != made.Path || len(plan.BackupsLeft) != 1 || plan.BackupsLeft[0] != byHand.Path {
		t.Errorf("go: %v, stay: %v", plan.Backups, plan.BackupsLeft)
	}
	q.Entries = []string{plan.Entries[0].ID}
	part, err := c.PlanForget(t.Context(), q)
	if err != nil || len(part.Entries) != 1 || len(part.Sessions)+len(part.Renumbered) > 0 {
		t.Errorf("a part of a session: %+v, %v", part, err)
	}
	q.Entries = nil
	r, err := c.Forget(t.Context(), q, nil)
	if err != nil || len(r.Renumbered) != 1 || r.Renumbered[0] != plan.Renumbered[0] || r.Backups != len(plan.Backups) || len(r.BackupsLeft) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}
