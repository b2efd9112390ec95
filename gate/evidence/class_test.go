package evidence

import (
	"errors"
	"slices"
	"testing"
)

// The table is total: each of the 7 × 7 × 10 changes is there or is not, and it is as
// written down here once more.
func TestTable(t *testing.T) {
	wanted := map[Edge]bool{}
	for _, c := range []Class{Reported, Inferred, Verified, Stale} {
		wanted[Edge{c, Quarantined, Doubted}] = true
		wanted[Edge{c, Superseded, Replaced}] = true
		wanted[Edge{c, Rejected, Refused}] = true
		if c != Stale {
			wanted[Edge{c, Stale, Expired}] = true
		}
	}
	for _, e := range []Edge{
		{Reported, Inferred, Located}, {Inferred, Verified, Promoted}, {Verified, Verified, Cleared}, {Inferred, Inferred, Replayed}, {Stale, Inferred, Located}, {Stale, Inferred, Replayed},
		{Quarantined, Reported, Cleared}, {Quarantined, Inferred, Cleared}, {Quarantined, Quarantined, Held}, {Quarantined, Superseded, Replaced}, {Quarantined, Rejected, Refused},
		{Rejected, Inferred, Reopened},
	} {
		wanted[e] = true
	}
	tried := 0
	for _, from := range Classes() {
		for _, to := range Classes() {
			for _, by := range Triggers() {
				tried++
				if got := May(from, to, by); got != wanted[Edge{from, to, by}] {
					t.Errorf("%s → %s by %s: %v", from, to, by, got)
				}
			}
		}
	}
	if tried != 7*7*10 || len(Edges()) != len(wanted) {
		t.Errorf("%d tried, %d edges, %d wanted", tried, len(Edges()), len(wanted))
	}
	if May("", Inferred, Located) || May(Reported, Inferred, "") || May("x", "x", "x") {
		t.Error("what is no class may something")
	}
}

// Nothing that is reported becomes verified in one step; whatever is verified was
// inferred right before, and what is rejected comes back by new evidence alone.
func TestWaysToBelief(t *testing.T) {
	for _, e := range Edges() {
		if e.To == Verified && e != (Edge{Inferred, Verified, Promoted}) && e != (Edge{Verified, Verified, Cleared}) {
			t.Errorf("%+v", e)
		}
		if e.From == Rejected && e.By != Reopened || e.From == Superseded {
			t.Errorf("%+v", e)
		}
		if e.From == Quarantined && !e.By.Reviews() && e.By != Replaced {
			t.Errorf("%+v leaves quarantine without the reviewer", e)
		}
	}
}

// Next goes along the table, and is one class for each trigger.
func TestNext(t *testing.T) {
	for _, c := range []struct {
		class, was Class
		by         Trigger
		to         Class
	}{
		{Reported, "", Located, Inferred}, {Reported, "", Replayed, ""}, {Reported, "", Promoted, ""}, {Inferred, "", Promoted, Verified}, {Inferred, "", Located, ""}, {Inferred, "", Replayed, Inferred}, {Verified, "", Replayed, ""},
		{Stale, Reported, Located, Inferred}, {Stale, Reported, Replayed, ""}, {Stale, Inferred, Replayed, Inferred}, {Stale, Verified, Replayed, Inferred}, {Stale, Verified, Located, ""}, {Stale, Verified, Promoted, ""},
		{Quarantined, Reported, Cleared, Reported}, {Quarantined, Inferred, Cleared, Inferred}, {Quarantined, Verified, Cleared, Inferred}, {Quarantined, Stale, Cleared, Inferred},
		{Quarantined, Verified, Held, Quarantined}, {Verified, "", Cleared, Verified}, {Inferred, "", Cleared, ""}, {Quarantined, Verified, Expired, ""}, {Quarantined, Verified, Promoted, ""}, {Rejected, Verified, Reopened, Inferred}, {Rejected, "", Cleared, ""}, {Superseded, "", Located, ""},
	} {
		got, err := Next(c.class, c.was, c.by)
		if c.to == "" {
			if !errors.Is(err, ErrTransition) || got != c.class || err.Error() == "" {
				t.Errorf("%s (%s) by %s: %s, %v", c.class, c.was, c.by, got, err)
			}
			continue
		}
		if err != nil || got != c.to {
			t.Errorf("%s (%s) by %s: %s, %v", c.class, c.was, c.by, got, err)
		}
	}
	for _, class := range Classes() {
		for _, was := range append(Classes(), "") {
			for _, by := range Triggers() {
				to, err := Next(class, was, by)
				if err == nil && !May(class, to, by) {
					t.Errorf("%s (%s) by %s goes to %s, and no edge does", class, was, by, to)
				}
				if err == nil && !slices.Contains(Classes(), to) {
					t.Errorf("%s", to)
				}
			}
		}
	}
}
